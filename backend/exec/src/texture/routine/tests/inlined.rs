//! Tests of programs with inlined routines against the programs that call these routines.

use vitric_ir::{AtomicOp, Function};

use super::access::bytes_of;
use super::*;
use crate::Inlining;

const LANES: Mask = 0xbffd;

/// Returns a program that samples three times, the third time at the position of the first. It
/// writes twelve words. `in_region` places the instructions in a region that some lanes skip.
fn sampling_thrice(requests: &[Request; 2], in_region: bool) -> Program {
    let words = requests[0].operands.len() as u32;
    let inputs = words + requests[1].operands.len() as u32;
    let mut b = Builder::new();
    (0..inputs).for_each(|slot| assert_eq!(b.input(slot, Type::I32), Value(slot)));
    let (lane, one, zero, kept) = (b.lane(), b.int(1), b.int(0), b.local(12));
    let odd = b.binary(BinaryOp::And, lane, one);
    let condition = b.binary(BinaryOp::INe, odd, zero);
    if in_region {
        b.push(Inst::If { condition });
    }
    for (number, (request, first)) in (0..).zip([(&requests[0], 0), (&requests[1], words), (&requests[0], 0)]) {
        let mut inst = Inst::Image(Box::new(Image { number, ..request.image.clone() }));
        inst.map_operands(|value| Value(value.0 + first));
        let Inst::Image(image) = inst else { unreachable!("it was made above") };
        for (word, result) in (0..).zip(b.image(*image, Type::I32)) {
            b.local_store(kept, 4 * number + word, None, result);
        }
    }
    if in_region {
        b.push(Inst::EndIf);
    }
    for slot in 0..12 {
        let value = b.local_load(kept, slot, None, Type::I32);
        b.push(Inst::Output { slot, value });
    }
    let mut program = program(b.finish(), inputs as usize);
    program.images = 3;
    program
}

fn program(function: Function, inputs: usize) -> Program {
    Program::routine(function, &vec![LaneVariance::Divergent; inputs], 12)
}

/// Runs a program once and returns its output words in the lanes that run.
fn outputs(program: &Program, bindings: &Bindings, inputs: &[Lanes]) -> Vec<Lanes> {
    let deadline = Deadline::after(std::time::Duration::from_secs(100));
    let mut wave = Wave::default();
    wave.start(program, LANES, 0);
    wave.inputs.copy_from_slice(inputs);
    assert_eq!(wave.run(program, &Environment::new(bindings, &deadline)), Stop::Done);
    let word = |words: &Lanes, lane: usize| if LANES >> lane & 1 != 0 { words[lane] } else { 0 };
    wave.outputs.iter().map(|words| std::array::from_fn(|lane| word(words, lane))).collect()
}

fn bindings(view: &Arc<SurfaceView>, sampler: Sampler) -> Bindings {
    let descriptor = Bound::Other(Descriptor::CombinedImageSampler(view.clone(), Arc::new(sampler)));
    Bindings::new(vec![vec![descriptor]]).with_routines(Arc::default(), 3)
}

/// Returns two instructions that sample a view at explicit levels.
fn requests(dice: &mut Dice, view: &Arc<SurfaceView>) -> [Request; 2] {
    [(); 2].map(|()| {
        let mut request = Request::new(view);
        request.coordinates(dice);
        request.image.offset.clear();
        let level = request.floats(|| dice.share() * 6.0 - 1.0);
        request.image.op = ImageOp::Sample { lod: Lod::Explicit(level), reference: None };
        request
    })
}

fn inputs(requests: &[Request; 2]) -> Vec<Lanes> {
    requests.iter().flat_map(|request| request.operands.clone()).collect()
}

