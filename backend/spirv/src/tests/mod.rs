//! Tests with malicious binaries: each must yield an error or a program, and never a panic or a
//! hang.

use ash::vk;
use vitric_ir::interface::{Builtin, Shader, Slot};

use super::{Error, compile, parse};

mod denormals;
mod feedback;
mod hostile;
mod passes;
mod text;
mod verified;

fn compile_any(words: &[u32]) -> usize {
    let Ok(module) = parse(words) else { return 0 };
    use vk::ShaderStageFlags as S;
    let of_patches = S::TESSELLATION_CONTROL | S::TESSELLATION_EVALUATION;
    let stages = (S::VERTEX | of_patches | S::GEOMETRY | S::FRAGMENT | S::COMPUTE | S::TASK_EXT | S::MESH_EXT).as_raw();
    let stages = (0..u32::BITS).map(|bit| S::from_raw(stages & 1 << bit)).filter(|stage| !stage.is_empty());
    stages.filter(|&stage| compile(&module, "main", stage, &Vec::new()).is_ok()).count()
}

/// Returns the committed shaders of the samples and the tests.
fn corpus() -> Vec<Vec<u32>> {
    named_corpus().into_iter().map(|(_, words)| words).collect()
}

/// Returns the committed shaders with their paths.
fn named_corpus() -> Vec<(String, Vec<u32>)> {
    let roots = ["../tests/shaders", "../tests/modules", "../../samples/shaders", "../../cts/shaders"];
    let mut out = Vec::new();
    for root in roots {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(root);
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path().extension().is_some_and(|extension| extension == "spv") {
                let bytes = std::fs::read(entry.path()).unwrap();
                let name = entry.path().display().to_string();
                out.push((
                    name,
                    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect(),
                ));
            }
        }
    }
    out.sort();
    out
}

/// Small deterministic generator of random numbers (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

#[test]
fn committed_shaders_compile() {
    let corpus = named_corpus();
    assert!(corpus.len() >= 4);
    for (name, words) in &corpus {
        let module = parse(words).unwrap();
        let stage = match module.entry_points[0].model {
            spirv::ExecutionModel::Vertex => vk::ShaderStageFlags::VERTEX,
            spirv::ExecutionModel::Fragment => vk::ShaderStageFlags::FRAGMENT,
            spirv::ExecutionModel::Geometry => vk::ShaderStageFlags::GEOMETRY,
            spirv::ExecutionModel::TessellationControl => vk::ShaderStageFlags::TESSELLATION_CONTROL,
            spirv::ExecutionModel::TessellationEvaluation => vk::ShaderStageFlags::TESSELLATION_EVALUATION,
            spirv::ExecutionModel::TaskEXT => vk::ShaderStageFlags::TASK_EXT,
            spirv::ExecutionModel::MeshEXT => vk::ShaderStageFlags::MESH_EXT,
            _ => vk::ShaderStageFlags::COMPUTE,
        };
        let compiled = compile(&module, "main", stage, &Vec::new());
        assert!(compiled.is_ok(), "{name}: {:?}", compiled.err());
    }
}

#[test]
fn truncated_binaries_are_survived() {
    let corpus = corpus();
    let mut random = Random(1);
    for _ in 0..10_000 {
        let words = &corpus[random.below(corpus.len())];
        compile_any(&words[..random.below(words.len())]);
    }
}

#[test]
fn random_binaries_are_survived() {
    let mut random = Random(2);
    for _ in 0..10_000 {
        let mut words: Vec<u32> = (0..random.below(200)).map(|_| random.next() as u32).collect();
        // Use a valid header and plausible word counts and operations, so that the parser passes
        // the first word.
        words.splice(0..0, [spirv::MAGIC_NUMBER, 0x1_0000, 0, 1000, 0]);
        for word in words.iter_mut().skip(5).step_by(3) {
            *word = ((1 + *word % 5) << 16) | (*word % 330);
        }
        compile_any(&words);
    }
}

#[test]
fn bit_flipped_binaries_are_survived() {
    let corpus = corpus();
    let mut random = Random(3);
    for _ in 0..10_000 {
        let mut words = corpus[random.below(corpus.len())].clone();
        for _ in 0..=random.below(4) {
            let index = random.below(words.len());
            words[index] ^= 1 << random.below(32);
        }
        compile_any(&words);
    }
}

/// Returns the words of a committed shader in the folder `tests/shaders`.
fn committed(file: &str) -> Vec<u32> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/shaders").join(file);
    let bytes = std::fs::read(path).unwrap();
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn program(file: &str, stage: vk::ShaderStageFlags) -> Shader {
    compile(&parse(&committed(file)).unwrap(), "main", stage, &Vec::new()).unwrap()
}

