//! Tests of the execution mode `DenormFlushToZero`.

use ash::vk;
use spirv::{ExecutionMode, Op};
use vitric_ir::{Function, Inst, UnaryOp, WideOp, verify, verify_strictly};

use super::{compile, named_corpus, parse};
use crate::compile_observed;

/// Adds the mode for 16, 32 and 64 bits to the first entry point of a module.
fn flushing(words: &[u32]) -> Option<Vec<u32>> {
    const HEADER_WORDS: usize = 5;
    let mut at = HEADER_WORDS;
    while words.get(at)? & 0xffff != Op::EntryPoint as u32 {
        at += (words[at] >> 16) as usize;
    }
    let (next, function) = (at + (words[at] >> 16) as usize, words[at + 2]);
    let mode = |width| [4 << 16 | Op::ExecutionMode as u32, function, ExecutionMode::DenormFlushToZero as u32, width];
    let modes = [16, 32, 64].map(mode);
    Some([&words[..next], modes.as_flattened(), &words[next..]].concat())
}

fn functions(words: &[u32]) -> Vec<Function> {
    let Ok(module) = parse(words) else { return Vec::new() };
    let stages = (0..8).map(|bit| vk::ShaderStageFlags::from_raw(1 << bit));
    let shaders = stages.filter_map(|stage| compile(&module, "main", stage, &Vec::new()).ok());
    shaders.map(|shader| shader.function).collect()
}

fn flushes(function: &Function) -> usize {
    let is_flush = |inst: &&Inst| match inst {
        Inst::Unary { op, .. } => matches!(op, UnaryOp::FlushDenormal | UnaryOp::FlushHalfDenormal),
        Inst::Wide(wide) => wide.op == WideOp::FlushDenormal,
        _ => false,
    };
    function.insts.iter().filter(is_flush).count()
}

#[test]
fn only_programs_that_request_it_flush_denormals() {
    let mut total = 0;
    for (name, words) in named_corpus() {
        let is_requested = name.ends_with("flushed.comp.spv");
        let (plain, flushing) = (functions(&words), functions(&flushing(&words).unwrap()));
        assert_eq!(plain.iter().any(|function| flushes(function) > 0), is_requested, "{name}");
        for function in &flushing {
            let verified = [verify(function), verify_strictly(function)];
            assert_eq!(verified, [Ok(()), Ok(())], "{name}\n{function}");
        }
        total += flushing.iter().map(flushes).sum::<usize>();
    }
    assert!(total > 1000, "{total} flushes");
}

#[test]
fn the_pass_removes_many_flushes() {
    let [mut before, mut after] = [0; 2];
    for (_, words) in named_corpus() {
        let Ok(module) = parse(&flushing(&words).unwrap()) else { continue };
        let mut observe = |name: &str, function: &Function| match name {
            "fold" => before += flushes(function),
            "denormals" => after += flushes(function),
            _ => {}
        };
        for stage in (0..8).map(|bit| vk::ShaderStageFlags::from_raw(1 << bit)) {
            drop(compile_observed(&module, "main", stage, &Vec::new(), &mut observe));
        }
    }
    assert!(after * 3 < before * 2, "{after} of {before} flushes remain");
}
