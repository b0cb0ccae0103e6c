//! The front end: pieces of a draw from the numbers of vertices through reuse, shading and set-up to primitives.

use std::ops::Range;

use super::reuse::Reuse;
use super::shading::shade;
use super::{PrimitiveContext, Primitives, VertexSource, set_up};
use crate::shader::interp::{Lanes, Wave};
use crate::tiling::MOST;

/// Room that a window needs for what one primitive may become: clipped, and drawn as lines.
const ROOM: usize = 64;

/// A draw, assembled.
pub struct Assembled<'a> {
    /// Its vertices. The instance is that of the first.
    pub source: VertexSource<'a>,
    /// Numbers of vertices, `corners` for each primitive of an instance.
    pub primitives: &'a [u32],
    /// Vertices of a primitive, 1 to 3.
    pub corners: usize,
    /// Instances.
    pub instances: u32,
    /// What set-up needs to know; `None` when primitives are discarded after shading.
    pub context: Option<PrimitiveContext<'a>>,
}

/// What a worker keeps from piece to piece.
#[derive(Default)]
pub struct FrontScratch {
    reuse: Reuse,
    /// The corners that `reuse` has numbered.
    numbered: Option<Range<usize>>,
    wave: Wave,
    words: Vec<Lanes>,
}

impl Assembled<'_> {
    /// Primitives of one instance.
    fn per_instance(&self) -> usize {
        self.primitives.len() / self.corners
    }

    /// Primitives of all instances.
    pub fn count(&self) -> usize {
        self.per_instance() * self.instances as usize
    }

    /// Shades and sets up a range of all primitives, behind those in the last of `out`. Returns false when the program was
    /// interrupted.
    pub fn process(&self, scratch: &mut FrontScratch, mut range: Range<usize>, out: &mut Vec<Primitives>) -> bool {
        while range.start < range.end {
            let (instance, first) = (range.start / self.per_instance(), range.start % self.per_instance());
            let count = (self.per_instance() - first).min(range.end - range.start);
            if !self.piece(scratch, instance as u32, first..first + count, out) {
                return false;
            }
            range.start += count;
        }
        true
    }

    fn piece(&self, scratch: &mut FrontScratch, instance: u32, range: Range<usize>, out: &mut Vec<Primitives>) -> bool {
        let corners = range.start * self.corners..range.end * self.corners;
        if scratch.numbered.as_ref() != Some(&corners) {
            scratch.reuse.number(&self.primitives[corners.clone()]);
            scratch.numbered = Some(corners);
        }
        let FrontScratch { reuse, wave, words, .. } = scratch;
        let source = VertexSource { instance: self.source.instance.wrapping_add(instance), ..self.source };
        let Some(shaded) = shade(&source, &reuse.vertices, (wave, words)) else { return false };
        if let Some(context) = &self.context {
            for (number, places) in range.zip(reuse.places.chunks_exact(self.corners)) {
                set_up(context, &shaded, places, number as u32, room(context, out));
            }
        }
        true
    }
}

/// The last primitives, or new ones when they are full.
fn room<'o>(context: &PrimitiveContext<'_>, out: &'o mut Vec<Primitives>) -> &'o mut Primitives {
    if out.last().is_none_or(|last| last.len() + ROOM > MOST) {
        out.push(context.primitives());
    }
    let last = out.len() - 1;
    &mut out[last]
}
