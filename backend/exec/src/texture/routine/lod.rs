//! Level of detail: scale factors from derivatives, bias, clamps, and the accessed levels.
//!
//! Source: Vulkan specification, "Image Level-of-Detail Operations", "Scale Factor Operation",
//! "Texel Anisotropic Filtering".

use ash::vk;
use vitric_ir::{BinaryOp as B, ImageOp, Lod, TernaryOp as T, Type, UnaryOp as U, Value, elementary};

use super::{RoutineBuilder, word};
use crate::runtime::MAX_LOD_BIAS;

/// Level of detail if the coordinates are constant.
const CONSTANT_LOD: f32 = -1000.0;

/// Tolerance by which an anisotropy ratio may exceed a number of samples, so that a rounding error
/// does not add a sample.
pub(in crate::texture) const ANISOTROPY_TOLERANCE: f32 = 1.0 / 32.0;

/// Levels to read, in each lane.
pub(super) struct LevelSelection {
    /// Number of the first level.
    pub(super) first: Value,
    /// Weight of the next level, if levels are mixed.
    pub(super) weight: Option<Value>,
    /// Condition that the magnification filter applies.
    pub(super) magnifies: Value,
    /// Samples to average, for anisotropic filtering.
    pub(super) samples: Option<AnisotropicSamples>,
}

/// Samples along the longer axis of a footprint.
#[derive(Clone, Copy)]
pub(super) struct AnisotropicSamples {
    /// Number of samples, as a float.
    pub(super) count: Value,
    /// Axis, in coordinates.
    pub(super) axis: [Value; 3],
}

/// Footprint computed from gradients.
struct Footprint {
    lod: Value,
    samples: Option<AnisotropicSamples>,
}

