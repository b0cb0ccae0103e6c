//! Samples of the counters: what was counted in each submission, render pass, draw and dispatch.
//!
//! A command processor counts in counters of its own, so that queues which run at the same time do not see each other's, and hands them
//! over when its submission ends. A draw's tiles are walked together with those of others, so its sample has only what the front
//! end counts ([`FRONT`]); the pass has all.

use std::sync::Arc;

use super::{COUNT, Counter, Counters, Counts};

/// What a sample is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleKind {
    /// What a queue executed at once.
    Submission,
    /// A render pass instance, with all of its subpasses and views.
    Pass,
    /// A draw; each of an indirect or a multiple one.
    Draw,
    /// A compute dispatch.
    Dispatch,
}

impl SampleKind {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Submission => "submission",
            Self::Pass => "pass",
            Self::Draw => "draw",
            Self::Dispatch => "dispatch",
        }
    }
}

/// What was counted in a part of the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// What it is of.
    pub kind: SampleKind,
    /// The number of the sample that it is a part of: an earlier one.
    pub within: Option<usize>,
    /// When it began and ended, in nanoseconds since the GPU was started; a draw begins and ends with its pass.
    pub time: [u64; 2],
    /// Numbers in the table of counters and what was counted, where that is not 0; in order.
    pub values: Vec<(u8, u64)>,
}

/// Counters of the front end: the first ones of the table.
pub const FRONT: usize = Counter::Primitives as usize;

const _: () = assert!(COUNT <= u8::MAX as usize);

/// Samples that are kept, at most.
const MAX_SAMPLES: usize = 1 << 18;

/// Samples, with the number of those for which there was no room.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Samples {
    /// Those that are kept.
    pub kept: Vec<Sample>,
    /// How many were left out.
    pub left_out: u64,
}

impl Samples {
    /// Adds those of a submission, which has left some out itself.
    pub(super) fn extend(&mut self, samples: Vec<Sample>, left_out: u64) {
        let first = self.kept.len();
        let room = MAX_SAMPLES - first;
        self.left_out += left_out + samples.len().saturating_sub(room) as u64;
        let moved = |sample: Sample| Sample { within: sample.within.map(|within| first + within), ..sample };
        self.kept.extend(samples.into_iter().take(room).map(moved));
    }
}

/// Takes the samples of one submission.
#[derive(Debug)]
pub struct Sampler {
    /// What is counted in it.
    pub counters: Arc<Counters>,
    samples: Vec<Sample>,
    /// What was counted when those began that have not ended; their numbers.
    open: Vec<(usize, Counts)>,
    /// What the front end had counted when somebody last asked.
    front: [u64; FRONT],
    /// Draws for which there was no room.
    left_out: u64,
}

impl Sampler {
    /// Begins with a submission, now, for a GPU that counts all.
    pub fn new(now: u64, all: &Counters) -> Self {
        let (counters, front) = (Arc::new(all.of_part()), [0; FRONT]);
        let mut sampler = Self { counters, samples: Vec::new(), open: Vec::new(), front, left_out: 0 };
        sampler.begin(SampleKind::Submission, now, None);
        sampler
    }

    /// Begins a sample. `other` has counted beside its own counters, and will be added to these.
    pub fn begin(&mut self, kind: SampleKind, now: u64, other: Option<&Counters>) {
        let counted = self.counted(other);
        let number = self.add(kind, now);
        self.open.push((number, counted));
    }

    fn add(&mut self, kind: SampleKind, now: u64) -> usize {
        let within = self.open.last().map(|(number, _)| *number);
        self.samples.push(Sample { kind, within, time: [now; 2], values: Vec::new() });
        self.samples.len() - 1
    }

    fn counted(&self, other: Option<&Counters>) -> Counts {
        let (mut counts, other) = (self.counters.values(), other.map(Counters::values));
        counts.iter_mut().zip(other.into_iter().flatten()).for_each(|(count, other)| *count += other);
        counts
    }

    /// Ends the sample that was begun last.
    pub fn end(&mut self, now: u64, other: Option<&Counters>) {
        let counted = self.counted(other);
        let Some((number, before)) = self.open.pop() else { return };
        let sample = &mut self.samples[number];
        sample.time[1] = now;
        let grown = (0u8..).zip(counted.iter().zip(before)).map(|(counter, (now, before))| (counter, now - before));
        sample.values = grown.filter(|(_, value)| *value > 0).collect();
    }

