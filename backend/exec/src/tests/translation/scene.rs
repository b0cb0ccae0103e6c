//! Helper that runs one workgroup of a committed compute shader on given resources.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use ash::vk;
use vitric_codegen::Target;
use vitric_memory::{Addresses, Allocation, Buffer, BufferRange, Heap};
use vitric_spirv::{Specialization, compile, parse};

use crate::bindings::Bindings;
use crate::interp::Deadline;
use crate::runtime::{Bound, Descriptor};
use crate::{Program, WorkgroupScratch, Workgroups};

/// Size of every buffer, in bytes.
const SIZE: u64 = 8192;

/// Resources of a compute shader, in set 0.
pub(super) struct Scene {
    heap: Arc<Heap>,
    file: &'static str,
    /// File endings that replace `.spv` in the names of the shader's optimized variants.
    forms: &'static [&'static str],
    push: Vec<u8>,
    specialization: Specialization,
    /// Memory by address, and the function that resets it to its initial contents.
    addresses: Arc<Addresses>,
    start: Box<dyn Fn()>,
    descriptors: HashMap<u32, Vec<Descriptor>>,
    buffers: HashMap<(u32, usize), Arc<Buffer>>,
}

impl Scene {
    /// Creates a scene for the shader `file` of `tests/shaders`, with an output buffer at binding
    /// 0.
    pub(super) fn new(file: &'static str) -> Self {
        let scene = Self {
            heap: Heap::new(1 << 22),
            file,
            forms: &[".opt.spv", ".small.spv"],
            push: Vec::new(),
            specialization: Vec::new(),
            addresses: Arc::default(),
            start: Box::new(|| {}),
            descriptors: HashMap::new(),
            buffers: HashMap::new(),
        };
        scene.buffer(0, &[])
    }

    /// Appends a buffer that starts with `words` to a binding.
    pub(super) fn buffer(mut self, binding: u32, words: &[u32]) -> Self {
        let memory = self.memory();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        memory.write(0, &bytes);
        let buffer = Buffer::new(SIZE);
        assert!(buffer.bind(memory, 0));
        let range = BufferRange::new(buffer.clone(), 0, vk::WHOLE_SIZE);
        let index = self.descriptors.get(&binding).map_or(0, Vec::len);
        self.buffers.insert((binding, index), buffer);
        self.descriptor(binding, Descriptor::StorageBuffer(range))
    }

    /// Appends a uniform buffer that starts with `words`.
    pub(super) fn uniforms(self, binding: u32, words: &[u32]) -> Self {
        let memory = self.memory();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        memory.write(0, &bytes);
        let buffer = Buffer::new(SIZE);
        assert!(buffer.bind(memory, 0));
        let range = BufferRange::new(buffer, 0, vk::WHOLE_SIZE);
        self.descriptor(binding, Descriptor::UniformBuffer(range))
    }

    pub(super) fn floats(self, binding: u32, values: &[f32]) -> Self {
        let words: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
        self.buffer(binding, &words)
    }

    pub(super) fn descriptor(mut self, binding: u32, descriptor: Descriptor) -> Self {
        self.descriptors.entry(binding).or_default().push(descriptor);
        self
    }

    pub(super) fn memory(&self) -> Arc<Allocation> {
        Allocation::new(&self.heap, SIZE).unwrap()
    }

    /// Omits the optimized variants, for shaders whose results `spirv-opt` may change.
    pub(super) fn only_as_compiled(mut self) -> Self {
        self.forms = &[];
        self
    }

    pub(super) fn push(mut self, words: &[u32]) -> Self {
        self.push = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self
    }

    pub(super) fn specialize(mut self, constants: &[(u32, u64)]) -> Self {
        self.specialization = constants.to_vec();
        self
    }

    /// Sets the memory by address. `start` resets it to its initial contents.
    pub(super) fn addresses(self, addresses: Arc<Addresses>, start: impl Fn() + 'static) -> Self {
        Self { addresses, start: Box::new(start), ..self }
    }

    /// Runs the workgroup and returns the output buffer.
    pub(super) fn run(self) -> Vec<u32> {
        self.run_and_read(&[0]).swap_remove(0)
    }

    /// Runs the workgroup and returns the first buffer of each binding in `bindings`.
    ///
    /// Every shader is also committed as optimized by `spirv-opt` with `-O` and `-Os` (phis
    /// instead of variables, merged and unrolled blocks). Every variant is interpreted and run as
    /// code for each target of the machine. All results must be equal.
    pub(super) fn run_and_read(self, bindings: &[u32]) -> Vec<Vec<u32>> {
        let before: Vec<Vec<u8>> = self.buffers.values().map(|buffer| bytes_of(buffer)).collect();
        let targets = [Target::Avx2, Target::Avx512].into_iter().filter(|target| target.is_supported());
        let executors: Vec<Option<Target>> = std::iter::once(None).chain(targets.map(Some)).collect();
        let mut first: Option<Vec<Vec<u32>>> = None;
        for form in std::iter::once(&".spv").chain(self.forms) {
            let file = self.file.replace(".spv", form);
            let module = parse(&shader(&file)).unwrap();
            let shader = compile(&module, "main", vk::ShaderStageFlags::COMPUTE, &self.specialization).unwrap();
            let mut program = Program::new(shader, "main");
            for &executor in &executors {
                for (buffer, bytes) in self.buffers.values().zip(&before) {
                    buffer.write(0, bytes);
                }
                (self.start)();
                program.generate(executor).unwrap();
                let out = self.run_program(&program, bindings);
                let same = first.get_or_insert_with(|| out.clone()) == &out;
                assert!(same, "{file} does something else on {executor:?}");
            }
        }
        first.unwrap()
    }

    fn run_program(&self, program: &Program, bindings: &[u32]) -> Vec<Vec<u32>> {
        let bound = |resource: &vitric_ir::interface::Resource| {
            let all = self.descriptors.get(&resource.binding).into_iter().flatten();
            all.map(|descriptor| Bound::new(descriptor.clone(), 0)).collect()
        };
        let resolved = Bindings::new(program.resources.iter().map(bound).collect());
        let resolved = resolved.with_addresses(self.addresses.clone());
        let deadline = Deadline::after(Duration::from_secs(60));
        let (base, groups, push) = ([0; 3], [1; 3], &self.push);
        let one = Workgroups { program, bindings: &resolved, push, deadline: &deadline, base, groups, draw: 0 };
        one.run(&mut WorkgroupScratch::default(), 0, &[]);
        bindings.iter().map(|&binding| words_of(&self.buffers[&(binding, 0)])).collect()
    }
}

fn bytes_of(buffer: &Buffer) -> Vec<u8> {
    let mut bytes = vec![0; SIZE as usize];
    buffer.read(0, &mut bytes);
    bytes
}

fn words_of(buffer: &Buffer) -> Vec<u32> {
    bytes_of(buffer).chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn shader_path(file: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/shaders").join(file)
}

/// Returns the words of a committed shader.
pub(super) fn shader(file: &str) -> Vec<u32> {
    let bytes = std::fs::read(shader_path(file)).unwrap();
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

/// Checks `COUNT` words of each of the 16 lanes against a model of the shader.
pub(super) fn check_lanes<const COUNT: usize>(out: &[u32], model: impl Fn(u32) -> [u32; COUNT]) {
    for lane in 0..16 {
        assert_eq!(out[lane as usize * COUNT..][..COUNT], model(lane), "lane {lane}");
    }
}
