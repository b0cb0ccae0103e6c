//! Chapter "Rasterization": order, multisampling, sample locations, shading rates, points, lines,
//! polygons.

mod conservative;
mod diamond_exit;
mod extremes;
mod hidden_draws;
mod interpolation;
mod lines;
mod order;
mod polygons_and_samples;
mod sample_locations;
mod scenes;
mod shading_rates;
