//! Primitive kernels: one run draws a small primitive in a tile, from coverage and depth test to
//! shading and export, in blocks of 4x4 pixels.
//!
//! With several samples and in sieves, blocks are found by the same edge equations at their
//! resolution: one evaluation tests a region of 4x4 blocks, and samples are evaluated in the blocks
//! that the primitive may touch. In short kernels of one sample, the samples of a block take no
//! longer than the test.
//!
//! Blocks are aligned in lines of texels. The texels of a block are two halves of rows of quads,
//! and their position is uniform for all lanes. A single kernel avoids the cost of passing
//! fragments between units, which would exceed the cost of a small primitive's fragments. Kernels
//! that know the values that do not vary within primitives compute them once for all blocks
//! (`geometry::Varies`).
//!
//! A long program would lose more by idle lanes. Then the kernel ends before shading and is a
//! *sieve*: it returns the remaining pixels, and mixed kernels shade them. If the program discards
//! fragments, mixed kernels test again, and write depths after the program.

use ash::vk;
use vitric_exec::{Program, format_ir as routines};
use vitric_ir::{BinaryOp as B, Builder, ImageOp, Inst, Local, Lod, Space, Type, UnaryOp as U, Value};

use super::blocks::{BLOCK, Blocks, KernelTally, REGION, fragment_bits, is_below};
use super::direct::{LINE, PixelLanes, SmallPrimitivePath, discards_first, small_primitive_path};
use super::inputs::{Inputs, shared_words};
use super::late;
use super::traits::{
    BatchTraits, DepthTarget, FragmentShading, KernelOptions, KernelPlanes, PrimitiveBatch, TEXEL, WaveEvent, is_late,
    tested,
};
use super::{Attachment, Form, KernelInput, Linker, Stage, Texels, shades_samples, written};
use crate::geometry::Varies;
use crate::raster::{Shape, UNITS, sample_mask};
use crate::state::{DepthStencilState, MultisampleState, PipelineState};

/// Links the primitive kernel of a pipeline, or returns `None` if primitives cannot be rasterized
/// by one kernel, or should not.
///
/// A kernel that counts has additional output words, equal in all lanes, which
/// [`KernelTally::decode`] decodes.
pub(super) fn link(
    pipeline: &PipelineState,
    KernelOptions { depth_bits, counts }: KernelOptions,
    BatchTraits { batch, varies, tests_blocks }: BatchTraits,
) -> Option<Stage> {
    let (program, attachments) = (pipeline.fragment.as_deref(), written(pipeline));
    let path = small_primitive_path(pipeline, &attachments)?;
    let nothing = Program::routine(Builder::new().finish(), &[], 0);
    let shaded = program.unwrap_or(&nothing);
    let shading = FragmentShading { pipeline, program: shaded };
    if !late::serves(shading, depth_bits) || batch == PrimitiveBatch::EdgePair && !supports_edge_pairs(pipeline, shaded)
    {
        return None;
    }
    let mut linker = Linker { batch, varies, ..Linker::default() };
    let tally = counts.then(|| linker.tally(pipeline.multisample.samples));
    let exported =
        (counts && path == SmallPrimitivePath::OneKernel && is_late(pipeline, shaded)).then(|| linker.zeroed());
    let sieve = (path == SmallPrimitivePath::Sieved).then(|| linker.zeroed());
    linker.texels = Texels::Block;
    let blocks = linker.begin_regions();
    let tested = tests_blocks.then_some(&pipeline.multisample);
    let has_regions = tested.is_some() || sieve.is_some();
    let (number, corner) = match has_regions {
        true => {
            let touched = linker.touched_blocks(&blocks, tested);
            tally.iter().for_each(|tally| linker.count_evaluated(tally, touched));
            linker.begin_blocks(&blocks, touched)
        }
        false => linker.only_block(&blocks, tally.as_ref()),
    };
    let depth = DepthTarget { bits: depth_bits, plane: attachments.len() };
    let planes = KernelPlanes { attachments: &attachments, depth: &depth };
    let block = linker.block(&blocks, corner, &pipeline.multisample, planes);
    let any = linker.any(&block.covered);
    tally.iter().for_each(|tally| linker.count_block(tally, &block.covered));
    linker.b.push(Inst::If { condition: any });
    match sieve {
        Some(masks) => {
            let left = linker.test_depth(shading, &block, &depth);
            if !discards_first(shaded) {
                linker.store_depths(&left);
            }
            linker.keep((masks, number), left.covered[0]);
        }
        None => linker.shade_tested(shading, planes, block, &mut |linker, event, left| match (event, exported) {
            (WaveEvent::Shaded, _) => tally.iter().for_each(|tally| linker.count_wave(tally, left)),
            (WaveEvent::Exported, Some(exported)) => {
                let many = linker.lanes_with(left);
                linker.add(exported, many);
            }
            (WaveEvent::Exported, None) => {}
        }),
    }
    linker.b.push(Inst::EndIf);
    if has_regions {
        linker.end_blocks();
    }
    linker.end_regions(&blocks, if has_regions { REGION } else { BLOCK });
    let counted = tally.into_iter().flat_map(|tally| tally.words).chain(exported);
    for local in sieve.into_iter().chain(counted) {
        let value = linker.b.local_load(local, 0, None, Type::I32);
        linker.output(value);
    }
    let linked = linker.finish(program.filter(|_| path == SmallPrimitivePath::OneKernel)).with_all_lanes();
    // Programs that can be part of a primitive kernel have no loops.
    let stage = if varies == Varies::ALL { linked.alone() } else { linked.hoisted().alone() };
    let common = match batch {
        PrimitiveBatch::One => Vec::new(),
        PrimitiveBatch::EdgePair => shared_words(program, varies),
    };
    Some(Stage { common, ..stage })
}