#[test]
fn programs_do_the_same_with_routines_in_them() {
    let mut dice = Dice(9);
    let mut replaced = 0;
    for number in 0..60 {
        let view = any_view(&mut dice);
        let bindings = bindings(&view, any_sampler(&mut dice, false));
        let requests = requests(&mut dice, &view);
        let (inputs, program_before) = (inputs(&requests), Arc::new(sampling_thrice(&requests, number % 2 == 0)));
        let expected = outputs(&program_before, &bindings, &inputs);
        let Some(made) = program_before.inlined(&bindings, Inlining::Always) else { continue };
        let function = made.code.function();
        assert!(!function.insts.iter().any(|inst| matches!(inst, Inst::Image(_))), "{function}");
        assert_eq!(function.routines.len(), 1, "what is found in the same way is known by one number");
        assert!(Arc::ptr_eq(&made, &program_before.inlined(&bindings, Inlining::Always).unwrap()));
        for target in [None, Target::chosen()] {
            let mut alone = program(function.clone(), inputs.len());
            alone.code.generate(target).unwrap();
            assert_eq!(outputs(&alone, &bindings, &inputs), expected, "{target:?}, {:?}\n{function}", view.desc);
        }
        replaced += 1;
    }
    assert!(replaced > 30, "{replaced} of 60");
}

#[test]
fn instructions_stay_where_others_see_lanes_that_do_not_run_them() {
    let mut dice = Dice(10);
    let view = any_view(&mut dice);
    let bindings = bindings(&view, any_sampler(&mut dice, false));
    let mut requests = requests(&mut dice, &view);
    requests[0].image.op = ImageOp::Sample { lod: Lod::Implicit { bias: None }, reference: None };
    assert!(Arc::new(sampling_thrice(&requests, true)).inlined(&bindings, Inlining::Always).is_none());
}

#[test]
#[should_panic(expected = "other routines were found")]
fn code_does_not_run_with_other_routines_than_it_has() {
    let mut dice = Dice(11);
    let views = [vk::Format::R8G8B8A8_UNORM, vk::Format::R8_UNORM].map(|format| row(&mut dice, format, 9));
    let [first, second] = views.each_ref().map(|view| bindings(view, any_sampler(&mut Dice(12), false)));
    let requests = requests(&mut dice, &views[0]);
    let before = Arc::new(sampling_thrice(&requests, false));
    let made = before.inlined(&first, Inlining::Always).unwrap();
    let mut alone = program(made.code.function().clone(), inputs(&requests).len());
    match Target::chosen() {
        // The interpreter looks up the bound routine by itself.
        None => panic!("other routines were found"),
        target => alone.code.generate(target).unwrap(),
    }
    outputs(&before, &second, &inputs(&requests));
    outputs(&alone, &second, &inputs(&requests));
}

/// Checks atomic operations with results, on texels that partly coincide for several lanes.
#[test]
fn atomics_do_the_same_in_programs() {
    let mut dice = Dice(13);
    for number in 0..40 {
        let format = dice.pick(&[vk::Format::R32_UINT, vk::Format::R32_SINT, vk::Format::R64_UINT]);
        let words = if format == vk::Format::R64_UINT { 2 } else { 1 };
        let view = row(&mut dice, format, 12);
        let descriptor = Bound::Other(Descriptor::StorageImage(view.clone()));
        let bindings = Bindings::new(vec![vec![descriptor]]).with_routines(Arc::default(), 3);
        let requests = [(); 2].map(|()| {
            let mut request = Request::new(&view);
            let place = request.integers(|| dice.below(16).wrapping_sub(2));
            request.image.coords.push(place);
            let [value, comparator] =
                [(); 2].map(|()| (0..words).map(|_| request.integers(|| dice.below(4))).collect());
            let op = dice.pick(AtomicOp::ALL);
            request.image.op = ImageOp::Atomic { op, sample: None, value, comparator };
            request.image.results = words;
            request
        });
        let (inputs, before) = (inputs(&requests), Arc::new(sampling_thrice(&requests, number % 2 == 0)));
        let texels = bytes_of(&view);
        let run = |program: &Program| {
            let (memory, start) = view.surface.binding().unwrap();
            memory.write(start, &texels);
            (outputs(program, &bindings, &inputs), bytes_of(&view))
        };
        let expected = run(&before);
        let made = before.inlined(&bindings, Inlining::Always).expect("routines of atomics stand in programs");
        let function = made.code.function();
        assert!(!function.insts.iter().any(|inst| matches!(inst, Inst::Image(_))), "{function}");
        for target in [None, Target::chosen()] {
            let mut alone = program(function.clone(), inputs.len());
            alone.code.generate(target).unwrap();
            assert!(run(&alone) == expected, "{target:?}, {format:?}\n{function}");
        }
    }
}