#[test]
fn unwritten_members_of_the_builtin_block_are_no_outputs() {
    let bare = program("bare.vert.spv", vk::ShaderStageFlags::VERTEX);
    let position = |component| Slot::Builtin(Builtin::Position, component);
    assert_eq!(bare.outputs.iter().map(|output| output.slot).collect::<Vec<_>>(), [0, 1, 2, 3].map(position));
}

/// Assembles a module with a compute entry point `main` (id 1) from declarations and a body.
fn assemble(declarations: &[(spirv::Op, &[u32])], body: &[(spirv::Op, &[u32])]) -> Vec<u32> {
    use spirv::Op;
    let name = u32::from_le_bytes(*b"main");
    let mut words = vec![spirv::MAGIC_NUMBER, 0x1_0000, 0, 1000, 0];
    let mut push = |&(op, operands): &(Op, &[u32])| {
        words.push((operands.len() as u32 + 1) << 16 | op as u32);
        words.extend_from_slice(operands);
    };
    push(&(Op::EntryPoint, &[5, 1, name, 0]));
    push(&(Op::ExecutionMode, &[1, spirv::ExecutionMode::LocalSize as u32, 1, 1, 1]));
    push(&(Op::TypeVoid, &[2]));
    push(&(Op::TypeFunction, &[3, 2]));
    declarations.iter().for_each(&mut push);
    push(&(Op::Function, &[2, 1, 0, 3]));
    push(&(Op::Label, &[4]));
    body.iter().for_each(&mut push);
    push(&(Op::Return, &[]));
    push(&(Op::FunctionEnd, &[]));
    words
}

#[test]
fn structures_that_double_at_every_level_end() {
    use spirv::Op;
    for leaf in [Op::TypeStruct, Op::TypeBool] {
        let mut operands: Vec<Vec<u32>> = vec![vec![100]];
        operands.extend((101..150).map(|id| vec![id, id - 1, id - 1]));
        let types = operands.iter().enumerate();
        let types = types.map(|(index, words)| (if index == 0 { leaf } else { Op::TypeStruct }, words.as_slice()));
        let words = assemble(&types.collect::<Vec<_>>(), &[(Op::Undef, &[149, 200])]);
        let compiled = compile(&parse(&words).unwrap(), "main", vk::ShaderStageFlags::COMPUTE, &Vec::new());
        assert_eq!(compiled.is_ok(), leaf == Op::TypeStruct, "{leaf:?}: {:?}", compiled.err());
    }
}

#[test]
fn groups_of_decorations_reach_their_targets() {
    use spirv::Op;
    let binding = spirv::Decoration::Binding as u32;
    let words = assemble(
        &[
            (Op::Decorate, &[50, binding, 7]),
            (Op::DecorationGroup, &[50]),
            (Op::GroupDecorate, &[50, 60, 61]),
            (Op::GroupMemberDecorate, &[50, 62, 3]),
        ],
        &[],
    );
    let module = parse(&words).unwrap();
    for target in [(60, None), (61, None), (62, Some(3))] {
        assert_eq!(module.decoration_word(target, spirv::Decoration::Binding), Some(7), "{target:?}");
    }
    assert_eq!(module.decoration_word((62, None), spirv::Decoration::Binding), None);
}

#[test]
fn large_functions_called_at_every_level_end() {
    use spirv::Op;
    // Ids 10..26 are functions that call the next one 8 times; the last one is long.
    let mut words = assemble(&[], &[(Op::FunctionCall, &[2, 30, 10])]);
    let mut push = |op: Op, operands: &[u32]| {
        words.push((operands.len() as u32 + 1) << 16 | op as u32);
        words.extend_from_slice(operands);
    };
    for id in 10..26 {
        push(Op::Function, &[2, id, 0, 3]);
        push(Op::Label, &[id + 100]);
        let calls = if id < 25 { 8 } else { 0 };
        (0..calls).for_each(|call| push(Op::FunctionCall, &[2, 200 + call, id + 1]));
        (0..100_000 * u32::from(id == 25)).for_each(|_| push(Op::Nop, &[]));
        push(Op::Return, &[]);
        push(Op::FunctionEnd, &[]);
    }
    let compiled = compile(&parse(&words).unwrap(), "main", vk::ShaderStageFlags::COMPUTE, &Vec::new());
    assert_eq!(compiled.err(), Some(Error::Unsupported("a program this long".into())));
}

#[test]
fn capabilities_that_are_missing_are_named() {
    use spirv::Capability as C;
    for capability in [C::MinLod, C::Kernel, C::SparseResidency] {
        let words = assemble(&[(spirv::Op::Capability, &[capability as u32])], &[]);
        let error = parse(&words).err().unwrap();
        assert_eq!(error, Error::Unsupported(format!("capability {capability:?}")));
    }
    for capability in [C::Shader, C::DenormFlushToZero] {
        assert!(parse(&assemble(&[(spirv::Op::Capability, &[capability as u32])], &[])).is_ok());
    }
}
