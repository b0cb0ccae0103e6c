//! Operations on composites: construction, extraction, insertion and shuffles, and products of
//! vectors and matrices.

use std::rc::Rc;

use spirv::Op;
use vitric_ir::{BinaryOp, TernaryOp, Value};

use super::Translator;
use crate::constants::slice;
use crate::module::Ty;
use crate::number::Number;
use crate::parse::Instruction;
use crate::{Error, Result};

impl Translator<'_> {
    pub(super) fn composite(&mut self, inst: &Instruction) -> Result<()> {
        let (ty, id) = (inst.word(0)?, inst.word(1)?);
        if self.composite_in_memory(inst)? {
            return Ok(());
        }
        let words = match inst.op {
            Op::CompositeConstruct => {
                let parts: Vec<Rc<[Value]>> = inst.rest(2).iter().map(|&id| self.words(id)).collect::<Result<_>>()?;
                if let (Ty::Cooperative(_), [part]) = (self.module.ty(ty)?, &parts[..]) {
                    part.repeat(self.words_of(ty)? as usize)
                } else if parts.iter().map(|part| part.len()).sum::<usize>() != self.words_of(ty)? as usize {
                    return Err(Error::Malformed("a composite of another type"));
                } else {
                    parts.concat()
                }
            }
            Op::CompositeConstructReplicateEXT => {
                let part = self.words(inst.word(2)?)?;
                let count = self.words_of(ty)? as usize;
                if part.is_empty() || !count.is_multiple_of(part.len()) {
                    return Err(Error::Malformed("a composite of another type"));
                }
                part.repeat(count / part.len())
            }
            Op::CompositeExtract => self.extract(inst)?,
            Op::CompositeInsert => self.insert(inst)?,
            Op::VectorShuffle => self.shuffle(inst)?,
            Op::VectorExtractDynamic => self.extract_dynamic(inst)?,
            Op::VectorInsertDynamic => self.insert_dynamic(inst)?,
            Op::Transpose => self.transpose(inst.word(2)?)?,
            Op::OuterProduct => {
                let words = self.outer_product(inst)?;
                self.narrowed(words, ty)?
            }
            _ => {
                let words = self.product(inst)?;
                self.narrowed(words, ty)?
            }
        };
        self.define_words(id, ty, words)
    }

    fn extract(&mut self, inst: &Instruction) -> Result<Vec<Value>> {
        let (ty, words) = self.typed_words(inst.word(2)?)?;
        let (first, part) = self.constants.part(self.module, ty, inst.rest(3))?;
        let count = self.words_of(part)?;
        slice(&words, first, count).map(<[Value]>::to_vec)
    }

    fn insert(&mut self, inst: &Instruction) -> Result<Vec<Value>> {
        let object = self.words(inst.word(2)?)?;
        let (ty, words) = self.typed_words(inst.word(3)?)?;
        let (first, _) = self.constants.part(self.module, ty, inst.rest(4))?;
        slice(&words, first, object.len() as u32)?;
        let mut out = words.to_vec();
        out[first as usize..first as usize + object.len()].copy_from_slice(&object);
        Ok(out)
    }

    fn shuffle(&mut self, inst: &Instruction) -> Result<Vec<Value>> {
        let both = [self.words(inst.word(2)?)?, self.words(inst.word(3)?)?].concat();
        // 0xffffffff selects an undefined component, so any component is valid.
        let pick = |&index: &u32| both.get(index as usize).or(both.first()).copied();
        let picked: Option<Vec<Value>> = inst.rest(4).iter().map(pick).collect();
        picked.ok_or(Error::Malformed("a shuffle of nothing"))
    }

    fn extract_dynamic(&mut self, inst: &Instruction) -> Result<Vec<Value>> {
        let words = self.words(inst.word(2)?)?;
        let index = self.index(inst.word(3)?)?;
        let mut out = *words.first().ok_or(Error::Malformed("an empty vector"))?;
        for (number, &word) in words.iter().enumerate().skip(1) {
            let number = self.builder.int(number as u32);
            let here = self.builder.binary(BinaryOp::IEq, index, number);
            out = self.builder.select(here, word, out);
        }
        Ok(vec![out])
    }

    fn insert_dynamic(&mut self, inst: &Instruction) -> Result<Vec<Value>> {
        let words = self.words(inst.word(2)?)?;
        let (component, index) = (self.word(inst.word(3)?)?, self.index(inst.word(4)?)?);
        let mut out = Vec::with_capacity(words.len());
        for (number, &word) in words.iter().enumerate() {
            let number = self.builder.int(number as u32);
            let here = self.builder.binary(BinaryOp::IEq, index, number);
            out.push(self.builder.select(here, component, word));
        }
        Ok(out)
    }

    /// Returns the columns of a matrix.
    pub(super) fn columns(&mut self, id: u32) -> Result<Vec<Vec<Value>>> {
        let (ty, words) = self.typed_words(id)?;
        let Ty::Matrix(column, _) = self.module.ty(ty)? else { return Err(Error::Malformed("not a matrix")) };
        let rows = self.words_of(*column)? as usize;
        if rows == 0 || words.is_empty() || words.len() % rows != 0 {
            return Err(Error::Malformed("not a matrix"));
        }
        Ok(words.chunks(rows).map(<[Value]>::to_vec).collect())
    }

    fn transpose(&mut self, id: u32) -> Result<Vec<Value>> {
        let columns = self.columns(id)?;
        let rows = columns.first().map_or(0, Vec::len);
        Ok((0..rows).flat_map(|row| columns.iter().map(move |column| column[row])).collect())
    }

    fn outer_product(&mut self, inst: &Instruction) -> Result<Vec<Value>> {
        let (column, row) = (self.words(inst.word(2)?)?, self.words(inst.word(3)?)?);
        let mut out = Vec::new();
        for &b in row.iter() {
            for &a in column.iter() {
                out.push(self.builder.binary(BinaryOp::FMul, a, b));
            }
        }
        Ok(out)
    }

    fn product(&mut self, inst: &Instruction) -> Result<Vec<Value>> {
        let (a, b) = (inst.word(2)?, inst.word(3)?);
        match inst.op {
            Op::Dot => {
                let (a, b) = (self.words(a)?, self.words(b)?);
                Ok(vec![self.dot(&a, &b)?])
            }
            Op::VectorTimesScalar | Op::MatrixTimesScalar => {
                let (words, factor) = (self.words(a)?, self.word(b)?);
                let number = Number::of(self.module, inst.word(0)?)?;
                // Cooperative matrices may have integers.
                if let Number::Int(_) = number {
                    return Ok(words.iter().map(|&word| self.builder.binary(BinaryOp::IMul, word, factor)).collect());
                }
                if let Some(relaxed) = self.may_contract(inst, number) {
                    return Ok(words.iter().map(|&word| self.relaxed_product(relaxed, word, factor)).collect());
                }
                Ok(words.iter().map(|&word| self.builder.binary(BinaryOp::FMul, word, factor)).collect())
            }
            Op::MatrixTimesVector => {
                let columns = self.columns(a)?;
                let vector = self.words(b)?;
                self.combine(&columns, &vector)
            }
            Op::VectorTimesMatrix => {
                let (vector, columns) = (self.words(a)?, self.columns(b)?);
                columns.iter().map(|column| self.dot(&vector, column)).collect()
            }
            Op::MatrixTimesMatrix => {
                let (left, right) = (self.columns(a)?, self.columns(b)?);
                let columns: Vec<Vec<Value>> =
                    right.iter().map(|column| self.combine(&left, column)).collect::<Result<_>>()?;
                Ok(columns.concat())
            }
            other => Err(Error::Unsupported(format!("{other:?}"))),
        }
    }

    /// Returns the sum of columns, each multiplied by a component of `vector`.
    fn combine(&mut self, columns: &[Vec<Value>], vector: &[Value]) -> Result<Vec<Value>> {
        let rows = columns.first().map_or(0, Vec::len);
        (0..rows)
            .map(|row| {
                let row: Vec<Value> = columns.iter().map(|column| column[row]).collect();
                self.dot(&row, vector)
            })
            .collect()
    }

    /// Returns the dot product, summed from the first component on with fused multiply-adds. They
    /// need fewer operations and roundings.
    pub(super) fn dot(&mut self, a: &[Value], b: &[Value]) -> Result<Value> {
        if a.len() != b.len() || a.is_empty() {
            return Err(Error::Malformed("a product of different sizes"));
        }
        let mut sum = self.builder.binary(BinaryOp::FMul, a[0], b[0]);
        for (&a, &b) in a.iter().zip(b).skip(1) {
            sum = self.builder.ternary(TernaryOp::Fma, a, b, sum);
        }
        Ok(sum)
    }
}
