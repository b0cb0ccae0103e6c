//! Cooperative matrices: products of all types that the device reports, loads and stores in both
//! orders, operations on elements, conversions, and several subgroups.
//!
//! Sums of floats are compared with sums that add the products in ascending order with one
//! rounding each, and round to halves once. Vitric promises this order; Vulkan does not.

use ash::vk;
use half::{bf16, f16};
use vk::ComponentTypeKHR as T;

use super::narrow_floats::{BFLOAT16, E4M3, E5M2, number_of};
use crate::Entry;
use crate::harness::{Case, Gpu, Outcome, check};
use crate::random::Random;

/// Number of rows and of columns of sums.
const SIDE: usize = 16;

/// Offset of a matrix from the start of its buffer, in bytes.
const OFFSET_BYTES: usize = 16;

/// Product of a shader.
#[derive(Clone, Copy)]
struct Product {
    name: &'static str,
    shader: &'static [u8],
    /// Types of the factors and of the sum.
    types: [T; 3],
    saturates: bool,
}

const PRODUCTS: [Product; 15] = [
    Product::new("halves_to_floats", shader!("matrix_halves_to_floats.comp"), [T::FLOAT16, T::FLOAT16, T::FLOAT32]),
    Product::new("halves", shader!("matrix_halves.comp"), [T::FLOAT16; 3]),
    Product::new("floats", shader!("matrix_floats.comp"), [T::FLOAT32; 3]),
    Product::new("signed", shader!("matrix_signed.comp"), [T::SINT8, T::SINT8, T::SINT32]),
    Product::new("unsigned", shader!("matrix_unsigned.comp"), [T::UINT8, T::UINT8, T::UINT32]),
    Product::new("signed_by_unsigned", shader!("matrix_signed_by_unsigned.comp"), [T::SINT8, T::UINT8, T::SINT32]),
    Product::new("unsigned_by_signed", shader!("matrix_unsigned_by_signed.comp"), [T::UINT8, T::SINT8, T::SINT32]),
    Product::new("signed_saturating", shader!("matrix_signed_saturating.comp"), [T::SINT8, T::SINT8, T::SINT32])
        .saturating(),
    Product::new("unsigned_saturating", shader!("matrix_unsigned_saturating.comp"), [T::UINT8, T::UINT8, T::UINT32])
        .saturating(),
    Product::new("bfloats_to_floats", shader!("matrix_bfloats_to_floats.comp"), [BFLOAT16, BFLOAT16, T::FLOAT32]),
    Product::new("bfloats", shader!("matrix_bfloats.comp"), [BFLOAT16; 3]),
    Product::new("e4m3", shader!("matrix_e4m3.comp"), [E4M3, E4M3, T::FLOAT32]),
    Product::new("e5m2", shader!("matrix_e5m2.comp"), [E5M2, E5M2, T::FLOAT32]),
    Product::new("e4m3_by_e5m2", shader!("matrix_e4m3_by_e5m2.comp"), [E4M3, E5M2, T::FLOAT32]),
    Product::new("e5m2_by_e4m3", shader!("matrix_e5m2_by_e4m3.comp"), [E5M2, E4M3, T::FLOAT32]),
];

impl Product {
    const fn new(name: &'static str, shader: &'static [u8], types: [T; 3]) -> Self {
        Self { name, shader, types, saturates: false }
    }

    const fn saturating(self) -> Self {
        Self { saturates: true, ..self }
    }
}

/// Element of a matrix, as an exact number.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Element {
    Float(f32),
    Int(i64),
}

/// Matrix in a buffer.
struct Matrix {
    ty: T,
    is_by_columns: bool,
    /// Offset from the start of the buffer, in bytes.
    offset: usize,
    /// Distance between rows or columns, in elements.
    stride: usize,
    bytes: Vec<u8>,
}

