//! Shaders in text form, for saving and reading back. The interface is written line by line,
//! followed by a line `ir` and the IR.
//!
//! Text that is read is not trusted. It must parse, pass both verifiers, and use no more than its
//! interface declares. Code is always generated from it again. A damaged text is therefore
//! rejected, and a forged text is at worst another valid program.

use std::str::{FromStr, SplitAsciiWhitespace};

use ash::vk;

use super::{
    Builtin, Domain, Feedback, FragmentFacts, GeometryFacts, InputSlot, Interface, Interpolation, MAX_INTERFACE,
    MAX_INVOCATIONS, MAX_LOCAL_WORDS, MAX_SHARED, MeshFacts, MeshWord, OutputSlot, PatchFacts, Place, Resource, Shader,
    Slot, Spacing,
};
use crate::{Function, Inst, Space, Type, parse, verify, verify_strictly};

/// Maximum number of resources.
const MAX_RESOURCES: usize = 1 << 16;

impl Interface {
    /// Returns the text of a shader with this interface and function. [`Shader::from_text`] parses
    /// the text.
    pub fn to_text(&self, function: &Function) -> String {
        let [x, y, z] = self.local_size;
        let (stage, squares) = (self.stage.as_raw(), u32::from(self.in_squares));
        let mut out = format!("stage {stage}\nsize {x} {y} {z} {squares}\nshared {}\n", self.shared_bytes);
        let flags = self.fragment.flags().map(|flag| u32::from(flag).to_string());
        out += &format!("facts {}\n", flags.join(" "));
        if let Some(facts) = &self.geometry {
            let GeometryFacts { vertices, output, max_vertices, invocations, inputs } = &**facts;
            out += &format!("geometry {vertices} {} {max_vertices} {invocations}\n", output.as_raw());
            for slot in inputs {
                out += &format!("vertex {}\n", slot.map_or_else(|| "none".into(), slot_text));
            }
        }
        if let Some(facts) = &self.mesh {
            out += &mesh_text(facts);
        }
        if let Some(facts) = &self.patch {
            out += &patch_text(facts);
        }
        for input in &self.inputs {
            let InputSlot { slot, ty, interpolation, place } = input;
            out += &format!("input {} {ty:?} {interpolation:?} {place:?}\n", slot_text(*slot));
        }
        for output in &self.outputs {
            out += &format!("output {} {:?}", slot_text(output.slot), output.ty);
            if let Some(Feedback { buffer, stride, offset, stream }) = output.feedback {
                out += &format!(" {buffer} {stride} {offset} {stream}");
            }
            out += "\n";
        }
        for Resource { set, binding } in &self.resources {
            out += &format!("resource {set} {binding}\n");
        }
        out + &format!("ir\n{function}")
    }
}

impl Shader {
    /// Parses a shader from the text that [`Interface::to_text`] returns. Returns `None` if the
    /// text is not a valid shader.
    pub fn from_text(text: &str) -> Option<Self> {
        let (interface, ir) = text.split_once("\nir\n")?;
        let mut interface = interface_of(interface)?;
        let mut function = parse(ir).ok()?;
        verify(&function).ok()?;
        verify_strictly(&function).ok()?;
        if !stays_within(&function, &interface) {
            return None;
        }
        interface.images = function.number_images();
        Some(Self { interface, function })
    }
}

/// Returns the lines of a mesh program: its numbers, its index and cull locations if it has them,
/// and its output words.
fn mesh_text(facts: &MeshFacts) -> String {
    let MeshFacts { payload, counts, corners, vertices, primitives, indices, words, of_vertices, culls } = facts;
    let mut out = format!("mesh {payload} {counts} {corners} {vertices} {primitives} {of_vertices}\n");
    if let Some(indices) = indices {
        out += &format!("indices {indices}\n");
    }
    if let Some(MeshWord { first, stride }) = culls {
        out += &format!("culls {first} {stride}\n");
    }
    for MeshWord { first, stride } in words {
        out += &format!("word {first} {stride}\n");
    }
    out
}

fn patch_text(facts: &PatchFacts) -> String {
    let PatchFacts { inputs, patch, vertex, vertices, domain, spacing, clockwise, points } = facts;
    let (vertices, points) = (vertices.unwrap_or(0), u32::from(*points));
    let mut out = format!("patch {vertices} {domain:?} {spacing:?} {clockwise:?} {points}\n");
    for slot in inputs {
        out += &format!("given {}\n", slot.map_or_else(|| "none".into(), slot_text));
    }
    for (name, slots) in [("ofpatch", patch), ("ofvertex", vertex)] {
        slots.iter().for_each(|slot| out += &format!("{name} {}\n", slot_text(*slot)));
    }
    out
}

