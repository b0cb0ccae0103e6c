//! Untyped pointers: memory of a declared type that a shader accesses as other types.
//!
//! The assemblers of distributions do not know the instructions yet, so the module is made here.

use vitric_vulkan::names::KHR_SHADER_UNTYPED_POINTERS_NAME;

use crate::harness::{Case, Gpu, check};

/// Number of invocations, and of words of the source.
const COUNT: u32 = 64;

case!("programs.untyped.buffers", "VK_KHR_shader_untyped_pointers", buffers);

/// Reads the words of a buffer as floats and as pairs, adds to a word, asks for the length, and
/// copies bytes.
fn buffers(gpu: &Gpu) -> Case {
    gpu.need(KHR_SHADER_UNTYPED_POINTERS_NAME)?;
    let source: Vec<u32> = (0..COUNT).map(|number| (number as f32 * 0.75 - 9.0).to_bits()).collect();
    let target = gpu.buffer_with(&vec![7u32; 4 * COUNT as usize])?;
    let (from, code) = (gpu.buffer_with(&source)?, module());
    let code: Vec<u8> = code.into_iter().flat_map(u32::to_le_bytes).collect();
    gpu.compute(&code, 0, &[], &[from, target], [1, 1, 1])?;
    let words = target.words();
    for (number, &word) in (0..COUNT as usize).zip(&source) {
        let twice = (f32::from_bits(word) * 2.0).to_bits();
        let pair = number / 2 * 2;
        let expected = [twice, source[pair] ^ source[pair + 1], word];
        let found = [0, 1, 3].map(|part| words[part * COUNT as usize + number]);
        check(found == expected, || format!("invocation {number}: {found:x?}, not {expected:x?}"))?;
    }
    let sums = &words[2 * COUNT as usize..][..2];
    check(sums == [7 + COUNT * (COUNT - 1) / 2, 4 * COUNT], || format!("{sums:?}"))
}

/// Returns the module. Both of its buffers are arrays of unsigned integers.
fn module() -> Vec<u32> {
    const STORAGE_BUFFER: u32 = 12;
    let name = |text: &[u8; 4]| u32::from_le_bytes(*text);
    let instructions: &[(u16, &[u32])] = &[
        // Capabilities Shader and UntypedPointersKHR, the memory model, and the entry point `main`.
        (17, &[1]),
        (17, &[4473]),
        (10, &bytemuck::cast::<_, [u32; 7]>(*b"SPV_KHR_untyped_pointers\0\0\0\0")),
        (14, &[0, 1]),
        (15, &[5, 1, name(b"main"), 0, 2, 3, 4]),
        (16, &[1, 17, COUNT, 1, 1]),
        // The built-in LocalInvocationIndex, the bindings, and the layouts.
        (71, &[2, 11, 29]),
        (71, &[3, 34, 0]),
        (71, &[3, 33, 0]),
        (71, &[4, 34, 0]),
        (71, &[4, 33, 1]),
        (71, &[20, 6, 4]),
        (71, &[21, 6, 4]),
        (71, &[22, 6, 8]),
        (71, &[23, 2]),
        (72, &[23, 0, 35, 0]),
        // void, its function, uint, float, uvec2, the arrays of uint, float and uvec2, and the
        // block.
        (19, &[10]),
        (33, &[11, 10]),
        (21, &[12, 32, 0]),
        (22, &[13, 32]),
        (23, &[14, 12, 2]),
        (29, &[20, 12]),
        (29, &[21, 13]),
        (29, &[22, 14]),
        (30, &[23, 20]),
        // The pointers to the built-in and to untyped memory, and the variables.
        (32, &[30, 1, 12]),
        (4417, &[31, STORAGE_BUFFER]),
        (59, &[30, 2, 1]),
        (4418, &[31, 3, STORAGE_BUFFER, 23]),
        (4418, &[31, 4, STORAGE_BUFFER, 23]),
        // The numbers 0, 1, 64, 128, 129, 192 and 4, and the float 2.
        (43, &[12, 40, 0]),
        (43, &[12, 41, 1]),
        (43, &[12, 42, COUNT]),
        (43, &[12, 43, 2 * COUNT]),
        (43, &[12, 44, 2 * COUNT + 1]),
        (43, &[12, 45, 3 * COUNT]),
        (43, &[12, 46, 4]),
        (43, &[13, 47, 0x4000_0000]),
        (54, &[10, 1, 0, 11]),
        (248, &[50]),
        (61, &[12, 51, 2]),
        // A float of the source, twice.
        (4419, &[31, 52, 21, 3, 51]),
        (61, &[13, 53, 52]),
        (133, &[13, 54, 53, 47]),
        (4420, &[31, 55, 21, 4, 51]),
        (62, &[55, 54]),
        // A pair of the source.
        (194, &[12, 56, 51, 41]),
        (4419, &[31, 57, 22, 3, 56]),
        (61, &[14, 58, 57]),
        (81, &[12, 59, 58, 0]),
        (81, &[12, 60, 58, 1]),
        (198, &[12, 61, 59, 60]),
        (128, &[12, 62, 51, 42]),
        (4419, &[31, 63, 23, 4, 40, 62]),
        (62, &[63, 61]),
        // A sum of the invocations' numbers, and the length of the target.
        (4419, &[31, 64, 20, 4, 43]),
        (234, &[12, 65, 64, 41, 40, 51]),
        (4425, &[12, 66, 23, 4, 0]),
        (4419, &[31, 67, 20, 4, 44]),
        (62, &[67, 66]),
        // A copy of four bytes.
        (4419, &[31, 68, 20, 3, 51]),
        (128, &[12, 69, 51, 45]),
        (4419, &[31, 70, 20, 4, 69]),
        (64, &[70, 68, 46]),
        (253, &[]),
        (56, &[]),
    ];
    let mut words = vec![0x0723_0203, 0x0001_0400, 0, 80, 0];
    for (opcode, operands) in instructions {
        words.push((operands.len() as u32 + 1) << 16 | u32::from(*opcode));
        words.extend_from_slice(operands);
    }
    words
}
