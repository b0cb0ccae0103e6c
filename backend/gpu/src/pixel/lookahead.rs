//! Roles of draws in the look-ahead: which draws may be deferred together, which of them may be
//! dropped, and which hide others.
//!
//! A *segment* is a run of draws of one pass. Its writers compare depth in one direction, write
//! it, and overwrite the same locations wherever they pass. Its other draws write no depth, and
//! no locations but those. A primitive of a segment may be dropped where it lies strictly behind
//! a certain writer of the segment, whether that one comes before it or after it. The proof is in
//! `docs/design/posh.md`, "Safety rule".
//!
//! Source: DESIGN 3.2, "look-ahead safety".

use ash::vk;

use super::draw::PixelContext;
use crate::hiz::DepthDirection;
use crate::raster::has_all_samples;

/// Depth comparisons by which a draw's fragments fail behind nearer depths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailsBehind {
    /// None, or unknown depths: the draw's primitives are never dropped.
    Never,
    /// Fragments fail behind depths that are nearer in this direction.
    In(DepthDirection),
    /// Fragments pass at equal depths only, and so fail in either direction.
    Both,
}

impl FailsBehind {
    /// Returns true if fragments fail behind depths that are nearer in a direction.
    pub fn covers(self, direction: DepthDirection) -> bool {
        match self {
            Self::Never => false,
            Self::In(own) => own == direction,
            Self::Both => true,
        }
    }
}

/// Role of a draw in the look-ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LookaheadRole {
    /// Mask of the locations that fragments may write.
    pub locations: u32,
    /// Direction of the depth comparison of a writer, whose fragments overwrite all of
    /// `locations`; `None` if the draw writes no depth.
    pub writes: Option<DepthDirection>,
    /// True for a writer whose primitives write depth wherever they cover samples and pass. Others
    /// may discard fragments, or their depths are unknown.
    pub is_certain: bool,
    /// Comparisons by which its primitives may be dropped.
    pub fails: FailsBehind,
}

impl LookaheadRole {
    /// Returns the role of a draw whose fragments have other depths or cover other pixels than
    /// their triangles, because of a depth bias or conservative rasterization.
    pub fn with_unknown_depths(self) -> Self {
        Self { is_certain: false, fails: FailsBehind::Never, ..self }
    }
}

impl PixelContext<'_> {
    /// Returns the role of the draw in the look-ahead, or `None` if no segment can contain it.
    /// [`Self::with_segment`] must have been called.
    pub fn lookahead_role(&self) -> Option<LookaheadRole> {
        let (facts, traits) = (self.fragment.map(|program| program.fragment).unwrap_or_default(), self.traits());
        let sees_coverage = (self.multisample.samples > 1 || self.rates.is_some()) && traits.sees_samples;
        // Other tests depend on more than the nearest depth, or have an effect when they fail.
        let has_others = self.tests.is_some_and(|tests| tests.stencil_test || tests.depth_bounds_test);
        // Helpers of a program that reads attachments see fragments that its own do not cover.
        if facts.side_effects || facts.interlock || sees_coverage || has_others {
            return None;
        }
        let written = traits.targets.iter().zip(self.targets()).filter(|(_, plane)| plane.is_some());
        let locations = written.fold(0, |locations, ((location, _), _)| locations | 1 << location);
        let tests = self.tests.filter(|tests| tests.depth_test && self.depth.is_some());
        let direction = tests.and_then(|tests| DepthDirection::of(tests.depth_compare));
        let fails = match tests {
            // The depth of the fragments is not that of the primitive.
            Some(_) if facts.writes_depth => FailsBehind::Never,
            Some(tests) if tests.depth_compare == vk::CompareOp::EQUAL => FailsBehind::Both,
            _ => direction.map_or(FailsBehind::Never, FailsBehind::In),
        };
        let compare = tests.filter(|tests| tests.depth_write).map(|tests| tests.depth_compare);
        // Early tests write depths of samples that lose their colours afterwards.
        let loses_colors = facts.may_discard || traits.changes_coverage || !has_all_samples(&self.multisample);
        let loses_colors = facts.early_tests && loses_colors;
        let writes = match compare {
            // Writing an equal depth changes nothing.
            None | Some(vk::CompareOp::EQUAL | vk::CompareOp::NEVER) => None,
            // Depths may recede, or colours that others left remain visible.
            Some(_) if direction.is_none() || traits.needs_stored || loses_colors => return None,
            Some(_) => direction,
        };
        Some(LookaheadRole { locations, writes, is_certain: self.segment.is_some(), fails })
    }
}

