//! Assignment of a geometry program's invocations to the lanes of waves.

use std::ops::Range;

/// Assignment of invocations to lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergedMode {
    /// The programs are stages of their own, which exchange vertices through memory. An invocation
    /// of the geometry program has one lane.
    Off,
    /// An invocation has one lane, which emits all of its vertices: "non-replicated" in DESIGN.
    /// Vertices are shaded once for all primitives of a wave.
    Plain,
    /// An invocation has as many lanes as it may emit vertices. Each lane runs the program and
    /// emits the vertex with its own number. Vertices are shaded for each primitive.
    Replicated,
}

/// Work of a lane: an invocation, by its number in the batch, and the vertices to store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// The invocation.
    pub item: usize,
    /// First vertex to store.
    pub first: u32,
    /// Number of vertices to store.
    pub span: u32,
}

/// Division of invocations into batches, which run and are set up together.
#[derive(Debug, Clone, Copy)]
pub struct WaveAssignment {
    /// Assignment of invocations to lanes.
    pub mode: MergedMode,
    /// Number of lanes of a wave.
    pub lanes: usize,
    /// Maximum number of vertices of an invocation.
    pub max_vertices: u32,
}

/// Invocations, and the waves that run them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvocationBatch {
    /// Numbers of the invocations.
    pub items: Range<usize>,
    /// Number of waves, at least one. Several waves all run the one invocation of the batch.
    pub waves: usize,
}

impl WaveAssignment {
    /// Returns the number of lanes of an invocation.
    fn lanes_of_item(self) -> usize {
        match self.mode {
            MergedMode::Off | MergedMode::Plain => 1,
            MergedMode::Replicated => self.max_vertices.max(1) as usize,
        }
    }

    /// Divides `items` invocations into batches.
    pub fn batches(self, items: usize) -> impl Iterator<Item = InvocationBatch> {
        let of_item = self.lanes_of_item();
        let (step, waves) = ((self.lanes / of_item).max(1), of_item.div_ceil(self.lanes));
        (0..items).step_by(step).map(move |first| InvocationBatch { items: first..items.min(first + step), waves })
    }

    /// Returns the work of a lane in a wave of a batch of `items` invocations, or `None` if the
    /// lane has none.
    pub fn share(self, items: usize, wave: usize, lane: usize) -> Option<Share> {
        let (of_item, number) = (self.lanes_of_item(), wave * self.lanes + lane);
        let item = number / of_item;
        let share = match self.mode {
            MergedMode::Off | MergedMode::Plain => Share { item, first: 0, span: self.max_vertices },
            MergedMode::Replicated => Share { item, first: (number % of_item) as u32, span: 1 },
        };
        (item < items).then_some(share)
    }

    /// Returns the lanes of a wave that run an invocation of the batch.
    ///
    /// The highest number of vertices that one of these lanes outputs is that of the invocation,
    /// or of its first vertices if each lane has left the program at its own vertex.
    pub fn lanes_of(self, item: usize, wave: usize) -> Range<usize> {
        let (of_item, first) = (self.lanes_of_item(), wave * self.lanes);
        let lane = |number: usize| number.saturating_sub(first).min(self.lanes);
        lane(item * of_item)..lane((item + 1) * of_item)
    }

    /// Returns true if an invocation that has emitted `count` vertices in the first `waves` waves
    /// may have vertices for further waves.
    pub fn may_continue(self, waves: usize, count: u32) -> bool {
        count as usize >= waves * self.lanes
    }

    /// Returns the number of records of a wave, which is the maximum number of vertices that a
    /// lane stores.
    pub fn records(self) -> u32 {
        match self.mode {
            MergedMode::Off | MergedMode::Plain => self.max_vertices,
            MergedMode::Replicated => 1,
        }
    }

    /// Returns the record and lane of an invocation's vertex, by its number.
    pub fn place(self, item: usize, vertex: u32) -> (usize, usize) {
        match self.mode {
            MergedMode::Off | MergedMode::Plain => (vertex as usize, item),
            MergedMode::Replicated => {
                let number = item * self.lanes_of_item() + vertex as usize;
                (number / self.lanes, number % self.lanes)
            }
        }
    }

    /// Returns the mask that turns the number of a vertex into that of its record.
    pub fn mask(self) -> u32 {
        match self.mode {
            MergedMode::Off | MergedMode::Plain => u32::MAX,
            MergedMode::Replicated => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the numbers of waves and of runs of the geometry program for `items` invocations.
    fn runs(waves: WaveAssignment, items: usize) -> (usize, usize) {
        let (mut count, mut runs) = (0, 0);
        for batch in waves.batches(items) {
            count += batch.waves;
            for lane in 0..batch.waves * waves.lanes {
                runs += usize::from(waves.share(batch.items.len(), lane / waves.lanes, lane % waves.lanes).is_some());
            }
        }
        (count, runs)
    }

    /// Golden example of DESIGN: six triangles of a strip of eight vertices, each emitting at most
    /// four vertices.
    #[test]
    fn six_triangles_on_waves_of_eight_and_sixteen() {
        for (lanes, replicated) in [(8, (3, 24)), (16, (2, 24))] {
            let waves = |mode| WaveAssignment { mode, lanes, max_vertices: 4 };
            assert_eq!(runs(waves(MergedMode::Replicated), 6), replicated);
            assert_eq!(runs(waves(MergedMode::Plain), 6), (1, 6));
            let stored = |mode| waves(mode).records() as usize * lanes;
            assert_eq!((stored(MergedMode::Replicated), stored(MergedMode::Plain)), (lanes, 4 * lanes));
        }
    }

    #[test]
    fn every_vertex_has_one_lane_and_one_place() {
        for (mode, max_vertices, items) in [
            (MergedMode::Off, 3, 37),
            (MergedMode::Plain, 3, 37),
            (MergedMode::Replicated, 3, 37),
            (MergedMode::Replicated, 16, 5),
            (MergedMode::Replicated, 17, 3),
            (MergedMode::Replicated, 256, 2),
            (MergedMode::Replicated, 0, 33),
            (MergedMode::Plain, 0, 33),
        ] {
            let (waves, mut next) = (WaveAssignment { mode, lanes: 16, max_vertices }, 0);
            for batch in waves.batches(items) {
                assert_eq!(batch.items.start, next);
                next = batch.items.end;
                let mut stored = Vec::new();
                for (wave, lane) in (0..batch.waves).flat_map(|wave| (0..16).map(move |lane| (wave, lane))) {
                    let Some(share) = waves.share(batch.items.len(), wave, lane) else { continue };
                    assert!(share.item < batch.items.len() && share.span <= waves.records());
                    assert!(waves.lanes_of(share.item, wave).contains(&lane));
                    for vertex in (share.first..share.first + share.span).filter(|&vertex| vertex < max_vertices) {
                        let record = wave * waves.records() as usize + (vertex & waves.mask()) as usize;
                        assert_eq!(waves.place(share.item, vertex), (record, lane));
                        stored.push((share.item, vertex));
                    }
                }
                stored.sort_unstable();
                let all = (0..batch.items.len()).flat_map(|item| (0..max_vertices).map(move |vertex| (item, vertex)));
                assert!(stored.into_iter().eq(all), "{mode:?} {max_vertices}");
            }
            assert_eq!(next, items);
        }
    }
}
