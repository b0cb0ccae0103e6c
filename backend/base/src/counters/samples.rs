//! Samples of the counters: the values for each submission, render pass, draw and dispatch.
//!
//! Each command processor counts in separate counters, so that concurrent queues do not see each
//! other's values. It adds its values and samples to the GPU's when its submission ends. One tile
//! pass processes the tiles of several draws. A draw's sample therefore has only the counters of
//! the front end ([`FRONT`]), and the sample of its render pass has all counters.

use std::sync::Arc;

use super::{COUNT, Counter, Counters, Counts, DrawSample, OF_DRAWS};

/// Kind of the work that a sample covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleKind {
    /// The commands that a queue executes in one go.
    Submission,
    /// A render pass instance, with all of its subpasses and views.
    Pass,
    /// One draw. An indirect or multi-draw command has a sample for each of its draws.
    Draw,
    /// A compute dispatch.
    Dispatch,
}

impl SampleKind {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Submission => "submission",
            Self::Pass => "pass",
            Self::Draw => "draw",
            Self::Dispatch => "dispatch",
        }
    }
}

/// The values that the counters gained in a part of the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// Kind of the work.
    pub kind: SampleKind,
    /// Number of the sample that contains this one. It is lower than this sample's own number.
    pub within: Option<usize>,
    /// Start and end, in nanoseconds since the GPU was started. A draw has the times of its pass.
    pub time: [u64; 2],
    /// Values other than 0 with the counter's number in the table, in the order of the table.
    pub values: Vec<(u8, u64)>,
}

/// Number of the counters of the front end, which come first in the table.
pub const FRONT: usize = Counter::Primitives as usize;

const _: () = assert!(COUNT <= u8::MAX as usize);

/// Most samples that are kept.
const MAX_SAMPLES: usize = 1 << 18;

/// Samples, and the number of samples that exceeded the limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Samples {
    /// Samples within the limit.
    pub kept: Vec<Sample>,
    /// Number of samples beyond the limit.
    pub left_out: u64,
}

impl Samples {
    /// Appends the samples of a submission, which has left out `left_out` samples itself.
    pub(super) fn extend(&mut self, samples: Vec<Sample>, left_out: u64) {
        let first = self.kept.len();
        let room = MAX_SAMPLES - first;
        self.left_out += left_out + samples.len().saturating_sub(room) as u64;
        let moved = |sample: Sample| Sample { within: sample.within.map(|within| first + within), ..sample };
        self.kept.extend(samples.into_iter().take(room).map(moved));
    }
}

/// Recorder of the samples of one submission.
#[derive(Debug)]
pub struct Sampler {
    /// The counters of the submission.
    pub counters: Arc<Counters>,
    samples: Vec<Sample>,
    /// Numbers of the samples that have not ended, with the values when each began.
    open: Vec<(usize, Counts)>,
    /// The front end's values when they were last assigned to a draw.
    front: [u64; FRONT],
    /// Number of draws beyond the limit of samples.
    left_out: u64,
}

impl Sampler {
    /// Begins the sample of a submission.
    ///
    /// `now` is in nanoseconds since the GPU was started. `all` are the GPU's counters.
    pub fn new(now: u64, all: &Counters) -> Self {
        let (counters, front) = (Arc::new(all.of_part()), [0; FRONT]);
        let mut sampler = Self { counters, samples: Vec::new(), open: Vec::new(), front, left_out: 0 };
        sampler.begin(SampleKind::Submission, now, None);
        sampler
    }

    /// Begins a sample.
    ///
    /// `other` are separate counters, such as a query's, whose values will be added to these
    /// counters later.
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

    /// Ends the sample that began last. `other` is as for [`Self::begin`].
    pub fn end(&mut self, now: u64, other: Option<&Counters>) {
        let counted = self.counted(other);
        let Some((number, before)) = self.open.pop() else { return };
        let sample = &mut self.samples[number];
        sample.time[1] = now;
        let grown = (0u8..).zip(counted.iter().zip(before)).map(|(counter, (now, before))| (counter, now - before));
        sample.values = grown.filter(|(_, value)| *value > 0).collect();
    }

