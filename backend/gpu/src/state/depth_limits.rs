//! Ranges to which depths of fragments are clamped. Source: Vulkan specification, "Depth Clamping
//! and Range Adjustment".

/// Range of depths that an application defines: its ends as bits of floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DepthClampRange([u32; 2]);

impl DepthClampRange {
    /// Returns the range from a depth to one that is not lower.
    pub fn new(min: f32, max: f32) -> Self {
        Self([min.to_bits(), max.to_bits()])
    }

    /// Returns the ends.
    pub fn ends(self) -> [f32; 2] {
        self.0.map(f32::from_bits)
    }
}

/// Range to which depths of fragments are clamped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DepthLimits {
    /// The viewport's range of depths.
    #[default]
    Viewport,
    /// A range of the application: `depthClampControl`.
    Range(DepthClampRange),
    /// 0 to 1: `depthClampZeroOne`.
    ZeroOne,
    /// The range of the attachment's format: `depthClampZeroOne` with
    /// `VK_EXT_depth_range_unrestricted`.
    Format,
}
