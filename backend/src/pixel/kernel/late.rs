//! Late kernels: fragments of one primitive in a group of 8x8 pixels, of programs that discard some or write their depths.
//!
//! Such fragments are tested behind the program. What is discarded is known earlier than what it looks like, and depths of their own are
//! known last: so programs without those run only where any pixel of two rows passes its test. Lanes that discard theirs wait until the
//! others are through, since the next two rows are theirs again.

use super::direct::{self, Pixels};
use super::group::bytes_of;
use super::primitive::{Depths, stores_depths_apart};
use super::{Linker, Stage, written};
use crate::shader::Builtin;
use crate::shader::ir::{BinaryOp as B, Inst, Type, UnaryOp as U, Value};
use crate::state::GraphicsPipeline;

/// Links the kernel of a pipeline for depths of so many bits; `None` where quads must be tested one by one. One that counts has an output word:
/// how many fragments were exported, the same in all lanes.
pub(super) fn link(pipeline: &GraphicsPipeline, (depth_bits, counts): (u32, bool)) -> Option<Stage> {
    let (program, attachments) = (pipeline.fragment.as_deref()?, written(pipeline));
    let own_depth = program.output_builtin(Builtin::FragDepth, 0);
    let apart = own_depth.is_some() || stores_depths_apart(pipeline, (program, depth_bits));
    if !apart || !direct::serves_late(pipeline, &attachments) {
        return None;
    }
    let mut linker = Linker::default();
    let depth = Depths { bits: depth_bits, plane: attachments.len() };
    let planes = bytes_of(&attachments).chain([depth.bytes()]);
    let (zero, ended, exported) = (linker.b.int(0), linker.b.local(1), counts.then(|| linker.b.local(1)));
    exported.iter().for_each(|&exported| linker.b.local_store(exported, 0, None, zero));
    linker.ended = Some(ended);
    linker.each_strip(1, |linker, number| {
        let bits = linker.bits_of_strip(number);
        let any = linker.b.binary(B::INe, bits, zero);
        linker.b.push(Inst::If { condition: any });
        linker.b.local_store(ended, 0, None, zero);
        let pixels = linker.strip(number, Some(bits), planes);
        let known = own_depth.is_none().then(|| linker.left((pipeline, program), &pixels, &depth));
        let runs = known.as_ref().map(|left| linker.any(&left.covered));
        runs.iter().for_each(|&condition| linker.b.push(Inst::If { condition }));
        let words = linker.run((program, &pipeline.multisample), pixels.place);
        let left = match known {
            Some(left) => {
                let covered = linker.not_ended(&left.covered);
                left.with(covered)
            }
            None => {
                let pixels = Pixels { covered: linker.not_ended(&pixels.covered), ..pixels.clone() };
                linker.left_with((pipeline, program), &pixels, &depth, own_depth.map(|word| words[word]))
            }
        };
        if let Some(exported) = exported {
            let many = linker.lanes_with(left.covered[0]);
            linker.add(exported, many);
        }
        linker.write((program, &words), &attachments, &Pixels { covered: left.covered.clone(), ..pixels });
        linker.store_depths(&left);
        runs.iter().for_each(|_| linker.b.push(Inst::EndIf));
        linker.b.push(Inst::EndIf);
    });
    if let Some(exported) = exported {
        let many = linker.b.local_load(exported, 0, None, Type::I32);
        linker.output(many);
    }
    Some(linker.finish(Some(program)).alone())
}

impl Linker {
    /// Those of pixels whose lanes have not ended.
    fn not_ended(&mut self, covered: &[Value]) -> Vec<Value> {
        let Some(ended) = self.ended else { return covered.to_vec() };
        let ended = self.b.local_load(ended, 0, None, Type::I32);
        let ended = self.b.unary(U::AsBool, ended);
        let lives = self.b.unary(U::LogicalNot, ended);
        covered.iter().map(|&covered| self.b.binary(B::LogicalAnd, covered, lives)).collect()
    }
}
