//! Tests of the text form and the strict verifier on small functions and on all committed shaders.

use vitric_ir::*;

fn problem(text: &str) -> Option<&'static str> {
    let function = parse(text).unwrap();
    verify(&function).and_then(|()| verify_strictly(&function)).err().map(|error| error.problem)
}

/// Returns every committed shader with its path, compiled.
fn corpus() -> Vec<(String, Function)> {
    use ash::vk::ShaderStageFlags as Stage;
    let mut out = Vec::new();
    for folder in ["../tests/shaders", "../../samples/shaders", "../../cts/shaders"] {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.path().display().to_string();
            let stage = match name.strip_suffix(".spv").and_then(|name| name.rsplit('.').next()) {
                Some("vert") => Stage::VERTEX,
                Some("frag") => Stage::FRAGMENT,
                Some("comp") => Stage::COMPUTE,
                _ => continue,
            };
            let bytes = std::fs::read(entry.path()).unwrap();
            let words: Vec<u32> =
                bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
            let shader = crate::compile(&crate::parse(&words).unwrap(), "main", stage, &Vec::new()).unwrap();
            let mut function = shader.function.clone();
            passes::prepare(&mut function, |slot| shader.variance(slot));
            out.push((name, function));
        }
    }
    assert!(out.len() > 40, "the committed shaders are missing");
    out
}

#[test]
fn compiled_shaders_pass_the_strict_verifier() {
    for (name, function) in corpus() {
        let checked = verify(&function).and_then(|()| verify_strictly(&function));
        assert_eq!(checked, Ok(()), "{name}:\n{function}");
    }
}

#[test]
fn the_text_of_compiled_shaders_reads_back() {
    for (name, function) in corpus() {
        let mut read = parse(&function.to_string());
        // The text does not contain the numbers of image instructions.
        let _images = read.as_mut().map(vitric_ir::Function::number_images);
        assert!(read.as_ref() == Ok(&function), "{name}: {:?}\n{function}", read.err());
    }
}

#[test]
fn every_instruction_reads_back() {
    let text = "\
local 3
table 1 2 4294967295
%0: i32 = Const 0x5
%1: f32 = AsFloat %0
%2: bool = FLt %1, %1
%3: f32 = SelectFloat %2, %1, %1
%4: i32 = LocalLoad l0[1 + %0]
LocalStore l0[2], %4
LocalStore l0[4294967295 + %0], %4
%5: i32 = TableLoad t0, %0
%6: f32 = Input 7
%7: f32 = Interpolate 7 centroid
%8: f32 = Interpolate 7 sample %0
%9: f32 = Interpolate 7 offset %1, %1
Output 2, %9
%10: i32 = Load buffer 3[%0], %0
%11: i32 = Load push, %0
Store shared, %0, %11
%12: i32 = Atomic CompareExchange buffer 3, %0, %4, %5
%13: i32 = Atomic UMax shared, %0, %4
%14: i32 = BufferLength 3[%0]
%15: bool = IsHelper
%16+4: f32 = Image sample resource=(1) element=(%0) sampler=(2) sampler_element=(%4) dim=(D2) arrayed=() \
coords=(%1 %1 %1) offset=(%0 %0) lod=(implicit) bias=(%1)
%20: f32 = Image sample resource=(1) dim=(Cube) coords=(%1 %1 %1) lod=(gradient) dx=(%1 %1 %1) dy=(%1 %1 %1) \
reference=(%1)
%21+4: f32 = Image sample resource=(1) dim=(D3) coords=(%1 %1 %1) lod=(explicit %1)
%25+4: f32 = Image gather resource=(1) dim=(D2) coords=(%1 %1) component=(%0) offsets=(-8 7 0 1 2 3 4 5)
%29+4: f32 = Image fetch resource=(1) dim=(D2) coords=(%0 %0) level=(%0) sample=(%0)
%33+4: i32 = Image read resource=(1) dim=(Buffer) coords=(%0)
Image write resource=(1) dim=(D1) coords=(%0) texel=(%33 %34 %35 %36)
%37: i32 = Image atomic resource=(1) dim=(D2) coords=(%0 %0) op=(CompareExchange) value=(%0) comparator=(%0)
%38+3: i32 = Image size resource=(1) dim=(D2) level=(%0)
%41: i32 = Image levels resource=(1) dim=(D2)
%42: i32 = Image samples resource=(1) dim=(D2)
%43: f32 = Parameter 9
%44+2: f32 = Image query_lod resource=(1) dim=(D2) coords=(%1 %1)
Block
  If %2
    Break 0
  Else
    Kill
  EndIf
EndBlock
Loop
  If %2
    Continue 0
  EndIf
  Break 0
Continuing
  Barrier
EndLoop
";
    let function = parse(text).unwrap();
    assert_eq!(function.to_string(), text);
    assert_eq!(problem(text), None);
}

