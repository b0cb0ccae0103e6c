//! Primitives that are set up: coverage, and the words from which everything about their fragments is computed.
//!
//! A primitive's words are its [`Shape`], its edges and the range of its depths, then three for each input word of the fragment program: origin and slopes of its
//! plane, already divided by w where perspective-correct; a flat word is the first of its three. Fragment kernels read them
//! as parameters.

use crate::raster::{SIDE, Triangle};

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
    /// Points: corner, and reciprocal of the size, 0 for what is no point.
    pub point: [f32; 3],
    /// Front facing.
    pub front: bool,
    /// Number of the primitive in its draw's instance.
    pub id: u32,
}

impl Shape {
    /// Words of a shape, and of what else every primitive has.
    pub const WORDS: usize = 26;
    /// First word of the reference point: x, y.
    pub const REFERENCE: u32 = 0;
    /// First word of the plane of 1/w: origin, dx, dy.
    pub const INVERSE_W: u32 = 2;
    /// First word of the plane of depth.
    pub const DEPTH: u32 = 5;
    /// First word of the range of depths: least, greatest.
    pub const DEPTH_RANGE: u32 = 8;
    /// First word of a point's corner and size: x, y, reciprocal of the size.
    pub const POINT: u32 = 10;
    /// Word that is 1 for front faces.
    pub const FRONT: u32 = 13;
    /// Word of the primitive's number.
    pub const ID: u32 = 14;
    /// First word of the edges, of three each, modulo 2^32: their changes from pixel to pixel in x and y, and their values at the
    /// centre of pixel (0, 0), less what an edge needs to cover a point. Centres are covered where none is negative; near
    /// triangles of less than 2^13 units along each axis the values fit.
    pub const EDGES: u32 = 15;
    /// First word of the least and the greatest depth at the pixels that may be covered.
    pub const DEPTHS: u32 = 24;
}

/// Planes of smooth lines behind those of inputs: a pixel's distances from the four sides of the rectangle, two along each axis of it.
pub const SIDES: usize = 4;

/// Primitives of one draw, in order.
#[derive(Debug, Default)]
pub struct Primitives {
    /// Corners on the grid, units.
    corners: Vec<[[i32; 2]; 3]>,
    /// The pixels that each may cover.
    pixels: Vec<[i32; 4]>,
    words: Vec<u32>,
    stride: usize,
    /// Whether any may cover a group.
    has_large: bool,
    /// The layer of the attachments that they are drawn to.
    layer: u32,
}

impl Primitives {
    /// Begins with none, of a draw whose fragment program has `inputs` input words, with room for so many, in a layer.
    pub fn start(&mut self, inputs: usize, room: usize, layer: u32) {
        self.corners.clear();
        self.pixels.clear();
        self.words.clear();
        (self.stride, self.has_large, self.layer) = (Shape::WORDS + inputs * 3, false, layer);
        self.corners.reserve(room);
        self.pixels.reserve(room);
        self.words.reserve(room * self.stride);
    }

    /// The layer of the attachments that they are drawn to.
    pub fn layer(&self) -> u32 {
        self.layer
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.corners.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.corners.is_empty()
    }

    /// A primitive's coverage.
    pub fn triangle(&self, index: u32) -> Triangle {
        Triangle::clockwise(self.corners[index as usize].map(|corner| corner.map(i64::from)))
    }

    /// The pixels that a primitive may cover: `[x0, y0, x1, y1]`, the last ones not included.
    #[inline]
    pub fn pixels(&self, index: u32) -> [i64; 4] {
        self.pixels[index as usize].map(i64::from)
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
            point: [float(10), float(11), float(12)],
            front: words[13] != 0,
            id: words[14],
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

    /// Adds a primitive: its corners on the grid, clockwise, the pixels that it may cover, and its words.
    #[inline]
    pub fn push(&mut self, corners: [[i32; 2]; 3], pixels: [i32; 4], words: impl Iterator<Item = u32>) {
        self.corners.push(corners);
        self.pixels.push(pixels);
        self.words.extend(words);
        debug_assert_eq!(self.words.len(), self.corners.len() * self.stride, "words of a primitive");
        let [width, height] = [0, 1].map(|axis: usize| (pixels[axis + 2] - pixels[axis]) as usize);
        self.has_large |= width >= SIDE && height >= SIDE;
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
            point: [11.0, 12.0, 13.0],
            front: true,
            id: 14,
        };
        let mut words: Vec<u32> = (1..=13).map(|word: u8| f32::from(word).to_bits()).chain([1, 14]).collect();
        words.extend((15..24).chain([24.0f32.to_bits(), 25.0f32.to_bits(), 20.0f32.to_bits(), 0, 0, 7, 0, 0]));
        let (corners, mut primitives) = ([[0, 0], [900, 0], [0, 900]], Primitives::default());
        primitives.start(2, 0, 0);
        primitives.push(corners, [0, 0, 4, 9], vec![0; words.len()].into_iter());
        assert!(!primitives.has_large());
        primitives.push(corners, [0, 1, 9, 9], words.into_iter());
        assert!(primitives.has_large());
        assert_eq!((primitives.len(), primitives.shape(1)), (2, shape));
        assert_eq!((primitives.pixels(1), primitives.depths(1)), ([0, 1, 9, 9], [24.0, 25.0]));
        let words = primitives.words(1);
        let [first, second] = [0, 1].map(|input| words[Primitives::first_word(input) as usize]);
        assert_eq!((first, second, words[Shape::EDGES as usize]), (20.0f32.to_bits(), 7, 15));
    }
}