    /// Begins a draw and returns its sample's number, or `None` if there are too many samples.
    pub fn begin_draw(&mut self, other: Option<&Counters>) -> Option<DrawSample> {
        self.front_grown(other);
        if self.samples.len() >= MAX_SAMPLES {
            self.left_out += 1;
            return None;
        }
        let time = self.open.last().map_or(0, |(number, _)| self.samples[*number].time[0]);
        DrawSample::new(self.add(SampleKind::Draw, time) as u32)
    }

    /// Adds the front end's new values to a draw's sample, or to none.
    ///
    /// New are the values since [`Self::begin_draw`] or this function ran last.
    pub fn add_to_draw(&mut self, draw: Option<DrawSample>, other: Option<&Counters>) {
        let grown = self.front_grown(other);
        if let Some(draw) = draw {
            self.add_values(draw, (0u8..).zip(grown));
        }
    }

    /// Adds values, each with its counter's number, to a draw's sample.
    fn add_values(&mut self, draw: DrawSample, more: impl Iterator<Item = (u8, u64)>) {
        let values = &mut self.samples[draw.get() as usize].values;
        for (counter, value) in more.filter(|(_, value)| *value > 0) {
            match values.binary_search_by_key(&counter, |(known, _)| *known) {
                Ok(place) => values[place].1 += value,
                Err(place) => values.insert(place, (counter, value)),
            }
        }
    }

    /// Returns the values that the front end's counters gained since the last call.
    fn front_grown(&mut self, other: Option<&Counters>) -> [u64; FRONT] {
        std::array::from_fn(|counter| {
            let now = self.counters.value(counter) + other.map_or(0, |other| other.value(counter));
            now - std::mem::replace(&mut self.front[counter], now)
        })
    }

    /// Ends all samples, and adds the values and samples to the GPU's.
    pub fn finish(mut self, now: u64, all: &Counters) {
        while !self.open.is_empty() {
            self.end(now, None);
        }
        let draws = std::mem::take(&mut *self.counters.draws.lock());
        for (draw, counts) in draws {
            self.add_values(draw, OF_DRAWS.iter().map(|counter| *counter as u8).zip(counts));
        }
        // A draw has the times of its pass.
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
    use super::super::Map;
    use super::*;

    #[test]
    fn samples_have_what_was_counted_in_them() {
        let all = Counters::default();
        let mut sampler = Sampler::new(5, &all);
        let count = |counters: &Counters, counter, many| counters.count(counter, many);
        sampler.begin(SampleKind::Pass, 6, None);
        let first = sampler.begin_draw(None);
        count(&sampler.counters, Counter::Vertices, 3);
        sampler.add_to_draw(first, None);
        // A query counts separately. Its values are added when it ends.
        let query = Counters::default();
        let second = sampler.begin_draw(Some(&query));
        count(&query, Counter::Vertices, 4);
        count(&query, Counter::Waves, 1);
        sampler.add_to_draw(second, Some(&query));
        sampler.counters.add(&query);
        count(&sampler.counters, Counter::InputVertices, 9);
        sampler.add_to_draw(first, None);
        // A tile pass processes both draws, and fragments of the first one are dropped later.
        let pass = sampler.counters.begin_pass(1, 1).tally();
        for (draw, fragments) in [(first, 5), (second, 7), (None, 1), (first, 2)] {
            pass.counters.begin_draw(draw);
            pass.counters.count(Counter::Fragments, fragments);
        }
        pass.counters.mark(Map::Dropped, [0, 0], 3);
        pass.counters.assign_dropped(first.unwrap(), 3);
        pass.end_tile(0);
        drop(pass);
        sampler.end(8, None);
        sampler.finish(9, &all);
        let samples = all.samples().kept;
        let (input, vertices, waves) = (Counter::InputVertices as u8, Counter::Vertices as u8, Counter::Waves as u8);
        let (fragments, dropped) = (Counter::Fragments as u8, Counter::Dropped as u8);
        let of = |number: usize| (samples[number].within, samples[number].time, samples[number].values.clone());
        let all_values = vec![(input, 9), (vertices, 7), (fragments, 15), (dropped, 3), (waves, 1)];
        assert_eq!(of(0), (None, [5, 9], all_values.clone()));
        assert_eq!(of(1), (Some(0), [6, 8], all_values));
        assert_eq!(of(2), (Some(1), [6, 8], vec![(input, 9), (vertices, 3), (fragments, 7), (dropped, 3)]));
        assert_eq!(of(3), (Some(1), [6, 8], vec![(vertices, 4), (fragments, 7)]));
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
