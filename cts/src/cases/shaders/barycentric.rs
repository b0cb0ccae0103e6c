//! `VK_KHR_fragment_shader_barycentric`: weights of vertices, and their values, in the order of
//! the specification's table ("Barycentric Interpolation").

use ash::vk;
use ash::vk::PrimitiveTopology as Topology;

use crate::Entry;
use crate::harness::{Case, Gpu, Outcome, check};
use crate::render::{Draw, Kind, SIZE, State, TRIANGLES, Target, render};

const SHADER: &[u8] = shader!("barycentric.frag");

/// Values of `show` in the shader.
const PERSPECTIVE: f32 = 0.0;

const LINEAR: f32 = 1.0;
const FIRST_VERTEX: f32 = 2.0;
const WEIGHTED: f32 = 5.0;
const OFFSET: f32 = 6.0;

/// A vertex in clip space.
type Corner = [f32; 4];

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    let mut add = |name: &str, run: Box<dyn Fn(&Gpu) -> Case + Send + Sync>| {
        let name = format!("barycentric.{name}");
        cases.push(Entry::new(name, "Barycentric Interpolation", move |gpu: &Gpu| {
            supported(gpu).and_then(|()| run(gpu))
        }));
    };
    for (name, w) in [("flat", [1.0; 3]), ("deep", [1.0, 2.0, 4.0])] {
        add(&format!("weights.perspective_{name}"), Box::new(move |gpu| weights(gpu, PERSPECTIVE, w)));
        add(&format!("weights.linear_{name}"), Box::new(move |gpu| weights(gpu, LINEAR, w)));
        add(&format!("weights.weighted_{name}"), Box::new(move |gpu| weights(gpu, WEIGHTED, w)));
    }
    add("weights.offset", Box::new(|gpu| weights(gpu, OFFSET, [1.0; 3])));
    for (name, topology) in [
        ("list", Topology::TRIANGLE_LIST),
        ("strip", Topology::TRIANGLE_STRIP),
        ("fan", Topology::TRIANGLE_FAN),
        ("lines", Topology::LINE_LIST),
        ("line_strip", Topology::LINE_STRIP),
        ("points", Topology::POINT_LIST),
    ] {
        for last in [false, true] {
            let name = format!("vertices.{name}_{}", if last { "last" } else { "first" });
            add(&name, Box::new(move |gpu| order(gpu, topology, last)));
        }
    }
}

fn supported(gpu: &Gpu) -> Case {
    match gpu.extension_features.barycentric.fragment_shader_barycentric {
        0 => Err(Outcome::NotSupported("VK_KHR_fragment_shader_barycentric".into())),
        _ => Ok(()),
    }
}

fn draw(
    gpu: &Gpu,
    (topology, show): (Topology, f32),
    corners: &[Corner],
    color: impl Fn(usize) -> [f32; 4],
) -> Result<Draw, Outcome> {
    let state = State { vertex: TRIANGLES, fragment: SHADER, topology, ..State::default() };
    let vertices: Vec<[[f32; 4]; 2]> = corners.iter().enumerate().map(|(at, &corner)| [corner, color(at)]).collect();
    let kind = Kind::VertexBuffer { buffer: gpu.buffer_with(&vertices)?, count: corners.len() as u32 };
    Ok(Draw { kind, show, ..Draw::rect(state, [0.0; 4], [0.0; 4]) })
}

/// Returns a pixel's centre in normalized coordinates.
fn centre(x: u32, y: u32) -> [f64; 2] {
    [x, y].map(|at| (f64::from(at) + 0.5) * 2.0 / f64::from(SIZE) - 1.0)
}

/// Returns the weights of a triangle's corners at a position, without perspective.
fn linear(corners: &[Corner; 3], [x, y]: [f64; 2]) -> [f64; 3] {
    let place = |corner: &Corner| [0, 1].map(|axis| f64::from(corner[axis]) / f64::from(corner[3]));
    let [a, b, c] = [0, 1, 2].map(|at: usize| place(&corners[at]));
    let area = |a: [f64; 2], b: [f64; 2], c: [f64; 2]| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    let (all, p) = (area(a, b, c), [x, y]);
    [area(p, b, c) / all, area(a, p, c) / all, area(a, b, p) / all]
}

/// Returns the weights of a triangle's corners at a position, with perspective.
fn perspective(corners: &[Corner; 3], place: [f64; 2]) -> [f64; 3] {
    let weights = linear(corners, place);
    let over = [0, 1, 2].map(|at: usize| weights[at] / f64::from(corners[at][3]));
    over.map(|weight| weight / over.iter().sum::<f64>())
}

fn is_near(got: u8, expected: f64) -> bool {
    (f64::from(got) - expected.clamp(0.0, 1.0) * 255.0).abs() <= 1.0
}

