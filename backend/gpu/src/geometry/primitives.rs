//! Primitives that are set up for a tile: coverage, and the dwords from which the attributes of
//! their fragments are computed.
//!
//! The dwords of a primitive are its [`Shape`], its edges and the range of its depths, then three
//! for each input component of the fragment program. The three are origin and slopes of the
//! component's plane, already divided by w for perspective-correct inputs. A flat component is the
//! first of its three dwords. A point coordinate is the point's edge and the reciprocal of its
//! size. Fragment kernels read the dwords as parameters.

use vitric_base::simd::{Lanes, Vectors, WAVE};

use super::batch::{SetUpLanes, TriangleBatch};
use super::plan::Plan;
use super::triangles::Triangles;
use super::varies::Varies;
use crate::hiz::DepthRange;
use crate::raster::{Plane, Shape, Triangle};

/// Bounds of a primitive, which tests read first.
#[derive(Debug, Clone, Copy)]
pub struct PrimitiveBounds {
    /// Pixels that the primitive may cover: `[x0, y0, x1, y1]`, exclusive at the end.
    pub pixels: [i64; 4],
    /// Depths at the pixels that the primitive may cover, before rounding to a format.
    pub depths: DepthRange,
}

/// The dwords of a primitive, each [`WAVE`] after the one before: sixteen primitives are
/// interleaved.
#[derive(Debug, Clone, Copy)]
pub struct PrimitiveWords<'a>(&'a [u32]);

impl<'a> PrimitiveWords<'a> {
    /// Dwords of no primitive.
    pub const NONE: Self = Self(&[]);

    /// Returns a dword.
    #[inline]
    pub fn get(self, word: u32) -> u32 {
        self.0[word as usize * WAVE]
    }

    fn float(self, word: u32) -> f32 {
        f32::from_bits(self.get(word))
    }

    fn plane(self, word: u32) -> Plane {
        Plane { origin: self.float(word), dx: self.float(word + 1), dy: self.float(word + 2) }
    }

    /// Returns the dwords as parameters of a program.
    #[inline]
    pub fn parameters(self) -> &'a [u32] {
        self.0
    }
}

/// Primitives that are set up, in order, of draws with one plan.
#[derive(Debug, Default)]
pub struct Primitives {
    /// The dwords of blocks of sixteen primitives, with room for at least all primitives.
    words: Vectors,
    count: usize,
    /// Parts of the polygons that primitives cover, by the numbers of the primitives.
    polygons: Vec<(u32, Vec<Triangle>)>,
    stride: usize,
    /// True if any primitive may cover a group.
    has_large: bool,
    /// Approximate number of pixels that the primitives cover in a tile.
    pixel_count: i64,
    /// Attributes that vary within any primitive.
    varies: Varies,
    /// True if the covered area of any primitive differs from that of its corners.
    has_covers: bool,
}

