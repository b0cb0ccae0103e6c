//! Chapter "Fixed-Function Vertex Post-Processing": transform feedback, viewports, clipping, flat
//! shading.

mod negative_viewport;
mod transform_feedback;
mod viewports_and_layers;
