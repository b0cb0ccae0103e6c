//! The environment that a file's function runs in, and the effects of a run.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ash::vk;
use vitric_base::simd::{Lanes, Mask, WAVE};
use vitric_codegen::Target;
use vitric_exec::bindings::Bindings;
use vitric_exec::interp::{Environment, Wave};
use vitric_exec::runtime::{Bound, Deadline, Ranges, SharedMemory, Stop};
use vitric_exec::{Executable, Program};
use vitric_ir::interface::{InputSlot, Interface, Interpolation, OutputSlot, Place, Shader, Slot};
use vitric_ir::passes::LaneVariance;
use vitric_ir::{Function, Inst, Space, Type, verify, verify_strictly};
use vitric_memory::{Addresses, Allocation, Heap};

use crate::directives::Directive;
use crate::words::{self, Form};

/// Number of words in memory that a file does not describe.
const WORDS: usize = 48;

/// Words of memory, and the form in which they are printed.
#[derive(Debug, Clone)]
pub struct Memory {
    name: String,
    words: Vec<u32>,
    form: Form,
}

impl Memory {
    fn new(directive: &Directive) -> Self {
        let name = [&[directive.name.clone()][..], &directive.arguments[..]].concat().join(" ");
        Self { name, words: words::parse(&directive.value, None), form: words::form(&directive.value) }
    }

    /// Returns memory with a pattern, for files whose results do not show it.
    fn pattern(name: String, seed: usize) -> Self {
        let word = |index: usize| (index * 37 + seed) as u32 * 0x0101 % 0x3_0000;
        Self { name, words: (0..WORDS).map(word).collect(), form: Form::Integer }
    }

    fn allocate(&self) -> Arc<Allocation> {
        let memory = Allocation::new(&Heap::new(1 << 20), self.words.len() as u64 * 4).unwrap();
        memory.write(0, &self.bytes());
        memory
    }

    fn bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Returns the words of an allocation that [`Self::allocate`] made.
    fn read(&self, memory: &Allocation) -> Vec<u32> {
        let mut bytes = vec![0; self.words.len() * 4];
        memory.read(0, &mut bytes);
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
    }
}

/// Environment of a function.
#[derive(Debug, Clone)]
pub struct Scene {
    /// Lanes that run.
    pub lanes: Mask,
    /// Lanes that are helpers.
    pub helpers: Mask,
    /// Words of the input slots.
    pub inputs: Vec<Lanes>,
    variances: Vec<LaneVariance>,
    parameters: Vec<Lanes>,
    push: Memory,
    shared: Memory,
    buffers: Vec<Memory>,
    ranges: Vec<Memory>,
    addresses: Vec<(u64, Memory)>,
}

/// Effects of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Effects {
    /// Output words.
    pub outputs: Vec<Lanes>,
    killed: Mask,
    /// Contents of shared memory, buffers, ranges and memory by address, in this order.
    memory: Vec<Vec<u32>>,
}

/// Returns the number of a kind of slots that a function uses.
pub fn count(function: &Function, slot: impl Fn(&Inst) -> Option<u32>) -> usize {
    function.insts.iter().filter_map(slot).max().map_or(0, |last| last as usize + 1)
}

/// Returns the slot of an input.
pub fn input_slot(inst: &Inst) -> Option<u32> {
    if let Inst::Input { slot, .. } | Inst::Interpolate { slot, .. } = inst { Some(*slot) } else { None }
}

/// Returns the slot of an output.
pub fn output_slot(inst: &Inst) -> Option<u32> {
    if let Inst::Output { slot, .. } = inst { Some(*slot) } else { None }
}

/// Returns the type of the values that a function stores to an output.
pub fn output_type(function: &Function, slot: u32) -> Type {
    let stored = function.insts.iter().find_map(|inst| match inst {
        Inst::Output { slot: stored, value } if *stored == slot => Some(function.types[value.0 as usize]),
        _ => None,
    });
    stored.unwrap_or(Type::I32)
}

fn space(inst: &Inst) -> Option<Space> {
    match inst {
        Inst::Load { space, .. }
        | Inst::Store { space, .. }
        | Inst::StorePart { space, .. }
        | Inst::Atomic { space, .. } => Some(*space),
        Inst::Atomic64(atomic) => Some(atomic.space),
        Inst::MatrixLoad(load) => Some(load.space),
        Inst::MatrixStore(store) => Some(store.space),
        Inst::BufferLength { resource, element, .. } => Some(Space::Buffer { resource: *resource, element: *element }),
        _ => None,
    }
}

/// Returns true if a function can run without images.
pub fn runs(function: &Function) -> bool {
    let needs_image = |inst: &Inst| {
        matches!(inst, Inst::Image(_))
            || matches!(space(inst), Some(Space::Texels(_) | Space::Levels(_) | Space::Clock))
    };
    !function.insts.iter().any(needs_image)
}