/// Returns true if a pipeline supports edge pairs, where each pixel belongs to one of the two
/// primitives.
///
/// This excludes multisampling, and programs with derivatives, which read adjacent pixels of the
/// same primitive.
fn supports_edge_pairs(pipeline: &PipelineState, program: &Program) -> bool {
    pipeline.multisample.samples == 1 && !uses_derivatives(program)
}

/// Returns true if pixels must be processed as whole quads.
///
/// Derivatives need quads. Depths of two bytes do too, because two of them share a word that is
/// stored at once.
pub(super) fn needs_quads(program: &Program, depth_bits: u32) -> bool {
    depth_bits == 16 || uses_derivatives(program)
}

/// Returns true if a program uses derivatives.
pub(super) fn uses_derivatives(program: &Program) -> bool {
    let has_level = |op: &ImageOp| matches!(op, ImageOp::Sample { lod: Lod::Implicit { .. }, .. } | ImageOp::QueryLod);
    let is_derivative = |inst: &Inst| match inst {
        Inst::Unary { op, .. } => op.is_derivative(),
        Inst::Image(image) => has_level(&image.op),
        _ => false,
    };
    program.code.function().insts.iter().any(is_derivative)
}

/// Result of a depth test.
pub(super) struct DepthTestResult {
    /// Pixels that pass, sample by sample.
    pub(super) covered: Vec<Value>,
    /// Number of the depth plane. The field `bytes` is the size of a depth.
    plane: usize,
    bytes: u32,
    /// Byte offsets and words of the depths to store, sample by sample. Empty if depths are not
    /// written.
    stores: Vec<(Value, Value)>,
}

impl DepthTestResult {
    /// Returns the result with other remaining samples.
    pub(super) fn with(self, covered: Vec<Value>) -> Self {
        Self { covered, ..self }
    }
}

/// Location of a stored depth.
#[derive(Clone, Copy)]
struct DepthTexel {
    space: Space,
    /// Byte offset of the depth.
    offset: Value,
    /// Bits of a depth.
    bits: u32,
}

/// Values of a depth test of one sample.
struct TestedDepth {
    /// True in lanes whose pixel passes.
    passes: Value,
    /// Byte offset of the word to store.
    offset: Value,
    /// Word to store.
    word: Value,
}

impl Linker {
    /// Returns a word of an edge of the first or the second primitive. Words 0 and 1 are the steps
    /// in x and y. Word 2 is the value at the origin.
    pub(super) fn edge(&mut self, (of, edge): (u32, u32), word: u32) -> Value {
        match (of, edge * 3 + word) {
            (0, word) => self.b.parameter(Shape::EDGES + word, None, Type::I32),
            (_, word) => self.input(KernelInput::Edge(word), Type::I32),
        }
    }

    /// Returns the change of an edge's value over `steps` pixels in x and y.
    pub(super) fn along_edge(&mut self, edge: (u32, u32), steps: [Value; 2]) -> Value {
        let [x, y] = [0, 1].map(|axis| {
            let step = self.edge(edge, axis);
            self.b.binary(B::IMul, step, steps[axis as usize])
        });
        self.b.binary(B::IAdd, x, y)
    }

