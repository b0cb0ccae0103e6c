//! The table of a ledger: outcomes by group.

use std::fmt::Write;

use super::file::{Counts, FinishedShard};
use super::shards::Shard;

/// Returns a table in Markdown: outcomes of each group's finished shards, the number of its cases
/// that are left, and sums.
pub fn table(shards: &[Shard], entries: &[FinishedShard]) -> String {
    let mut text = String::from(
        "| group | cases | passed | warned | failed | not supported | left |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let mut sums = Counts::default();
    let mut all = 0;
    for of_group in shards.chunk_by(|a, b| a.group == b.group) {
        let group = &of_group[0].group;
        let mut counts = Counts::default();
        entries.iter().filter(|entry| entry.group == *group).for_each(|entry| counts += entry.counts);
        let cases: usize = of_group.iter().map(|shard| shard.range.len()).sum();
        row(&mut text, group, counts, cases);
        sums += counts;
        all += cases;
    }
    row(&mut text, "all", sums, all);
    text
}

/// Adds the row of a group with `cases` cases, of which `counts` are finished.
fn row(text: &mut String, name: &str, counts: Counts, cases: usize) {
    let _ = write!(text, "| {name} |");
    let Counts { passed, warned, failed, unsupported, .. } = counts;
    for number in [cases, passed, warned, failed, unsupported, cases - counts.cases] {
        let _ = write!(text, " {} |", thousands(number));
    }
    text.push('\n');
}

/// Returns a number with commas between groups of three digits.
fn thousands(number: usize) -> String {
    match number / 1000 {
        0 => number.to_string(),
        more => format!("{},{:03}", thousands(more), number % 1000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas() {
        assert_eq!([0, 999, 1000, 3_091_599].map(thousands), ["0", "999", "1,000", "3,091,599"]);
    }

    #[test]
    fn a_row_says_what_is_left_of_its_group() {
        let shard = |group: &str, index, range| Shard { group: group.into(), index, count: 2, range };
        let shards = [shard("a", 1, 0..1000), shard("a", 2, 1000..2001), shard("b", 1, 2001..2002)];
        let counts = Counts { cases: 1001, passed: 900, warned: 1, failed: 50, unsupported: 50 };
        let entry = FinishedShard { group: "a".into(), index: 2, count: 2, counts, seconds: 9, unexpected: Vec::new() };
        let text = table(&shards, &[entry]);
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| a | 2,001 | 900 | 1 | 50 | 50 | 1,000 |",
                "| b | 1 | 0 | 0 | 0 | 0 | 1 |",
                "| all | 2,002 | 900 | 1 | 50 | 50 | 1,001 |"
            ]
        );
    }
}
