//! Shards: parts of the groups of a list, which are run whole.

use std::collections::HashMap;
use std::ops::Range;

use crate::outcome::group_of;

/// Groups that are divided by one more part of their names, since they have variants that each
/// repeat most cases.
const DIVIDED: [&str; 2] = ["pipeline", "renderpasses"];

/// A part of a group's cases, in the order of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shard {
    /// Name of the group without the name of the suite, such as `api` or `pipeline.monolithic`.
    pub group: String,
    /// Number of the shard in its group, from 1 on.
    pub index: usize,
    /// Number of shards of the group.
    pub count: usize,
    /// Indices of its cases in the list.
    pub range: Range<usize>,
}

/// Returns the group of a case without the name of the suite.
fn group(name: &str) -> &str {
    let path = name.split_once('.').map_or(name, |(_, path)| path);
    let group = group_of(path, 1);
    if DIVIDED.contains(&group) { group_of(path, 2) } else { group }
}

/// Sorts a list by groups, in the order in which the groups begin, and divides each group into
/// shards of about equal sizes, of at most `size` cases.
pub fn divide(names: &mut [String], size: usize) -> Vec<Shard> {
    let mut order = HashMap::new();
    for name in names.iter() {
        let next = order.len();
        if !order.contains_key(group(name)) {
            order.insert(group(name).to_owned(), next);
        }
    }
    // The sort is stable, so that cases of a group keep their order.
    names.sort_by_cached_key(|name| order[group(name)]);
    let mut shards = Vec::new();
    let mut begin = 0;
    for cases in names.chunk_by(|a, b| group(a) == group(b)) {
        let count = cases.len().div_ceil(size);
        let bound = |index: usize| begin + cases.len() * index / count;
        shards.extend((1..=count).map(|index| Shard {
            group: group(&cases[0]).to_owned(),
            index,
            count,
            range: bound(index - 1)..bound(index),
        }));
        begin += cases.len();
    }
    shards
}

/// Returns a digest of a list in its order, by which it is recognized on any machine.
pub fn digest(names: &[String]) -> String {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let of_name = |hash, name: &String| name.as_bytes().iter().chain(b"\n").fold(hash, mix);
    format!("{:016x}", names.iter().fold(0xcbf2_9ce4_8422_2325, of_name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn a_group_is_one_part_and_variants_are_two() {
        assert_eq!((group("d.api.x.y"), group("d.api"), group("d")), ("api", "api", "d"));
        assert_eq!((group("d.pipeline.no_queues.x"), group("d.pipeline.x")), ("pipeline.no_queues", "pipeline.x"));
    }

    #[test]
    fn every_case_is_in_one_shard_of_its_group() {
        let mut list = names(&["d.b.1", "d.a.1", "d.b.2", "d.pipeline.x.1", "d.b.3", "d.pipeline.y.1", "d.a.2"]);
        let shards = divide(&mut list, 2);
        assert_eq!(list, names(&["d.b.1", "d.b.2", "d.b.3", "d.a.1", "d.a.2", "d.pipeline.x.1", "d.pipeline.y.1"]));
        let told: Vec<_> =
            shards.iter().map(|s| format!("{} {}/{} {:?}", s.group, s.index, s.count, s.range)).collect();
        let expected = ["b 1/2 0..1", "b 2/2 1..3", "a 1/1 3..5", "pipeline.x 1/1 5..6", "pipeline.y 1/1 6..7"];
        assert_eq!(told, expected);
        assert!(divide(&mut [], 2).is_empty());
    }

    #[test]
    fn shards_of_a_group_have_about_equal_sizes() {
        let mut list: Vec<String> = (0..1001).map(|number| format!("d.a.{number}")).collect();
        let lengths: Vec<_> = divide(&mut list, 100).into_iter().map(|shard| shard.range.len()).collect();
        assert_eq!((lengths.len(), lengths.iter().sum::<usize>()), (11, 1001));
        assert!(lengths.iter().all(|length| *length == 91));
    }

    #[test]
    fn a_digest_is_of_names_and_their_order() {
        let of = |words: &[&str]| digest(&names(words));
        assert_eq!(of(&["d.a", "d.b"]), of(&["d.a", "d.b"]));
        assert_ne!(of(&["d.a", "d.b"]), of(&["d.b", "d.a"]));
        assert_ne!(of(&["d.a", "d.b"]), of(&["d.ad", ".b"]));
        assert_eq!(of(&[]), "cbf29ce484222325");
    }
}
