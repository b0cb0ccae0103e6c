//! Primitives that are set up: coverage, and the words from which everything about their fragments is computed.
//!
//! A primitive's words are its [`Shape`], then three for each input word of the fragment program: origin and slopes of its
//! plane, already divided by w where perspective-correct; a flat word is the first of its three. Fragment kernels read them
//! as parameters.

use crate::raster::Triangle;

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

    fn words(&self) -> [u32; 3] {
        [self.origin, self.dx, self.dy].map(f32::to_bits)
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
    /// Words of a shape.
    pub const WORDS: usize = 15;
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

    fn words(&self) -> [u32; Self::WORDS] {
        let [x, y] = self.reference.map(f32::to_bits);
        let ([a, b, c], [d, e, f]) = (self.inverse_w.words(), self.depth.words());
        let ([near, far], [left, top, size]) = (self.depth_range.map(f32::to_bits), self.point.map(f32::to_bits));
        [x, y, a, b, c, d, e, f, near, far, left, top, size, self.front.into(), self.id]
    }
}

/// Primitives of one draw, in order.
#[derive(Debug, Default)]
pub struct Primitives {
    triangles: Vec<Triangle>,
    words: Vec<u32>,
    stride: usize,
}

impl Primitives {
    /// None, of a draw whose fragment program has `inputs` input words.
    pub fn new(inputs: usize) -> Self {
        Self { triangles: Vec::new(), words: Vec::new(), stride: Shape::WORDS + inputs * 3 }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.triangles.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.triangles.is_empty()
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.triangles.clear();
        self.words.clear();
    }

    /// Their coverage.
    pub fn triangles(&self) -> &[Triangle] {
        &self.triangles
    }

    /// A primitive's coverage.
    #[inline]
    pub fn triangle(&self, index: u32) -> &Triangle {
        &self.triangles[index as usize]
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

    /// The plane of an input word.
    pub fn plane(&self, index: u32, input: usize) -> Plane {
        Plane::of(&self.words(index)[Self::first_word(input) as usize..])
    }

    /// The word of a flat input.
    pub fn flat(&self, index: u32, input: usize) -> u32 {
        self.words(index)[Self::first_word(input) as usize]
    }

    /// Adds a primitive; `input` tells the words of an input.
    pub fn push(&mut self, triangle: Triangle, shape: &Shape, input: impl Fn(usize) -> [u32; 3]) {
        self.triangles.push(triangle);
        let first = self.words.len();
        self.words.resize(first + self.stride, 0);
        let (own, inputs) = self.words[first..].split_at_mut(Shape::WORDS);
        own.copy_from_slice(&shape.words());
        for (index, words) in inputs.as_chunks_mut::<3>().0.iter_mut().enumerate() {
            *words = input(index);
        }
    }
}

impl From<Plane> for [u32; 3] {
    fn from(plane: Plane) -> Self {
        plane.words()
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
        let triangle = Triangle::new([[0, 0], [9, 0], [0, 9]]).unwrap();
        let mut primitives = Primitives::new(2);
        primitives.push(triangle, &Shape::default(), |_| [0; 3]);
        primitives.push(triangle, &shape, |input| if input == 0 { plane(20.0).into() } else { [7, 0, 0] });
        assert_eq!((primitives.len(), primitives.shape(1)), (2, shape));
        assert_eq!((primitives.plane(1, 0), primitives.flat(1, 1)), (plane(20.0), 7));
        let words = primitives.words(1);
        let float = |word: u32| f32::from_bits(words[word as usize]);
        assert_eq!([float(Shape::REFERENCE), float(Shape::INVERSE_W), float(Shape::DEPTH)], [1.0, 3.0, 6.0]);
        assert_eq!([float(Shape::DEPTH_RANGE), float(Shape::POINT)], [9.0, 11.0]);
        assert_eq!([words[Shape::FRONT as usize], words[Shape::ID as usize]], [1, 14]);
    }
}