    /// Returns the pixels of the block at `corner`, two by two quads, with their byte offsets in
    /// the planes of targets and depth.
    fn block(
        &mut self,
        blocks: &Blocks,
        corner: [Value; 2],
        state: &MultisampleState,
        planes: KernelPlanes<'_>,
    ) -> PixelLanes {
        let locations = state.locations();
        let samples = (&locations[..], sample_mask(state));
        let covered = self.within((0, blocks.edges[0]), corner, samples);
        let covered = match blocks.edges.get(1) {
            None => {
                let inside = self.inside(blocks, corner);
                covered.iter().map(|&covered| self.b.binary(B::LogicalAnd, covered, inside)).collect()
            }
            // The window of an edge pair contains all pixels of both primitives.
            Some(&edges) => {
                let of_second = self.within((1, edges), corner, samples)[0];
                self.of_second = Some(of_second);
                vec![self.b.binary(B::LogicalOr, covered[0], of_second)]
            }
        };
        let place = [0, 1].map(|axis: usize| {
            let [corner, step] = [corner[axis], blocks.steps[axis]].map(|pixels| self.b.unary(U::SToF, pixels));
            self.b.binary(B::FAdd, corner, step)
        });
        let pixel = [0, 1].map(|axis: usize| self.b.binary(B::IAdd, corner[axis], blocks.steps[axis]));
        let texels = self.texels((pixel, Some(corner)), locations.len() as u32, planes);
        PixelLanes { place, covered, texels }
    }

    /// Returns the pixels of a block that are in the window.
    fn inside(&mut self, blocks: &Blocks, corner: [Value; 2]) -> Value {
        let [x, y] = [0, 1].map(|axis: usize| {
            let from_first = self.b.binary(B::ISub, corner[axis], blocks.first[axis]);
            let from_first = self.b.binary(B::IAdd, from_first, blocks.steps[axis]);
            is_below(&mut self.b, from_first, blocks.extent[axis])
        });
        self.b.binary(B::LogicalAnd, x, y)
    }

    /// Returns the pixels of a block that a primitive covers, sample by sample. Samples outside
    /// the sample mask are never covered.
    ///
    /// The edge equations are computed modulo 2^32, which is exact near small primitives.
    fn within(
        &mut self,
        (of, edges): (u32, [Value; 3]),
        corner: [Value; 2],
        (locations, mask): (&[[i64; 2]], u32),
    ) -> Vec<Value> {
        let zero = self.b.int(0);
        let at_corner = [0, 1, 2].map(|edge| {
            let (origin, along) = (self.edge((of, edge), 2), self.along_edge((of, edge), corner));
            self.b.binary(B::IAdd, origin, along)
        });
        let mut within = Vec::new();
        for (sample, place) in locations.iter().enumerate() {
            if mask >> sample & 1 == 0 {
                within.push(self.b.constant(0, Type::Bool));
                continue;
            }
            let mut outside = None;
            for edge in 0..3 {
                let [x, y] = [0, 1].map(|axis| {
                    let step = self.edge((of, edge), axis);
                    self.moved(step, place[axis as usize] - UNITS / 2)
                });
                let moved = self.b.binary(B::IAdd, x, y);
                let value = self.b.binary(B::IAdd, at_corner[edge as usize], moved);
                let value = self.b.binary(B::IAdd, value, edges[edge as usize]);
                outside = Some(outside.map_or(value, |known| self.b.binary(B::Or, known, value)));
            }
            within.push(self.b.binary(B::SLe, zero, outside.unwrap_or(zero)));
        }
        within
    }

    /// Returns the change of an edge's value over `units` units along an axis. `step` is the
    /// change over one pixel.
    pub(super) fn moved(&mut self, step: Value, units: i64) -> Value {
        let (units, bits) = (self.b.int(units as u32), self.b.int(UNITS.ilog2()));
        let moved = self.b.binary(B::IMul, step, units);
        self.b.binary(B::ShrArithmetic, moved, bits)
    }

    /// Returns the byte offsets of the pixels' first samples in the planes of targets and depth.
    /// Planes consist of lines of 8x8 texels.
    ///
    /// If a plane is accessed as blocks, its offset is that of the block's corner.
    pub(super) fn texels(
        &mut self,
        (pixel, corner): ([Value; 2], Option<[Value; 2]>),
        samples: u32,
        KernelPlanes { attachments, depth }: KernelPlanes<'_>,
    ) -> Vec<Value> {
        let bytes = attachments.iter().map(|attachment| attachment.export.info.bytes).chain([depth.bytes()]);
        let texel = |(plane, bytes)| {
            let corner = corner.filter(|_| matches!(self.plane(plane, bytes), Space::Block(_)));
            self.texel_of((corner.unwrap_or(pixel), corner.is_some()), samples, (plane, bytes))
        };
        bytes.enumerate().map(texel).collect()
    }