fn slot_text(slot: Slot) -> String {
    match slot {
        Slot::Location { location, component, index } => format!("location {location} {component} {index}"),
        Slot::Builtin(builtin, word) => format!("builtin {builtin:?} {word}"),
    }
}

/// Whitespace-separated tokens of a line.
struct Words<'a>(SplitAsciiWhitespace<'a>);

impl Words<'_> {
    fn number<T: FromStr>(&mut self) -> Option<T> {
        self.0.next()?.parse().ok()
    }

    fn numbers<const COUNT: usize>(&mut self) -> Option<[u32; COUNT]> {
        let mut out = [0; COUNT];
        for number in &mut out {
            *number = self.number()?;
        }
        Some(out)
    }

    /// Reads the name of one of the items in `all`.
    fn named<T: Copy + std::fmt::Debug>(&mut self, all: &[T]) -> Option<T> {
        let name = self.0.next()?;
        all.iter().copied().find(|item| format!("{item:?}") == name)
    }

    fn slot(&mut self) -> Option<Slot> {
        match self.0.next()? {
            "location" => {
                let [location, component, index] = self.numbers()?;
                Some(Slot::Location { location, component, index })
            }
            "builtin" => Some(Slot::Builtin(self.named(Builtin::ALL)?, self.number()?)),
            _ => None,
        }
    }

    /// Reads a vertex word, or `none`.
    fn vertex_word(&mut self) -> Option<Option<Slot>> {
        if self.0.clone().next() == Some("none") {
            self.0.next();
            return Some(None);
        }
        self.slot().map(Some)
    }

    fn mesh_word(&mut self) -> Option<MeshWord> {
        let [first, stride] = self.numbers()?;
        Some(MeshWord { first, stride })
    }

    /// Reads the transform feedback position of an output word, if the line contains one.
    fn feedback(&mut self) -> Option<Option<Feedback>> {
        if self.0.clone().next().is_none() {
            return Some(None);
        }
        let [buffer, stride, offset, stream] = self.numbers()?;
        let feedback = Feedback { buffer, stride, offset, stream };
        feedback.is_possible().then_some(Some(feedback))
    }

    fn ty(&mut self) -> Option<Type> {
        self.named(&[Type::Bool, Type::I32, Type::F32])
    }
}

fn interface_of(text: &str) -> Option<Interface> {
    let mut interface = Interface::new(vk::ShaderStageFlags::empty());
    for line in text.lines() {
        let mut words = Words(line.split_ascii_whitespace());
        interface_line(&mut interface, &mut words)?;
        if words.0.next().is_some() {
            return None;
        }
    }
    let invocations = interface.local_size.iter().try_fold(1u32, |product, &size| product.checked_mul(size));
    let of_vertices = interface.geometry.as_ref().map_or(0, |facts| facts.inputs.len());
    let words = [interface.inputs.len(), interface.outputs.len(), of_vertices];
    let fits = words.iter().all(|&count| count <= MAX_INTERFACE)
        && interface.resources.len() <= MAX_RESOURCES
        && interface.shared_bytes <= MAX_SHARED
        && is_bounded(&interface);
    (fits && invocations.is_some_and(|count| (1..=MAX_INVOCATIONS).contains(&count))).then_some(interface)
}

/// Returns true if a stage has exactly the facts that it requires, within the limits of its unit:
/// geometry, tessellation, task or mesh.
fn is_bounded(interface: &Interface) -> bool {
    use vk::ShaderStageFlags as S;
    let is_geometry = interface.stage == S::GEOMETRY;
    let is_of_patches = matches!(interface.stage, S::TESSELLATION_CONTROL | S::TESSELLATION_EVALUATION);
    let is_of_meshes = matches!(interface.stage, S::TASK_EXT | S::MESH_EXT);
    let good = |facts: &GeometryFacts| facts.is_possible(interface.outputs.len());
    let good_mesh = |facts: &MeshFacts| {
        let corners = if interface.stage == S::TASK_EXT { 0..=0 } else { 1..=3 };
        corners.contains(&facts.corners) && facts.is_possible(interface.outputs.len(), interface.shared_bytes)
    };
    interface.geometry.is_some() == is_geometry
        && interface.patch.is_some() == is_of_patches
        && interface.mesh.is_some() == is_of_meshes
        && interface.geometry.as_deref().is_none_or(good)
        && interface.patch.as_deref().is_none_or(PatchFacts::is_possible)
        && interface.mesh.as_deref().is_none_or(good_mesh)
}

