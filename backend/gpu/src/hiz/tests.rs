//! Bounds hold what they bound, whatever is drawn.

use proptest::prelude::*;

use super::*;
use crate::raster::Plane;
use crate::raster::pixel_of_bit;
use vitric_exec::texture::compare;

/// The pixels of a tile.
const TILE: [i64; 4] = [0, 0, 64, 64];

/// Returns pixels of a group.
fn part(group: usize, pixels: u64) -> GroupCoverage {
    GroupCoverage { group, pixels }
}

fn range(min: f32, max: f32) -> DepthRange {
    DepthRange { min, max }
}

fn shape(origin: f32, dx: f32, dy: f32) -> Shape {
    Shape { reference: [3.3, -7.9], depth: Plane { origin, dx, dy }, depth_range: [0.0, 1.0], ..Shape::default() }
}

fn depth_at(shape: &Shape, x: i64, y: i64, place: [f32; 2]) -> f32 {
    let [near, far] = shape.depth_range;
    let [dx, dy] = [x as f32 - shape.reference[0] + place[0], y as f32 - shape.reference[1] + place[1]];
    shape.depth.at(dx, dy).max(near).min(far)
}

#[derive(Debug, Clone, Copy)]
struct Layer {
    shape: [f32; 3],
    op: usize,
    writes: bool,
    certain: bool,
    /// The pixels that it covers.
    pixels: u64,
}

fn layer() -> impl Strategy<Value = Layer> {
    let shape = (-0.2f32..1.2, -0.02f32..0.02, -0.02f32..0.02).prop_map(|(origin, dx, dy)| [origin, dx, dy]);
    let halves = prop::sample::select(vec![0xffff_ffff, !0xffff_ffff, 0x00ff_00ff_00ff_00ff, 0xff00_ff00_ff00_ff00]);
    let pixels = prop_oneof![3 => halves, 2 => Just(u64::MAX), 1 => any::<u64>()];
    (shape, 0usize..8, any::<bool>(), any::<bool>(), pixels).prop_map(|(shape, op, writes, certain, pixels)| Layer {
        shape,
        op,
        writes,
        certain,
        pixels,
    })
}

proptest! {
    /// No pixel or sample of a rectangle lies outside of the range.
    #[test]
    fn ranges_hold_every_sample(
        origin in -1.0f32..2.0, dx in -0.1f32..0.1, dy in -0.1f32..0.1, x in -20i64..70, y in -20i64..70,
        size in [1i64..9, 1i64..9], bits in prop::sample::select(vec![16u32, 24, 32]), samples in prop::sample::select(vec![1u32, 2, 4, 8, 16]),
    ) {
        let shape = shape(origin, dx, dy);
        let range = depths_over(&shape, [x, y, x + size[0], y + size[1]], DepthFormat { bits, samples });
        let places = crate::raster::sample_positions(samples);
        for (px, py) in (x..x + size[0]).flat_map(|px| (y..y + size[1]).map(move |py| (px, py))) {
            for place in places {
                let depth = depth_at(&shape, px, py, place.map(|units| units as f32 / 256.0));
                let depth = stored_depth(bits, depth);
                prop_assert!(range.min <= depth && depth <= range.max, "{depth} in {range:?}");
            }
        }
    }

    /// Layers over one group, in order. A hidden layer fails the depth test at every pixel. A layer
    /// of which the structure says that it is in front of everything passes at every pixel.
    #[test]
    fn what_is_hidden_passes_nowhere(layers in prop::collection::vec(layer(), 1..12), cleared in prop::option::of(0.0f32..1.0)) {
        let hierarchy = Hierarchy::new([64, 64], Hiz::Always);
        cleared.into_iter().for_each(|depth| hierarchy.clear(TILE, depth));
        let mut bounds = hierarchy.tile([0, 0]).unwrap();
        let mut pixels = [cleared.unwrap_or(0.4); 64];
        for layer in layers {
            let op = vk::CompareOp::from_raw(layer.op as i32);
            let shape = shape(layer.shape[0], layer.shape[1], layer.shape[2]);
            let range = depths_over(&shape, [8, 16, 16, 24], DepthFormat { bits: 32, samples: 1 });
            let group = group_number([8, 16]);
            let direction = DepthDirection::of(op);
            if let Some(direction) = direction {
                bounds.set_direction(direction);
            }
            let hides = |direction| {
                bounds.hides_in_group(direction, group, range)
                    || bounds.hides_pixels(direction, part(group, layer.pixels), range)
            };
            let hidden = direction.is_some_and(hides);
            bounds.recompute_tile();
            let seen = bounds.lies_behind(op, range);
            match direction.filter(|_| layer.certain && layer.writes) {
                Some(direction) if layer.pixels == u64::MAX => bounds.update(direction, group, range),
                Some(direction) if layer.pixels & 1 == 0 => bounds.update_part(direction, part(group, layer.pixels), range),
                Some(direction) => bounds.loosen(direction, group, range),
                None if layer.writes => bounds.forget(op),
                None => {}
            }
            for (bit, stored) in (0..).zip(&mut pixels).filter(|(bit, _)| layer.pixels >> bit & 1 != 0) {
                let [x, y] = pixel_of_bit(bit).map(i64::from);
                let depth = depth_at(&shape, 8 + x, 16 + y, [0.5; 2]);
                let passes = compare(op, depth, *stored);
                prop_assert!(!(hidden && passes), "{depth} over {stored}");
                prop_assert!(!seen || passes, "{depth} over {stored}");
                // A layer that is not certain writes some of its samples.
                let covered = layer.certain || bit % 3 == 0;
                *stored = if passes && layer.writes && covered { depth } else { *stored };
            }
        }
    }
}

