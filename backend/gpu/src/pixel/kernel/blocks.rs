//! Blocks of small primitives in kernels: loops over regions and blocks, and the test of the blocks
//! that a primitive may touch.

use smallvec::SmallVec;
use vitric_ir::{BinaryOp as B, Builder, Inst, Local, Type, UnaryOp as U, Value};

use super::direct::SmallPrimitivePath;
use super::traits::PrimitiveBatch;
use super::{KernelInput, Linker};
use crate::raster::{Coverage, UNITS, sample_mask};
use crate::state::MultisampleState;

/// Average number of pixels in the windows of primitives from which on kernels of several samples
/// test blocks. In smaller windows the test takes longer than the samples that it saves
/// (`tri4x4` of the micro benchmarks: 6 %).
const MIN_TESTED_PIXELS: i64 = 64;

/// Returns true if a primitive kernel should test blocks before their samples. `pixels` is the
/// average number of pixels in the primitives' windows.
///
/// With one sample, the evaluation of a block is no longer than its test. Sieves gain nevertheless,
/// because each of their blocks costs a ballot and a selection.
pub fn tests_blocks(coverage: Coverage, path: SmallPrimitivePath, samples: u32, pixels: i64) -> bool {
    let pays = path == SmallPrimitivePath::Sieved || samples > 1 && pixels >= MIN_TESTED_PIXELS;
    coverage == Coverage::Hierarchical && pays
}

/// Pixels along a side of a block.
pub(super) const BLOCK: u32 = 4;

/// Pixels along a side of a region: 4x4 blocks.
pub(super) const REGION: u32 = 4 * BLOCK;

/// Loops over the regions of a primitive's window and over their blocks. A region is one block in
/// kernels that draw all blocks.
pub(super) struct Blocks {
    /// x and y of the current region.
    pub(super) region: Local,
    /// x and y of each lane's pixel in its block.
    pub(super) steps: [Value; 2],
    /// For each primitive, the offset of each edge's value in the lane's pixel from that in the
    /// block's first pixel.
    pub(super) edges: SmallVec<[[Value; 3]; 2]>,
    /// Position of the first block.
    pub(super) start: [Value; 2],
    /// First pixel of the window.
    pub(super) first: [Value; 2],
    /// Width and height of the window in pixels.
    pub(super) extent: [Value; 2],
}

/// Counts of a kernel: covered samples, waves in the bits above the number of their fragments, and
/// blocks in which samples were evaluated.
///
/// With one sample, the counts of samples and waves share one word, because each word that lives
/// through the loop over blocks occupies a register.
pub struct KernelTally {
    pub(super) words: SmallVec<[Local; 3]>,
    /// Number of bits of a fragment count.
    pub(super) bits: u32,
}

/// Decoded counts of a primitive kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelCounts {
    /// Blocks in which samples were evaluated.
    pub blocks: u32,
    /// Covered samples.
    pub covered: u32,
    /// Waves of fragments.
    pub waves: u32,
    /// Fragments in these waves.
    pub lanes: u32,
}

/// Returns the number of bits for the fragments of a small primitive, which are its pixels or
/// their samples.
pub(super) fn fragment_bits(samples: u32) -> u32 {
    11 + samples.ilog2()
}

impl KernelTally {
    /// Returns the number of output words of a kernel for `samples` samples.
    pub fn words(samples: u32) -> usize {
        1 + samples.min(2) as usize
    }

    /// Decodes output words.
    pub fn decode(samples: u32, output: impl Fn(usize) -> u32) -> KernelCounts {
        let bits = fragment_bits(samples);
        let low = |word: u32| word & ((1 << bits) - 1);
        let [covered, shaded] = match samples {
            1 => [low(output(1)), output(1) >> bits],
            _ => [output(1), output(2)],
        };
        KernelCounts { blocks: output(0), covered, waves: shaded >> bits, lanes: low(shaded) }
    }

    /// Returns the local that counts blocks in which samples are evaluated.
    pub(super) fn of_blocks(&self) -> Local {
        self.words[0]
    }

    /// Returns the local that counts covered samples.
    pub(super) fn of_samples(&self) -> Local {
        self.words[1]
    }

    /// Returns the local that counts waves and their fragments, and the first bit of these counts.
    pub(super) fn of_waves(&self) -> (Local, u32) {
        match self.words[..] {
            [_, both] => (both, self.bits),
            _ => (self.words[2], 0),
        }
    }
}