impl Matrix {
    /// Returns a random matrix of `rows` rows and `columns` columns.
    fn new(ty: T, [rows, columns]: [usize; 2], is_by_columns: bool, random: &mut Random) -> Self {
        let (lines, length) = if is_by_columns { (columns, rows) } else { (rows, columns) };
        let stride = length + 16;
        let elements = (0..lines * stride).flat_map(|_| bytes_of(ty, random));
        let bytes = std::iter::repeat_n(0x55, OFFSET_BYTES).chain(elements).collect();
        Self { ty, is_by_columns, offset: OFFSET_BYTES, stride, bytes }
    }

    /// Moves the matrix to the start of its buffer.
    fn at_start(mut self) -> Self {
        self.bytes.drain(..self.offset);
        Self { offset: 0, ..self }
    }

    /// Returns an element, which is zero behind the end of the buffer.
    fn element(&self, row: usize, column: usize) -> Element {
        let (line, at) = if self.is_by_columns { (column, row) } else { (row, column) };
        let index = line * self.stride + at;
        let word = |bytes: usize| {
            let byte = |byte| self.bytes.get(self.offset + index * bytes + byte).copied().unwrap_or(0);
            (0..bytes).fold(0u32, |word, number| word | u32::from(byte(number)) << (8 * number))
        };
        match self.ty {
            T::FLOAT16 => Element::Float(f16::from_bits(word(2) as u16).to_f32()),
            T::FLOAT32 => Element::Float(f32::from_bits(word(4))),
            BFLOAT16 => Element::Float(number_of(self.ty, word(2))),
            E4M3 | E5M2 => Element::Float(number_of(self.ty, word(1))),
            T::SINT8 => Element::Int(i64::from(word(1) as i8)),
            T::UINT8 => Element::Int(word(1).into()),
            T::SINT32 => Element::Int(i64::from(word(4) as i32)),
            _ => Element::Int(word(4).into()),
        }
    }
}

/// Returns the bytes of a random element: a small number if it is a float, else any.
fn bytes_of(ty: T, random: &mut Random) -> Vec<u8> {
    let float = |random: &mut Random| (random.below(4097) as f32 - 2048.0) / 256.0;
    match ty {
        T::FLOAT16 => f16::from_f32(float(random)).to_le_bytes().to_vec(),
        T::FLOAT32 => float(random).to_le_bytes().to_vec(),
        BFLOAT16 => bf16::from_f32(float(random)).to_le_bytes().to_vec(),
        // Neither NaN nor infinity.
        E4M3 | E5M2 => vec![(random.below(0x70) | random.pick(&[0, 0x80])) as u8],
        T::SINT8 | T::UINT8 => vec![random.below(256) as u8],
        // Sums near the limits of their type show saturation.
        _ => (random.pick(&[0, 0x7fff_ff00, 0x8000_0000, 0xffff_f000u32]) + random.below(200)).to_le_bytes().to_vec(),
    }
}

/// Returns the element of a product, added to `sum`.
fn multiplied(product: &Product, factors: impl Iterator<Item = (Element, Element)>, sum: Element) -> Element {
    let total = factors.fold(sum, |sum, factors| match (sum, factors) {
        (Element::Float(sum), (Element::Float(a), Element::Float(b))) => Element::Float(a.mul_add(b, sum)),
        (Element::Int(sum), (Element::Int(a), Element::Int(b))) => Element::Int(sum + a * b),
        (sum, _) => sum,
    });
    match (total, product.types[2], product.saturates) {
        (Element::Float(total), T::FLOAT16, _) => Element::Float(f16::from_f32(total).to_f32()),
        (Element::Float(total), BFLOAT16, _) => Element::Float(bf16::from_f32(total).to_f32()),
        (Element::Int(total), T::SINT32, true) => Element::Int(total.clamp(i32::MIN.into(), i32::MAX.into())),
        (Element::Int(total), T::UINT32, true) => Element::Int(total.clamp(0, u32::MAX.into())),
        (Element::Int(total), T::SINT32, _) => Element::Int(i64::from(total as i32)),
        (Element::Int(total), ..) => Element::Int(i64::from(total as u32)),
        (total, ..) => total,
    }
}

/// Product that a device reports.
#[derive(Debug, PartialEq, Eq)]
struct Reported {
    /// Rows of the sum, columns of the sum, and columns of the left factor.
    sizes: [u32; 3],
    /// Types of the factors, the addend and the result.
    types: [T; 4],
    saturates: bool,
    scope: vk::ScopeKHR,
}

