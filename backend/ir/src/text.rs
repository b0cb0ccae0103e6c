//! The text form of functions, with one instruction per line, indented by nesting.
//! [`parse`](super::parse) reads it.
//!
//! ```text
//! local 2                              ; locals and constant arrays first, numbered l0, t0, ...
//! table 1 2 3
//! %0: i32 = Const 0x5                  ; scalar operations have their names in `ops`
//! %1: f32 = Load buffer 0[%0], %0      ; an array's element is in brackets; also `push`, `shared`
//! LocalStore l0[1 + %0], %1
//! %2+4: f32 = Image sample resource=(0) dim=(D2) coords=(%1 %1) lod=(implicit)
//! ```

use std::fmt;

use super::verify::results;
use super::{Function, Image, ImageOp, Inst, InterpolateAt, Lod, Part, Space, Type, Value};

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "%{}", self.0)
    }
}

impl fmt::Display for Function {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.locals.iter().try_for_each(|words| writeln!(formatter, "local {words}"))?;
        self.tables.iter().try_for_each(|words| writeln!(formatter, "table {}", list(words)))?;
        let mut indent = 0usize;
        for inst in &self.insts {
            let closes = matches!(inst, Inst::Else | Inst::EndIf | Inst::EndBlock | Inst::EndLoop | Inst::Continuing);
            let opens = matches!(inst, Inst::If { .. } | Inst::Else | Inst::Block | Inst::Loop | Inst::Continuing);
            indent = indent.saturating_sub(usize::from(closes));
            writeln!(formatter, "{:1$}{2}{3}", "", indent * 2, self.defined(inst), text(inst))?;
            indent += usize::from(opens);
        }
        Ok(())
    }
}

impl Function {
    /// Returns the left-hand side of an instruction's line.
    fn defined(&self, inst: &Inst) -> String {
        let results = results(inst);
        let Some(first) = results.first() else { return String::new() };
        let ty = match self.types.get(first.0 as usize) {
            Some(Type::Bool) => "bool",
            Some(Type::F32) => "f32",
            Some(Type::I32 | Type::I64 | Type::F64) | None => "i32",
        };
        let more = if results.len() > 1 { format!("+{}", results.len()) } else { String::new() };
        format!("{first}{more}: {ty} = ")
    }
}

fn list<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(" ")
}

fn text(inst: &Inst) -> String {
    match inst {
        Inst::Const { word, .. } => format!("Const {word:#x}"),
        Inst::Unary { op, a, .. } => format!("{op:?} {a}"),
        Inst::Binary { op, a, b, .. } => format!("{op:?} {a}, {b}"),
        Inst::Ternary { op, a, b, c, .. } => format!("{op:?} {a}, {b}, {c}"),
        Inst::If { condition } => format!("If {condition}"),
        Inst::Break { depth } => format!("Break {depth}"),
        Inst::Continue { depth } => format!("Continue {depth}"),
        Inst::IsHelper { .. } => "IsHelper".into(),
        Inst::Lane { .. } => "Lane".into(),
        Inst::IsActive { .. } => "IsActive".into(),
        Inst::Ballot { a, .. } => format!("Ballot {a}"),
        Inst::Shuffle { a, index, .. } => format!("Shuffle {a}, {index}"),
        Inst::Wide(wide) => format!("Wide {:?} {}", wide.op, list(&wide.words)),
        Inst::Image(image) => image_text(image),
        Inst::Else | Inst::EndIf | Inst::Block | Inst::EndBlock | Inst::Loop => format!("{inst:?}"),
        Inst::Continuing | Inst::EndLoop | Inst::Kill | Inst::Demote | Inst::Barrier => format!("{inst:?}"),
        _ => access_text(inst),
    }
}

fn access_text(inst: &Inst) -> String {
    match inst {
        Inst::LocalLoad { local, base, index, .. } => format!("LocalLoad l{}{}", local.0, word(*base, *index)),
        Inst::LocalStore { local, base, index, value, all } => {
            let all = if *all { " all" } else { "" };
            format!("LocalStore{all} l{}{}, {value}", local.0, word(*base, *index))
        }
        Inst::TableLoad { table, index, .. } => format!("TableLoad t{}, {index}", table.0),
        Inst::Input { slot, .. } => format!("Input {slot}"),
        Inst::Parameter { word, of: None, .. } => format!("Parameter {word}"),
        Inst::Parameter { word, of: Some(of), .. } => format!("Parameter {word} of {of}"),
        Inst::Interpolate { slot, at, .. } => format!("Interpolate {slot} {}", place(*at)),
        Inst::Output { slot, value } => format!("Output {slot}, {value}"),
        Inst::Load { space, offset, .. } => format!("Load {}, {offset}", space_text(*space)),
        Inst::Store { space, offset, value } => format!("Store {}, {offset}, {value}", space_text(*space)),
        Inst::StorePart { space, offset, value, bytes } => {
            format!("StorePart {bytes} {}, {offset}, {value}", space_text(*space))
        }
        Inst::Atomic64(atomic) => {
            let words: Vec<Value> = atomic.value.into_iter().chain(atomic.comparator.into_iter().flatten()).collect();
            format!("Atomic64 {:?} {}, {}, {}", atomic.op, space_text(atomic.space), atomic.offset, list(&words))
        }
        Inst::Atomic { space, offset, op, value, comparator, .. } => {
            let comparator = comparator.map_or(String::new(), |value| format!(", {value}"));
            format!("Atomic {op:?} {}, {offset}, {value}{comparator}", space_text(*space))
        }
        Inst::BufferLength { resource, element, .. } => format!("BufferLength {resource}{}", in_brackets(*element)),
        // `text` prints all other instructions.
        other => format!("{other:?}"),
    }
}

