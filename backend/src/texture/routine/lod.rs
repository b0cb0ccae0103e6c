//! Level of detail: scale factors from derivatives, bias, clamps, and the levels that are accessed.
//!
//! Source: Vulkan specification, "Image Level-of-Detail Operations". Anisotropy is not supported.

use ash::vk;

use super::{Unit, word};
use crate::shader::ir::{BinaryOp as B, ImageOp, Lod, TernaryOp as T, Type, UnaryOp as U, Value};
use crate::shader::routines;
use crate::texture::MAX_LOD_BIAS;

/// Level of detail where coordinates do not change at all.
const NO_CHANGE: f32 = -1000.0;

/// Levels that are read, in each lane.
pub(super) struct Chosen {
    /// Number of the first.
    pub(super) first: Value,
    /// Share of the one after it, where levels are mixed.
    pub(super) share: Option<Value>,
    /// Whether the filter for magnifying is to be used.
    pub(super) magnifies: Value,
}

impl Unit<'_> {
    /// The level of detail before the sampler's clamp.
    fn biased(&mut self) -> Value {
        let ImageOp::Sample { lod, .. } = &self.request.op else {
            let base = self.implicit();
            let bias = self.bias(None);
            return self.b.binary(B::FAdd, base, bias);
        };
        let (base, bias) = match lod {
            Lod::Explicit(level) => (self.operand(*level, Type::F32), None),
            Lod::Implicit { bias } => (self.implicit(), *bias),
            Lod::Gradient { dx, dy } => {
                let [dx, dy] = [dx, dy].map(|gradient| self.vector(gradient));
                (self.of_gradients(dx, dy), None)
            }
        };
        let bias = self.bias(bias);
        self.b.binary(B::FAdd, base, bias)
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

    /// Up to three float operands, zeros behind them.
    pub(super) fn vector(&mut self, operands: &[Value]) -> [Value; 3] {
        [0, 1, 2].map(|index| match operands.get(index) {
            Some(&operand) => self.operand(operand, Type::F32),
            None => self.b.float(0.0),
        })
    }

    /// From differences along the first row and column of the lane's quad.
    fn implicit(&mut self) -> Value {
        let coords = self.coordinates();
        let [dx, dy] = [U::DdxCoarse, U::DdyCoarse].map(|op| coords.map(|value| self.b.unary(op, value)));
        self.of_gradients(dx, dy)
    }

    /// log2 of the larger scale factor.
    fn of_gradients(&mut self, dx: [Value; 3], dy: [Value; 3]) -> Value {
        let (dx, dy) = if self.state.is_cube {
            let direction = self.coordinates();
            (self.gradient_on_face(direction, dx), self.gradient_on_face(direction, dy))
        } else {
            (dx, dy)
        };
        let (dx, dy) = (self.scaled_square(dx), self.scaled_square(dy));
        let (largest, zero) = (routines::max_of_numbers(&mut self.b, dx, dy), self.b.float(0.0));
        let changes = self.b.binary(B::FLt, zero, largest);
        let log = routines::log2(&mut self.b, largest);
        let (half, none) = (self.b.float(0.5), self.b.float(NO_CHANGE));
        let log = self.b.binary(B::FMul, log, half);
        self.b.select(changes, log, none)
    }

    /// The squared length of a gradient in texels.
    fn scaled_square(&mut self, gradient: [Value; 3]) -> Value {
        let base = self.b.int(0);
        let level = self.level(base);
        let mut sum = self.b.float(0.0);
        for (axis, &change) in gradient.iter().enumerate().take(self.state.dimensions) {
            let mut scaled = change;
            if !self.state.unnormalized {
                let size = self.b.unary(U::SToF, level.size[axis]);
                scaled = self.b.binary(B::FMul, scaled, size);
            }
            sum = self.b.ternary(T::Fma, scaled, scaled, sum);
        }
        sum
    }

    /// The level of detail within the sampler's clamp.
    fn clamped(&mut self, biased: Value) -> Value {
        let (least, most) = (self.word(word::MIN_LOD, Type::F32), self.word(word::MAX_LOD, Type::F32));
        // NaN gives the first operand.
        let lod = self.b.binary(B::FMax, least, biased);
        self.b.binary(B::FMin, most, lod)
    }

    /// A level of detail as a number of levels, within those there are.
    fn within_levels(&mut self, lod: Value) -> Value {
        let (last, zero) = (self.word(word::LAST_LEVEL, Type::I32), self.b.float(0.0));
        let last = self.b.unary(U::SToF, last);
        let level = self.b.binary(B::FMax, zero, lod);
        self.b.binary(B::FMin, last, level)
    }

    /// The nearest level, halves downwards.
    fn nearest_level(&mut self, level: Value) -> Value {
        let (half, one, zero) = (self.b.float(0.5), self.b.float(1.0), self.b.float(0.0));
        let above = self.b.binary(B::FAdd, level, half);
        let above = self.b.unary(U::Ceil, above);
        let level = self.b.binary(B::FSub, above, one);
        self.b.binary(B::FMax, zero, level)
    }

    /// The levels that are read.
    pub(super) fn chosen(&mut self) -> Chosen {
        let lod = self.biased();
        let lod = self.clamped(lod);
        let zero = self.b.float(0.0);
        let magnifies = self.b.binary(B::FLe, lod, zero);
        let level = self.within_levels(lod);
        if self.state.mipmap_mode == vk::SamplerMipmapMode::NEAREST {
            let nearest = self.nearest_level(level);
            return Chosen { first: self.b.unary(U::FToS, nearest), share: None, magnifies };
        }
        let first = self.b.unary(U::Floor, level);
        let share = self.b.binary(B::FSub, level, first);
        Chosen { first: self.b.unary(U::FToS, first), share: Some(share), magnifies }
    }

    /// The level that would be accessed, and the level of detail before the sampler's clamp.
    pub(super) fn query(&mut self) -> [Value; 2] {
        let lod = self.biased();
        let clamped = self.clamped(lod);
        let level = self.within_levels(clamped);
        let accessed = match self.state.mipmap_mode {
            vk::SamplerMipmapMode::NEAREST => self.nearest_level(level),
            _ => level,
        };
        [accessed, lod]
    }
}
