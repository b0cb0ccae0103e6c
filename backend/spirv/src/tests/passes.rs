//! Tests of the instructions that the passes keep and remove.

use vitric_ir::passes::{Count, PASSES, optimize};
use vitric_ir::{AtomicOp, BinaryOp, Builder, Inst, Space, Type, UnaryOp, Value, verify};

fn count(insts: &[Inst], wanted: impl Fn(&Inst) -> bool) -> usize {
    insts.iter().filter(|inst| wanted(inst)).count()
}

fn is_load(inst: &Inst) -> bool {
    matches!(inst, Inst::LocalLoad { .. })
}

fn is_store(inst: &Inst) -> bool {
    matches!(inst, Inst::LocalStore { .. })
}

#[test]
fn a_straight_line_needs_no_locals() {
    let mut b = Builder::new();
    let local = b.local(2);
    let input = b.input(0, Type::I32);
    b.local_store(local, 1, None, input);
    let loaded = b.local_load(local, 1, None, Type::I32);
    let double = b.binary(BinaryOp::IAdd, loaded, loaded);
    b.local_store(local, 0, None, double);
    let out = b.local_load(local, 0, None, Type::I32);
    b.push(Inst::Output { slot: 0, value: out });
    let mut function = b.finish();
    optimize(&mut function, &mut |_, _| {});
    verify(&function).unwrap();
    assert_eq!(function.insts.len(), 3, "{:?}", function.insts);
    assert_eq!(function.types.len(), 2);
}

#[test]
fn a_store_on_one_side_is_seen_after_the_branch() {
    let mut b = Builder::new();
    let local = b.local(1);
    let (one, two) = (b.int(1), b.int(2));
    let condition = b.input(0, Type::Bool);
    b.local_store(local, 0, None, one);
    b.push(Inst::If { condition });
    b.local_store(local, 0, None, two);
    b.push(Inst::Else);
    let kept = b.local_load(local, 0, None, Type::I32);
    b.push(Inst::Output { slot: 1, value: kept });
    b.push(Inst::EndIf);
    let out = b.local_load(local, 0, None, Type::I32);
    b.push(Inst::Output { slot: 0, value: out });
    let mut function = b.finish();
    optimize(&mut function, &mut |_, _| {});
    verify(&function).unwrap();
    assert_eq!((count(&function.insts, is_load), count(&function.insts, is_store)), (1, 2));
}

#[test]
fn a_loop_does_not_see_values_from_before_it_stores() {
    let mut b = Builder::new();
    let local = b.local(2);
    let zero = b.int(0);
    b.local_store(local, 0, None, zero);
    b.local_store(local, 1, None, zero);
    b.push(Inst::Loop);
    let counter = b.local_load(local, 0, None, Type::I32);
    let fixed = b.local_load(local, 1, None, Type::I32);
    b.push(Inst::If { condition: counter });
    b.push(Inst::Break { depth: 0 });
    b.push(Inst::EndIf);
    b.push(Inst::Continuing);
    let next = b.binary(BinaryOp::ISub, fixed, counter);
    b.local_store(local, 0, None, next);
    b.push(Inst::Output { slot: 0, value: counter });
    b.push(Inst::EndLoop);
    let mut function = b.finish();
    optimize(&mut function, &mut |_, _| {});
    verify(&function).unwrap();
    // Each iteration loads the counter. The load of the other local is forwarded and its store
    // removed.
    assert_eq!((count(&function.insts, is_load), count(&function.insts, is_store)), (1, 2));
}

#[test]
fn loops_stay_that_wait_or_never_end() {
    let loops = |condition: &dyn Fn(&mut Builder) -> Option<Value>| {
        let mut b = Builder::new();
        b.push(Inst::Loop);
        if let Some(condition) = condition(&mut b) {
            b.push(Inst::If { condition });
            b.push(Inst::Break { depth: 0 });
            b.push(Inst::EndIf);
        }
        b.push(Inst::Continuing);
        b.push(Inst::EndLoop);
        let mut function = b.finish();
        optimize(&mut function, &mut |_, _| {});
        verify(&function).unwrap();
        count(&function.insts, |inst| matches!(inst, Inst::Loop))
    };
    let flag = Space::Buffer { resource: 0, element: None };
    let counting = |b: &mut Builder| {
        let (local, one) = (b.local(1), b.int(1));
        let before = b.local_load(local, 0, None, Type::I32);
        let after = b.binary(BinaryOp::IAdd, before, one);
        b.local_store(local, 0, None, after);
        Some(b.unary(UnaryOp::AsBool, before))
    };
    assert_eq!(loops(&counting), 0, "it is taken to end");
    assert_eq!(loops(&|_| None), 1, "nobody leaves it");
    assert_eq!(loops(&|b| Some(b.input(0, Type::Bool))), 1, "it ends at once or never");
    let waiting = |b: &mut Builder| {
        let (zero, result) = (b.int(0), b.value(Type::I32));
        b.push(Inst::Atomic { result, space: flag, offset: zero, op: AtomicOp::Load, value: zero, comparator: None });
        Some(b.unary(UnaryOp::AsBool, result))
    };
    assert_eq!(loops(&waiting), 1, "somebody else may change that");
}