/// Emits the unsigned comparison `a < limit`.
pub(super) fn is_below(b: &mut Builder, a: Value, limit: Value) -> Value {
    let reaches = b.binary(B::ULe, limit, a);
    b.unary(U::LogicalNot, reaches)
}

impl Linker {
    /// Emits the start of the loop over regions, whose blocks are aligned in lines of texels.
    pub(super) fn begin_regions(&mut self) -> Blocks {
        let first = [0, 1].map(|axis| self.input(KernelInput::Window(axis), Type::I32));
        let extent = [2, 3].map(|axis| self.input(KernelInput::Window(axis), Type::I32));
        let (mask, region) = (self.b.int(!3), self.b.local(2));
        let start = first.map(|pixel| self.b.binary(B::And, pixel, mask));
        (0..).zip(start).for_each(|(axis, pixel)| self.b.local_store(region, axis, None, pixel));
        let lane = self.b.lane();
        let steps = self.place_in_block(lane);
        let primitives = if self.batch == PrimitiveBatch::EdgePair { 2 } else { 1 };
        let edges = (0..primitives).map(|of| [0, 1, 2].map(|edge| self.along_edge((of, edge), steps))).collect();
        self.b.push(Inst::Loop);
        Blocks { region, steps, edges, start, first, extent }
    }

    /// Returns the column and row of a pixel in its block, or of a block in its region, given its
    /// number.
    pub(super) fn place_in_block(&mut self, number: Value) -> [Value; 2] {
        let one = self.b.int(1);
        let mut bit = |bit: u32| {
            let shift = self.b.int(bit);
            let shifted = self.b.binary(B::ShrLogical, number, shift);
            self.b.binary(B::And, shifted, one)
        };
        // Bits 0 and 2 of the number are x, bits 1 and 3 are y.
        let bits = [[bit(0), bit(2)], [bit(1), bit(3)]];
        bits.map(|[near, far]| {
            let far = self.b.binary(B::Shl, far, one);
            self.b.binary(B::Or, near, far)
        })
    }

    /// Returns the number and the first pixel of the block that is the current region.
    pub(super) fn only_block(&mut self, blocks: &Blocks, tally: Option<&KernelTally>) -> (Value, [Value; 2]) {
        let corner = [0, 1].map(|axis| self.b.local_load(blocks.region, axis, None, Type::I32));
        if let Some(tally) = tally {
            let one = self.b.int(1);
            self.add(tally.of_blocks(), one);
        }
        (self.b.int(0), corner)
    }

    /// Returns the blocks of the current region that lie in the window and that a primitive may
    /// touch, if they are tested for samples of a state: a bit for each block.
    pub(super) fn touched_blocks(&mut self, blocks: &Blocks, tested: Option<&MultisampleState>) -> Value {
        let two = self.b.int(2);
        let region = [0, 1].map(|axis| self.b.local_load(blocks.region, axis, None, Type::I32));
        let [x, y] = [0, 1].map(|axis: usize| {
            let step = self.b.binary(B::Shl, blocks.steps[axis], two);
            let end = self.b.binary(B::IAdd, blocks.first[axis], blocks.extent[axis]);
            let left = self.b.binary(B::ISub, end, region[axis]);
            is_below(&mut self.b, step, left)
        });
        let mut some = self.b.binary(B::LogicalAnd, x, y);
        if let Some(state) = tested {
            let touched = (0..).zip(&blocks.edges).map(|(of, edges)| self.may_touch((of, *edges), region, state));
            let touched: SmallVec<[Value; 2]> = touched.collect();
            let touched = touched.into_iter().reduce(|any, other| self.b.binary(B::LogicalOr, any, other));
            some = touched.map_or(some, |touched| self.b.binary(B::LogicalAnd, some, touched));
        }
        self.b.ballot(some)
    }

