//! Primitives that are set up: coverage, and the words from which everything about their fragments is computed.
//!
//! A primitive's words are its [`Shape`], its edges and the range of its depths, then three for each input word of the fragment
//! program: origin and slopes of its plane, already divided by w where perspective-correct; a flat word is the first of its three; a
//! coordinate of points is the point's edge and the reciprocal of its size. Fragment kernels read them as parameters.

use crate::raster::{SIDE, Triangle};
use crate::shader::runtime::kernels::{Lanes, WAVE};
use crate::shader::runtime::rows::scatter;

/// A value over the screen: `origin + dx * x + dy * y`, with x and y relative to the primitive's reference point.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Plane {
    /// At the reference point.
    pub origin: f32,
    /// Change from pixel to pixel in x.
    pub dx: f32,
    /// Change from pixel to pixel in y.
    pub dy: f32,
}

impl Plane {
    /// The value at an offset from the reference point, each operation rounded: how depth is computed everywhere.
    #[inline]
    pub fn at(&self, x: f32, y: f32) -> f32 {
        self.origin + self.dx * x + self.dy * y
    }

    /// The same with fused operations: how inputs are interpolated everywhere.
    #[inline]
    pub fn interpolated(&self, x: f32, y: f32) -> f32 {
        self.dx.mul_add(x, self.dy.mul_add(y, self.origin))
    }

    fn of(words: &[u32]) -> Self {
        let [origin, dx, dy] = [words[0], words[1], words[2]].map(f32::from_bits);
        Self { origin, dx, dy }
    }
}

/// Where a primitive lies, and what it is.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Shape {
    /// Window position the planes are relative to, pixels.
    pub reference: [f32; 2],
    /// Reciprocal of clip w.
    pub inverse_w: Plane,
    /// Window depth, bias included.
    pub depth: Plane,
    /// Depth is clamped to these.
    pub depth_range: [f32; 2],
    /// Front facing.
    pub front: bool,
    /// Number of the primitive in its draw's instance.
    pub id: u32,
}

impl Shape {
    /// Words of a shape, and of what else every primitive has.
    pub const WORDS: usize = 23;
    /// First word of the reference point: x, y.
    pub const REFERENCE: u32 = 0;
    /// First word of the plane of 1/w: origin, dx, dy.
    pub const INVERSE_W: u32 = 2;
    /// First word of the plane of depth.
    pub const DEPTH: u32 = 5;
    /// First word of the range of depths: least, greatest.
    pub const DEPTH_RANGE: u32 = 8;
    /// Word that is 1 for front faces.
    pub const FRONT: u32 = 10;
    /// Word of the primitive's number.
    pub const ID: u32 = 11;
    /// First word of the edges, of three each, modulo 2^32: their changes from pixel to pixel in x and y, and their values at the
    /// centre of pixel (0, 0), less what an edge needs to cover a point. Centres are covered where none is negative; near
    /// triangles of less than 2^13 units along each axis the values fit.
    pub const EDGES: u32 = 12;
    /// First word of the least and the greatest depth at the pixels that may be covered.
    pub const DEPTHS: u32 = 21;
}

/// Words of a primitive's place: x and y of its corners on the grid, units, clockwise, and the pixels that it may cover:
/// `[x0, y0, x1, y1]`, the last ones not included, as 16-bit integers, beyond which no attachment reaches.
pub const PLACE: usize = 8;

/// The words of the pixels in a place, each bound saturated.
#[inline(always)]
pub(super) fn packed_pixels([x0, y0, x1, y1]: [i32; 4]) -> [u32; 2] {
    let short = |bound: i32| u32::from(bound.clamp(i16::MIN.into(), i16::MAX.into()) as u16);
    [short(x0) | short(y0) << 16, short(x1) | short(y1) << 16]
}

/// Primitives of one draw, in order.
#[derive(Debug, Default)]
pub struct Primitives {
    /// At least as many places as primitives.
    places: Vec<u32>,
    /// At least as many rows of words.
    words: Vec<u32>,
    count: usize,
    stride: usize,
    /// Whether any may cover a group.
    has_large: bool,
}

impl Primitives {
    /// Begins with none, of a draw whose fragment program has `inputs` input words, with room for so many.
    pub fn start(&mut self, inputs: usize, room: usize) {
        (self.count, self.stride, self.has_large) = (0, Shape::WORDS + inputs * 3, false);
        self.make_room(room);
    }

