//! The parser of the text form. It limits sizes but does not verify the function: pass the
//! function to [`verify`](super::verify).

use std::sync::LazyLock;

use foldhash::HashMap;

use super::{
    Atomic64, AtomicOp, BinaryOp, Dim, Function, Image, ImageOp, Inst, InterpolateAt, Local, Lod, Part, Space, Table,
    TernaryOp, Type, UnaryOp, Value, Wide, WideOp,
};

/// Maximum for counts in a text, such as the number of values or the words of a local.
const LIMIT: u32 = 1 << 20;

/// Problem of a text and the line on which it was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct ParseError {
    /// Line number, counted from 1.
    pub line: usize,
    /// Description of the problem.
    pub problem: &'static str,
}

type Result<T> = std::result::Result<T, &'static str>;

/// Parses a function from its text form. `;` starts a comment.
///
/// # Errors
/// Returns the first line that is not an instruction.
pub fn parse(text: &str) -> std::result::Result<Function, ParseError> {
    let mut function = Function::default();
    for (index, line) in text.lines().enumerate() {
        let tokens = tokens(line.split(';').next().unwrap_or(""));
        parse_line(&mut function, &mut Cursor { rest: &tokens })
            .map_err(|problem| ParseError { line: index + 1, problem })?;
    }
    Ok(function)
}

/// Splits a line into words and signs. Commas count as spaces.
fn tokens(line: &str) -> Vec<&str> {
    let is_sign = |c: char| matches!(c, '[' | ']' | '(' | ')' | '=' | ':' | '+');
    let mut out = Vec::new();
    for part in line.split(|c: char| c.is_whitespace() || c == ',') {
        let mut rest = part;
        while let Some(at) = rest.find(is_sign) {
            out.extend([&rest[..at], &rest[at..=at]].into_iter().filter(|token| !token.is_empty()));
            rest = &rest[at + 1..];
        }
        out.extend((!rest.is_empty()).then_some(rest));
    }
    out
}

fn parse_line(function: &mut Function, line: &mut Cursor<'_>) -> Result<()> {
    match line.peek() {
        None => return Ok(()),
        Some("local") => {
            line.next()?;
            function.locals.push(line.number()?);
        }
        Some("table") => {
            line.next()?;
            function.tables.push(line.rest.iter().map(|word| unsigned(word)).collect::<Result<_>>()?);
            line.rest = &[];
        }
        Some(_) => {
            let (result, count, ty) = line.results()?;
            let inst = line.inst(result, count)?;
            define(function, result, count, ty);
            function.insts.push(inst);
        }
    }
    if line.rest.is_empty() { Ok(()) } else { Err("the line goes on") }
}

fn define(function: &mut Function, result: Value, count: u32, ty: Type) {
    let (first, end) = (result.0 as usize, (result.0 + count) as usize);
    if function.types.len() < end {
        function.types.resize(end, Type::I32);
    }
    function.types[first..end].fill(ty);
}

fn unsigned(token: &str) -> Result<u32> {
    let parsed = match token.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => token.parse(),
    };
    parsed.map_err(|_| "not a number")
}

/// Returns the operation with this name.
fn named<T: Copy + std::fmt::Debug>(all: &[T], name: &str) -> Option<T> {
    all.iter().copied().find(|item| format!("{item:?}") == name)
}

const MARKERS: [Inst; 10] = [
    Inst::Else,
    Inst::EndIf,
    Inst::Block,
    Inst::EndBlock,
    Inst::Loop,
    Inst::Continuing,
    Inst::EndLoop,
    Inst::Kill,
    Inst::Demote,
    Inst::Barrier,
];

/// Instruction that is identified by its name alone.
enum Named {
    /// Index into [`MARKERS`].
    Marker(usize),
    Unary(UnaryOp),
    Binary(BinaryOp),
    Ternary(TernaryOp),
}

static NAMES: LazyLock<HashMap<String, Named>> = LazyLock::new(|| {
    let markers = MARKERS.iter().enumerate().map(|(index, marker)| (format!("{marker:?}"), Named::Marker(index)));
    let unary = UnaryOp::ALL.iter().map(|op| (format!("{op:?}"), Named::Unary(*op)));
    let binary = BinaryOp::ALL.iter().map(|op| (format!("{op:?}"), Named::Binary(*op)));
    let ternary = TernaryOp::ALL.iter().map(|op| (format!("{op:?}"), Named::Ternary(*op)));
    markers.chain(unary).chain(binary).chain(ternary).collect()
});