impl Scene {
    /// Creates the environment that directives describe. Memory and inputs that they do not
    /// describe have a pattern.
    pub fn new(function: &Function, directives: &[Directive]) -> Self {
        let buffer = |inst: &Inst| match space(inst) {
            Some(Space::Buffer { resource, .. }) => Some(resource),
            _ => None,
        };
        let range = |inst: &Inst| match space(inst) {
            Some(Space::Range(number) | Space::Quads(number) | Space::Block(number)) => Some(number),
            _ => None,
        };
        let parameter = |inst: &Inst| if let Inst::Parameter { word, .. } = inst { Some(*word) } else { None };
        let inputs = count(function, input_slot);
        let pattern = |slot: usize| std::array::from_fn(|lane| (lane * (slot + 3) % 11) as u32);
        let memories = |kind: &str, count| -> Vec<Memory> {
            (0..count).map(|index| Memory::pattern(format!("{kind} {index}"), index)).collect()
        };
        let mut scene = Self {
            lanes: Mask::MAX,
            helpers: 0,
            inputs: (0..inputs).map(pattern).collect(),
            variances: vec![LaneVariance::Divergent; inputs],
            parameters: (0..count(function, parameter)).map(pattern).collect(),
            push: Memory::pattern("push".into(), 5),
            shared: Memory { name: "shared".into(), words: vec![0; 16], form: Form::Integer },
            buffers: memories("buffer", count(function, buffer)),
            ranges: memories("range", count(function, range)),
            addresses: Vec::new(),
        };
        directives.iter().for_each(|directive| scene.describe(directive));
        scene
    }

    fn describe(&mut self, directive: &Directive) {
        let lanes = || -> Lanes { words::parse(&directive.value, Some(WAVE)).try_into().unwrap() };
        let put = |memories: &mut Vec<Memory>| {
            let index = directive.number() as usize;
            let name = |index: usize| Memory::pattern(format!("{} {index}", directive.name), index);
            (memories.len()..=index).for_each(|index| memories.push(name(index)));
            memories[index] = Memory::new(directive);
        };
        match directive.name.as_str() {
            "lanes" => self.lanes = directive.mask(),
            "helpers" => self.helpers = directive.mask(),
            "input" => {
                let slot = directive.number() as usize;
                self.inputs[slot] = lanes();
                self.variances[slot] = match directive.arguments.get(1).map(String::as_str) {
                    Some("uniform") => LaneVariance::Uniform,
                    Some("consecutive") => LaneVariance::Consecutive,
                    _ => LaneVariance::Divergent,
                };
            }
            "parameter" => self.parameters[directive.number() as usize] = lanes(),
            "push" => self.push = Memory::new(directive),
            "shared" => self.shared = Memory::new(directive),
            "buffer" => put(&mut self.buffers),
            "range" => put(&mut self.ranges),
            "address" => self.addresses.push((directive.number(), Memory::new(directive))),
            _ => {}
        }
    }

    /// Returns the declared variance of an input.
    pub fn variance(&self, slot: u32) -> LaneVariance {
        self.variances.get(slot as usize).copied().unwrap_or(LaneVariance::Divergent)
    }

    /// Returns the environment of a second wave, whose inputs are moved by a lane, and one with
    /// the inputs of both waves. Slots in `same` are equal for both.
    pub fn twice(&self, same: &[u32]) -> (Self, Self) {
        let mut second = self.clone();
        for (slot, lanes) in second.inputs.iter_mut().enumerate() {
            if !same.contains(&(slot as u32)) {
                lanes.rotate_left(1);
            }
        }
        let both = Self {
            inputs: [&self.inputs[..], &second.inputs].concat(),
            variances: [&self.variances[..], &self.variances].concat(),
            ..self.clone()
        };
        (second, both)
    }

    fn program(&self, function: &Function, all_lanes: bool, target: Option<Target>) -> Program {
        let slot = Slot::Location { location: 0, component: 0, index: 0 };
        let input = InputSlot { slot, ty: Type::I32, interpolation: Interpolation::Flat, place: Place::Center };
        let mut code = Executable::new(function.clone(), |slot| self.variance(slot));
        if all_lanes {
            code = code.with_all_lanes();
        }
        code.generate(target).unwrap_or_else(|problem| panic!("{problem}\n{function}"));
        let outputs = count(function, output_slot);
        let interface = Interface {
            inputs: vec![input; self.inputs.len()],
            outputs: vec![OutputSlot { slot, ty: Type::I32, feedback: None }; outputs],
            shared_bytes: self.shared.words.len() as u32 * 4,
            local_size: [16, 1, 1],
            ..Interface::new(vk::ShaderStageFlags::COMPUTE)
        };
        Program { code, ..Program::interpreted(Shader { interface, function: Function::default() }) }
    }