#[test]
fn lines_without_an_instruction_are_refused() {
    for (line, problem) in [
        ("%0: i32 = Const", "the line ends early"),
        ("%0: i64 = Const 0", "no such type"),
        ("%0: i32 = Const 0 1", "the line goes on"),
        ("%0: i32 = Frobnicate %0", "no such instruction"),
        ("%0: i32 = Output 1, %0", "another number of results"),
        ("Output 1, 0", "another kind of operand"),
        ("%4294967295: i32 = Const 0", "a number this large"),
        ("Image write resource=(1) dim=(D1) coords=(%0) texel=(%0)", "a texel has four components"),
        ("Image write resource=(1", "a sign is missing"),
    ] {
        assert_eq!(parse(&format!("Block\n{line}\n")), Err(ParseError { line: 2, problem }), "{line}");
    }
}

#[test]
fn definitions_dominate_uses() {
    const UNDEFINED: Option<&str> = Some("operand is not defined on every way");
    let start = "%0: bool = Const 1\n";
    let one_side = "If %0\n%1: i32 = Const 1\nElse\nEndIf\nOutput 0, %1\n";
    let other_side_killed = "If %0\n%1: i32 = Const 1\nElse\nKill\nEndIf\nOutput 0, %1\n";
    let across_sides = "If %0\n%1: i32 = Const 1\nElse\nOutput 0, %1\nEndIf\n";
    let skipped = "Block\nIf %0\nBreak 0\nEndIf\n%1: i32 = Const 1\nEndBlock\nOutput 0, %1\n";
    let before_the_break = "Block\n%1: i32 = Const 1\nIf %0\nBreak 0\nEndIf\nEndBlock\nOutput 0, %1\n";
    let out_of_a_loop = "Loop\n%1: i32 = Const 1\nIf %0\nBreak 0\nEndIf\nContinuing\nEndLoop\nOutput 0, %1\n";
    let after_the_break = "Loop\nIf %0\nBreak 0\nEndIf\n%1: i32 = Const 1\nContinuing\nEndLoop\nOutput 0, %1\n";
    let continued_past = "Loop\nIf %0\nContinue 0\nEndIf\n%1: i32 = Const 1\nContinuing\nOutput 0, %1\nEndLoop\n";
    for (body, expected) in [
        (one_side, UNDEFINED),
        (other_side_killed, None),
        (across_sides, UNDEFINED),
        (skipped, UNDEFINED),
        (before_the_break, None),
        (out_of_a_loop, None),
        (after_the_break, UNDEFINED),
        (continued_past, UNDEFINED),
    ] {
        assert_eq!(problem(&format!("{start}{body}")), expected, "{body}");
    }
}

#[test]
fn operands_have_the_types_operations_want() {
    const WRONG: Option<&str> = Some("operand or result of another type");
    let start = "%0: bool = Const 1\n%1: i32 = Const 1\n%2: f32 = Const 1\n";
    for (line, expected) in [
        ("%3: f32 = FAdd %2, %2", None),
        ("%3: f32 = FAdd %2, %1", WRONG),
        ("%3: i32 = FAdd %2, %2", WRONG),
        ("%3: f32 = SToF %1", None),
        ("%3: i32 = Select %1, %1, %1", WRONG),
        ("%3: bool = LogicalNot %1", WRONG),
        ("%3: f32 = Load shared, %2", WRONG),
        ("If %1", WRONG),
    ] {
        let close = if line.starts_with("If") { "\nEndIf" } else { "" };
        assert_eq!(problem(&format!("{start}{line}{close}")), expected, "{line}");
    }
}
