//! Multisample state, and sample locations that an application sets: the same in all pixels.
//!
//! Source: `VK_EXT_sample_locations`; Vulkan specification, "Custom Sample Locations".

use std::borrow::Cow;

use super::{MAX_SAMPLES, UNITS, sample_positions};

/// Locations of the samples of a pixel: 0 to 255 units from its upper left corner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SampleLocations {
    units: [[u8; 2]; MAX_SAMPLES as usize],
    samples: u8,
}

impl SampleLocations {
    /// Returns the locations of samples at `places`, from 0 to 1 pixel. Places are rounded to the
    /// grid and clamped to the last unit.
    /// Returns `None` unless there are 2, 4, 8 or 16 places.
    pub fn new(places: &[[f32; 2]]) -> Option<Self> {
        let samples = u8::try_from(places.len()).ok().filter(|samples| [2, 4, 8, 16].contains(samples))?;
        let mut units = [[0; 2]; MAX_SAMPLES as usize];
        for (units, place) in units.iter_mut().zip(places) {
            // The cast makes NaN 0.
            *units = place.map(|pixels| (pixels * UNITS as f32).round() as u8);
        }
        Some(Self { units, samples })
    }
}

/// Multisample state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MultisampleState {
    /// Number of samples of a pixel.
    pub samples: u32,
    /// Least share of samples that are shaded separately, if sample shading is enabled.
    pub min_sample_shading: Option<f32>,
    /// Mask of the samples that may be written.
    pub sample_mask: u32,
    /// True if coverage is derived from alpha.
    pub alpha_to_coverage: bool,
    /// True if alpha is replaced by one.
    pub alpha_to_one: bool,
    /// Custom sample locations, if there are any.
    pub custom: Option<SampleLocations>,
}

impl MultisampleState {
    /// Returns the locations of the samples of a pixel, in units from its corner. They are the
    /// standard ones unless there are custom
    /// locations for this number of samples.
    pub fn locations(&self) -> Cow<'static, [[i64; 2]]> {
        match &self.custom {
            Some(custom) if u32::from(custom.samples) == self.samples => {
                custom.units[..self.samples as usize].iter().map(|units| units.map(i64::from)).collect()
            }
            _ => Cow::Borrowed(sample_positions(self.samples)),
        }
    }
}

/// Returns the mask of the samples of a pixel that a pipeline may write.
pub fn sample_mask(state: &MultisampleState) -> u32 {
    state.sample_mask & ((1 << state.samples) - 1)
}

/// Returns true if a pipeline may write all samples of a pixel.
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
