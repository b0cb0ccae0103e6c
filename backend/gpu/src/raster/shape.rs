//! Planes of values over a primitive, and the layout of the words of a primitive that is set up.

/// A value over the screen: `origin + dx * x + dy * y`, with x and y relative to the primitive's
/// reference point.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Plane {
    /// Value at the reference point.
    pub origin: f32,
    /// Change from pixel to pixel in x.
    pub dx: f32,
    /// Change from pixel to pixel in y.
    pub dy: f32,
}

impl Plane {
    /// Returns the value at an offset from the reference point. Each operation is rounded, as
    /// everywhere for depth.
    #[inline]
    pub fn at(&self, x: f32, y: f32) -> f32 {
        self.origin + self.dx * x + self.dy * y
    }

    /// Returns the value at an offset from the reference point by fused operations, as everywhere
    /// for inputs.
    #[inline]
    pub fn interpolated(&self, x: f32, y: f32) -> f32 {
        self.dx.mul_add(x, self.dy.mul_add(y, self.origin))
    }
}

/// Position, depth and facing of a primitive.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Shape {
    /// Window position that the planes are relative to, in pixels.
    pub reference: [f32; 2],
    /// Plane of the reciprocal of clip w.
    pub inverse_w: Plane,
    /// Plane of window depth, bias included.
    pub depth: Plane,
    /// Least and greatest depth, to which depths are clamped.
    pub depth_range: [f32; 2],
    /// True for front faces.
    pub front: bool,
    /// Number of the primitive in its draw's instance.
    pub id: u32,
}

impl Shape {
    /// Number of words that every primitive has, before those of its inputs.
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
    /// First word of the three edges, of three words each, modulo 2^32: changes from pixel to
    /// pixel in x and y, and the value at the
    /// centre of pixel (0, 0), less the edge's bias. A centre is covered if no value is negative.
    /// Near triangles of less than
    /// [`Self::WIDE`] units along each axis the values do not overflow.
    pub const EDGES: u32 = 12;
    /// Units along an axis from which on the words of edges may overflow.
    pub const WIDE: i64 = 1 << 14;
    /// First word of the least and the greatest depth at the pixels that may be covered.
    pub const DEPTHS: u32 = 21;
    /// First word of the corners on the grid, clockwise: x and y of each, in units.
    pub const CORNERS: u32 = 23;
    /// Word of the coverage of the first 4x4 pixels of those that may be covered, a bit each, row
    /// after row, for one sample a pixel.
    pub const COVERED: u32 = 29;
    /// First word of the pixels that may be covered: x and y of the first one, and of the one
    /// behind the last.
    pub const PIXELS: u32 = 30;
    /// Side of the pixels of [`Self::COVERED`].
    pub const COVERED_SIDE: u32 = 4;

    /// Returns the number of the first of the three words of an input word.
    pub fn first_word(input: usize) -> u32 {
        (Self::WORDS + input * 3) as u32
    }
}