#[test]
fn a_dynamic_store_ends_what_is_known_of_its_local() {
    let mut b = Builder::new();
    let (first, second) = (b.local(4), b.local(1));
    let index = b.input(0, Type::I32);
    b.local_store(first, 0, None, index);
    b.local_store(second, 0, None, index);
    b.local_store(first, 0, Some(index), index);
    let unknown = b.local_load(first, 0, None, Type::I32);
    let known = b.local_load(second, 0, None, Type::I32);
    b.push(Inst::Output { slot: 0, value: unknown });
    b.push(Inst::Output { slot: 1, value: known });
    let mut function = b.finish();
    optimize(&mut function, &mut |_, _| {});
    verify(&function).unwrap();
    assert_eq!((count(&function.insts, is_load), count(&function.insts, is_store)), (1, 2));
}

/// Returns the changes of each pass on the shaders of the samples, as the table of `COUNTS.md`.
fn counts() -> String {
    let mut totals = vec![[0i64; 3]; PASSES.len() + 1];
    for (stage, words) in sample_shaders() {
        let module = crate::parse(&words).unwrap();
        let (mut last, mut step) = (Count::default(), 0);
        let mut observe = |_: &str, function: &vitric_ir::Function| {
            let count = Count::of(function);
            let pairs =
                [(last.instructions, count.instructions), (last.locals, count.locals), (last.in_loops, count.in_loops)];
            for (total, (before, after)) in totals[step].iter_mut().zip(pairs) {
                *total += after as i64 - before as i64;
            }
            (last, step) = (count, step + 1);
        };
        crate::compile_observed(&module, "main", stage, &Vec::new(), &mut observe).unwrap();
    }
    let names = std::iter::once("front end").chain(PASSES.iter().map(|(name, _)| *name));
    let row = |(name, [instructions, locals, in_loops]): (&str, [i64; 3])| {
        format!("| {name} | {instructions:+} | {locals:+} | {in_loops:+} |\n")
    };
    let rows: String = names.zip(totals).map(row).collect();
    format!(
        "What the passes do to the shaders of the samples, one after the other. Written by the test `every_pass_counts`\n\
         with `VITRIC_BLESS=1`, and checked by it.\n\n\
         | pass | instructions | accesses of locals | instructions in loops |\n|---|---|---|---|\n{rows}"
    )
}

fn sample_shaders() -> Vec<(ash::vk::ShaderStageFlags, Vec<u32>)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/shaders");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut shaders = Vec::new();
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let stages = [
            (".vert.spv", ash::vk::ShaderStageFlags::VERTEX),
            (".frag.spv", ash::vk::ShaderStageFlags::FRAGMENT),
            (".comp.spv", ash::vk::ShaderStageFlags::COMPUTE),
        ];
        if let Some((_, stage)) = stages.into_iter().find(|(suffix, _)| name.ends_with(suffix)) {
            let bytes = std::fs::read(path).unwrap();
            let words = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap()));
            shaders.push((stage, words.collect()));
        }
    }
    shaders
}

#[test]
fn every_pass_counts() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../ir/src/passes/COUNTS.md");
    let table = counts();
    if std::env::var_os("VITRIC_BLESS").is_some() {
        std::fs::write(path, table).unwrap();
        return;
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), table, "see the file's first lines");
    // No sample flushes denormals. `the_pass_removes_many_flushes` tests that pass.
    for (name, _) in PASSES.iter().filter(|(name, _)| *name != "denormals") {
        let row = table.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap();
        assert!(row.contains('-'), "{name} takes nothing away: {row}");
    }
}