impl Primitives {
    /// Sets triangles up, replacing the primitives already there. `find` returns the buffer and
    /// index of a triangle by its number.
    pub fn set_up<'t>(
        &mut self,
        plan: &Plan,
        (triangles, find): (&[u32], impl Fn(u32) -> (&'t Triangles, u32)),
        batches: &mut [TriangleBatch; 2],
    ) {
        self.stride = plan.primitive_words();
        self.count = triangles.len();
        self.polygons.clear();
        (self.has_large, self.pixel_count, self.varies, self.has_covers) = (false, 0, Varies::NONE, false);
        let words = triangles.len().div_ceil(WAVE) * self.stride;
        // A wave reads dwords of the primitives after one of sixteen, past the end of the block.
        if self.words.len() <= words {
            self.words.resize(words + 1);
        }
        let some = |first: usize| triangles.iter().skip(first).take(WAVE).map(|&triangle| find(triangle));
        (0..3).for_each(|block| some(block * WAVE).for_each(|(triangles, index)| triangles.prefetch(index)));
        let [now, next, later] = &mut [const { SetUpLanes::NONE }; 3];
        let (mut now, mut next, mut later) = (now, next, later);
        let [mut batch, mut next_batch] = batches.each_mut();
        next.look_up(some(0));
        next_batch.gather(plan, next);
        later.look_up(some(WAVE));
        for (first, words) in (0..triangles.len()).step_by(WAVE).zip(self.words.chunks_exact_mut(self.stride)) {
            (now, next, later) = (next, later, now);
            std::mem::swap(&mut batch, &mut next_batch);
            some(first + 3 * WAVE).for_each(|(triangles, index)| triangles.prefetch(index));
            later.look_up(some(first + 2 * WAVE));
            next_batch.gather(plan, next);
            self.polygons.extend(now.polygons.drain(..).map(|(lane, parts)| ((first + lane) as u32, parts)));
            let (has_large, pixel_count) = now.measure();
            self.has_large |= has_large;
            self.pixel_count += i64::from(pixel_count);
            self.varies = self.varies.or(batch.set_up(plan, now, words));
            self.has_covers |= now.has_covers();
        }
    }

    /// Returns the number of primitives.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns true if there are no primitives.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the bounds of a primitive.
    #[inline]
    pub fn bounds_of(&self, index: u32) -> PrimitiveBounds {
        let words: &[u32; Shape::WORDS * WAVE - WAVE + 1] =
            self.words(index).0.first_chunk().expect("every primitive has these words");
        let word = |word: u32| words[word as usize * WAVE];
        let pixel = |bound| i64::from(word(Shape::PIXELS + bound) as i32);
        let depth = |end| f32::from_bits(word(Shape::DEPTHS + end));
        PrimitiveBounds {
            pixels: [pixel(0), pixel(1), pixel(2), pixel(3)],
            depths: DepthRange { min: depth(0), max: depth(1) },
        }
    }

    /// Returns the pixels that a primitive may cover: `[x0, y0, x1, y1]`, exclusive at the end.
    #[inline]
    pub fn pixels(&self, index: u32) -> [i64; 4] {
        self.bounds_of(index).pixels
    }

    /// Returns true if the bounds of any primitive contain a whole group of pixels.
    pub fn has_large(&self) -> bool {
        self.has_large
    }

    /// Returns the approximate number of pixels that the primitives cover in a tile: half of those
    /// in their bounds.
    pub fn pixel_count(&self) -> i64 {
        self.pixel_count
    }

    /// Returns true if the covered area of any primitive differs from that of its corners. Edges
    /// alone then do not tell which pixels are covered.
    pub fn has_covers(&self) -> bool {
        self.has_covers
    }

    /// Returns the attributes that vary within any primitive.
    pub fn varies(&self) -> Varies {
        self.varies
    }

    /// Returns a primitive's dwords, each followed by those of the next fifteen primitives.
    #[inline]
    pub fn words(&self, index: u32) -> PrimitiveWords<'_> {
        let (block, lane) = (index as usize / WAVE * self.stride, index as usize % WAVE);
        PrimitiveWords(&self.words.as_flattened()[block * WAVE + lane..][..self.stride * WAVE])
    }

    /// Returns the dwords of the block of sixteen primitives that contains a primitive, lane by
    /// lane, and one vector after it.
    #[inline]
    pub fn block(&self, index: u32) -> &[Lanes] {
        &self.words[index as usize / WAVE * self.stride..][..self.stride + 1]
    }

    /// Returns the parts of the polygon that a primitive covers, or an empty slice if it is a
    /// triangle.
    pub fn polygon(&self, index: u32) -> &[Triangle] {
        let found = self.polygons.binary_search_by_key(&index, |(number, _)| *number);
        found.map_or(&[], |found| &self.polygons[found].1)
    }

    /// Returns a primitive's covered area.
    pub fn triangle(&self, index: u32) -> Triangle {
        let words = self.words(index);
        let unit = |number: u32| i64::from(words.get(Shape::CORNERS + number) as i32);
        let corner = |number: u32| [unit(number * 2), unit(number * 2 + 1)];
        Triangle::clockwise([corner(0), corner(1), corner(2)])
    }

    /// Returns true if a primitive's corners are so far apart that its edge dwords may overflow
    /// ([`Shape::EDGES`]).
    pub fn is_wide(&self, index: u32) -> bool {
        let words = self.words(index);
        (0..2).any(|axis| {
            let places = [0, 2, 4].map(|corner| words.get(Shape::CORNERS + corner + axis) as i32);
            let ends =
                places.iter().fold((i32::MAX, i32::MIN), |(low, high), &place| (low.min(place), high.max(place)));
            i64::from(ends.1) - i64::from(ends.0) >= Shape::WIDE
        })
    }

    /// Returns a primitive's shape.
    #[inline]
    pub fn shape(&self, index: u32) -> Shape {
        let words = self.words(index);
        Shape {
            reference: [0, 1].map(|axis| words.float(Shape::REFERENCE + axis)),
            inverse_w: words.plane(Shape::INVERSE_W),
            depth: words.plane(Shape::DEPTH),
            depth_range: [0, 1].map(|end| words.float(Shape::DEPTH_RANGE + end)),
            front: words.get(Shape::FRONT) != 0,
            id: words.get(Shape::ID),
        }
    }
}
