//! The diamond-exit rule of Bresenham lines, in exact arithmetic.
//!
//! Endpoints are moved by an infinitely small amount. Numbers have components for this amount and
//! for its square.

/// Pixels of a side of the target.
pub(super) const SIDE: i64 = 64;

/// Units of the grid in a pixel.
pub(super) const UNITS: i64 = 256;

/// A position in units.
pub(super) type Place = [i64; 2];

/// A line in units.
pub(super) type Line = [Place; 2];

/// A number with components for an infinitely small amount and for its square, compared in this
/// order.
type Number = [i128; 3];

/// Directions towards the corners of a pixel.
const SIGNS: [[i64; 2]; 4] = [[1, 1], [1, -1], [-1, 1], [-1, -1]];

fn times(number: Number, factor: i128) -> Number {
    number.map(|part| part * factor)
}

/// A fraction of a line: numerator, and positive denominator.
type Share = (Number, i128);

/// Returns the distances of a position, moved by an infinitely small amount, to each edge of a
/// pixel's diamond. They are positive inside.
fn inside(place: Place, [x, y]: [i64; 2]) -> [Number; 4] {
    let (dx, dy) = (place[0] - x * UNITS - UNITS / 2, place[1] - y * UNITS - UNITS / 2);
    SIGNS.map(|[across, down]| [i128::from(UNITS / 2 - across * dx - down * dy), across.into(), down.into()])
}

/// Returns true if a line produces the fragment of a pixel by the rule: it intersects the diamond,
/// and does not end in it.
fn leaves([from, to]: Line, pixel: [i64; 2]) -> bool {
    let delta = [to[0] - from[0], to[1] - from[1]];
    let is_inside = |place: Place| inside(place, pixel).iter().all(|room| *room > [0; 3]);
    // Fractions of the line at which it enters and leaves the diamond, with positive denominators.
    let (mut enters, mut leaves): (Vec<Share>, Vec<Share>) = (Vec::new(), Vec::new());
    for (room, [across, down]) in inside(from, pixel).into_iter().zip(SIGNS) {
        let speed = i128::from(across * delta[0] + down * delta[1]);
        match speed {
            0 if room <= [0; 3] => return false,
            0 => {}
            1.. => leaves.push((room, speed)),
            _ => enters.push((times(room, -1), -speed)),
        }
    }
    let is_below = |(a, b): Share, (c, d): Share| times(a, d) < times(c, b);
    let crosses = enters.iter().all(|enter| leaves.iter().all(|leave| is_below(*enter, *leave)));
    let starts_before = leaves.iter().all(|leave| is_below(([0; 3], 1), *leave));
    let ends_behind = enters.iter().all(|enter| is_below(*enter, ([1, 0, 0], 1)));
    crosses && starts_before && ends_behind && !is_inside(to)
}

/// Returns the pixels of the target that a Bresenham line covers, each with its number along the
/// line. Pixels across the width share a number.
pub(super) fn fragments(line: Line, width: i64) -> Vec<([i64; 2], i64)> {
    let delta = [line[1][0] - line[0][0], line[1][1] - line[0][1]];
    let minor = if delta[0].abs() >= delta[1].abs() { 1 } else { 0 };
    let base = line.map(|mut end| {
        end[minor] -= (width - 1) * UNITS / 2;
        end
    });
    let (major, step) = (1 - minor, delta[1 - minor].signum());
    let pixel = |along: i64, across: i64| if major == 0 { [along, across] } else { [across, along] };
    let leaving = |along: i64, across: i64| leaves(base, pixel(along, across));
    // The first pixel, which is near the start.
    let start = [base[0][0].div_euclid(UNITS), base[0][1].div_euclid(UNITS)];
    let near = |number: &i64| (-2..=2).any(|across| leaving(start[major] + number * step, start[minor] + across));
    let Some(first) = (-2..=2).find(near) else { return Vec::new() };
    let first = start[major] + first * step;
    let mut found = Vec::new();
    for along in 0..SIDE {
        for across in -width..SIDE {
            if leaving(along, across) {
                let column = (across..across + width).filter(|across| (0..SIDE).contains(across));
                found.extend(column.map(|across| (pixel(along, across), (along - first) * step)));
            }
        }
    }
    found
}

/// Returns the number of fragments of a line, by counting along the major axis.
pub(super) fn count(line: Line) -> i64 {
    let delta = [line[1][0] - line[0][0], line[1][1] - line[0][1]];
    let major = usize::from(delta[0].abs() < delta[1].abs());
    if delta == [0, 0] {
        return 0;
    }
    let (from, to) = (line[0][major].div_euclid(UNITS), line[1][major].div_euclid(UNITS));
    let is_left = |along: i64| {
        // The line's position in the middle of the column, from which the candidate rows follow.
        let share = (along * UNITS + UNITS / 2 - line[0][major]) as f64 / delta[major] as f64;
        let across = (line[0][1 - major] as f64 + share * delta[1 - major] as f64) / UNITS as f64;
        (-2..=2).any(|step| {
            let across = across.floor() as i64 + step;
            leaves(line, if major == 0 { [along, across] } else { [across, along] })
        })
    };
    (from.min(to) - 2..=from.max(to) + 2).filter(|&along| is_left(along)).count() as i64
}

/// Returns true if a line touches the target, exactly.
pub(super) fn is_in_view([from, to]: Line) -> bool {
    let delta = [to[0] - from[0], to[1] - from[1]].map(i128::from);
    let mut bounds = vec![(0i128, 1i128, false), (1, 1, true)];
    for axis in 0..2 {
        let (low, high) = (i128::from(-from[axis]), i128::from(SIDE * UNITS - from[axis]));
        match delta[axis] {
            0 if low > 0 || high < 0 => return false,
            0 => {}
            step @ 1.. => bounds.extend([(low, step, false), (high, step, true)]),
            step => bounds.extend([(-high, -step, false), (-low, -step, true)]),
        }
    }
    let lows = bounds.iter().filter(|bound| !bound.2);
    lows.clone().all(|low| bounds.iter().filter(|bound| bound.2).all(|high| low.0 * high.1 <= high.0 * low.1))
}
