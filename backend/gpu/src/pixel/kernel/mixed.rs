//! Mixed kernels: pixels of several tiny primitives by one run, each lane one, with their depth test, shading and export.
//!
//! A primitive of four pixels fills a quarter of a wave at best. The words of sixteen primitives are interleaved, so that a lane finds
//! those of its own by one permutation of a register: waves are full at the price of little more than that. No two lanes may have the
//! same pixel. What sieves have left was tested; where programs want derivatives it comes as whole quads. Short programs that do are not
//! mixed: small primitives leave less of quads to gain. Fragments that a program may discard were looked at only: they are tested here, and
//! their depths written when it is known which are left. Since no two are of one pixel, that is as if each had been alone.

use vitric_exec::Program;
use vitric_ir::{BinaryOp as B, Builder, Inst, Type, UnaryOp as U, Value};

use super::direct::{self, Pixels, SmallPrimitivePath, discards_first};
use super::late;
use super::primitive::{differs, needs_quads};
use super::traits::Depths;
use super::traits::{Event, is_late};
use super::{Attachment, KernelInput, Linker, Stage, Texels, written};
use crate::geometry::Varies;
use crate::pixel::pixel_queue::PackedPixel;
use crate::state::PipelineState;

/// Links the kernel of a pipeline for depths of so many bits; `None` where pixels cannot be mixed. One that counts has an output word: how many
/// pixels were shaded, the same in all lanes; and where the program may discard some a second one: 1 in lanes whose pixel was exported.
pub(super) fn link(pipeline: &PipelineState, (depth_bits, counts): (u32, bool), varies: Varies) -> Option<Stage> {
    let (program, attachments) = (pipeline.fragment.as_deref(), written(pipeline));
    let nothing = Program::routine(Builder::new().finish(), &[], 0);
    let shaded = program.unwrap_or(&nothing);
    let way = direct::way(pipeline, &attachments)?;
    if way == SmallPrimitivePath::AtOnce && (!direct::has_one_sample(pipeline) || needs_quads(shaded, depth_bits)) {
        return None;
    }
    if !late::serves(pipeline, (shaded, depth_bits)) {
        return None;
    }
    let mut linker = Linker { varies, ..Linker::default() };
    let depth = Depths { bits: depth_bits, plane: attachments.len() };
    linker.texels = if way == SmallPrimitivePath::Sieved && differs(shaded) { Texels::Quads } else { Texels::Apart };
    let pixels = linker.pixel_queue((&attachments, &depth));
    // In front of the program: lanes may end there.
    let many = counts.then(|| linker.count_none());
    let see = |linker: &mut Linker, left: Value| many.iter().for_each(|&output| linker.count_pixels(output, left));
    let exported = (counts && (shaded.fragment.may_discard || is_late(pipeline, shaded))).then(|| linker.count_none());
    match way {
        SmallPrimitivePath::AtOnce => {
            linker.shade_tested((pipeline, shaded), (&attachments, &depth), pixels, &mut |linker, event, left| {
                match event {
                    Event::Shaded => see(linker, left),
                    Event::Exported => exported.iter().for_each(|&output| linker.count_lanes(output, left)),
                }
            })
        }
        SmallPrimitivePath::Sieved => {
            let tested = discards_first(shaded).then(|| linker.left((pipeline, shaded), &pixels, &depth));
            let covered = tested.as_ref().map_or(&pixels.covered, |tested| &tested.covered).clone();
            let left = covered[0];
            see(&mut linker, left);
            linker.shade((shaded, &pipeline.multisample), &attachments, Pixels { covered, ..pixels }, 1);
            tested.iter().for_each(|tested| linker.store_depths(tested));
            exported.iter().for_each(|&output| linker.count_lanes(output, left));
        }
    }
    Some(linker.finish(program).with_all_lanes().alone())
}

impl Linker {
    /// A word of output with 0 in all lanes: its number.
    fn count_none(&mut self) -> usize {
        let none = self.b.int(0);
        self.output(none)
    }

    /// Makes a word of output the number of pixels for which a condition holds.
    fn count_pixels(&mut self, output: usize, condition: Value) {
        let many = self.lanes_with(condition);
        self.b.push(Inst::Output { slot: output as u32, value: many });
    }

    /// Makes a word of output 1 in lanes where a condition holds, of those that still run and are no helpers.
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

    /// The pixels of a wave of packed pixels.
    fn pixel_queue(&mut self, planes: (&[Attachment], &Depths)) -> Pixels {
        let packed_pixel = self.input(KernelInput::PackedPixel, Type::I32);
        let mut field = |first: u32, bits: u32| {
            let (first, mask) = (self.b.int(first), self.b.int((1 << bits) - 1));
            let shifted = self.b.binary(B::ShrLogical, packed_pixel, first);
            self.b.binary(B::And, shifted, mask)
        };
        let within = [field(PackedPixel::X, PackedPixel::PLACE_BITS), field(PackedPixel::Y, PackedPixel::PLACE_BITS)];
        // Only the low bits of it are looked at.
        let first = self.b.int(PackedPixel::OF);
        self.of = Some(self.b.binary(B::ShrLogical, packed_pixel, first));
        let pixel = [0, 1].map(|axis: usize| {
            let tile = self.input(KernelInput::Window(axis), Type::I32);
            self.b.binary(B::IAdd, tile, within[axis])
        });
        let zero = self.b.int(0);
        let is_some = self.b.binary(B::SLe, zero, packed_pixel);
        let texels = self.texels((pixel, None), 1, planes);
        Pixels { place: pixel.map(|pixel| self.b.unary(U::SToF, pixel)), covered: vec![is_some], texels }
    }
}