/// Returns the products that the device reports.
fn reported(gpu: &Gpu) -> Result<Vec<Reported>, Outcome> {
    gpu.need(vk::KHR_COOPERATIVE_MATRIX_NAME)?;
    let functions = ash::khr::cooperative_matrix::Instance::new(&gpu.entry, &gpu.instance);
    // SAFETY: the device has the extension.
    let found = unsafe { functions.get_physical_device_cooperative_matrix_properties(gpu.physical) }?;
    let product = |found: &vk::CooperativeMatrixPropertiesKHR<'_>| Reported {
        sizes: [found.m_size, found.n_size, found.k_size],
        types: [found.a_type, found.b_type, found.c_type, found.result_type],
        saturates: found.saturating_accumulation == vk::TRUE,
        scope: found.scope,
    };
    Ok(found.iter().map(product).collect())
}

/// Ends a case unless the device reports a product of 16 rows and columns.
fn need(gpu: &Gpu, product: &Product, depth: usize) -> Case {
    let [a, b, sum] = product.types;
    let wanted = Reported {
        sizes: [SIDE as u32, SIDE as u32, depth as u32],
        types: [a, b, sum, sum],
        saturates: product.saturates,
        scope: vk::ScopeKHR::SUBGROUP,
    };
    match reported(gpu)?.contains(&wanted) {
        true => Ok(()),
        false => Err(Outcome::NotSupported(format!("products of {a:?} and {b:?} with {depth} columns"))),
    }
}

cases!(append_products);

fn append_products(cases: &mut Vec<Entry>) {
    for product in PRODUCTS {
        for (suffix, orders) in [("rows", 0), ("columns", 7), ("mixed", 2), ("transposed", 5)] {
            let run = move |gpu: &Gpu| {
                multiply(gpu, &product, SIDE, orders)?;
                let is_bytes = product.types[2] == T::SINT32 || product.types[2] == T::UINT32;
                let deeper: &[usize] = if is_bytes { &[32, 64] } else { &[] };
                deeper.iter().try_for_each(|&depth| multiply(gpu, &product, depth, orders))
            };
            let name = format!("matrices.{}.{suffix}", product.name);
            cases.push(Entry::new(name, "VK_KHR_cooperative_matrix", run));
        }
    }
}

/// Multiplies random matrices. The bits of `orders` select column-major order of the left factor,
/// the right factor and the sum.
fn multiply(gpu: &Gpu, product: &Product, depth: usize, orders: u32) -> Case {
    need(gpu, product, depth)?;
    let mut random = Random::new(u64::from(orders) + depth as u64);
    let sizes = [[SIDE, depth], [depth, SIDE], [SIDE, SIDE]];
    let mut matrix = |at: usize| Matrix::new(product.types[at], sizes[at], orders >> at & 1 != 0, &mut random);
    let (mut left, right, sum) = (matrix(0), matrix(1).at_start(), matrix(2));
    compare(gpu, product, [&left, &right, &sum], depth)?;
    // Elements behind the end of a buffer are zeros.
    let short = left.bytes.len() / 2 / 4 * 4;
    left.bytes.truncate(short);
    compare(gpu, product, [&left, &right, &sum], depth)
}

/// Multiplies matrices, and compares the result with the host's.
fn compare(gpu: &Gpu, product: &Product, matrices: [&Matrix; 3], depth: usize) -> Case {
    let [left, right, sum] = matrices;
    let orders = (8..).zip(matrices).fold(0, |all, (bit, matrix)| all | i32::from(matrix.is_by_columns) << bit);
    let buffers = [gpu.buffer_with(&left.bytes)?, gpu.buffer_with(&right.bytes)?, gpu.buffer_with(&sum.bytes)?];
    let strides = matrices.map(|matrix| matrix.stride as u32);
    gpu.compute(product.shader, depth as i32 | orders, bytemuck::cast_slice(&strides), &buffers, [1; 3])?;
    let bytes = bytemuck::cast_slice::<u32, u8>(&buffers[2].words())[..sum.bytes.len()].to_vec();
    let found = Matrix { bytes, ..*sum };
    for (row, column) in (0..SIDE * SIDE).map(|at| (at / SIDE, at % SIDE)) {
        let factors = (0..depth).map(|k| (left.element(row, k), right.element(k, column)));
        let expected = multiplied(product, factors, sum.element(row, column));
        let found = found.element(row, column);
        check(found == expected, || {
            format!("row {row}, column {column}, depth {depth}: {found:?} instead of {expected:?}")
        })?;
    }
    Ok(())
}

