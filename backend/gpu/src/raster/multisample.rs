//! Multisample state, and sample locations that an application sets: the same in all pixels.
//!
//! Source: `VK_EXT_sample_locations`; Vulkan specification, "Custom Sample Locations".

use std::borrow::Cow;

use super::{MAX_SAMPLES, UNITS, sample_positions};

/// Locations of the samples of a pixel, units of the grid from its upper left corner: 0 to 255.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SampleLocations {
    units: [[u8; 2]; MAX_SAMPLES as usize],
    samples: u8,
}

impl SampleLocations {
    /// Of places in pixels from 0 to 1, which are rounded to the grid, and clamped to its last unit. `None` unless there are as many as
    /// a pixel can have samples: 2, 4, 8 or 16.
    pub fn new(places: &[[f32; 2]]) -> Option<Self> {
        let samples = u8::try_from(places.len()).ok().filter(|samples| [2, 4, 8, 16].contains(samples))?;
        let mut units = [[0; 2]; MAX_SAMPLES as usize];
        for (units, place) in units.iter_mut().zip(places) {
            // What is no number is 0.
            *units = place.map(|pixels| (pixels * UNITS as f32).round() as u8);
        }
        Some(Self { units, samples })
    }
}

/// Multisample state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MultisampleState {
    /// Samples per pixel.
    pub samples: u32,
    /// Share of samples shaded on their own, when sample shading is on.
    pub min_sample_shading: Option<f32>,
    /// Samples that may be written.
    pub sample_mask: u32,
    /// Derive coverage from alpha.
    pub alpha_to_coverage: bool,
    /// Replace alpha by one.
    pub alpha_to_one: bool,
    /// Sample locations, where they are not the standard ones.
    pub custom: Option<SampleLocations>,
}

impl MultisampleState {
    /// Where the samples of a pixel lie, units from its corner: the standard locations, unless there are others for so many samples.
    pub fn locations(&self) -> Cow<'static, [[i64; 2]]> {
        match &self.custom {
            Some(custom) if u32::from(custom.samples) == self.samples => {
                custom.units[..self.samples as usize].iter().map(|units| units.map(i64::from)).collect()
            }
            _ => Cow::Borrowed(sample_positions(self.samples)),
        }
    }
}

/// Samples of a pixel that a pipeline may write.
pub fn sample_mask(state: &MultisampleState) -> u32 {
    state.sample_mask & ((1 << state.samples) - 1)
}

/// Whether those are all.
pub fn has_all_samples(state: &MultisampleState) -> bool {
    sample_mask(state) == (1 << state.samples) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_those_of_as_many_samples() {
        let places = [[0.0, 0.9375], [0.5, 1.0], [-1.0, f32::NAN], [0.25, 1.0 / 256.0]];
        let custom = SampleLocations::new(&places);
        assert!(
            custom.is_some() && SampleLocations::new(&places[..3]).is_none() && SampleLocations::new(&[]).is_none()
        );
        let (min_sample_shading, sample_mask) = (None, u32::MAX);
        let (alpha_to_coverage, alpha_to_one) = (false, false);
        let state =
            MultisampleState { samples: 4, min_sample_shading, sample_mask, alpha_to_coverage, alpha_to_one, custom };
        assert_eq!(*state.locations(), [[0, 240], [128, 255], [0, 0], [64, 1]]);
        assert_eq!(*MultisampleState { samples: 2, ..state }.locations(), *sample_positions(2));
    }
}