#[test]
fn parts_hide_what_lies_behind_all_of_them() {
    for (direction, near, middle, far) in
        [(DepthDirection::Less, 0.2, 0.5, 0.8), (DepthDirection::Greater, 0.8, 0.5, 0.2)]
    {
        let mut bounds = Bounds::new(range(0.0, 1.0), TILE, Hiz::Always);
        bounds.set_direction(direction);
        let (left, right) = (0x00ff_00ff_00ff_00ff, 0xff00_ff00_ff00_ff00);
        bounds.update_part(direction, part(7, left), DepthRange::of(near));
        assert!(!bounds.hides_in_group(direction, 7, DepthRange::of(far)));
        assert!(bounds.hides_pixels(direction, part(7, left & 0xffff), DepthRange::of(middle)));
        assert!(!bounds.hides_pixels(direction, part(7, left | right), DepthRange::of(middle)));
        bounds.update_part(direction, part(7, right), DepthRange::of(middle));
        assert!(
            bounds.hides_in_group(direction, 7, DepthRange::of(far))
                && !bounds.hides_in_group(direction, 7, DepthRange::of(near))
        );
        assert!(!bounds.hides_in_group(direction, 6, DepthRange::of(far)));
        // The other direction knows nothing of it.
        let other = if direction == DepthDirection::Less { DepthDirection::Greater } else { DepthDirection::Less };
        bounds.update_part(direction, part(7, left), DepthRange::of(near));
        bounds.set_direction(other);
        bounds.loosen(other, 7, DepthRange::of(far));
        bounds.set_direction(direction);
        assert!(!bounds.hides_pixels(direction, part(7, left), DepthRange::of(middle)));
    }
}

#[test]
fn tiles_hide_what_all_their_groups_hide() {
    let mut bounds = Bounds::new(DepthRange::of(0.9), TILE, Hiz::Always);
    for group in 0..GROUPS - 1 {
        bounds.update(DepthDirection::Less, group, range(0.2, 0.3));
    }
    bounds.recompute_tile();
    assert!(
        !bounds.hides_in_tile(DepthDirection::Less, range(0.5, 0.6))
            && bounds.hides_in_group(DepthDirection::Less, 3, range(0.5, 0.6))
    );
    bounds.update(DepthDirection::Less, GROUPS - 1, range(0.2, 0.3));
    bounds.recompute_tile();
    assert!(
        bounds.hides_in_tile(DepthDirection::Less, range(0.5, 0.6))
            && !bounds.hides_in_tile(DepthDirection::Less, range(0.3, 0.6))
    );
    bounds.update_all(DepthDirection::Less, range(0.0, 0.1));
    bounds.recompute_tile();
    assert!(bounds.hides_in_tile(DepthDirection::Less, range(0.15, 0.6)));
    bounds.forget(vk::CompareOp::ALWAYS);
    assert!(!bounds.hides_in_tile(DepthDirection::Less, range(2.0, 3.0)));
}

