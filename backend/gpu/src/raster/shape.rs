//! Planes of values over a primitive, and the words that a primitive is set up as.

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
    pub const WORDS: usize = 34;
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
    /// triangles of less than [`Self::WIDE`] units along each axis the values fit.
    pub const EDGES: u32 = 12;
    /// Units along an axis from which on a triangle is wide.
    pub const WIDE: i64 = 1 << 14;
    /// First word of the least and the greatest depth at the pixels that may be covered.
    pub const DEPTHS: u32 = 21;
    /// First word of the corners on the grid, clockwise, units: x and y of each.
    pub const CORNERS: u32 = 23;
    /// Word of what it covers of the first 4x4 pixels of those that it may cover: a bit each, row after row. With one sample a pixel.
    pub const COVERED: u32 = 29;
    /// First word of the pixels that it may cover: x and y of the first, and behind the last.
    pub const PIXELS: u32 = 30;
    /// Pixels of a side of those of [`Self::COVERED`].
    pub const COVERED_SIDE: u32 = 4;

    /// Returns the number of the first of the three words of an input word.
    pub fn first_word(input: usize) -> u32 {
        (Self::WORDS + input * 3) as u32
    }
}