impl RoutineBuilder<'_> {
    /// Returns the level of detail before the sampler's clamp.
    fn biased(&mut self) -> Footprint {
        let ImageOp::Sample { lod, .. } = &self.request.op else {
            let base = self.implicit();
            return self.with_bias(base, None);
        };
        match lod {
            Lod::Explicit(level) => {
                let lod = self.operand(*level, Type::F32);
                self.with_bias(Footprint { lod, samples: None }, None)
            }
            Lod::Implicit { bias } => {
                let base = self.implicit();
                self.with_bias(base, *bias)
            }
            Lod::Gradient { dx, dy } => {
                let [dx, dy] = [dx, dy].map(|gradient| self.vector(gradient));
                let base = self.of_gradients(dx, dy);
                self.with_bias(base, None)
            }
        }
    }

    fn with_bias(&mut self, base: Footprint, operand: Option<Value>) -> Footprint {
        let bias = self.bias(operand);
        Footprint { lod: self.b.binary(B::FAdd, base.lod, bias), ..base }
    }

    fn bias(&mut self, operand: Option<Value>) -> Value {
        let mut bias = self.word(word::BIAS, Type::F32);
        if let Some(operand) = operand {
            let operand = self.operand(operand, Type::F32);
            bias = self.b.binary(B::FAdd, bias, operand);
        }
        let (low, high) = (self.b.float(-MAX_LOD_BIAS), self.b.float(MAX_LOD_BIAS));
        let bias = self.b.binary(B::FMax, bias, low);
        self.b.binary(B::FMin, bias, high)
    }

    /// Returns up to three float operands, padded with zeros.
    pub(super) fn vector(&mut self, operands: &[Value]) -> [Value; 3] {
        [0, 1, 2].map(|index| match operands.get(index) {
            Some(&operand) => self.operand(operand, Type::F32),
            None => self.b.float(0.0),
        })
    }

    /// Returns the footprint from differences along the first row and column of the lane's quad.
    fn implicit(&mut self) -> Footprint {
        let coords = self.coordinates();
        let [dx, dy] = [U::DdxCoarse, U::DdyCoarse].map(|op| coords.map(|value| self.b.unary(op, value)));
        self.of_gradients(dx, dy)
    }

    fn of_gradients(&mut self, dx: [Value; 3], dy: [Value; 3]) -> Footprint {
        let (dx, dy) = if self.state.is_cube {
            let direction = self.coordinates();
            (self.gradient_on_face(direction, dx), self.gradient_on_face(direction, dy))
        } else {
            (dx, dy)
        };
        let (along_x, along_y) = (self.scaled_square(dx), self.scaled_square(dy));
        let longer = elementary::max_of_numbers(&mut self.b, along_x, along_y);
        if !self.state.is_anisotropic {
            return Footprint { lod: self.log_scale(longer), samples: None };
        }
        let shorter = elementary::min_of_numbers(&mut self.b, along_x, along_y);
        let ratio = self.anisotropy(longer, shorter);
        let square = self.b.binary(B::FDiv, longer, ratio);
        let (by_x, root) = (self.b.binary(B::FLt, along_y, along_x), self.b.unary(U::Sqrt, ratio));
        let (round, one) = (self.b.float(ANISOTROPY_TOLERANCE), self.b.float(1.0));
        let least = self.b.binary(B::FSub, root, round);
        let count = self.b.unary(U::Ceil, least);
        let count = self.b.binary(B::FMax, count, one);
        let axis = [0, 1, 2].map(|axis| self.b.select(by_x, dx[axis], dy[axis]));
        Footprint { lod: self.log_scale(square), samples: Some(AnisotropicSamples { count, axis }) }
    }

    /// Returns log2 of the square root of a squared scale factor.
    fn log_scale(&mut self, square: Value) -> Value {
        let zero = self.b.float(0.0);
        let changes = self.b.binary(B::FLt, zero, square);
        let log = elementary::log2(&mut self.b, square);
        let (half, none) = (self.b.float(0.5), self.b.float(CONSTANT_LOD));
        let log = self.b.binary(B::FMul, log, half);
        self.b.select(changes, log, none)
    }

    /// Returns the squared ratio of anisotropy, at least 1. Footprints of at most one texel count
    /// as isotropic.
    fn anisotropy(&mut self, longer: Value, shorter: Value) -> Value {
        let (most, one) = (self.word(word::ANISOTROPY, Type::F32), self.b.float(1.0));
        let ratio = self.b.binary(B::FDiv, longer, shorter);
        let ratio = self.b.binary(B::FMin, most, ratio);
        let ratio = self.b.binary(B::FMax, one, ratio);
        let is_large = self.b.binary(B::FLt, one, longer);
        self.b.select(is_large, ratio, one)
    }

    /// Returns the squared length of a gradient in texels.
    fn scaled_square(&mut self, gradient: [Value; 3]) -> Value {
        let base = self.b.int(0);
        let level = self.level(base);
        let mut sum = self.b.float(0.0);
        for (axis, &change) in gradient.iter().enumerate().take(self.state.dimensions) {
            let mut scaled = change;
            if !self.state.unnormalized {
                let size = self.length(&level, axis);
                scaled = self.b.binary(B::FMul, scaled, size);
            }
            sum = self.b.ternary(T::Fma, scaled, scaled, sum);
        }
        sum
    }

    /// Clamps the level of detail to the sampler's range.
    fn clamped(&mut self, biased: Value) -> Value {
        let (least, most) = (self.word(word::MIN_LOD, Type::F32), self.word(word::MAX_LOD, Type::F32));
        // `FMax` and `FMin` return their first operand for NaN.
        let lod = self.b.binary(B::FMax, least, biased);
        self.b.binary(B::FMin, most, lod)
    }

    /// Clamps a level of detail to the existing levels.
    fn within_levels(&mut self, lod: Value) -> Value {
        let (last, zero) = (self.word(word::LAST_LEVEL, Type::I32), self.b.float(0.0));
        let last = self.b.unary(U::SToF, last);
        let level = self.b.binary(B::FMax, zero, lod);
        let level = self.b.binary(B::FMin, last, level);
        if !self.state.has_min_level {
            return level;
        }
        let least = self.word(word::MIN_LEVEL, Type::F32);
        self.b.binary(B::FMax, least, level)
    }

    /// Returns the nearest level. Halves round up, as D3D demands and GPUs do. Vulkan prefers
    /// rounding down and allows both.
    fn nearest_level(&mut self, level: Value) -> Value {
        let half = self.b.float(0.5);
        let above = self.b.binary(B::FAdd, level, half);
        self.b.unary(U::Floor, above)
    }

    /// Returns the levels to read.
    pub(super) fn select_levels(&mut self) -> LevelSelection {
        let Footprint { lod, samples } = self.biased();
        let lod = self.clamped(lod);
        let zero = self.b.float(0.0);
        let magnifies = self.b.binary(B::FLe, lod, zero);
        let level = self.within_levels(lod);
        if self.state.mipmap_mode == vk::SamplerMipmapMode::NEAREST {
            let nearest = self.nearest_level(level);
            return LevelSelection { first: self.b.unary(U::FToS, nearest), weight: None, magnifies, samples };
        }
        let first = self.b.unary(U::Floor, level);
        let weight = self.b.binary(B::FSub, level, first);
        LevelSelection { first: self.b.unary(U::FToS, first), weight: Some(weight), magnifies, samples }
    }

    /// Returns the level that would be accessed, and the level of detail before the sampler's
    /// clamp.
    pub(super) fn query(&mut self) -> [Value; 2] {
        let lod = self.biased().lod;
        let clamped = self.clamped(lod);
        let level = self.within_levels(clamped);
        let accessed = match self.state.mipmap_mode {
            vk::SamplerMipmapMode::NEAREST => self.nearest_level(level),
            _ => level,
        };
        [accessed, lod]
    }
}