type Operation = fn(f32, f32) -> f32;

/// Operations of `matrix_elements.comp` on two elements, by part.
const OPERATIONS: [(&str, Operation); 13] = [
    ("add", |m, n| m + n),
    ("subtract", |m, n| m - n),
    ("multiply", |m, n| m * n),
    ("divide", |m, n| m / n),
    ("negate", |m, _| -m),
    ("scale", |m, _| m * 3.0),
    ("functions", |m, _| m + m + 0.5),
    ("arrays", |m, _| m),
    ("to_halves", |m, _| f16::from_f32(m).to_f32()),
    ("to_integers", |m, _| m.trunc()),
    ("loop", |m, n| if m > 0.0 { m * 2.0 } else { n }),
    ("length", |_, _| 23.0),
    ("constant", |_, _| 1.5),
];

cases!(append_operations);

fn append_operations(cases: &mut Vec<Entry>) {
    for (part, (name, model)) in (0..).zip(OPERATIONS) {
        let run = move |gpu: &Gpu| operate(gpu, part, model);
        cases.push(Entry::new(format!("matrices.elements.{name}"), "VK_KHR_cooperative_matrix", run));
    }
}

fn operate(gpu: &Gpu, part: i32, model: fn(f32, f32) -> f32) -> Case {
    need(gpu, &PRODUCTS[2], SIDE)?;
    let mut random = Random::new(part as u64);
    let count = SIDE * SIDE;
    let input: Vec<f32> = (0..2 * count).map(|_| (random.below(4095) as f32 - 2047.5) / 100.0).collect();
    let buffers = [gpu.buffer_with(&input)?, gpu.buffer(4 * count as u64)?];
    gpu.compute(shader!("matrix_elements.comp"), part, &[], &buffers, [1; 3])?;
    for (at, word) in buffers[1].words().into_iter().take(count).enumerate() {
        let (found, expected) = (f32::from_bits(word), model(input[at], input[count + at]));
        // Quotients may be off by 2.5 units in the last place.
        let close = (found - expected).abs() <= expected.abs() * 3e-7;
        let is_right = if part == 3 { close } else { found == expected };
        check(is_right, || format!("element {at}: {found} instead of {expected}"))?;
    }
    Ok(())
}

cases!(append_bytes);

fn append_bytes(cases: &mut Vec<Entry>) {
    for (usage, name) in [(0, "left"), (1, "right")] {
        for (operation, suffix) in [(0, "copy"), (1, "add"), (2, "scale"), (3, "convert")] {
            let run = move |gpu: &Gpu| (0..4).try_for_each(|orders| convert(gpu, usage | orders << 1 | operation << 3));
            let name = format!("matrices.bytes_on_the_{name}.{suffix}");
            cases.push(Entry::new(name, "VK_KHR_cooperative_matrix", run));
        }
    }
}

