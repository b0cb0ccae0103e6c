//! Tests of passes: a function before and after a pass. If the pass keeps the meaning of the
//! function, both have equal effects on every executor.

use ash::vk;
use vitric_exec::Program;
use vitric_exec::link::{self, Linker};
use vitric_ir::interface::{InputSlot, Interface, Interpolation, OutputSlot, Place, Shader, Slot};
use vitric_ir::passes::pair::{self, Effects};
use vitric_ir::passes::{Count, PASSES, PASSES_OF_KERNELS, optimize, prepare, sharing, trim_images};
use vitric_ir::{Builder, Function, Inst, InterpolateAt, Type, Value, parse, verify, verify_strictly};

use crate::file::File;
use crate::scene::{Scene, count, input_slot, output_slot, output_type, runs};

/// Returns the names of all passes. Each has a file.
pub fn names() -> Vec<&'static str> {
    let named = PASSES.iter().chain(PASSES_OF_KERNELS).map(|(name, _)| *name);
    let others = ["optimize", "prepare", "trim images", "pair", "sharing", "count", "parse", "verify", "link"];
    named.chain(others).collect()
}

/// Runs the pass of a file and returns its result.
pub fn test(file: &File) -> Vec<(String, String)> {
    let name = file.kind.strip_prefix("pass ").unwrap_or_else(|| panic!("{}: no pass", file.name()));
    vec![("becomes".into(), result(file, name))]
}

fn result(file: &File, name: &str) -> String {
    if name == "parse" {
        return parsed(&file.head);
    }
    let mut original = parse(&file.head).unwrap_or_else(|problem| panic!("{}: {problem}", file.name()));
    if name == "verify" {
        return verified(&original);
    }
    original.number_images();
    assert_eq!(verified(&original), "valid\n", "{}", file.name());
    let mut function = original.clone();
    let scene = Scene::new(&original, &file.directives);
    let mut facts = String::new();
    match name {
        "optimize" => optimize(&mut function, &mut |_, _| {}),
        "prepare" => facts = prepared(&mut function, &scene),
        "trim images" => trim_images(&mut function),
        "pair" => return paired(file, &original, &scene),
        "sharing" => return format!("{}\n", if sharing::may_share(&original.insts) { "shared" } else { "not shared" }),
        "count" => return counted(&original),
        "link" => function = linked(&original),
        _ => {
            let mut passes = PASSES.iter().chain(PASSES_OF_KERNELS);
            let (_, pass) = passes.find(|(known, _)| *known == name).unwrap_or_else(|| panic!("no pass {name}"));
            pass(&mut function);
        }
    }
    assert_eq!(verified(&function), "valid\n", "{}\n{function}", file.name());
    if runs(&original) {
        let [before, after] = [&original, &function].map(|function| scene.run_everywhere(function, &file.name()));
        assert_eq!(before, after, "{} computes something else", file.name());
    }
    format!("{function}{facts}")
}

/// Returns the function that a text means, or the problem of the text.
fn parsed(text: &str) -> String {
    match parse(text) {
        Ok(function) => {
            let printed = function.to_string();
            assert_eq!(parse(&printed).as_ref(), Ok(&function), "a printed function is read back");
            printed
        }
        Err(problem) => format!("{problem}\n"),
    }
}

/// Returns the problem that the verifiers find.
fn verified(function: &Function) -> String {
    match verify(function).map(|()| verify_strictly(function)) {
        Ok(Ok(())) => "valid\n".into(),
        Ok(Err(problem)) => format!("strict verifier, {problem}\n"),
        Err(problem) => format!("verifier, {problem}\n"),
    }
}

/// Prepares a function for executors. Returns the facts about its values as text.
fn prepared(function: &mut Function, scene: &Scene) -> String {
    let facts = prepare(function, |slot| scene.variance(slot));
    let names = |is: &dyn Fn(usize) -> bool| -> String {
        (0..function.types.len()).filter(|&value| is(value)).map(|value| format!(" %{value}")).collect()
    };
    let mut out = format!("; uniform:{}\n", names(&|value| facts.values[value]));
    let mut steps: Vec<u32> = facts.strides.iter().flatten().copied().filter(|&step| step != 0).collect();
    steps.sort_unstable();
    steps.dedup();
    for step in steps {
        out += &format!("; step {}:{}\n", step as i32, names(&|value| facts.strides[value] == Some(step)));
    }
    out
}

fn counted(function: &Function) -> String {
    let Count { instructions, locals, in_loops } = Count::of(function);
    format!("instructions: {instructions}\nlocals: {locals}\nin loops: {in_loops}\n")
}

/// Pairs a function. The pair computes what two runs of the function compute.
fn paired(file: &File, original: &Function, scene: &Scene) -> String {
    let (inputs, outputs) = (count(original, input_slot), count(original, output_slot));
    let values = file.directives.iter().filter(|directive| directive.name == "same");
    let same: Vec<u32> =
        values.flat_map(|directive| directive.value.split_whitespace()).map(|slot| slot.parse().unwrap()).collect();
    let words = (inputs as u32, outputs as u32);
    let Some(pair) = pair::run(original, words, Effects::Allowed, |slot| same.contains(&slot)) else {
        return "not paired\n".into();
    };
    assert_eq!(verified(&pair), "valid\n", "{}\n{pair}", file.name());
    let (second, both) = scene.twice(&same);
    let of_pair = both.run_everywhere(&pair, &file.name()).outputs;
    let apart = [scene, &second].map(|scene| scene.run_everywhere(original, &file.name()).outputs);
    assert_eq!(of_pair, apart.concat(), "{}", file.name());
    pair.to_string()
}

/// Linker that gives a program its own inputs.
struct Own(Builder);

impl Linker for Own {
    fn builder(&mut self) -> &mut Builder {
        &mut self.0
    }

    fn input(&mut self, slot: usize, ty: Type) -> Value {
        self.0.input(slot as u32, ty)
    }

    fn interpolated(&mut self, slot: usize, _: InterpolateAt, ty: Type) -> Value {
        self.input(slot, ty)
    }
}

/// Returns a function as a part of an empty program, which stores the part's outputs.
fn linked(function: &Function) -> Function {
    let slot = Slot::Location { location: 0, component: 0, index: 0 };
    let outputs = (0..count(function, output_slot) as u32).map(|word| OutputSlot {
        slot,
        ty: output_type(function, word),
        feedback: None,
    });
    let input = InputSlot { slot, ty: Type::I32, interpolation: Interpolation::Flat, place: Place::Center };
    let interface = Interface {
        inputs: vec![input; count(function, input_slot)],
        outputs: outputs.collect(),
        ..Interface::new(vk::ShaderStageFlags::VERTEX)
    };
    let program = Program::interpreted(Shader { interface, function: function.clone() });
    let mut linker = Own(Builder::new());
    let values = link::append(&mut linker, &program);
    for (slot, value) in (0..).zip(values) {
        linker.0.push(Inst::Output { slot, value });
    }
    linker.0.finish()
}