#[derive(Debug)]
struct Cursor<'a> {
    rest: &'a [&'a str],
}

impl<'a> Cursor<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.rest.first().copied()
    }

    fn next(&mut self) -> Result<&'a str> {
        let (first, rest) = self.rest.split_first().ok_or("the line ends early")?;
        self.rest = rest;
        Ok(first)
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.peek() == Some(token);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<()> {
        if self.eat(token) { Ok(()) } else { Err("a sign is missing") }
    }

    /// Parses a number below [`LIMIT`].
    fn number(&mut self) -> Result<u32> {
        prefixed(self.next()?, "")
    }

    fn value(&mut self) -> Result<Value> {
        prefixed(self.next()?, "%").map(Value)
    }

    fn optional_value(&mut self) -> Result<Option<Value>> {
        if self.rest.is_empty() { Ok(None) } else { self.value().map(Some) }
    }

    /// Parses an optional element, such as `[%1]`.
    fn element(&mut self) -> Result<Option<Value>> {
        if !self.eat("[") {
            return Ok(None);
        }
        let element = self.value()?;
        self.expect("]")?;
        Ok(Some(element))
    }

    /// Parses the left-hand side: the first result, the number of results, and their type.
    fn results(&mut self) -> Result<(Value, u32, Type)> {
        if !self.peek().is_some_and(|token| token.starts_with('%')) {
            return Ok((Value(0), 0, Type::I32));
        }
        let first = self.value()?;
        let count = if self.eat("+") { self.number()?.min(4) } else { 1 };
        self.expect(":")?;
        let ty = match self.next()? {
            "bool" => Type::Bool,
            "i32" => Type::I32,
            "f32" => Type::F32,
            _ => return Err("no such type"),
        };
        self.expect("=")?;
        Ok((first, count, ty))
    }

    fn inst(&mut self, result: Value, results: u32) -> Result<Inst> {
        let name = self.next()?;
        if name == "Image" {
            return self.image(result, results);
        }
        let inst = match NAMES.get(name) {
            Some(Named::Marker(marker)) => MARKERS[*marker].clone(),
            Some(Named::Unary(op)) => Inst::Unary { result, op: *op, a: self.value()? },
            Some(Named::Binary(op)) => Inst::Binary { result, op: *op, a: self.value()?, b: self.value()? },
            Some(Named::Ternary(op)) => {
                Inst::Ternary { result, op: *op, a: self.value()?, b: self.value()?, c: self.value()? }
            }
            None => self.access(name, result)?,
        };
        let defines = super::verify::results(&inst).len() as u32;
        if defines == results { Ok(inst) } else { Err("another number of results") }
    }

    fn access(&mut self, name: &str, result: Value) -> Result<Inst> {
        Ok(match name {
            "Const" => Inst::Const { result, word: unsigned(self.next()?)? },
            "If" => Inst::If { condition: self.value()? },
            "Break" => Inst::Break { depth: self.number()? },
            "Continue" => Inst::Continue { depth: self.number()? },
            "IsHelper" => Inst::IsHelper { result },
            "Lane" => Inst::Lane { result },
            "IsActive" => Inst::IsActive { result },
            "Ballot" => Inst::Ballot { result, a: self.value()? },
            "Shuffle" => Inst::Shuffle { result, a: self.value()?, index: self.value()? },
            "Wide" => self.wide(result)?,
            "LocalLoad" => {
                let (local, base, index) = self.local()?;
                Inst::LocalLoad { result, local, base, index }
            }
            "LocalStore" => {
                let all = self.eat("all");
                let (local, base, index) = self.local()?;
                Inst::LocalStore { local, base, index, value: self.value()?, all }
            }
            "TableLoad" => Inst::TableLoad { result, table: Table(prefixed(self.next()?, "t")?), index: self.value()? },
            "Input" => Inst::Input { result, slot: self.number()? },
            "Parameter" => {
                let (word, is_of_one) = (self.number()?, self.eat("of"));
                Inst::Parameter { result, word, of: is_of_one.then(|| self.value()).transpose()? }
            }
            "Interpolate" => Inst::Interpolate { result, slot: self.number()?, at: self.place()? },
            "Output" => Inst::Output { slot: self.number()?, value: self.value()? },
            _ => return self.memory(name, result),
        })
    }

    fn memory(&mut self, name: &str, result: Value) -> Result<Inst> {
        Ok(match name {
            "Load" => Inst::Load { result, space: self.space()?, offset: self.value()? },
            "Store" => Inst::Store { space: self.space()?, offset: self.value()?, value: self.value()? },
            "StorePart" => {
                let bytes = self.number()?;
                Inst::StorePart { space: self.space()?, offset: self.value()?, value: self.value()?, bytes }
            }
            "Atomic64" => self.atomic64(result)?,
            "Atomic" => Inst::Atomic {
                result,
                op: named(AtomicOp::ALL, self.next()?).ok_or("no such atomic")?,
                space: self.space()?,
                offset: self.value()?,
                value: self.value()?,
                comparator: self.optional_value()?,
            },
            "BufferLength" => Inst::BufferLength { result, resource: self.number()?, element: self.element()? },
            _ => return Err("no such instruction"),
        })
    }

    fn wide(&mut self, result: Value) -> Result<Inst> {
        let op = named(WideOp::ALL, self.next()?).ok_or("no such wide operation")?;
        let mut words = Vec::new();
        while let Some(word) = self.optional_value()? {
            words.push(word);
        }
        Ok(Inst::Wide(Box::new(Wide { op, words, result, results: op.shape().1 })))
    }

    fn atomic64(&mut self, result: Value) -> Result<Inst> {
        let op = named(AtomicOp::ALL, self.next()?).ok_or("no such atomic")?;
        let (space, offset) = (self.space()?, self.value()?);
        let value = [self.value()?, self.value()?];
        let comparator = match self.optional_value()? {
            Some(low) => Some([low, self.value()?]),
            None => None,
        };
        Ok(Inst::Atomic64(Box::new(Atomic64 { op, space, offset, value, comparator, result })))
    }

    fn local(&mut self) -> Result<(Local, u32, Option<Value>)> {
        let local = Local(prefixed(self.next()?, "l")?);
        self.expect("[")?;
        let base = unsigned(self.next()?)?;
        let index = if self.eat("+") { Some(self.value()?) } else { None };
        self.expect("]")?;
        Ok((local, base, index))
    }

    fn space(&mut self) -> Result<Space> {
        match self.next()? {
            "buffer" => Ok(Space::Buffer { resource: self.number()?, element: self.element()? }),
            "push" => Ok(Space::Push),
            "texels" => Ok(Space::Texels(self.number()?)),
            "levels" => Ok(Space::Levels(self.number()?)),
            "of" => Ok(Space::OfImage { image: self.number()?, part: self.part()? }),
            "range" => Ok(Space::Range(self.number()?)),
            "quads" => Ok(Space::Quads(self.number()?)),
            "block" => Ok(Space::Block(self.number()?)),
            "shared" => Ok(Space::Shared),
            "clock" => Ok(Space::Clock),
            "address" => Ok(Space::Address { high: self.value()? }),
            _ => Err("no such memory"),
        }
    }

    fn part(&mut self) -> Result<Part> {
        match self.next()? {
            "buffer" => Ok(Part::Buffer(self.number()?)),
            "texels" => Ok(Part::Texels(self.number()?)),
            "levels" => Ok(Part::Levels(self.number()?)),
            _ => Err("no such part of a look-up"),
        }
    }

    fn place(&mut self) -> Result<InterpolateAt> {
        match self.next()? {
            "centroid" => Ok(InterpolateAt::Centroid),
            "sample" => Ok(InterpolateAt::Sample(self.value()?)),
            "offset" => Ok(InterpolateAt::Offset(self.value()?, self.value()?)),
            _ => Err("no such place"),
        }
    }

    fn image(&mut self, result: Value, results: u32) -> Result<Inst> {
        let name = self.next()?;
        let fields = self.fields()?;
        let sampler = match fields.words("sampler") {
            Some(_) => Some((fields.number("sampler")?, fields.optional("sampler_element")?)),
            None => None,
        };
        let dims = [Dim::D1, Dim::D2, Dim::D3, Dim::Cube, Dim::Buffer, Dim::Subpass];
        Ok(Inst::Image(Box::new(Image {
            op: fields.op(name)?,
            resource: fields.number("resource")?,
            element: fields.optional("element")?,
            sampler,
            dim: named(&dims, fields.word("dim")?).ok_or("no such dimensionality")?,
            arrayed: fields.words("arrayed").is_some(),
            number: 0,
            coords: fields.values("coords")?,
            offset: fields.values("offset")?,
            result,
            results,
        })))
    }

    fn fields(&mut self) -> Result<Fields<'a>> {
        let mut out = Vec::new();
        while !self.rest.is_empty() {
            let name = self.next()?;
            self.expect("=")?;
            self.expect("(")?;
            let end = self.rest.iter().position(|&token| token == ")").ok_or("a sign is missing")?;
            out.push((name, &self.rest[..end]));
            self.rest = &self.rest[end + 1..];
        }
        Ok(Fields(out))
    }
}