    /// Returns the blocks of a region, a lane each, in which no edge excludes all samples.
    ///
    /// The greatest value of an edge in a block is that at the last sample of the block, along each
    /// axis, or at the first one.
    pub(super) fn may_touch(
        &mut self,
        (of, edges): (u32, [Value; 3]),
        region: [Value; 2],
        state: &MultisampleState,
    ) -> Value {
        let (zero, two, locations, mask) = (self.b.int(0), self.b.int(2), state.locations(), sample_mask(state));
        let reach = [0, 1].map(|axis: usize| {
            let places = (0..).zip(&*locations).filter(|(sample, _)| mask >> sample & 1 != 0);
            let places = places.map(|(_, place)| place[axis] - UNITS / 2);
            let (least, most) = (places.clone().min().unwrap_or(0), places.max().unwrap_or(0));
            [least, most]
        });
        let outside = [0, 1, 2].map(|edge| {
            let (origin, along) = (self.edge((of, edge), 2), self.along_edge((of, edge), region));
            let mut value = self.b.binary(B::IAdd, origin, along);
            for (axis, reach) in (0..).zip(reach) {
                let step = self.edge((of, edge), axis);
                let [least, most] = reach.map(|units| self.moved(step, units));
                let to_last = self.b.int(3);
                let to_last = self.b.binary(B::IMul, step, to_last);
                let most = self.b.binary(B::IAdd, most, to_last);
                let largest = self.b.binary(B::SMax, least, most);
                value = self.b.binary(B::IAdd, value, largest);
            }
            // Blocks lie four pixels apart, in the order of a block's pixels.
            let offset = self.b.binary(B::Shl, edges[edge as usize], two);
            self.b.binary(B::IAdd, value, offset)
        });
        let outside = outside.into_iter().reduce(|any, other| self.b.binary(B::Or, any, other)).unwrap_or(zero);
        self.b.binary(B::SLe, zero, outside)
    }

    /// Emits the start of the loop over the blocks of a region that are set in `touched`. Returns
    /// the number of the current block and its first pixel.
    pub(super) fn begin_blocks(&mut self, blocks: &Blocks, touched: Value) -> (Value, [Value; 2]) {
        let [zero, one, two] = [0, 1, 2].map(|word| self.b.int(word));
        // Blocks that are still to be drawn, numbered like the lanes of a block's pixels.
        let blocks_left = self.b.local(1);
        self.b.local_store(blocks_left, 0, None, touched);
        self.b.push(Inst::Loop);
        let pending = self.b.local_load(blocks_left, 0, None, Type::I32);
        let ended = self.b.binary(B::IEq, pending, zero);
        self.b.push(Inst::If { condition: ended });
        self.b.push(Inst::Break { depth: 0 });
        self.b.push(Inst::EndIf);
        let others = self.b.binary(B::ISub, pending, one);
        // The bits below the lowest one are as many as its number.
        let cleared = self.b.unary(U::BitNot, pending);
        let below = self.b.binary(B::And, others, cleared);
        let number = self.b.unary(U::BitCount, below);
        let rest = self.b.binary(B::And, pending, others);
        self.b.local_store(blocks_left, 0, None, rest);
        let place = self.place_in_block(number);
        let corner = [0, 1].map(|axis: usize| {
            let region = self.b.local_load(blocks.region, axis as u32, None, Type::I32);
            let pixels = self.b.binary(B::Shl, place[axis], two);
            self.b.binary(B::IAdd, region, pixels)
        });
        (number, corner)
    }

    /// Emits the end of the loop over blocks.
    pub(super) fn end_blocks(&mut self) {
        self.b.push(Inst::Continuing);
        self.b.push(Inst::EndLoop);
    }

    /// Emits the end of the loop over regions of `side` pixels along a side, which moves to the
    /// next region to the right, or to the first one below.
    pub(super) fn end_regions(&mut self, blocks: &Blocks, side: u32) {
        let side = self.b.int(side);
        let [x, y] = [0, 1].map(|axis| self.b.local_load(blocks.region, axis, None, Type::I32));
        let ends = [0, 1].map(|axis: usize| self.b.binary(B::IAdd, blocks.first[axis], blocks.extent[axis]));
        let [right, below] = [x, y].map(|pixel| self.b.binary(B::IAdd, pixel, side));
        let turns = self.b.binary(B::ULe, ends[0], right);
        let (x, y) = (self.b.select(turns, blocks.start[0], right), self.b.select(turns, below, y));
        self.b.local_store(blocks.region, 0, None, x);
        self.b.local_store(blocks.region, 1, None, y);
        let ended = self.b.binary(B::ULe, ends[1], y);
        self.b.push(Inst::If { condition: ended });
        self.b.push(Inst::Break { depth: 0 });
        self.b.push(Inst::EndIf);
        self.b.push(Inst::Continuing);
        self.b.push(Inst::EndLoop);
    }
}
