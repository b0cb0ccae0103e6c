//! Blending and logic operations. Source: Vulkan specification, "The Framebuffer".

use ash::vk;

use crate::state::BlendState;

/// Colours that blending combines.
pub(super) struct Operands {
    pub(super) source: [f32; 4],
    pub(super) second: [f32; 4],
    pub(super) destination: [f32; 4],
    pub(super) constants: [f32; 4],
}

/// The blended colour.
pub(super) fn blend(state: &BlendState, operands: &Operands) -> [f32; 4] {
    let part = |component: usize, source, destination, op| {
        let (s, d) = (operands.source[component], operands.destination[component]);
        let factor = |kind| factor(kind, component, operands);
        match op {
            vk::BlendOp::ADD => s * factor(source) + d * factor(destination),
            vk::BlendOp::SUBTRACT => s * factor(source) - d * factor(destination),
            vk::BlendOp::REVERSE_SUBTRACT => d * factor(destination) - s * factor(source),
            vk::BlendOp::MIN => s.min(d),
            _ => s.max(d),
        }
    };
    std::array::from_fn(|component| match component {
        3 => part(3, state.src_alpha, state.dst_alpha, state.alpha_op),
        color => part(color, state.src_color, state.dst_color, state.color_op),
    })
}

fn factor(kind: vk::BlendFactor, component: usize, operands: &Operands) -> f32 {
    use vk::BlendFactor as F;
    let Operands { source, second, destination, constants } = operands;
    match kind {
        F::ZERO => 0.0,
        F::ONE => 1.0,
        F::SRC_COLOR => source[component],
        F::ONE_MINUS_SRC_COLOR => 1.0 - source[component],
        F::DST_COLOR => destination[component],
        F::ONE_MINUS_DST_COLOR => 1.0 - destination[component],
        F::SRC_ALPHA => source[3],
        F::ONE_MINUS_SRC_ALPHA => 1.0 - source[3],
        F::DST_ALPHA => destination[3],
        F::ONE_MINUS_DST_ALPHA => 1.0 - destination[3],
        F::CONSTANT_COLOR => constants[component],
        F::ONE_MINUS_CONSTANT_COLOR => 1.0 - constants[component],
        F::CONSTANT_ALPHA => constants[3],
        F::ONE_MINUS_CONSTANT_ALPHA => 1.0 - constants[3],
        F::SRC_ALPHA_SATURATE if component == 3 => 1.0,
        F::SRC_ALPHA_SATURATE => source[3].min(1.0 - destination[3]),
        F::SRC1_COLOR => second[component],
        F::ONE_MINUS_SRC1_COLOR => 1.0 - second[component],
        F::SRC1_ALPHA => second[3],
        _ => 1.0 - second[3],
    }
}

/// A logic operation on the bytes of texels.
pub(super) fn logic(op: vk::LogicOp, source: u8, destination: u8) -> u8 {
    use vk::LogicOp as L;
    let (s, d) = (source, destination);
    match op {
        L::CLEAR => 0,
        L::AND => s & d,
        L::AND_REVERSE => s & !d,
        L::COPY => s,
        L::AND_INVERTED => !s & d,
        L::NO_OP => d,
        L::XOR => s ^ d,
        L::OR => s | d,
        L::NOR => !(s | d),
        L::EQUIVALENT => !(s ^ d),
        L::INVERT => !d,
        L::OR_REVERSE => s | !d,
        L::COPY_INVERTED => !s,
        L::OR_INVERTED => !s | d,
        L::NAND => !(s & d),
        _ => 0xff,
    }
}
