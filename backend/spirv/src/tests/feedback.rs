//! Tests of outputs that transform feedback captures, and of outputs that do not fit its buffers.

use ash::vk;
use spirv::Decoration;
use vitric_ir::interface::{Feedback, Shader, Slot};

use crate::{Error, compile, parse};

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn vertex() -> Vec<u32> {
    words(include_bytes!("../../../../cts/shaders/captured.vert.spv"))
}

fn compiled(words: &[u32], stage: vk::ShaderStageFlags) -> Result<Shader, Error> {
    compile(&parse(words)?, "main", stage, &Vec::new())
}

/// Returns location, component and destination of all captured user outputs.
fn captured(program: &Shader) -> Vec<(u32, u32, Feedback)> {
    let of = |output: &vitric_ir::interface::OutputSlot| match (output.slot, output.feedback) {
        (Slot::Location { location, component, .. }, Some(feedback)) => Some((location, component, feedback)),
        _ => None,
    };
    let mut found: Vec<_> = program.outputs.iter().filter_map(of).collect();
    found.sort_by_key(|&(location, component, _)| (location, component));
    found
}

#[test]
fn words_go_where_decorations_say() {
    let program = compiled(&vertex(), vk::ShaderStageFlags::VERTEX).unwrap();
    let first = |offset| Feedback { buffer: 0, stride: 32, offset, stream: 0 };
    let other = Feedback { buffer: 1, stride: 8, offset: 4, stream: 0 };
    let expected = [(1, 0, first(20)), (2, 0, first(4)), (2, 1, first(8)), (2, 2, first(12)), (3, 0, other)];
    assert_eq!(captured(&program), expected);
    let restored = Shader::from_text(&program.to_text(&program.function)).unwrap();
    assert_eq!(restored.outputs, program.outputs, "caches keep it");
}

#[test]
fn streams_have_buffers_of_their_own() {
    let bytes = words(include_bytes!("../../../../cts/shaders/captured_streams.geom.spv"));
    let program = compiled(&bytes, vk::ShaderStageFlags::GEOMETRY).unwrap();
    let places =
        captured(&program).into_iter().map(|(location, _, feedback)| (location, feedback.stream, feedback.buffer));
    assert_eq!(places.collect::<Vec<_>>(), [(1, 0, 3), (2, 1, 0), (2, 1, 0), (3, 2, 1), (4, 2, 2)]);
}

/// Returns the module with another operand of the first `decoration` whose operand is `from`.
fn patched(decoration: Decoration, from: u32, to: u32) -> Vec<u32> {
    let mut module = vertex();
    let op = 4 << 16 | spirv::Op::Decorate as u32;
    let at = (0..module.len() - 3).find(|&at| module[at] == op && module[at + 2..at + 4] == [decoration as u32, from]);
    module[at.unwrap() + 3] = to;
    module
}

#[test]
fn captures_outside_of_their_buffer_are_refused() {
    for module in [
        patched(Decoration::Offset, 20, 22),
        patched(Decoration::Offset, 20, 32),
        patched(Decoration::Offset, 4, 24),
        patched(Decoration::Offset, 20, u32::MAX - 3),
        patched(Decoration::XfbStride, 32, u32::MAX),
    ] {
        assert!(matches!(compiled(&module, vk::ShaderStageFlags::VERTEX), Err(Error::Malformed(_))));
    }
    // Buffer 4 does not exist.
    let module = patched(Decoration::XfbBuffer, 0, 4);
    assert!(matches!(compiled(&module, vk::ShaderStageFlags::VERTEX), Err(Error::Malformed(_))));
}

#[test]
fn captured_blocks_with_doubles_are_aligned_to_8_bytes() {
    let bytes = words(include_bytes!("../../../../cts/shaders/captured_doubles.vert.spv"));
    let program = compiled(&bytes, vk::ShaderStageFlags::VERTEX).unwrap();
    let offsets = captured(&program).into_iter().map(|(.., feedback)| feedback.offset);
    assert_eq!(offsets.collect::<Vec<_>>(), [8, 16, 20, 24, 32, 40, 44, 48]);
}