#[test]
fn tiles_lie_behind_what_is_nearer_than_all_their_groups() {
    use vk::CompareOp as C;
    let mut bounds = Bounds::new(DepthRange::of(0.5), TILE, Hiz::Auto);
    let behind = |bounds: &Bounds, op, range| bounds.lies_behind(op, range);
    assert!(behind(&bounds, C::LESS, range(0.1, 0.4)) && !behind(&bounds, C::LESS, range(0.1, 0.5)));
    assert!(behind(&bounds, C::LESS_OR_EQUAL, range(0.1, 0.5)) && !behind(&bounds, C::LESS_OR_EQUAL, range(0.1, 0.6)));
    assert!(behind(&bounds, C::GREATER, range(0.6, 0.7)) && !behind(&bounds, C::GREATER, range(0.5, 0.7)));
    assert!(
        behind(&bounds, C::GREATER_OR_EQUAL, range(0.5, 0.7)) && !behind(&bounds, C::GREATER_OR_EQUAL, range(0.4, 0.7))
    );
    assert!([C::NEVER, C::EQUAL, C::NOT_EQUAL, C::ALWAYS].iter().all(|&op| !behind(&bounds, op, DepthRange::of(0.5))));
    bounds.loosen(DepthDirection::Less, 5, range(0.2, 0.3));
    bounds.recompute_tile();
    assert!(behind(&bounds, C::LESS, range(0.1, 0.15)) && !behind(&bounds, C::LESS, range(0.1, 0.3)));
    bounds.forget(C::LESS);
    assert!(!behind(&bounds, C::LESS, range(0.0, 0.0)) && behind(&bounds, C::GREATER, range(0.6, 0.6)));
}

#[test]
fn clears_reach_what_they_cover() {
    let hierarchy = Hierarchy::new([100, 70], Hiz::Always);
    let hides = |pixel: [i64; 2], depth: f32| {
        let tile = hierarchy.tile(pixel).unwrap();
        tile.hides_in_group(DepthDirection::Less, group_number(pixel), DepthRange::of(depth))
    };
    assert!(
        hierarchy.tile([128, 0]).is_none() && hierarchy.tile([0, 128]).is_none() && hierarchy.tile([-1, 0]).is_none()
    );
    assert_eq!(hierarchy.tile([99, 69]).unwrap().pixels(), [64, 64, 100, 70]);
    assert!(!hides([0, 0], 2.0));
    hierarchy.clear([0, 0, 100, 70], 0.5);
    assert!(hides([0, 0], 0.6) && hides([99, 69], 0.6) && !hides([99, 69], 0.5));
    hierarchy.clear([40, 9, 96, 24], 0.8);
    // Groups that are cleared wholly, in part, and not.
    assert!(!hides([40, 16], 0.7) && !hides([40, 8], 0.7) && hides([40, 24], 0.6) && hides([96, 16], 0.6));
    assert!(hides([88, 23], 0.9));
    let is_near = |pixel| {
        hierarchy.tile(pixel).unwrap().hides_in_group(DepthDirection::Greater, group_number(pixel), DepthRange::of(0.6))
    };
    assert!(is_near([88, 23]) && !is_near([88, 9]) && !is_near([40, 24]));
    hierarchy.clear([30, 20, 30, 40], 0.9);
    hierarchy.clear([200, 0, 300, 10], 0.9);
    assert!(hides([30, 30], 0.6));
    hierarchy.clear([-5, -5, 1000, 1000], 0.2);
    assert!(
        hides([40, 16], 0.3)
            && hierarchy.tile([64, 64]).unwrap().hides_in_tile(DepthDirection::Less, DepthRange::of(0.3))
    );
}

#[test]
fn layers_end_where_their_pixels_are_cleared() {
    let hierarchy = Hierarchy::new([64, 64], Hiz::Always);
    hierarchy.clear(TILE, 1.0);
    let (left, direction) = (0x00ff_00ff_00ff_00ff, DepthDirection::Less);
    for area in [[0, 0, 8, 8], TILE] {
        {
            let mut bounds = hierarchy.tile([0, 0]).unwrap();
            bounds.set_direction(direction);
            bounds.update_part(direction, part(0, left), DepthRange::of(0.2));
            assert!(bounds.hides_pixels(direction, part(0, left), DepthRange::of(0.5)));
        }
        hierarchy.clear(area, 0.9);
        assert!(!hierarchy.tile([0, 0]).unwrap().hides_pixels(direction, part(0, left), DepthRange::of(0.5)));
    }
}

#[test]
fn some_comparisons_let_depths_recede() {
    use vk::CompareOp as C;
    let recede =
        |direction: DepthDirection| (0..8).map(C::from_raw).filter(|&op| direction.may_recede(op)).collect::<Vec<_>>();
    assert_eq!(recede(DepthDirection::Less), [C::GREATER, C::NOT_EQUAL, C::GREATER_OR_EQUAL, C::ALWAYS]);
    assert_eq!(recede(DepthDirection::Greater), [C::LESS, C::LESS_OR_EQUAL, C::NOT_EQUAL, C::ALWAYS]);
}