    /// Returns the byte offset of a pixel's first sample in a plane with texels of `bytes` bytes.
    /// The pixel may be the corner of a block.
    fn texel_of(
        &mut self,
        ([x, y], is_corner): ([Value; 2], bool),
        samples: u32,
        (plane, bytes): (usize, u32),
    ) -> Value {
        let (three, line_bytes) = (self.b.int(3), self.b.int(8 + samples.ilog2()));
        let [column, row] = [x, y].map(|pixel| self.b.binary(B::ShrLogical, pixel, three));
        let mut same = self.b.binary(B::Shl, column, line_bytes);
        // The first two parts are quads in two rows and strips in a line. The others are pixels in
        // a quad.
        let parts = [(x, 6, 3), (y, 6, 5), (x, 1, 2), (y, 1, 3)];
        for &(pixel, mask, bits) in &parts[..if is_corner { 2 } else { 4 }] {
            let (mask, bits) = (self.b.int(mask), self.b.int(bits));
            let masked = self.b.binary(B::And, pixel, mask);
            let part = self.b.binary(B::Shl, masked, bits);
            same = self.b.binary(B::IAdd, same, part);
        }
        // The offset so far applies to texels of one word.
        let in_row = match bytes {
            1 | 2 => {
                let parts = self.b.int((TEXEL / bytes).ilog2());
                self.b.binary(B::ShrLogical, same, parts)
            }
            _ => {
                let words = self.b.int(bytes / TEXEL);
                self.b.binary(B::IMul, same, words)
            }
        };
        let pitch = self.input(KernelInput::Pitch(plane), Type::I32);
        let line = self.b.binary(B::IMul, row, pitch);
        self.b.binary(B::IAdd, in_row, line)
    }

    /// Stores the remaining pixels of a block in lane `number` of a sieve's result.
    fn keep(&mut self, (result, number): (Local, Value), left: Value) {
        let (bits, lane) = (self.b.ballot(left), self.b.lane());
        let masks = self.b.local_load(result, 0, None, Type::I32);
        let is_own = self.b.binary(B::IEq, lane, number);
        let masks = self.b.select(is_own, bits, masks);
        self.b.local_store(result, 0, None, masks);
    }

    fn tally(&mut self, samples: u32) -> KernelTally {
        KernelTally {
            words: (0..KernelTally::words(samples)).map(|_| self.zeroed()).collect(),
            bits: fragment_bits(samples),
        }
    }

    /// Returns a new local that is set to 0.
    pub(super) fn zeroed(&mut self) -> Local {
        let (zero, local) = (self.b.int(0), self.b.local(1));
        self.b.local_store(local, 0, None, zero);
        local
    }

    pub(super) fn add(&mut self, local: Local, many: Value) {
        let before = self.b.local_load(local, 0, None, Type::I32);
        let after = self.b.binary(B::IAdd, before, many);
        self.b.local_store(local, 0, None, after);
    }

    /// Returns the number of lanes that satisfy a condition, equal in all lanes.
    pub(super) fn lanes_with(&mut self, condition: Value) -> Value {
        let bits = self.b.ballot(condition);
        self.b.unary(U::BitCount, bits)
    }

    /// Counts the blocks in which samples are evaluated, given a bit for each.
    fn count_evaluated(&mut self, tally: &KernelTally, blocks: Value) {
        let many = self.b.unary(U::BitCount, blocks);
        self.add(tally.of_blocks(), many);
    }

    /// Counts the covered samples of a block.
    fn count_block(&mut self, tally: &KernelTally, covered: &[Value]) {
        for &covered in covered {
            let many = self.lanes_with(covered);
            self.add(tally.of_samples(), many);
        }
    }

    /// Counts a wave and its pixels of which any sample is left.
    fn count_wave(&mut self, tally: &KernelTally, some: Value) {
        let (local, above) = tally.of_waves();
        let many = self.lanes_with(some);
        let [one, above] = [1 << tally.bits << above, above].map(|number| self.b.int(number));
        let many = self.b.binary(B::Shl, many, above);
        let many = self.b.binary(B::IAdd, many, one);
        self.add(local, many);
    }