    /// Begins a draw: its number, if there is room for it.
    pub fn begin_draw(&mut self, other: Option<&Counters>) -> Option<usize> {
        self.front_grown(other);
        if self.samples.len() >= MAX_SAMPLES {
            self.left_out += 1;
            return None;
        }
        let time = self.open.last().map_or(0, |(number, _)| self.samples[*number].time[0]);
        Some(self.add(SampleKind::Draw, time))
    }

    /// What the front end has counted since a draw began, or somebody else's was added, was the draw's.
    pub fn add_to_draw(&mut self, draw: usize, other: Option<&Counters>) {
        let grown = self.front_grown(other);
        let values = &mut self.samples[draw].values;
        for (counter, value) in (0u8..).zip(grown).filter(|(_, value)| *value > 0) {
            match values.binary_search_by_key(&counter, |(known, _)| *known) {
                Ok(place) => values[place].1 += value,
                Err(place) => values.insert(place, (counter, value)),
            }
        }
    }

    /// What the front end has counted since somebody last asked.
    pub fn front_grown(&mut self, other: Option<&Counters>) -> [u64; FRONT] {
        std::array::from_fn(|counter| {
            let now = self.counters.value(counter) + other.map_or(0, |other| other.value(counter));
            now - std::mem::replace(&mut self.front[counter], now)
        })
    }

    /// Ends all, and hands what was counted and the samples over.
    pub fn finish(mut self, now: u64, all: &Counters) {
        while !self.open.is_empty() {
            self.end(now, None);
        }
        // A draw's time is that of the pass.
        for number in 0..self.samples.len() {
            if let (SampleKind::Draw, Some(pass)) = (self.samples[number].kind, self.samples[number].within) {
                self.samples[number].time = self.samples[pass].time;
            }
        }
        all.add(&self.counters);
        all.samples.lock().extend(self.samples, self.left_out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_what_was_counted_in_them() {
        let all = Counters::default();
        let mut sampler = Sampler::new(5, &all);
        let count = |counters: &Counters, counter, many| counters.count(counter, many);
        sampler.begin(SampleKind::Pass, 6, None);
        let first = sampler.begin_draw(None).unwrap();
        count(&sampler.counters, Counter::Vertices, 3);
        sampler.add_to_draw(first, None);
        // A query counts apart, and is added when it ends.
        let query = Counters::default();
        let second = sampler.begin_draw(Some(&query)).unwrap();
        count(&query, Counter::Vertices, 4);
        count(&query, Counter::Waves, 1);
        sampler.add_to_draw(second, Some(&query));
        sampler.counters.add(&query);
        count(&sampler.counters, Counter::InputVertices, 9);
        sampler.add_to_draw(first, None);
        sampler.end(8, None);
        sampler.finish(9, &all);
        let samples = all.samples().kept;
        let (input, vertices, waves) = (Counter::InputVertices as u8, Counter::Vertices as u8, Counter::Waves as u8);
        let of = |number: usize| (samples[number].within, samples[number].time, samples[number].values.clone());
        assert_eq!(of(0), (None, [5, 9], vec![(input, 9), (vertices, 7), (waves, 1)]));
        assert_eq!(of(1), (Some(0), [6, 8], vec![(input, 9), (vertices, 7), (waves, 1)]));
        assert_eq!(of(2), (Some(1), [6, 8], vec![(input, 9), (vertices, 3)]));
        assert_eq!(of(3), (Some(1), [6, 8], vec![(vertices, 4)]));
        assert_eq!(all.values()[Counter::Vertices as usize], 7);
    }

    #[test]
    fn samples_are_bounded() {
        let mut samples = Samples::default();
        let sample = |within| Sample { kind: SampleKind::Draw, within, time: [0; 2], values: Vec::new() };
        samples.extend(vec![sample(None)], 2);
        samples.extend(vec![sample(Some(0)); MAX_SAMPLES], 0);
        assert_eq!((samples.kept.len(), samples.left_out), (MAX_SAMPLES, 3));
        assert_eq!(samples.kept[1].within, Some(1));
    }
}
