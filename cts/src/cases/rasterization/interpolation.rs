//! Interpolation, clip and cull distances, polygon modes and wide lines.

use ash::vk;

use crate::cases::support::conditions::need5;
use crate::cases::support::stages::{compare, distances, draw, require};
use crate::harness::{Case, Gpu, check};
use crate::render::{Draw, FULL, Kind, SIZE, State, TRIANGLES, Target, render};

const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];

case!("raster.interpolation.perspective", "Interpolation Decorations", perspective);

/// Checks interpolation with w from 1 to 4: smooth values are bent towards the near side, values
/// without perspective are linear.
fn perspective(gpu: &Gpu) -> Case {
    distances(gpu)?;
    let pixels = render(gpu, &Target::default(), &[draw(4, RED)])?;
    compare(&pixels, |x, _| {
        let t = (x as f32 + 0.5) / SIZE as f32;
        let smooth = (t / 4.0) / ((1.0 - t) + t / 4.0);
        [(smooth * 255.0).round() as u8, (t * 255.0).round() as u8, 0, 255]
    })
}

case!("raster.interpolation.flat", "Flat Shading", flat);

/// Checks that the first vertex is provoking: vertices 0 and 3 of the two triangles.
fn flat(gpu: &Gpu) -> Case {
    distances(gpu)?;
    let pixels = render(gpu, &Target::default(), &[draw(5, RED)])?;
    for pixel in [pixels[0], pixels[255]] {
        check(pixel == [0, 0, 0, 255] || pixel == [48, 0, 0, 255], || format!("{pixel:?}"))?;
    }
    check(pixels[0] == [0, 0, 0, 255] && pixels[255] == [48, 0, 0, 255], || "the wrong vertex".into())
}

case!("raster.clipping.clip_distances", "Primitive Clipping", clip_distances);

fn clip_distances(gpu: &Gpu) -> Case {
    distances(gpu)?;
    let pixels = render(gpu, &Target::default(), &[draw(6, RED)])?;
    compare(&pixels, |x, y| if x < 8 && y >= 4 { [255, 0, 0, 255] } else { [0; 4] })
}

case!("raster.clipping.cull_distances", "Primitive Culling", cull_distances);

/// Checks that a triangle is culled where one distance is negative at all of its vertices, and is
/// complete otherwise.
fn cull_distances(gpu: &Gpu) -> Case {
    distances(gpu)?;
    compare(&render(gpu, &Target::default(), &[draw(7, RED)])?, |_, _| [0; 4])?;
    compare(&render(gpu, &Target::default(), &[draw(8, RED)])?, |_, _| [255, 0, 0, 255])
}

fn with_mode(mode: vk::PolygonMode) -> Draw {
    // Pixel centres from (2, 2) to (13, 13).
    let at = |pixel: f32| (pixel + 0.5) / 8.0 - 1.0;
    let mut draw = Draw::rect(State::default(), [at(2.0), at(2.0), at(13.0), at(13.0)], RED);
    draw.state.raster.polygon_mode = mode;
    draw
}

case!("raster.polygon_mode.line", "Polygon Mode", polygon_lines);

/// Checks that the outline and the diagonal are drawn, and nothing inside.
fn polygon_lines(gpu: &Gpu) -> Case {
    require(gpu.features.fill_mode_non_solid, "fill modes")?;
    let pixels = render(gpu, &Target::default(), &[with_mode(vk::PolygonMode::LINE)])?;
    let is_red = |x: u32, y: u32| pixels[(y * SIZE + x) as usize] == [255, 0, 0, 255];
    for inner in 4..12 {
        check(is_red(inner, 2) || is_red(inner, 1), || format!("no top edge at {inner}"))?;
        check(is_red(2, inner) || is_red(1, inner), || format!("no left edge at {inner}"))?;
    }
    check(!is_red(5, 5) && !is_red(11, 11) && !is_red(0, 0), || "the inside is filled".into())
}

case!("raster.polygon_mode.point", "Polygon Mode", polygon_points);

fn polygon_points(gpu: &Gpu) -> Case {
    require(gpu.features.fill_mode_non_solid, "fill modes")?;
    let pixels = render(gpu, &Target::default(), &[with_mode(vk::PolygonMode::POINT)])?;
    let count = pixels.iter().filter(|&&pixel| pixel == [255, 0, 0, 255]).count();
    check(count == 4, || format!("{count} pixels"))
}

case!("raster.polygon_mode.point_size", "Polygon Mode", sized_points);

/// Checks that corners of polygons are points of the size that the vertex stage writes, if the
/// device says so, and otherwise of one pixel.
fn sized_points(gpu: &Gpu) -> Case {
    require(gpu.features.fill_mode_non_solid, "fill modes")?;
    need5(gpu)?;
    let mut maintenance5 = vk::PhysicalDeviceMaintenance5PropertiesKHR::default();
    gpu.properties2(&mut maintenance5);
    let half = if maintenance5.polygon_mode_point_size != 0 { 2 } else { 0 };
    let mut state = State { vertex: crate::render::POINTS, ..State::default() };
    state.raster.polygon_mode = vk::PolygonMode::POINT;
    let buffer =
        gpu.buffer_with(&[[-0.5f32, -0.5], [0.5, -0.5], [-0.5, 0.5]].map(|[x, y]| [x + 0.0625, y + 0.0625]))?;
    let mut draw = Draw { kind: Kind::VertexBuffer { buffer, count: 3 }, ..Draw::rect(state, FULL, RED) };
    draw.extra = 5.0;
    let near =
        |x: u32, y: u32| [[4, 4], [12, 4], [4, 12]].iter().any(|[a, b]| x.abs_diff(*a).max(y.abs_diff(*b)) <= half);
    compare(&render(gpu, &Target::default(), &[draw])?, |x, y| if near(x, y) { [255, 0, 0, 255] } else { [0; 4] })
}

case!("raster.polygon_mode.point_clipped", "Polygon Mode", clipped_points);

/// Checks that a triangle larger than the view draws the vertex inside, and no corner that
/// clipping made.
fn clipped_points(gpu: &Gpu) -> Case {
    require(gpu.features.fill_mode_non_solid, "fill modes")?;
    let vertices = [[2.0f32, 2.0], [2.0, -1.0], [0.0625, 0.0625]].map(|[x, y]| [[x, y, 0.5, 1.0], [1.0; 4]]);
    let buffer = gpu.buffer_with(&vertices)?;
    let mut state = State { vertex: TRIANGLES, ..State::default() };
    state.raster.polygon_mode = vk::PolygonMode::POINT;
    let draw = Draw { kind: Kind::VertexBuffer { buffer, count: 3 }, ..Draw::rect(state, FULL, [0.0; 4]) };
    compare(&render(gpu, &Target::default(), &[draw])?, |x, y| if [x, y] == [8; 2] { [255; 4] } else { [0; 4] })
}

case!("raster.lines.wide", "Line Segments", wide_line);

fn wide_line(gpu: &Gpu) -> Case {
    require(gpu.features.wide_lines, "wide lines")?;
    let state = State { vertex: crate::render::POINTS, topology: vk::PrimitiveTopology::LINE_LIST, ..State::default() };
    let buffer = gpu.buffer_with(&[[-1.0f32, 0.0], [1.0, 0.0]])?;
    let mut draw = Draw { kind: Kind::VertexBuffer { buffer, count: 2 }, ..Draw::rect(state, FULL, RED) };
    draw.state.raster.line_width = 4.0;
    compare(
        &render(gpu, &Target::default(), &[draw])?,
        |_, y| if (6..10).contains(&y) { [255, 0, 0, 255] } else { [0; 4] },
    )
}