    /// Returns the pixels of which any sample is covered.
    pub(super) fn some(&mut self, covered: &[Value]) -> Value {
        let some = covered.iter().copied().reduce(|any, covered| self.b.binary(B::LogicalOr, any, covered));
        some.unwrap_or(covered[0])
    }

    /// Returns true in all lanes if any lane has any covered sample.
    pub(super) fn any(&mut self, covered: &[Value]) -> Value {
        let (zero, some) = (self.b.int(0), self.some(covered));
        let bits = self.b.ballot(some);
        self.b.binary(B::INe, bits, zero)
    }

    /// Tests and shades covered pixels, or shades before testing if tests are late. Calls `report`
    /// with the pixels of each event, if there are any.
    pub(super) fn shade_tested(
        &mut self,
        shading: FragmentShading<'_>,
        planes: KernelPlanes<'_>,
        pixels: PixelLanes,
        report: &mut dyn FnMut(&mut Self, WaveEvent, Value),
    ) {
        let (FragmentShading { pipeline, program }, attachments) = (shading, planes.attachments);
        if is_late(pipeline, program) {
            return self.shade_late(shading, planes, pixels, report);
        }
        if tested(pipeline).is_none() {
            return self.shade_passed(shading, attachments, pixels, report);
        }
        let left = self.test_depth(shading, &pixels, planes.depth);
        self.store_depths(&left);
        let pixels = PixelLanes { covered: left.covered, ..pixels };
        let any = self.any(&pixels.covered);
        self.b.push(Inst::If { condition: any });
        self.shade_passed(shading, attachments, pixels, report);
        self.b.push(Inst::EndIf);
    }

    /// Shades pixels that passed their tests, or each of their samples. Calls `report` with the
    /// shaded pixels.
    fn shade_passed(
        &mut self,
        shading: FragmentShading<'_>,
        attachments: &[Attachment],
        pixels: PixelLanes,
        report: &mut dyn FnMut(&mut Self, WaveEvent, Value),
    ) {
        let state = &shading.pipeline.multisample;
        if shades_samples(state, Some(shading.program)) {
            let report = &mut |linker: &mut Self, left| report(linker, WaveEvent::Shaded, left);
            return self.shade_samples(shading, attachments, &pixels, report);
        }
        let some = self.some(&pixels.covered);
        report(self, WaveEvent::Shaded, some);
        self.shade(shading, attachments, pixels, state.samples);
    }

    /// Tests covered pixels, if the pipeline has tests, and returns those that pass.
    pub(super) fn test_depth(
        &mut self,
        shading: FragmentShading<'_>,
        pixels: &PixelLanes,
        depth: &DepthTarget,
    ) -> DepthTestResult {
        self.test_given_depth(shading, pixels, depth, None)
    }

    /// Tests covered pixels with the depths in `own`, if given, else with interpolated depths.
    pub(super) fn test_given_depth(
        &mut self,
        FragmentShading { pipeline, program }: FragmentShading<'_>,
        pixels: &PixelLanes,
        depth: &DepthTarget,
        own: Option<Value>,
    ) -> DepthTestResult {
        let inputs = Inputs::new(program, Form::Alone, (false, &pipeline.multisample)).that_vary(self.varies);
        match tested(pipeline) {
            Some(tests) => self.tested(&tests, pixels, (inputs, depth), own),
            None => DepthTestResult {
                covered: pixels.covered.clone(),
                plane: depth.plane,
                bytes: depth.bytes(),
                stores: Vec::new(),
            },
        }
    }

    /// Stores the depths of the remaining pixels.
    pub(super) fn store_depths(&mut self, left: &DepthTestResult) {
        let space = self.plane(left.plane, left.bytes);
        for (&condition, &(offset, value)) in left.covered.iter().zip(&left.stores) {
            self.b.push(Inst::If { condition });
            self.b.push(Inst::Store { space, offset, value });
            self.b.push(Inst::EndIf);
        }
    }