/// Parses a number below [`LIMIT`] after a prefix.
fn prefixed(token: &str, prefix: &str) -> Result<u32> {
    let number = unsigned(token.strip_prefix(prefix).ok_or("another kind of operand")?)?;
    if number < LIMIT { Ok(number) } else { Err("a number this large") }
}

/// Fields of an image instruction, as names and their tokens.
struct Fields<'a>(Vec<(&'a str, &'a [&'a str])>);

impl<'a> Fields<'a> {
    fn words(&self, name: &str) -> Option<&'a [&'a str]> {
        self.0.iter().find(|(field, _)| *field == name).map(|(_, words)| *words)
    }

    fn word(&self, name: &str) -> Result<&'a str> {
        self.words(name).and_then(|words| words.first().copied()).ok_or("a field is missing")
    }

    fn number(&self, name: &str) -> Result<u32> {
        prefixed(self.word(name)?, "")
    }

    fn values(&self, name: &str) -> Result<Vec<Value>> {
        self.words(name).unwrap_or(&[]).iter().map(|word| prefixed(word, "%").map(Value)).collect()
    }

    fn optional(&self, name: &str) -> Result<Option<Value>> {
        self.values(name).map(|values| values.first().copied())
    }

    fn op(&self, name: &str) -> Result<ImageOp> {
        let sample = self.optional("sample")?;
        let level = self.optional("level")?;
        let reference = self.optional("reference")?;
        Ok(match name {
            "sample" => ImageOp::Sample { lod: self.lod()?, reference },
            "gather" => ImageOp::Gather { component: self.optional("component")?, reference, offsets: self.offsets()? },
            "fetch" => ImageOp::Fetch { level, sample },
            "read" => ImageOp::Read { sample },
            "write" => {
                let texel = self.values("texel")?.try_into().map_err(|_| "a texel has four components")?;
                ImageOp::Write { sample, texel }
            }
            "atomic" => ImageOp::Atomic {
                op: named(AtomicOp::ALL, self.word("op")?).ok_or("no such atomic")?,
                sample,
                value: self.values("value")?,
                comparator: self.values("comparator")?,
            },
            "size" => ImageOp::Size { level },
            "levels" => ImageOp::Levels,
            "samples" => ImageOp::Samples,
            "query_lod" => ImageOp::QueryLod,
            _ => return Err("no such image operation"),
        })
    }

    fn lod(&self) -> Result<Lod> {
        match self.words("lod") {
            Some(["implicit"]) => Ok(Lod::Implicit { bias: self.optional("bias")? }),
            Some(["explicit", level]) => prefixed(level, "%").map(|level| Lod::Explicit(Value(level))),
            Some(["gradient"]) => Ok(Lod::Gradient { dx: self.values("dx")?, dy: self.values("dy")? }),
            _ => Err("no such level of detail"),
        }
    }

    fn offsets(&self) -> Result<Option<[[i32; 2]; 4]>> {
        let Some(words) = self.words("offsets") else { return Ok(None) };
        let parsed: Vec<i32> = words.iter().filter_map(|word| word.parse().ok()).collect();
        let numbers: [i32; 8] = parsed.try_into().map_err(|_| "four offsets have eight numbers")?;
        Ok(Some(std::array::from_fn(|texel| [numbers[2 * texel], numbers[2 * texel + 1]])))
    }
}