/// Checks the weights in pixels that a triangle certainly covers.
fn compare(pixels: &[[u8; 4]], corners: &[Corner; 3], expected: impl Fn([f64; 2]) -> [f64; 3]) -> Case {
    let mut covered = 0;
    for (index, got) in (0..).zip(pixels) {
        let place = centre(index % SIZE, index / SIZE);
        if linear(corners, place).iter().any(|&weight| weight < 0.01) {
            continue;
        }
        covered += 1;
        let expected = expected(place);
        let good = got.iter().zip(expected).all(|(&got, expected)| is_near(got, expected));
        check(good, || format!("{place:?}: {got:?} instead of {expected:?}"))?;
    }
    check(covered > 8, || format!("{covered} pixels are compared"))
}

/// Returns the colour of a vertex: one channel each.
fn channel(at: usize) -> [f32; 4] {
    std::array::from_fn(|channel| if channel == at || channel == 3 { 1.0 } else { 0.0 })
}

fn weights(gpu: &Gpu, show: f32, w: [f32; 3]) -> Case {
    let corner = |at: usize| [[-0.9, -0.95], [0.95, -0.5], [-0.3, 0.9]][at].map(|place: f32| place * w[at]);
    let corners = [0, 1, 2].map(|at| [corner(at)[0], corner(at)[1], 0.5 * w[at], w[at]]);
    // Both windings.
    for corners in [corners, [corners[0], corners[2], corners[1]]] {
        let draw = draw(gpu, (Topology::TRIANGLE_LIST, show), &corners, channel)?;
        let pixels = render(gpu, &Target::default(), &[draw])?;
        let step = 2.0 / f64::from(SIZE);
        compare(&pixels, &corners, |place| match show {
            LINEAR => linear(&corners, place),
            OFFSET => perspective(&corners, [place[0] + 0.25 * step, place[1] - 0.25 * step]),
            _ => perspective(&corners, place),
        })?;
    }
    Ok(())
}

case!("barycentric.weights.clipped", "Barycentric Interpolation", |gpu| supported(gpu).and_then(|()| clipped(gpu)));

/// Draws a triangle that reaches behind the eye and far to the side. Clipping must not change its
/// vertices.
fn clipped(gpu: &Gpu) -> Case {
    let corners = [[-1.0, -1.0, 0.5, 1.0], [30.0, -1.0, 0.5, 1.0], [-1.0, 2.0, 0.5, -0.5]];
    let third = draw(gpu, (Topology::TRIANGLE_LIST, FIRST_VERTEX + 2.0), &corners, channel)?;
    let pixels = render(gpu, &Target::default(), &[third])?;
    let covered = pixels.iter().filter(|&&pixel| pixel == [0, 0, 255, 255]).count();
    let others = pixels.iter().filter(|&&pixel| pixel != [0, 0, 255, 255] && pixel != [0; 4]).count();
    check(covered > 16 && others == 0, || format!("{covered} of the third vertex, {others} others"))?;
    // With perspective, weights are homogeneous coordinates, also behind the eye.
    let draw = draw(gpu, (Topology::TRIANGLE_LIST, PERSPECTIVE), &corners, channel)?;
    let pixels = render(gpu, &Target::default(), &[draw])?;
    let mut compared = 0;
    for (index, got) in (0..).zip(&pixels).filter(|(_, pixel)| pixel[3] != 0) {
        let place = centre(index % SIZE, index / SIZE);
        let expected = perspective(&corners, place);
        let good = got.iter().zip(expected).all(|(&got, expected)| is_near(got, expected));
        check(good, || format!("{place:?}: {got:?} instead of {expected:?}"))?;
        compared += 1;
    }
    check(compared == covered, || format!("{compared} instead of {covered} pixels"))
}

case!("barycentric.weights.lines", "Barycentric Interpolation", |gpu| supported(gpu)
    .and_then(|()| line(gpu, [-0.75, 0.75])));

case!("barycentric.weights.clipped_lines", "Barycentric Interpolation", |gpu| supported(gpu)
    .and_then(|()| line(gpu, [-3.0, 9.0])));

/// Checks weights along a line from left to right. The third weight is 0.
fn line(gpu: &Gpu, [from, to]: [f32; 2]) -> Case {
    let corners = [[from, 1.0 / SIZE as f32, 0.5, 1.0], [to, 1.0 / SIZE as f32, 0.5, 1.0]];
    for show in [PERSPECTIVE, LINEAR] {
        let pixels = render(gpu, &Target::default(), &[draw(gpu, (Topology::LINE_LIST, show), &corners, channel)?])?;
        let row = &pixels[(SIZE * SIZE / 2) as usize..][..SIZE as usize];
        let mut compared = 0;
        for (x, got) in (0..).zip(row) {
            let share = (centre(x, 0)[0] - f64::from(from)) / f64::from(to - from);
            if !(0.02..0.98).contains(&share) {
                continue;
            }
            compared += 1;
            let good = is_near(got[0], 1.0 - share) && is_near(got[1], share) && got[2] == 0 && got[3] == 255;
            check(good, || format!("{x}: {got:?} instead of {share}"))?;
        }
        check(compared > 8, || format!("{compared} pixels are compared"))?;
    }
    Ok(())
}