fn word(base: u32, index: Option<Value>) -> String {
    index.map_or(format!("[{base}]"), |index| format!("[{base} + {index}]"))
}

fn in_brackets(element: Option<Value>) -> String {
    element.map_or(String::new(), |element| format!("[{element}]"))
}

fn place(at: InterpolateAt) -> String {
    match at {
        InterpolateAt::Centroid => "centroid".into(),
        InterpolateAt::Sample(sample) => format!("sample {sample}"),
        InterpolateAt::Offset(x, y) => format!("offset {x}, {y}"),
    }
}

fn space_text(space: Space) -> String {
    match space {
        Space::Buffer { resource, element } => format!("buffer {resource}{}", in_brackets(element)),
        Space::Push => "push".into(),
        Space::Texels(resource) => format!("texels {resource}"),
        Space::Levels(behind) => format!("levels {behind}"),
        Space::OfImage { image, part: Part::Buffer(resource) } => format!("of {image} buffer {resource}"),
        Space::OfImage { image, part: Part::Texels(resource) } => format!("of {image} texels {resource}"),
        Space::OfImage { image, part: Part::Levels(behind) } => format!("of {image} levels {behind}"),
        Space::Range(number) => format!("range {number}"),
        Space::Quads(number) => format!("quads {number}"),
        Space::Block(number) => format!("block {number}"),
        Space::Shared => "shared".into(),
        Space::Clock => "clock".into(),
        Space::Address { high } => format!("address {high}"),
    }
}

/// Fields of an image instruction, in the form `name=(items)`.
struct Fields(String);

impl Fields {
    fn put(&mut self, name: &str, items: impl fmt::Display) {
        self.0 += &format!(" {name}=({items})");
    }

    fn values(&mut self, name: &str, values: &[Value]) {
        if !values.is_empty() {
            self.put(name, list(values));
        }
    }

    fn optional(&mut self, name: &str, value: Option<Value>) {
        value.into_iter().for_each(|value| self.put(name, value));
    }
}

fn image_text(image: &Image) -> String {
    let mut fields = Fields(format!("Image {}", image_name(&image.op)));
    fields.put("resource", image.resource);
    fields.optional("element", image.element);
    if let Some((resource, element)) = image.sampler {
        fields.put("sampler", resource);
        fields.optional("sampler_element", element);
    }
    fields.put("dim", format_args!("{:?}", image.dim));
    if image.arrayed {
        fields.put("arrayed", "");
    }
    fields.values("coords", &image.coords);
    fields.values("offset", &image.offset);
    image_fields(&mut fields, &image.op);
    fields.0
}

const fn image_name(op: &ImageOp) -> &'static str {
    match op {
        ImageOp::Sample { .. } => "sample",
        ImageOp::Gather { .. } => "gather",
        ImageOp::Fetch { .. } => "fetch",
        ImageOp::Read { .. } => "read",
        ImageOp::Write { .. } => "write",
        ImageOp::Atomic { .. } => "atomic",
        ImageOp::Size { .. } => "size",
        ImageOp::Levels => "levels",
        ImageOp::Samples => "samples",
        ImageOp::QueryLod => "query_lod",
    }
}

fn image_fields(fields: &mut Fields, op: &ImageOp) {
    match op {
        ImageOp::Sample { lod, reference } => {
            lod_fields(fields, lod);
            fields.optional("reference", *reference);
        }
        ImageOp::Gather { component, reference, offsets } => {
            fields.optional("component", *component);
            fields.optional("reference", *reference);
            offsets.iter().for_each(|offsets| fields.put("offsets", list(offsets.as_flattened())));
        }
        ImageOp::Fetch { level, sample } => {
            fields.optional("level", *level);
            fields.optional("sample", *sample);
        }
        ImageOp::Read { sample } => fields.optional("sample", *sample),
        ImageOp::Write { sample, texel } => {
            fields.optional("sample", *sample);
            fields.values("texel", texel);
        }
        ImageOp::Atomic { op, sample, value, comparator } => {
            fields.put("op", format_args!("{op:?}"));
            fields.optional("sample", *sample);
            fields.values("value", value);
            fields.values("comparator", comparator);
        }
        ImageOp::Size { level } => fields.optional("level", *level),
        ImageOp::Levels | ImageOp::Samples | ImageOp::QueryLod => {}
    }
}

fn lod_fields(fields: &mut Fields, lod: &Lod) {
    match lod {
        Lod::Implicit { bias } => {
            fields.put("lod", "implicit");
            fields.optional("bias", *bias);
        }
        Lod::Explicit(level) => fields.put("lod", format_args!("explicit {level}")),
        Lod::Gradient { dx, dy } => {
            fields.put("lod", "gradient");
            fields.values("dx", dx);
            fields.values("dy", dy);
        }
    }
}
