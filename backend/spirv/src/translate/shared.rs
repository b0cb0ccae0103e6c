//! Layout of shared memory.

use spirv::{Decoration, StorageClass};

use super::memory::{self, Pointer};
use super::{MAX_SHARED, Translator};
use crate::module::Ty;
use crate::number::Number;
use crate::{Error, Result};

impl Translator<'_> {
    /// Declares a shared variable. Variables follow each other in memory; aliased blocks with an
    /// explicit layout all start at the same offset.
    pub(super) fn declare_shared(&mut self, id: u32, ty: u32) -> Result<Pointer> {
        let target = if self.module.has((ty, None), Decoration::Block) {
            self.shared_is_explicit = true;
            let is_aliased = self.module.has((id, None), Decoration::Aliased);
            let first = if is_aliased { self.shared_start } else { self.after_aliased()?.next_multiple_of(16) };
            let size = self.explicit_size(ty, 0)?;
            self.shared_bytes = self.shared_bytes.max(first.saturating_add(size));
            Pointer::shared(first, ty, memory::EXPLICIT)
        } else {
            let unit = self.shared_unit(ty)?;
            let offset = self.shared_bytes.next_multiple_of(unit);
            self.shared_bytes = offset.saturating_add(self.words_of(ty)?.saturating_mul(unit));
            Pointer::shared(offset, ty, unit)
        };
        if self.shared_bytes > MAX_SHARED {
            return Err(Error::Unsupported("this much shared memory".into()));
        }
        Ok(target)
    }

    /// Returns the offset in shared memory after all variables so far and after all aliased blocks.
    fn after_aliased(&self) -> Result<u32> {
        let mut end = self.shared_bytes;
        for &(id, pointer, class, _) in &self.module.variables {
            if class == StorageClass::Workgroup && self.module.has((id, None), Decoration::Aliased) {
                let size = self.explicit_size(self.module.data_type(id, pointer)?, 0)?;
                end = end.max(self.shared_start.saturating_add(size));
            }
        }
        Ok(end.min(MAX_SHARED))
    }

    /// Returns the size of a scalar of a shared variable in bytes.
    pub(super) fn shared_unit(&self, ty: u32) -> Result<u32> {
        Ok(if self.constants.has_wide(self.module, ty)? { 8 } else { 4 })
    }

    /// Returns the size of a value with an explicit layout in bytes, saturating.
    pub(super) fn explicit_size(&self, ty: u32, nesting: u32) -> Result<u32> {
        if nesting > self.nesting.types {
            return Err(Error::Deep("types"));
        }
        // Check the size first. Otherwise endless empty structures or too many parts could be
        // walked.
        match self.words_of(ty)? {
            0 => return Ok(0),
            words if words > MAX_SHARED => return Err(Error::Unsupported("a block this large".into())),
            _ => {}
        }
        let word = |target, decoration| self.module.decoration_word(target, decoration);
        let inner = |ty| self.explicit_size(ty, nesting + 1);
        match self.module.ty(ty)? {
            Ty::Struct(members) => {
                let mut size = 0;
                for (index, &member) in members.iter().enumerate() {
                    let target = (ty, Some(index as u32));
                    let bytes = match (word(target, Decoration::MatrixStride), self.module.ty(member)?) {
                        // A row-major matrix has at most four rows.
                        (Some(stride), Ty::Matrix(..)) => stride.saturating_mul(4),
                        _ => inner(member)?,
                    };
                    size = size.max(word(target, Decoration::Offset).unwrap_or(0).saturating_add(bytes));
                }
                Ok(size)
            }
            Ty::Array(element, length) => {
                let stride = word((ty, None), Decoration::ArrayStride).unwrap_or(inner(*element)?);
                Ok(stride.saturating_mul(self.constants.length(*length)?))
            }
            Ty::Vector(part, count) | Ty::Matrix(part, count) => Ok(inner(*part)?.saturating_mul(*count)),
            _ => Ok(Number::of(self.module, ty)?.bytes()),
        }
    }
}