/// Properties of the draws of a segment so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LookaheadSegment {
    /// Locations that the writers overwrite; `None` without a writer.
    overwritten: Option<u32>,
    /// Locations that any draw may write.
    written: u32,
    /// Direction of the writers, or else of the first draw that may be dropped.
    direction: Option<DepthDirection>,
}

impl LookaheadSegment {
    /// Returns the segment with one more draw, or `None` if that draw must not be in it.
    pub fn with(&self, role: &LookaheadRole) -> Option<Self> {
        let written = self.written | role.locations;
        let overwritten = match (self.overwritten, role.writes) {
            (Some(own), Some(_)) if own != role.locations => return None,
            (own, Some(_)) => own.or(Some(role.locations)),
            (own, None) => own,
        };
        if overwritten.is_some_and(|overwritten| written & !overwritten != 0) {
            return None;
        }
        let own = match role.fails {
            FailsBehind::In(direction) => Some(direction),
            _ => None,
        };
        if self.direction.is_some() && role.writes.is_some() && self.direction != role.writes {
            return None;
        }
        Some(Self { overwritten, written, direction: self.direction.or(role.writes).or(own) })
    }

    /// Returns the direction in which primitives may be hidden; `None` if no draw may be dropped.
    pub fn direction(&self) -> Option<DepthDirection> {
        self.direction
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LESS: DepthDirection = DepthDirection::Less;

    fn writer(locations: u32) -> LookaheadRole {
        LookaheadRole { locations, writes: Some(LESS), is_certain: true, fails: FailsBehind::In(LESS) }
    }

    fn tester(locations: u32) -> LookaheadRole {
        LookaheadRole { writes: None, is_certain: false, ..writer(locations) }
    }

    fn joins(roles: &[LookaheadRole]) -> bool {
        let none = Some(LookaheadSegment::default());
        roles.iter().fold(none, |segment, role| segment?.with(role)).is_some()
    }

    #[test]
    fn writers_of_a_segment_overwrite_what_any_draw_writes() {
        let (one, two) = (0b01, 0b11);
        assert!(joins(&[writer(one), writer(one)]) && !joins(&[writer(one), writer(two)]));
        assert!(!joins(&[writer(two), writer(one)]), "a draw that keeps a location may show what is behind it");
        assert!(joins(&[tester(one), writer(one), tester(one)]) && joins(&[writer(two), tester(one)]));
        assert!(!joins(&[writer(one), tester(two)]) && !joins(&[tester(two), writer(one)]));
        assert!(!joins(&[writer(0), tester(one)]), "depth alone hides no colour that a later draw adds");
        let discarding = LookaheadRole { is_certain: false, ..writer(one) };
        assert!(joins(&[writer(one), discarding, tester(one), writer(one)]));
    }

    #[test]
    fn writers_of_a_segment_compare_in_one_direction() {
        let greater = |role: LookaheadRole| LookaheadRole {
            writes: role.writes.map(|_| DepthDirection::Greater),
            fails: FailsBehind::In(DepthDirection::Greater),
            ..role
        };
        assert!(!joins(&[writer(1), greater(writer(1))]) && !joins(&[tester(1), greater(writer(1))]));
        let segment = LookaheadSegment::default().with(&writer(1)).and_then(|all| all.with(&greater(tester(1))));
        assert_eq!(segment.and_then(|segment| segment.direction()), Some(LESS));
        assert!(!greater(tester(1)).fails.covers(LESS), "that draw itself is not dropped");
        let equal = LookaheadRole { fails: FailsBehind::Both, ..tester(1) };
        assert_eq!(LookaheadSegment::default().with(&equal).and_then(|segment| segment.direction()), None);
        assert!(equal.fails.covers(LESS) && equal.fails.covers(DepthDirection::Greater));
    }
}