case!("barycentric.weights.points", "Barycentric Interpolation", |gpu| supported(gpu).and_then(|()| points(gpu)));

/// Checks that the weight of a point is all on its vertex.
fn points(gpu: &Gpu) -> Case {
    for show in [PERSPECTIVE, LINEAR] {
        let draw = draw(gpu, (Topology::POINT_LIST, show), &[[0.03, 0.03, 1.5, 3.0]], channel)?;
        let pixels = render(gpu, &Target::default(), &[draw])?;
        let drawn: Vec<_> = pixels.iter().filter(|&&pixel| pixel != [0; 4]).collect();
        check(drawn == [&[255, 0, 0, 255]], || format!("{drawn:?}"))?;
    }
    Ok(())
}

/// Returns the vertices of each primitive by the specification's table.
fn table(topology: Topology, last: bool, independent: bool, vertices: usize) -> Vec<[usize; 3]> {
    match topology {
        Topology::POINT_LIST => (0..vertices).map(|i| [i; 3]).collect(),
        Topology::LINE_LIST => (0..vertices / 2).map(|i| [2 * i, 2 * i + 1, 2 * i + 1]).collect(),
        Topology::LINE_STRIP => (0..vertices - 1).map(|i| [i, i + 1, i + 1]).collect(),
        Topology::TRIANGLE_LIST => (0..vertices / 3).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect(),
        Topology::TRIANGLE_STRIP => {
            let odd = |i: usize| if last && !independent { [i + 1, i, i + 2] } else { [i, i + 2, i + 1] };
            (0..vertices - 2).map(|i| if i % 2 == 0 { [i, i + 1, i + 2] } else { odd(i) }).collect()
        }
        _ => (0..vertices - 2).map(|i| if last { [0, i + 1, i + 2] } else { [i + 1, i + 2, 0] }).collect(),
    }
}

fn is_independent(gpu: &Gpu) -> bool {
    let mut own = vk::PhysicalDeviceFragmentShaderBarycentricPropertiesKHR::default();
    gpu.properties2(&mut own);
    own.tri_strip_vertex_order_independent_of_provoking_vertex != 0
}

/// Draws six vertices of different colours around the middle. Each primitive covers some pixels
/// alone, which show its vertices.
fn order(gpu: &Gpu, topology: Topology, last: bool) -> Case {
    if last && gpu.extension_features.provoking.provoking_vertex_last == 0 {
        return Err(Outcome::NotSupported("the last vertex as the provoking one".into()));
    }
    let corners: Vec<Corner> = match topology {
        // Around the first vertex.
        Topology::TRIANGLE_FAN => [[0.0, 0.0], [0.9, 0.0], [0.5, 0.9], [-0.5, 0.9], [-0.9, 0.0], [-0.4, -0.9]]
            .map(|[x, y]: [f32; 2]| [x, y, 0.5, 1.0])
            .to_vec(),
        // From left to right. Points and middles of lines are close to the middle of a pixel.
        Topology::POINT_LIST => {
            (0..6).map(|at| [at as f32 * 0.36 - 0.9, if at % 2 == 0 { -0.8 } else { 0.8 }, 0.5, 1.0]).collect()
        }
        _ => (0..6).map(|at| [at as f32 * 0.34 - 0.86, if at % 2 == 0 { -0.85 } else { 0.72 }, 0.5, 1.0]).collect(),
    };
    let color = |at: usize| [(at as f32 + 1.0) * 40.0 / 255.0, 0.0, 0.0, 1.0];
    let expected = table(topology, last, is_independent(gpu), corners.len());
    for vertex in 0..3 {
        let mut draw = draw(gpu, (topology, FIRST_VERTEX + vertex as f32), &corners, color)?;
        draw.state.extensions.provoking_last = last;
        let pixels = render(gpu, &Target::default(), &[draw])?;
        for (number, vertices) in expected.iter().enumerate() {
            let ends: Vec<Corner> = vertices.iter().map(|&at| corners[at]).collect();
            // The middle of a line of two vertices. Pixels closer to other primitives belong to
            // those.
            let middle = [0, 1].map(|axis: usize| match topology {
                Topology::POINT_LIST => ends[0][axis],
                Topology::LINE_LIST | Topology::LINE_STRIP => (ends[0][axis] + ends[1][axis]) / 2.0,
                _ => ends.iter().map(|end| end[axis]).sum::<f32>() / 3.0,
            });
            let [x, y] = middle.map(|place| ((place + 1.0) * SIZE as f32 / 2.0) as u32);
            let got = pixels[(y * SIZE + x) as usize][0];
            let wanted = (vertices[vertex] + 1) * 40;
            check(usize::from(got) == wanted, || {
                format!("vertex {vertex} of primitive {number}: {got} instead of {wanted}")
            })?;
        }
    }
    Ok(())
}
