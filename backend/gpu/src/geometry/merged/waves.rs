//! How the invocations of a geometry program are given to the lanes of waves.

use std::ops::Range;

/// What a lane of a merged program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// An invocation has one lane, which emits all its vertices: DESIGN's "non-replicated". Vertices are shaded once for the primitives of
    /// a wave.
    Plain,
    /// An invocation has as many lanes as it may emit vertices. Each runs the program and emits one vertex: that with its own number.
    /// Vertices are shaded for each primitive.
    Replicated,
}

/// What a lane has: an invocation, by its number in the batch, and which of its vertices it stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// The invocation.
    pub item: usize,
    /// The first vertex that is stored.
    pub first: u32,
    /// How many are.
    pub span: u32,
}

/// Cuts invocations into batches: what runs together, and is set up together.
#[derive(Debug, Clone, Copy)]
pub struct Waves {
    /// What a lane does.
    pub mode: Mode,
    /// Lanes of a wave.
    pub lanes: usize,
    /// Most vertices of an invocation.
    pub most: u32,
}

/// Invocations, and the waves that run them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// Numbers of the invocations.
    pub items: Range<usize>,
    /// Waves, at least one. Several are of one invocation.
    pub waves: usize,
}

impl Waves {
    /// Lanes of an invocation.
    fn lanes_of_item(self) -> usize {
        match self.mode {
            Mode::Plain => 1,
            Mode::Replicated => self.most.max(1) as usize,
        }
    }

    /// Cuts so many invocations.
    pub fn batches(self, items: usize) -> impl Iterator<Item = Batch> {
        let of_item = self.lanes_of_item();
        let (step, waves) = ((self.lanes / of_item).max(1), of_item.div_ceil(self.lanes));
        (0..items).step_by(step).map(move |first| Batch { items: first..items.min(first + step), waves })
    }

    /// What a lane of a wave of a batch of so many invocations has, if it has any.
    pub fn share(self, items: usize, wave: usize, lane: usize) -> Option<Share> {
        let (of_item, number) = (self.lanes_of_item(), wave * self.lanes + lane);
        let item = number / of_item;
        let share = match self.mode {
            Mode::Plain => Share { item, first: 0, span: self.most },
            Mode::Replicated => Share { item, first: (number % of_item) as u32, span: 1 },
        };
        (item < items).then_some(share)
    }

    /// The lane of the first wave, or of one behind it, that says how many vertices an invocation emitted.
    pub fn teller(self, item: usize) -> usize {
        item * self.lanes_of_item()
    }

    /// Records of a wave: how many vertices each lane may store.
    pub fn records(self) -> u32 {
        match self.mode {
            Mode::Plain => self.most,
            Mode::Replicated => 1,
        }
    }

    /// Record and lane of an invocation's vertex, by its number.
    pub fn place(self, item: usize, vertex: u32) -> (usize, usize) {
        match self.mode {
            Mode::Plain => (vertex as usize, item),
            Mode::Replicated => {
                let number = item * self.lanes_of_item() + vertex as usize;
                (number / self.lanes, number % self.lanes)
            }
        }
    }

    /// What the number of a vertex is masked by to give that of its record.
    pub fn mask(self) -> u32 {
        match self.mode {
            Mode::Plain => u32::MAX,
            Mode::Replicated => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waves, and runs of the geometry program, of so many invocations.
    fn runs(waves: Waves, items: usize) -> (usize, usize) {
        let (mut count, mut runs) = (0, 0);
        for batch in waves.batches(items) {
            count += batch.waves;
            for lane in 0..batch.waves * waves.lanes {
                runs += usize::from(waves.share(batch.items.len(), lane / waves.lanes, lane % waves.lanes).is_some());
            }
        }
        (count, runs)
    }

    /// DESIGN's golden: six triangles, of a strip of eight vertices, of which four vertices become at most.
    #[test]
    fn six_triangles_on_waves_of_eight_and_sixteen() {
        for (lanes, replicated) in [(8, (3, 24)), (16, (2, 24))] {
            let waves = |mode| Waves { mode, lanes, most: 4 };
            assert_eq!(runs(waves(Mode::Replicated), 6), replicated);
            assert_eq!(runs(waves(Mode::Plain), 6), (1, 6));
            let stored = |mode| waves(mode).records() as usize * lanes;
            assert_eq!((stored(Mode::Replicated), stored(Mode::Plain)), (lanes, 4 * lanes));
        }
    }

    #[test]
    fn every_vertex_has_one_lane_and_one_place() {
        for (mode, most, items) in [
            (Mode::Plain, 3, 37),
            (Mode::Replicated, 3, 37),
            (Mode::Replicated, 16, 5),
            (Mode::Replicated, 17, 3),
            (Mode::Replicated, 256, 2),
            (Mode::Replicated, 0, 33),
            (Mode::Plain, 0, 33),
        ] {
            let (waves, mut next) = (Waves { mode, lanes: 16, most }, 0);
            for batch in waves.batches(items) {
                assert_eq!(batch.items.start, next);
                next = batch.items.end;
                let mut stored = Vec::new();
                for (wave, lane) in (0..batch.waves).flat_map(|wave| (0..16).map(move |lane| (wave, lane))) {
                    let Some(share) = waves.share(batch.items.len(), wave, lane) else { continue };
                    assert!(share.item < batch.items.len() && share.span <= waves.records());
                    for vertex in (share.first..share.first + share.span).filter(|&vertex| vertex < most) {
                        let record = wave * waves.records() as usize + (vertex & waves.mask()) as usize;
                        assert_eq!(waves.place(share.item, vertex), (record, lane));
                        stored.push((share.item, vertex));
                    }
                }
                stored.sort_unstable();
                let all = (0..batch.items.len()).flat_map(|item| (0..most).map(move |vertex| (item, vertex)));
                assert!(stored.into_iter().eq(all), "{mode:?} {most}");
            }
            assert_eq!(next, items);
        }
    }
}