fn interface_line(interface: &mut Interface, words: &mut Words<'_>) -> Option<()> {
    match words.0.next()? {
        "stage" => interface.stage = vk::ShaderStageFlags::from_raw(words.number()?),
        "size" => {
            let [x, y, z, squares] = words.numbers()?;
            (interface.local_size, interface.in_squares) = ([x, y, z], squares != 0);
            if interface.in_squares && !(x.is_multiple_of(2) && y.is_multiple_of(2)) {
                return None;
            }
        }
        "shared" => interface.shared_bytes = words.number()?,
        "facts" => {
            let mut facts = FragmentFacts::default();
            for flag in facts.flags_mut() {
                *flag = words.number::<u32>()? != 0;
            }
            interface.fragment = facts;
        }
        "geometry" => {
            let [vertices, output, max_vertices, invocations] = words.numbers()?;
            let output = vk::PrimitiveTopology::from_raw(output.try_into().ok()?);
            let inputs = Vec::new();
            interface.geometry = Some(Box::new(GeometryFacts { vertices, output, max_vertices, invocations, inputs }));
        }
        "vertex" => interface.geometry.as_mut()?.inputs.push(words.vertex_word()?),
        "mesh" => {
            let [payload, counts, corners, vertices, primitives, of_vertices] = words.numbers()?;
            let (of_vertices, rest) = (of_vertices as usize, MeshFacts::default());
            let facts = MeshFacts { payload, counts, corners, vertices, primitives, of_vertices, ..rest };
            interface.mesh = Some(Box::new(facts));
        }
        "indices" => interface.mesh.as_mut()?.indices = Some(words.number()?),
        "culls" => interface.mesh.as_mut()?.culls = Some(words.mesh_word()?),
        "word" => {
            let word = words.mesh_word()?;
            interface.mesh.as_mut()?.words.push(word);
        }
        "patch" => interface.patch = Some(Box::new(patch_line(words)?)),
        "given" => interface.patch.as_mut()?.inputs.push(words.vertex_word()?),
        "ofpatch" => interface.patch.as_mut()?.patch.push(words.slot()?),
        "ofvertex" => interface.patch.as_mut()?.vertex.push(words.slot()?),
        "input" => interface.inputs.push(InputSlot {
            slot: words.slot()?,
            ty: words.ty()?,
            interpolation: words.named(Interpolation::ALL)?,
            place: words.named(&[Place::Center, Place::Centroid, Place::Sample])?,
        }),
        "output" => {
            interface.outputs.push(OutputSlot { slot: words.slot()?, ty: words.ty()?, feedback: words.feedback()? });
        }
        "resource" => {
            let [set, binding] = words.numbers()?;
            interface.resources.push(Resource { set, binding });
        }
        _ => return None,
    }
    Some(())
}

fn patch_line(words: &mut Words<'_>) -> Option<PatchFacts> {
    let domains = [None, Some(Domain::Triangles), Some(Domain::Quads), Some(Domain::Isolines)];
    let spacings = [None, Some(Spacing::Equal), Some(Spacing::FractionalEven), Some(Spacing::FractionalOdd)];
    Some(PatchFacts {
        vertices: Some(words.number()?).filter(|&vertices| vertices > 0),
        domain: words.named(&domains)?,
        spacing: words.named(&spacings)?,
        clockwise: words.named(&[None, Some(false), Some(true)])?,
        points: words.number::<u32>()? != 0,
        ..PatchFacts::default()
    })
}

/// Returns true if a function uses no more than its interface declares.
fn stays_within(function: &Function, interface: &Interface) -> bool {
    let resource = |number: u32| (number as usize) < interface.resources.len();
    let space = |space: &Space| match space {
        Space::Buffer { resource: number, .. } | Space::Far { resource: number, .. } => resource(*number),
        Space::Push | Space::Shared | Space::Clock | Space::Address { .. } => true,
        // Only linked programs and kernels contain these spaces.
        Space::Range(_)
        | Space::Quads(_)
        | Space::Block(_)
        | Space::Texels(_)
        | Space::Levels(_)
        | Space::OfImage { .. } => false,
    };
    let words = function.locals.iter().try_fold(0u32, |sum, &words| sum.checked_add(words));
    let inside = |inst: &Inst| match inst {
        Inst::Input { slot, .. } | Inst::Interpolate { slot, .. } => (*slot as usize) < interface.inputs.len(),
        // Only linked kernels contain this instruction.
        Inst::Parameter { .. } => false,
        Inst::Output { slot, .. } => (*slot as usize) < interface.outputs.len(),
        Inst::BufferLength { resource: number, .. } => resource(*number),
        Inst::Image(image) => resource(image.resource) && image.sampler.is_none_or(|(number, _)| resource(number)),
        _ => inst.space().is_none_or(space),
    };
    words.is_some_and(|words| words <= MAX_LOCAL_WORDS) && function.insts.iter().all(inside)
}
