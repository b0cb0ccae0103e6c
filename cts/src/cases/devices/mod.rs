//! Chapters "Initialization", "Devices and Queues", "Features", "Limits" and "Additional
//! Capabilities": instances, versions, queue families, and required features and limits.

mod capabilities;
mod driver;
mod faults;
mod groups;
mod identity;
mod limits;
mod maintenance7;
mod maintenance9;
mod private_data;
mod profiles;
mod queues;
mod required;
mod tools;
mod versions;