    /// For so many more, and a batch of which nothing stays.
    fn make_room(&mut self, more: usize) {
        let room = self.count + more + WAVE;
        let grow = |words: &mut Vec<u32>, stride: usize| words.resize(words.len().max(room * stride), 0);
        grow(&mut self.places, PLACE);
        grow(&mut self.words, self.stride);
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[inline]
    fn place(&self, index: u32) -> &[u32; PLACE] {
        let words = &self.places[..self.count * PLACE][index as usize * PLACE..];
        words.first_chunk().expect("each primitive has a place")
    }

    /// A primitive's coverage.
    pub fn triangle(&self, index: u32) -> Triangle {
        let [x0, y0, x1, y1, x2, y2, ..] = self.place(index).map(|word| i64::from(word as i32));
        Triangle::clockwise([[x0, y0], [x1, y1], [x2, y2]])
    }

    /// The pixels that a primitive may cover: `[x0, y0, x1, y1]`, the last ones not included.
    #[inline]
    pub fn pixels(&self, index: u32) -> [i64; 4] {
        let [.., first, last] = *self.place(index);
        [first as i16, (first >> 16) as i16, last as i16, (last >> 16) as i16].map(i64::from)
    }

    /// Whether any has a whole group of pixels among those that it may cover.
    pub fn has_large(&self) -> bool {
        self.has_large
    }

    /// A primitive's words.
    #[inline]
    pub fn words(&self, index: u32) -> &[u32] {
        &self.words[index as usize * self.stride..][..self.stride]
    }

    /// A primitive's shape.
    #[inline]
    pub fn shape(&self, index: u32) -> Shape {
        let words = self.words(index);
        let float = |word: usize| f32::from_bits(words[word]);
        Shape {
            reference: [float(0), float(1)],
            inverse_w: Plane::of(&words[2..5]),
            depth: Plane::of(&words[5..8]),
            depth_range: [float(8), float(9)],
            front: words[10] != 0,
            id: words[11],
        }
    }

    /// First of the words of an input.
    pub fn first_word(input: usize) -> u32 {
        (Shape::WORDS + input * 3) as u32
    }

    /// The least and the greatest depth at the pixels that a primitive may cover, before they are rounded to a format.
    #[inline]
    pub fn depths(&self, index: u32) -> [f32; 2] {
        let words = &self.words(index)[Shape::DEPTHS as usize..][..2];
        [words[0], words[1]].map(f32::from_bits)
    }

    /// Adds the primitives of a batch that live: the words of their places, and their own.
    pub(super) fn push(&mut self, lives: &[bool; WAVE], places: &[Lanes; PLACE], words: &[Lanes]) {
        let (mut numbers, mut end) = ([0; WAVE], self.count);
        for (number, lives) in numbers.iter_mut().zip(lives) {
            *number = end;
            end += usize::from(*lives);
        }
        self.make_room(WAVE);
        scatter(places, (&mut self.places, &numbers.map(|number| number * PLACE)));
        scatter(words, (&mut self.words, &numbers.map(|number| number * self.stride)));
        for index in std::mem::replace(&mut self.count, end)..end {
            let [x0, y0, x1, y1] = self.pixels(index as u32);
            self.has_large |= x1 - x0 >= SIDE as i64 && y1 - y0 >= SIDE as i64;
        }
    }
}

#[cfg(test)]
impl Primitives {
    /// Adds a clockwise triangle, on the grid, whose words are all 0.
    pub fn push_triangle(&mut self, corners: [[i64; 2]; 3]) {
        let [[x0, y0], [x1, y1], [x2, y2]] = corners.map(|corner| corner.map(|units| units as u32));
        let [first, last] = packed_pixels(Triangle::clockwise(corners).pixel_bounds().map(|pixel| pixel as i32));
        let places = [x0, y0, x1, y1, x2, y2, first, last].map(|word| [word; WAVE]);
        self.push(&std::array::from_fn(|lane| lane == 0), &places, &vec![[0; WAVE]; self.stride]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back() {
        let plane = |first: f32| Plane { origin: first, dx: first + 1.0, dy: first + 2.0 };
        let shape = Shape {
            reference: [1.0, 2.0],
            inverse_w: plane(3.0),
            depth: plane(6.0),
            depth_range: [9.0, 10.0],
            front: true,
            id: 11,
        };
        let mut words: Vec<u32> = (1..=10).map(|word: u8| f32::from(word).to_bits()).chain([1, 11]).collect();
        words.extend((12..21).chain([24.0f32.to_bits(), 25.0f32.to_bits(), 20.0f32.to_bits(), 0, 0, 7, 0, 0]));
        let words: Vec<Lanes> = words.into_iter().map(|word| [word; WAVE]).collect();
        let corners = [0, 0, 900, 0, 0, (-900i32) as u32];
        let place = |pixels: [i32; 4]| {
            let [first, last] = packed_pixels(pixels);
            let [a, b, c, d, e, f] = corners;
            [a, b, c, d, e, f, first, last].map(|word| [word; WAVE])
        };
        let lives = |lanes: [usize; 2]| std::array::from_fn(|lane| lanes.contains(&lane));
        let mut primitives = Primitives::default();
        primitives.start(2, 0);
        primitives.push(&lives([3, 3]), &place([0, 0, 4, 9]), &vec![[0; WAVE]; words.len()]);
        assert!(!primitives.has_large());
        primitives.push(&lives([0, 15]), &place([-70_000, -1, 9, 40_000]), &words);
        assert!(primitives.has_large());
        assert_eq!((primitives.len(), primitives.shape(2)), (3, shape));
        assert_eq!((primitives.pixels(0), primitives.pixels(1)), ([0, 0, 4, 9], [-32_768, -1, 9, 32_767]));
        assert_eq!(primitives.depths(1), [24.0, 25.0]);
        assert_eq!(primitives.triangle(1), Triangle::clockwise([[0, 0], [900, 0], [0, -900]]));
        let words = primitives.words(1);
        let [first, second] = [0, 1].map(|input| words[Primitives::first_word(input) as usize]);
        assert_eq!((first, second, words[Shape::EDGES as usize]), (20.0f32.to_bits(), 7, 12));
    }
}