    fn run(&self, program: &Program) -> Effects {
        let deadline = Deadline::after(Duration::from_secs(100));
        let allocate = |memories: &[Memory]| memories.iter().map(Memory::allocate).collect::<Vec<_>>();
        let (buffers, ranges) = (allocate(&self.buffers), allocate(&self.ranges));
        let addressed: Vec<_> = self.addresses.iter().map(|(at, memory)| (*at, memory.allocate())).collect();
        let bound = |(memory, words): (&Arc<Allocation>, &Memory)| {
            Bound::Buffer(Some(memory.clone()), 0, words.words.len() as u64 * 4)
        };
        let bindings = Bindings::new(buffers.iter().zip(&self.buffers).map(|of| vec![bound(of)]).collect());
        let bindings = bindings.with_addresses(Arc::new(Addresses::new(addressed.clone())));
        let bound_ranges = Ranges::new(ranges.iter().zip(&self.ranges).map(bound).collect());
        let mut shared = SharedMemory::new(self.shared.words.len() as u32 * 4);
        shared.fill(&self.shared.words);
        let push = self.push.bytes();
        let environment = Environment {
            push: &push,
            shared: Some(&shared),
            ranges: &bound_ranges,
            parameters: self.parameters.as_flattened(),
            ..Environment::new(&bindings, &deadline)
        };
        let mut wave = Wave::default();
        wave.start(program, self.lanes, self.helpers);
        wave.inputs.clone_from_slice(&self.inputs);
        while wave.run(program, &environment) != Stop::Done {
            assert!(!deadline.expired(), "the program does not end");
        }
        let word = |index: usize| shared.word(index as u32 * 4).unwrap().load(Ordering::Relaxed);
        let mut memory = vec![(0..self.shared.words.len()).map(word).collect()];
        memory.extend(self.buffers.iter().zip(&buffers).map(|(words, memory)| words.read(memory)));
        memory.extend(self.ranges.iter().zip(&ranges).map(|(words, memory)| words.read(memory)));
        memory.extend(self.addresses.iter().zip(&addressed).map(|((_, words), (_, memory))| words.read(memory)));
        Effects { outputs: wave.outputs.to_vec(), killed: wave.killed(), memory }
    }

    /// Runs a function on the interpreter and on the code of every target of this machine, which
    /// must have equal effects. Returns the effects.
    pub fn run_everywhere(&self, function: &Function, name: &str) -> Effects {
        verify(function).and_then(|()| verify_strictly(function)).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        let effects = |all_lanes: bool, target: Option<Target>| {
            let mut effects = self.run(&self.program(function, all_lanes, target));
            let floats = (0..).zip(&mut effects.outputs).filter(|(slot, _)| output_type(function, *slot) == Type::F32);
            // An operation on two NaNs may return either.
            let words = floats.flat_map(|(_, lanes)| lanes).filter(|word| f32::from_bits(**word).is_nan());
            words.for_each(|word| *word = f32::NAN.to_bits());
            effects
        };
        let expected = effects(false, None);
        for target in [Target::Avx512, Target::Avx2].into_iter().filter(|target| target.is_supported()) {
            // A wave that goes on behind a barrier may have lost lanes.
            let all = (self.lanes, self.helpers) == (Mask::MAX, 0) && !function.insts.contains(&Inst::Barrier);
            for all_lanes in if all { &[false, true][..] } else { &[false] } {
                let found = effects(*all_lanes, Some(target));
                assert_eq!(found, expected, "{name}: {target:?} computes something else than the interpreter");
            }
        }
        expected
    }

    /// Returns effects as text: the outputs, the lanes that were killed, and memory that changed.
    pub fn print(&self, function: &Function, effects: &Effects) -> String {
        let mut out = String::new();
        for (slot, lanes) in (0..).zip(&effects.outputs) {
            let form = if output_type(function, slot) == Type::F32 { Form::Float } else { Form::Integer };
            out += &format!("output {slot}: {}\n", words::print(lanes, form, true));
        }
        if effects.killed != 0 {
            out += &format!("killed: {:#06x}\n", effects.killed);
        }
        let described = std::iter::once(&self.shared).chain(&self.buffers).chain(&self.ranges);
        let described = described.chain(self.addresses.iter().map(|(_, memory)| memory));
        for (memory, words) in described.zip(&effects.memory) {
            if memory.words != *words {
                out += &format!("{}: {}\n", memory.name, words::print(words, memory.form, false));
            }
        }
        out
    }
}
