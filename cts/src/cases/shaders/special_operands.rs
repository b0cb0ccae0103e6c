//! Special operands: NaN, infinities, zeros, shift counts beyond the width. The specification
//! leaves much of this open. The expected values are those of graphics processors, which programs
//! rely on.

use crate::Entry;
use crate::harness::{Case, Gpu, check};

const EDGES: &[u8] = shader!("edges.comp");

/// Invocations of the shader.
const INVOCATIONS: usize = 64;

const NAN: u32 = 0x7fc0_0000;
const SIGNALLING: u32 = 0x7fa0_0000;
const INFINITY: u32 = 0x7f80_0000;
const ONE: u32 = 0x3f80_0000;
const TWO: u32 = 0x4000_0000;
const HALF: u32 = 0x3f00_0000;
const ZERO: u32 = 0;

/// The sign bit of a float.
const MINUS: u32 = 0x8000_0000;

/// The bits of the least integer.
const INT_MIN: u32 = 0x8000_0000;

/// Three operands and the result, as bits. A result of `NAN` means any NaN.
type Row = ([u32; 3], u32);

/// The name of an operation, its number in the shader, and its rows.
type Operation = (&'static str, i32, &'static [Row]);

const OPERATIONS: &[Operation] = &[
    (
        "min",
        0,
        &[
            ([NAN, ONE, 0], ONE),
            ([ONE, NAN, 0], ONE),
            ([SIGNALLING, ONE, 0], ONE),
            ([ONE, SIGNALLING, 0], ONE),
            ([NAN, MINUS | INFINITY, 0], MINUS | INFINITY),
            ([NAN, NAN, 0], NAN),
            ([ONE, TWO, 0], ONE),
            ([TWO, ONE, 0], ONE),
            ([MINUS | ONE, INFINITY, 0], MINUS | ONE),
        ],
    ),
    (
        "max",
        1,
        &[
            ([NAN, MINUS | ONE, 0], MINUS | ONE),
            ([MINUS | ONE, NAN, 0], MINUS | ONE),
            ([SIGNALLING, ONE, 0], ONE),
            ([NAN, NAN, 0], NAN),
            ([ONE, TWO, 0], TWO),
            ([TWO, ONE, 0], TWO),
        ],
    ),
    (
        "clamp",
        2,
        &[
            ([NAN, MINUS | ONE, ONE], MINUS | ONE),
            ([NAN, ONE, TWO], ONE),
            ([HALF, NAN, ONE], HALF),
            ([HALF, ZERO, NAN], HALF),
            ([TWO, ZERO, ONE], ONE),
        ],
    ),
    (
        "smoothstep",
        3,
        &[
            ([ZERO, ONE, NAN], ZERO),
            ([ZERO, ZERO, ZERO], ZERO),
            ([ONE, ONE, TWO], ONE),
            ([ONE, ONE, ZERO], ZERO),
            ([ZERO, ONE, HALF], HALF),
            ([ZERO, ONE, INFINITY], ONE),
        ],
    ),
    ("min_of_constant", 4, &[([NAN, 0, 0], ONE), ([TWO, 0, 0], ONE), ([HALF, 0, 0], HALF)]),
    ("max_of_constant", 5, &[([NAN, 0, 0], ZERO), ([MINUS | ONE, 0, 0], ZERO), ([HALF, 0, 0], HALF)]),
    ("max_after_constant", 6, &[([NAN, 0, 0], ZERO), ([MINUS | ONE, 0, 0], ZERO), ([HALF, 0, 0], HALF)]),
    ("saturate", 7, &[([NAN, 0, 0], ZERO), ([INFINITY, 0, 0], ONE), ([MINUS | TWO, 0, 0], ZERO), ([HALF, 0, 0], HALF)]),
    ("step", 8, &[([HALF, NAN, 0], ONE), ([NAN, HALF, 0], ONE), ([HALF, HALF, 0], ONE), ([ONE, HALF, 0], ZERO)]),
    ("pow_0", 9, &[([MINUS | ONE, 0, 0], ONE), ([MINUS | INFINITY, 0, 0], ONE), ([TWO, 0, 0], ONE)]),
    ("pow_2", 10, &[([MINUS | ONE, 0, 0], ONE), ([MINUS | TWO, 0, 0], 0x4080_0000), ([NAN, 0, 0], NAN)]),
    ("pow_3", 11, &[([MINUS | ONE, 0, 0], MINUS | ONE), ([TWO, 0, 0], 0x4100_0000), ([NAN, 0, 0], NAN)]),
    ("pow", 12, &[([MINUS | ONE, HALF, 0], NAN), ([ZERO, TWO, 0], ZERO), ([TWO, ZERO, 0], ONE)]),
    ("atan2", 13, &[([NAN, ZERO, 0], NAN), ([ZERO, NAN, 0], NAN), ([ZERO, ONE, 0], ZERO)]),
    (
        "sign",
        14,
        &[
            ([INFINITY, 0, 0], ONE),
            ([MINUS | 1, 0, 0], MINUS | ONE),
            ([ZERO, 0, 0], ZERO),
            ([MINUS, 0, 0], ZERO),
            ([MINUS | TWO, 0, 0], MINUS | ONE),
        ],
    ),
    ("max_of_square_root", 15, &[([MINUS | ONE, 0, 0], ZERO), ([ONE, 0, 0], ONE)]),
    ("max_of_normalized", 16, &[([ZERO, 0, 0], ZERO)]),
    ("mod", 17, &[([ONE, ZERO, 0], NAN), ([NAN, ONE, 0], NAN), ([MINUS | HALF, ONE, 0], HALF)]),
    (
        "shift_left",
        32,
        &[
            ([5, 32, 0], 5),
            ([5, 33, 0], 10),
            ([1, u32::MAX, 0], INT_MIN),
            ([5, 64, 0], 5),
            ([5, 0, 0], 5),
            ([1, 31, 0], INT_MIN),
        ],
    ),
    (
        "shift_right_arithmetic",
        33,
        &[
            ([INT_MIN, 32, 0], INT_MIN),
            ([INT_MIN, 33, 0], 0xc000_0000),
            ([INT_MIN, 31, 0], u32::MAX),
            ([INT_MIN, 63, 0], u32::MAX),
        ],
    ),
    (
        "shift_right_logical",
        34,
        &[([INT_MIN, 32, 0], INT_MIN), ([INT_MIN, 33, 0], 0x4000_0000), ([INT_MIN, 31, 0], 1), ([7, u32::MAX, 0], 0)],
    ),
    (
        "bit_field_extract",
        35,
        &[
            ([0xf0, 4, 4], u32::MAX),
            ([0x70, 4, 4], 7),
            ([1, 32, 1], u32::MAX),
            ([0xf0, 36, 4], u32::MAX),
            ([9, 3, 0], 0),
            ([0x8000_0010, 4, 33], 0xf800_0001),
            ([0x8000_0010, 4, u32::MAX], 0xf800_0001),
            ([INT_MIN, 31, 33], u32::MAX),
        ],
    ),
    (
        "bit_field_extract_unsigned",
        36,
        &[
            ([0xf0, 4, 4], 15),
            ([1, 32, 1], 1),
            ([0xf0, 36, 5], 15),
            ([9, 32, 0], 0),
            ([INT_MIN, 4, u32::MAX], 0x0800_0000),
            ([u32::MAX, 4, INT_MIN], 0),
        ],
    ),
    (
        "pack_snorm",
        37,
        &[([NAN, 0, 0], 0x8181_8181), ([INFINITY, 0, 0], 0x7f7f_7f7f), ([MINUS | INFINITY, 0, 0], 0x8181_8181)],
    ),
    ("pack_unorm", 38, &[([NAN, 0, 0], 0), ([INFINITY, 0, 0], u32::MAX), ([MINUS | INFINITY, 0, 0], 0)]),
    (
        "to_signed",
        39,
        &[
            ([NAN, 0, 0], 0),
            ([INFINITY, 0, 0], 0x7fff_ffff),
            ([MINUS | INFINITY, 0, 0], INT_MIN),
            ([0x4f00_0000, 0, 0], 0x7fff_ffff),
            ([0xcf00_0000, 0, 0], INT_MIN),
            ([0xc020_0000, 0, 0], -2i32 as u32),
        ],
    ),
    (
        "to_unsigned",
        40,
        &[
            ([NAN, 0, 0], 0),
            ([INFINITY, 0, 0], u32::MAX),
            ([MINUS | ONE, 0, 0], 0),
            ([0x4f80_0000, 0, 0], u32::MAX),
            ([0x4f00_0000, 0, 0], 0x8000_0000),
        ],
    ),
    (
        "divide_signed",
        41,
        &[([7, -2i32 as u32, 0], -3i32 as u32), ([INT_MIN, u32::MAX, 0], INT_MIN), ([INT_MIN, 1, 0], INT_MIN)],
    ),
    (
        "divide_unsigned",
        42,
        &[
            ([7, 2, 0], 3),
            ([u32::MAX, u32::MAX, 0], 1),
            ([INT_MIN, u32::MAX, 0], 0),
            ([0, 0, 0], u32::MAX),
            ([1, 0, 0], u32::MAX),
            ([u32::MAX, 0, 0], u32::MAX),
        ],
    ),
    ("abs", 43, &[([INT_MIN, 0, 0], INT_MIN), ([u32::MAX, 0, 0], 1)]),
    ("find_msb", 44, &[([0, 0, 0], u32::MAX), ([u32::MAX, 0, 0], u32::MAX), ([INT_MIN, 0, 0], 30), ([1, 0, 0], 0)]),
    (
        "modulo_unsigned",
        46,
        &[
            ([7, 2, 0], 1),
            ([0, 0, 0], u32::MAX),
            ([7, 0, 0], u32::MAX),
            ([u32::MAX, 0, 0], u32::MAX),
            ([INT_MIN, 3, 0], 2),
        ],
    ),
    (
        "modulo_signed",
        47,
        &[
            ([7, 4, 0], 3),
            ([-7i32 as u32, 4, 0], 1),
            ([7, -4i32 as u32, 0], -1i32 as u32),
            ([0, 0, 0], u32::MAX),
            ([7, 0, 0], u32::MAX),
            ([-7i32 as u32, 0, 0], u32::MAX),
            ([INT_MIN, u32::MAX, 0], 0),
        ],
    ),
    (
        "remainder_signed",
        48,
        &[
            ([7, -4i32 as u32, 0], 3),
            ([-7i32 as u32, 4, 0], -3i32 as u32),
            ([0, 0, 0], u32::MAX),
            ([7, 0, 0], u32::MAX),
            ([-7i32 as u32, 0, 0], u32::MAX),
            ([INT_MIN, u32::MAX, 0], 0),
        ],
    ),
    (
        "pack_half",
        45,
        &[
            ([INFINITY, 0, 0], 0x7c00_7c00),
            ([0x477f_f000, 0, 0], 0x7c00_7c00),
            ([1, 0, 0], 0),
            ([MINUS, 0, 0], 0x8000_8000),
        ],
    ),
];

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    for &(name, number, rows) in OPERATIONS {
        let run = move |gpu: &Gpu| compare(gpu, number, rows);
        cases.push(Entry::new(format!("shaders.edges.{name}"), "Precision and Operation of SPIR-V Instructions", run));
    }
}

/// Runs one operation on its rows, which repeat over the invocations.
fn compare(gpu: &Gpu, number: i32, rows: &[Row]) -> Case {
    let rows: Vec<&Row> = rows.iter().cycle().take(INVOCATIONS).collect();
    let operands: Vec<u32> = rows.iter().flat_map(|([a, b, c], _)| [*a, *b, *c, 0]).collect();
    let buffers = [gpu.buffer_with(&operands)?, gpu.buffer(4 * INVOCATIONS as u64)?];
    gpu.compute(EDGES, number, &[], &buffers, [1; 3])?;
    for ((operands, expected), result) in rows.into_iter().zip(buffers[1].words()) {
        let good = if *expected == NAN { f32::from_bits(result).is_nan() } else { result == *expected };
        check(good, || format!("{operands:x?} gives {result:#x} instead of {expected:#x}"))?;
    }
    Ok(())
}
