//! Mixed kernels: pixels of several tiny primitives by one run, each lane one, with their depth test, shading and export.
//!
//! A primitive of four pixels fills a quarter of a wave at best. The words of sixteen primitives are interleaved, so that a lane finds
//! those of its own by one permutation of a register: waves are full at the price of little more than that. No two lanes may have the
//! same pixel. What sieves have left was tested; where programs want derivatives it comes as whole quads. Short programs that do are not
//! mixed: small primitives leave less of quads to gain.

use super::direct::{self, Pixels, Way};
use super::primitive::{Depths, needs_quads};
use super::{Attachment, Linker, Source, Stage, written};
use crate::pixel::crumbs::Crumb;
use crate::shader::Program;
use crate::shader::ir::{BinaryOp as B, Builder, Type, UnaryOp as U, Value};
use crate::state::GraphicsPipeline;

/// Links the kernel of a pipeline for depths of so many bits; `None` where pixels cannot be mixed. One that counts has an output word: 1
/// in lanes whose pixel was shaded.
pub(super) fn link(pipeline: &GraphicsPipeline, (depth_bits, counts): (u32, bool)) -> Option<Stage> {
    let (program, attachments) = (pipeline.fragment.as_deref(), written(pipeline));
    let nothing = Program::routine(Builder::new().finish(), &[], 0);
    let shaded = program.unwrap_or(&nothing);
    let way = direct::way(pipeline, &attachments)?;
    if way == Way::AtOnce && (pipeline.multisample.samples > 1 || needs_quads(shaded, depth_bits)) {
        return None;
    }
    let mut linker = Linker::default();
    let depth = Depths { bits: depth_bits, plane: attachments.len() };
    let pixels = linker.crumbs((&attachments, &depth));
    let (flag, none) = (linker.b.local(1), linker.b.int(0));
    linker.b.local_store(flag, 0, None, none);
    let see = |linker: &mut Linker, left: &[Value]| {
        let one = linker.b.int(1);
        let shaded = linker.b.select(left[0], one, none);
        linker.b.local_store(flag, 0, None, shaded);
    };
    match way {
        Way::AtOnce => linker.shade_tested((pipeline, shaded), (&attachments, &depth), pixels, see),
        Way::Sieved => {
            see(&mut linker, &pixels.covered);
            linker.shade((shaded, &pipeline.multisample), &attachments, pixels);
        }
    }
    if counts {
        let shaded = linker.b.local_load(flag, 0, None, Type::I32);
        linker.output(shaded);
    }
    Some(linker.finish(program).alone())
}

impl Linker {
    /// The pixels of a wave of crumbs.
    fn crumbs(&mut self, planes: (&[Attachment], &Depths)) -> Pixels {
        let crumb = self.input(Source::Crumb, Type::I32);
        let mut field = |first: u32, bits: u32| {
            let (first, mask) = (self.b.int(first), self.b.int((1 << bits) - 1));
            let shifted = self.b.binary(B::ShrLogical, crumb, first);
            self.b.binary(B::And, shifted, mask)
        };
        let within = [field(Crumb::X, Crumb::PLACE_BITS), field(Crumb::Y, Crumb::PLACE_BITS)];
        // Only the low bits of it are looked at.
        let first = self.b.int(Crumb::OF);
        self.of = Some(self.b.binary(B::ShrLogical, crumb, first));
        let pixel = [0, 1].map(|axis: usize| {
            let tile = self.input(Source::Window(axis), Type::I32);
            self.b.binary(B::IAdd, tile, within[axis])
        });
        let zero = self.b.int(0);
        let is_some = self.b.binary(B::SLe, zero, crumb);
        let texels = self.texels(pixel, 1, planes);
        Pixels { place: pixel.map(|pixel| self.b.unary(U::SToF, pixel)), covered: vec![is_some], texels }
    }
}
