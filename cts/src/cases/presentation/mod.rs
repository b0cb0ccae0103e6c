//! Chapter "Window System Integration (WSI)": swapchains of headless surfaces.

mod timing;
