//! The parser of the text form. It limits sizes but does not verify the function: pass the
//! function to [`verify`](super::verify).

use super::cursor::{Cursor, Result, tokens};
use super::notation::Notation;
use super::{BLOCK, Function, Inst, Type, Value};

/// Problem of a text and the line on which it was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct ParseError {
    /// Line number, counted from 1.
    pub line: usize,
    /// Description of the problem.
    pub problem: &'static str,
}

/// Parses a function from its text form. `;` starts a comment.
///
/// # Errors
/// Returns the first line that is not an instruction.
pub fn parse(text: &str) -> std::result::Result<Function, ParseError> {
    let mut function = Function::default();
    for (index, line) in text.lines().enumerate() {
        let tokens = tokens(line.split(';').next().unwrap_or(""));
        parse_line(&mut function, &mut Cursor::new(&tokens))
            .map_err(|problem| ParseError { line: index + 1, problem })?;
    }
    Ok(function)
}

fn parse_line(function: &mut Function, line: &mut Cursor<'_>) -> Result<()> {
    match line.peek() {
        None => return Ok(()),
        Some("local") => {
            line.next()?;
            function.locals.push(u32::read(line)?);
        }
        Some("table") => {
            line.next()?;
            let mut words = Vec::new();
            while line.peek().is_some() {
                words.push(line.word()?);
            }
            function.tables.push(words);
        }
        Some(_) => {
            let ty = parse_results(line)?;
            let inst = Inst::read(line)?;
            if inst.results().len() != line.results as usize {
                return Err("another number of results");
            }
            define(function, inst.results(), ty);
            function.insts.push(inst);
        }
    }
    if line.rest.is_empty() { Ok(()) } else { Err("the line goes on") }
}

fn define(function: &mut Function, results: impl ExactSizeIterator<Item = Value>, ty: Type) {
    for result in results {
        let index = result.0 as usize;
        if function.types.len() <= index {
            function.types.resize(index + 1, Type::I32);
        }
        function.types[index] = ty;
    }
}

/// Parses the left-hand side, which sets the results, and returns their type.
fn parse_results(line: &mut Cursor<'_>) -> Result<Type> {
    if !line.peek().is_some_and(|token| token.starts_with('%')) {
        return Ok(Type::I32);
    }
    line.result = Value::read(line)?;
    line.results = if line.eat("+") { u32::read(line)?.min(BLOCK as u32) } else { 1 };
    line.sign(":")?;
    let ty = match line.next()? {
        "bool" => Type::Bool,
        "i32" => Type::I32,
        "f32" => Type::F32,
        _ => return Err("no such type"),
    };
    line.sign("=")?;
    Ok(ty)
}
