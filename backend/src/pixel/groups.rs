//! Whole groups of one primitive, shaded and exported by one run each of their draw's group kernel.

use super::DrawContext;
use super::kernel::Source;
use super::scoreboard::Fragments;
use crate::memory::PlaneRef;
use crate::shader::interp::{Environment, Lanes, Runs, Stop, WAVE, Wave};

/// The runs of a draw's group kernel in a tile.
pub(super) struct Groups<'s> {
    runs: Runs<'s>,
    /// Input words that change from group to group: slot, and what belongs there.
    changing: &'s [(usize, Source)],
    /// The attachments' planes, by the number of the target.
    planes: Vec<PlaneRef<'s>>,
}

impl<'s> Groups<'s> {
    /// Of a draw whose groups can be shaded at once.
    pub(super) fn new<'a: 's>(context: &'a DrawContext<'a>, wave: &'s mut Wave) -> Option<Self> {
        let (stage, ranges) = (context.group_kernel()?, context.direct.as_ref()?);
        let environment =
            Environment { push: context.push, ranges, ..Environment::new(context.bindings, context.deadline) };
        let planes = context.targets().map(|plane| plane.copied()).collect::<Option<_>>()?;
        let mut runs = wave.runs(&stage.program, environment);
        for &(slot, source) in &stage.sources {
            if let Source::BlendConstant(component) = source {
                runs.inputs[slot] = [context.blend_constants[component].to_bits(); WAVE];
            }
        }
        Some(Self { runs, changing: &stage.sources, planes })
    }

    /// Whether a group's texels lie in one line of each attachment.
    #[inline]
    pub(super) fn takes(&self, [x, y]: [u32; 2]) -> bool {
        self.planes.iter().all(|plane| plane.has_line(x, y))
    }

    /// Shades fragments of the primitive with these words.
    #[inline]
    pub(super) fn shade(&mut self, words: &[u32], fragments: &Fragments) -> Stop {
        let [x, y] = fragments.place;
        for &(slot, source) in self.changing {
            let all: fn(u32) -> Lanes = |word| [word; WAVE];
            self.runs.inputs[slot] = match source {
                Source::Corner(axis) => all((fragments.place[axis] as f32).to_bits()),
                Source::Pixels(half) => all((fragments.pixels >> (32 * half)) as u32),
                Source::Line(target) => all(self.planes[target].offset(x, y)),
                _ => continue,
            };
        }
        self.runs.run(words)
    }
}