/// Loads bytes, changes them, and stores them and their conversion to halves.
fn convert(gpu: &Gpu, part: i32) -> Case {
    need(gpu, &PRODUCTS[3], SIDE)?;
    let (stride, count) = (32, 32 * SIDE);
    let mut random = Random::new(part as u64);
    let input: Vec<i8> = (0..count).map(|_| random.below(256) as i8).collect();
    let buffers = [gpu.buffer_with(&input)?, gpu.buffer(count as u64)?, gpu.buffer(2 * count as u64)?];
    gpu.compute(shader!("matrix_bytes.comp"), part, &[], &buffers, [1; 3])?;
    let bytes: Vec<i8> = bytemuck::cast_slice(&buffers[1].words()).to_vec();
    let halves: Vec<u16> = bytemuck::cast_slice(&buffers[2].words()).to_vec();
    let place = |by_columns: bool, row: usize, column: usize| match by_columns {
        true => column * stride + row,
        false => row * stride + column,
    };
    for (row, column) in (0..SIDE * SIDE).map(|at| (at / SIDE, at % SIDE)) {
        let from = input[place(part >> 1 & 1 != 0, row, column)];
        let changed = match part >> 3 {
            1 => from.wrapping_add(from),
            2 => from.wrapping_mul(3),
            _ => from,
        };
        let expected = if part >> 3 == 3 { changed / 2 } else { changed };
        let to = place(part >> 2 & 1 != 0, row, column);
        let (found, half) = (bytes[to], f16::from_bits(halves[to]).to_f32());
        check(found == expected && half == f32::from(changed), || {
            format!("part {part}, row {row}, column {column}: {found} and {half} instead of {expected} and {changed}")
        })?;
    }
    Ok(())
}

case!("matrices.subgroups.shared", "VK_KHR_cooperative_matrix", [vk::KHR_COOPERATIVE_MATRIX_NAME], shared);

/// Multiplies 32 rows by 32 columns in four subgroups, which load their factors from shared memory.
fn shared(gpu: &Gpu) -> Case {
    need(gpu, &PRODUCTS[1], SIDE)?;
    const LINES: usize = 32;
    const DEPTH: usize = 80;
    let mut random = Random::new(3);
    let mut lines = || -> Vec<f16> {
        (0..LINES * DEPTH).map(|_| f16::from_f32((random.below(513) as f32 - 256.0) / 128.0)).collect()
    };
    let (left, right) = (lines(), lines());
    let bits = |halves: &[f16]| -> Vec<u16> { halves.iter().map(|half| half.to_bits()).collect() };
    let buffers =
        [gpu.buffer_with(&bits(&left))?, gpu.buffer_with(&bits(&right))?, gpu.buffer(2 * (LINES * LINES) as u64)?];
    gpu.compute(shader!("matrix_shared.comp"), DEPTH as i32, &[], &buffers, [1; 3])?;
    let found: Vec<u16> = bytemuck::cast_slice(&buffers[2].words()).to_vec();
    for (row, column) in (0..LINES * LINES).map(|at| (at / LINES, at % LINES)) {
        // Each instruction rounds its result to halves.
        let expected = (0..DEPTH).step_by(SIDE).fold(0.0f32, |sum, first| {
            let factors = (first..first + SIDE).map(|k| (left[row * DEPTH + k], right[column * DEPTH + k]));
            let sum = factors.fold(sum, |sum, (a, b)| a.to_f32().mul_add(b.to_f32(), sum));
            f16::from_f32(sum).to_f32()
        });
        let found = f16::from_bits(found[row + LINES * column]).to_f32();
        check(found == expected, || format!("row {row}, column {column}: {found} instead of {expected}"))?;
    }
    Ok(())
}

case!("matrices.properties.listed", "VK_KHR_cooperative_matrix", [vk::KHR_COOPERATIVE_MATRIX_NAME], |gpu| {
    let mut own = vk::PhysicalDeviceCooperativeMatrixPropertiesKHR::default();
    gpu.properties2(&mut own);
    check(own.cooperative_matrix_supported_stages.contains(vk::ShaderStageFlags::COMPUTE), || {
        format!("stages {:?}", own.cooperative_matrix_supported_stages)
    })?;
    let found = reported(gpu)?;
    check(!found.is_empty(), || "no product is reported".into())?;
    for product in &found {
        let is_float = |ty: T| [T::FLOAT16, T::FLOAT32, BFLOAT16, E4M3, E5M2].contains(&ty);
        let [left, .., result] = product.types;
        let fits = product.sizes.iter().all(|&size| size > 0) && is_float(left) == is_float(result);
        check(fits && !(is_float(left) && product.saturates), || format!("{product:?}"))?;
    }
    Ok(())
});
