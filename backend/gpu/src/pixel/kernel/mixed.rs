//! Mixed kernels: one run tests, shades and exports pixels of several tiny primitives, one in each
//! lane.
//!
//! A primitive of four pixels fills at most a quarter of a wave of sixteen lanes. The words of
//! sixteen primitives are interleaved, so that each lane gets those of its primitive by one
//! permutation of a register. So full waves cost little more than that permutation.
//!
//! No two lanes may have the same pixel. Pixels from a sieve are already tested, and are whole
//! quads if the program needs derivatives. Short programs with derivatives are not mixed, because
//! small primitives gain little from mixed quads.
//!
//! If the program may discard, a sieve only reads depths. The mixed kernel then tests again, and
//! writes the depths of the remaining pixels after the program. Since all pixels differ, the
//! result equals that of sequential fragments.

use vitric_exec::Program;
use vitric_ir::{BinaryOp as B, Builder, Inst, Type, UnaryOp as U, Value};

use super::direct::{self, PixelLanes, SmallPrimitivePath, discards_first, small_primitive_path};
use super::late;
use super::primitive::{needs_quads, uses_derivatives};
use super::traits::{DepthTarget, FragmentShading, KernelOptions, KernelPlanes, WaveEvent, is_late};
use super::{KernelInput, Linker, Stage, Texels, written};
use crate::geometry::Varies;
use crate::pixel::pixel_queue::PackedPixel;
use crate::state::PipelineState;

/// Links the mixed kernel of a pipeline, or returns `None` if pixels cannot be mixed.
///
/// A kernel that counts has an output word with the number of shaded pixels, equal in all lanes. If
/// the program may discard, a second output word is 1 in lanes whose pixel was exported.
pub(super) fn link(
    pipeline: &PipelineState,
    KernelOptions { depth_bits, counts }: KernelOptions,
    varies: Varies,
) -> Option<Stage> {
    let (program, attachments) = (pipeline.fragment.as_deref(), written(pipeline));
    let nothing = Program::routine(Builder::new().finish(), &[], 0);
    let shaded = program.unwrap_or(&nothing);
    let shading = FragmentShading { pipeline, program: shaded };
    let path = small_primitive_path(pipeline, &attachments)?;
    if path == SmallPrimitivePath::OneKernel && (!direct::has_one_sample(pipeline) || needs_quads(shaded, depth_bits)) {
        return None;
    }
    if !late::serves(shading, depth_bits) {
        return None;
    }
    let mut linker = Linker { varies, ..Linker::default() };
    let depth = DepthTarget { bits: depth_bits, plane: attachments.len() };
    let has_quads = path == SmallPrimitivePath::Sieved && uses_derivatives(shaded);
    linker.texels = if has_quads { Texels::Quads } else { Texels::Apart };
    let planes = KernelPlanes { attachments: &attachments, depth: &depth };
    let pixels = linker.packed_pixels(planes);
    // This comes before the program because lanes may end there.
    let many = counts.then(|| linker.count_none());
    let report_shaded =
        |linker: &mut Linker, left: Value| many.iter().for_each(|&output| linker.count_pixels(output, left));
    let exported = (counts && (shaded.fragment.may_discard || is_late(pipeline, shaded))).then(|| linker.count_none());
    match path {
        SmallPrimitivePath::OneKernel => {
            linker.shade_tested(shading, planes, pixels, &mut |linker, event, left| match event {
                WaveEvent::Shaded => report_shaded(linker, left),
                WaveEvent::Exported => exported.iter().for_each(|&output| linker.count_lanes(output, left)),
            })
        }
        SmallPrimitivePath::Sieved => {
            let tested = discards_first(shaded).then(|| linker.test_depth(shading, &pixels, &depth));
            let covered = tested.as_ref().map_or(&pixels.covered, |tested| &tested.covered).clone();
            let left = covered[0];
            report_shaded(&mut linker, left);
            linker.shade(shading, &attachments, PixelLanes { covered, ..pixels }, 1);
            tested.iter().for_each(|tested| linker.store_depths(tested));
            exported.iter().for_each(|&output| linker.count_lanes(output, left));
        }
    }
    Some(linker.finish(program).with_all_lanes().alone())
}

impl Linker {
    /// Adds an output word that is 0 in all lanes, and returns its number.
    fn count_none(&mut self) -> usize {
        let none = self.b.int(0);
        self.output(none)
    }

    /// Sets an output word to the number of pixels that satisfy a condition.
    fn count_pixels(&mut self, output: usize, condition: Value) {
        let many = self.lanes_with(condition);
        self.b.push(Inst::Output { slot: output as u32, value: many });
    }

    /// Sets an output word to 1 in lanes that satisfy a condition, still run and are no helpers.
    fn count_lanes(&mut self, output: usize, condition: Value) {
        let helper = self.b.value(Type::Bool);
        self.b.push(Inst::IsHelper { result: helper });
        let real = self.b.unary(U::LogicalNot, helper);
        let condition = self.b.binary(B::LogicalAnd, condition, real);
        let one = self.b.int(1);
        self.b.push(Inst::If { condition });
        self.b.push(Inst::Output { slot: output as u32, value: one });
        self.b.push(Inst::EndIf);
    }

    /// Returns the pixels of a wave of packed pixels.
    fn packed_pixels(&mut self, planes: KernelPlanes<'_>) -> PixelLanes {
        let packed_pixel = self.input(KernelInput::PackedPixel, Type::I32);
        let mut field = |first: u32, bits: u32| {
            let (first, mask) = (self.b.int(first), self.b.int((1 << bits) - 1));
            let shifted = self.b.binary(B::ShrLogical, packed_pixel, first);
            self.b.binary(B::And, shifted, mask)
        };
        let within = [field(PackedPixel::X, PackedPixel::PLACE_BITS), field(PackedPixel::Y, PackedPixel::PLACE_BITS)];
        // The permutation reads only the low bits.
        let first = self.b.int(PackedPixel::OF);
        self.of = Some(self.b.binary(B::ShrLogical, packed_pixel, first));
        let pixel = [0, 1].map(|axis: usize| {
            let tile = self.input(KernelInput::Window(axis), Type::I32);
            self.b.binary(B::IAdd, tile, within[axis])
        });
        let zero = self.b.int(0);
        let is_some = self.b.binary(B::SLe, zero, packed_pixel);
        let texels = self.texels((pixel, None), 1, planes);
        PixelLanes { place: pixel.map(|pixel| self.b.unary(U::SToF, pixel)), covered: vec![is_some], texels }
    }
}