    /// Emits the depth test of covered pixels and returns those that pass.
    fn tested(
        &mut self,
        tests: &DepthStencilState,
        pixels: &PixelLanes,
        (inputs, depths): (Inputs<'_>, &DepthTarget),
        own: Option<Value>,
    ) -> DepthTestResult {
        self.place = Some(pixels.place);
        // All loads come before all stores, so that they can overlap.
        let (space, mut covered_left, mut stores) = (self.plane(depths.plane, depths.bytes()), Vec::new(), Vec::new());
        for (sample, &covered) in pixels.covered.iter().enumerate() {
            let depth = match own {
                Some(own) => inputs.in_range(self, own),
                None => inputs.depth_of_sample(self, sample),
            };
            let from_first = self.b.int(sample as u32 * LINE * depths.bytes());
            let texel = self.b.binary(B::IAdd, pixels.texels[depths.plane], from_first);
            let TestedDepth { passes, offset, word } = match depths.bits {
                32 => {
                    let stored = self.b.load(space, texel, Type::F32);
                    let passes = self.compared(tests.depth_compare, depth, stored);
                    let passes = self.b.binary(B::LogicalAnd, passes, covered);
                    TestedDepth { passes, offset: texel, word: self.b.cast(depth, Type::I32) }
                }
                bits => {
                    let code = routines::depth_code(&mut self.b, bits, depth);
                    self.tested_code(tests, code, covered, DepthTexel { space, offset: texel, bits })
                }
            };
            if tests.depth_write {
                stores.push((offset, word));
            }
            covered_left.push(passes);
        }
        self.place = None;
        DepthTestResult { covered: covered_left, plane: depths.plane, bytes: depths.bytes(), stores }
    }

    /// Emits the test of a fixed-point depth of covered pixels against the stored one.
    ///
    /// In words with 24 bits of depth, the high byte, which may be stencil, is preserved.
    fn tested_code(
        &mut self,
        tests: &DepthStencilState,
        code: Value,
        covered: Value,
        DepthTexel { space, offset: texel, bits }: DepthTexel,
    ) -> TestedDepth {
        let [one, two, three, greatest] = [1, 2, 3, (1 << bits) - 1].map(|word| self.b.int(word));
        if bits != 16 {
            let word = self.b.load(space, texel, Type::I32);
            let stored = self.b.binary(B::And, word, greatest);
            let passes = self.compared_codes(tests.depth_compare, code, stored);
            let high = self.b.binary(B::Xor, word, stored);
            let word = self.b.binary(B::Or, high, code);
            return TestedDepth { passes: self.b.binary(B::LogicalAnd, passes, covered), offset: texel, word };
        }
        let (in_word, to_bits) = (self.b.binary(B::And, texel, two), three);
        let (offset, shift) = (self.b.binary(B::ISub, texel, in_word), self.b.binary(B::Shl, in_word, to_bits));
        let stored = self.b.load(space, offset, Type::I32);
        let stored = self.b.binary(B::ShrLogical, stored, shift);
        let stored = self.b.binary(B::And, stored, greatest);
        let passes = self.compared_codes(tests.depth_compare, code, stored);
        let passes = self.b.binary(B::LogicalAnd, passes, covered);
        // The other half of the word belongs to the adjacent lane. If both lanes store, they store
        // the same word.
        let own = self.b.select(passes, code, stored);
        let lane = self.b.lane();
        let beside = self.b.binary(B::Xor, lane, one);
        let other = self.b.shuffle(own, beside);
        let sixteen = self.b.int(16);
        let other_shift = self.b.binary(B::Xor, shift, sixteen);
        let (own, other) = (self.b.binary(B::Shl, own, shift), self.b.binary(B::Shl, other, other_shift));
        TestedDepth { passes, offset, word: self.b.binary(B::Or, own, other) }
    }

    /// Emits `texture::compare` of floats.
    fn compared(&mut self, op: vk::CompareOp, new: Value, stored: Value) -> Value {
        self.compared_by(op, (new, stored), [B::FLt, B::FLe, B::FEq, B::FNe])
    }

    /// Emits `texture::compare` of fixed-point codes.
    fn compared_codes(&mut self, op: vk::CompareOp, new: Value, stored: Value) -> Value {
        self.compared_by(op, (new, stored), [B::ULt, B::ULe, B::IEq, B::INe])
    }

    fn compared_by(&mut self, op: vk::CompareOp, (new, stored): (Value, Value), [lt, le, eq, ne]: [B; 4]) -> Value {
        let (op, a, b) = match op {
            vk::CompareOp::LESS => (lt, new, stored),
            vk::CompareOp::EQUAL => (eq, new, stored),
            vk::CompareOp::LESS_OR_EQUAL => (le, new, stored),
            vk::CompareOp::GREATER => (lt, stored, new),
            vk::CompareOp::NOT_EQUAL => (ne, new, stored),
            vk::CompareOp::GREATER_OR_EQUAL => (le, stored, new),
            other => return self.b.constant(u32::from(other == vk::CompareOp::ALWAYS), Type::Bool),
        };
        self.b.binary(op, a, b)
    }
}
