//! Image instructions. In the text, each field is `name=(items)`, without the empty ones.

use std::fmt::{self, Formatter};

use super::cursor::{Cursor, Fields, Result};
use super::notation::{Notation, write_list};
use super::operands::{Field, named, operands};
use super::{AtomicOp, Value};

named! {
    /// Dimensionality of an image as the program declares it.
    #[expect(missing_docs, reason = "the variants are SPIR-V's Dim")]
    Dim "no such dimensionality" { D1, D2, D3, Cube, Buffer, Subpass, }
}

/// Level of detail of a sampling operation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Lod {
    /// Level from the derivatives of the coordinates in the quad, plus a bias.
    Implicit {
        /// Bias that is added to the level of detail.
        bias: Option<Value>,
    },
    /// Explicit level.
    Explicit(Value),
    /// Level from explicit derivatives, which have as many components as the image has dimensions.
    Gradient {
        /// Derivative in x.
        dx: Vec<Value>,
        /// Derivative in y.
        dy: Vec<Value>,
    },
}

/// Operation of an image instruction.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ImageOp {
    /// Filtered sampling; 4 results, or 1 with a depth reference.
    Sample {
        /// Level of detail.
        lod: Lod,
        /// Depth reference to compare with.
        reference: Option<Value>,
    },
    /// Four texels of one component, or their comparisons with a reference; 4 results.
    Gather {
        /// Component to gather, unless the texels are compared with a reference.
        component: Option<Value>,
        /// Depth reference to compare with.
        reference: Option<Value>,
        /// Four offsets, one for each texel, that replace the single offset.
        offsets: Option<[[i32; 2]; 4]>,
    },
    /// One texel of a level and sample; 4 results.
    Fetch {
        /// Level, by default 0.
        level: Option<Value>,
        /// Sample of a multisampled image.
        sample: Option<Value>,
    },
    /// One texel of a storage image; 4 results.
    Read {
        /// Sample of a multisampled image.
        sample: Option<Value>,
    },
    /// Store of one texel; no result.
    Write {
        /// Sample of a multisampled image.
        sample: Option<Value>,
        /// Components of the texel, red to alpha.
        texel: [Value; 4],
    },
    /// Atomic on a texel of 32 or 64 bits. The result is the previous texel: 1 word, or 2 with the
    /// low word first.
    Atomic {
        /// Operation.
        op: AtomicOp,
        /// Sample of a multisampled image.
        sample: Option<Value>,
        /// Operand, with as many words as the texel has.
        value: Vec<Value>,
        /// Words to compare with, for compare-exchange.
        comparator: Vec<Value>,
    },
    /// Width, height and depth, with the layers after the last dimension; 3 results.
    Size {
        /// Level, by default 0.
        level: Option<Value>,
    },
    /// Number of levels; 1 result.
    Levels,
    /// Number of samples; 1 result.
    Samples,
    /// Accessed level and computed level of detail; 2 results.
    QueryLod,
}

impl ImageOp {
    /// Returns true if the operation changes the image. Helper lanes must not execute it.
    pub fn has_effect(&self) -> bool {
        matches!(self, Self::Write { .. } | Self::Atomic { .. })
    }

    /// Returns true if the operation queries a property of the whole image.
    pub fn is_query(&self) -> bool {
        matches!(self, Self::Size { .. } | Self::Levels | Self::Samples)
    }
}

/// Image instruction.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Image {
    /// Operation.
    pub op: ImageOp,
    /// Index of the image (or combined image sampler) in the program's resources.
    pub resource: u32,
    /// Element of the binding's array.
    pub element: Option<Value>,
    /// Sampler from another binding, as its resource and array element.
    pub sampler: Option<(u32, Option<Value>)>,
    /// Dimensionality.
    pub dim: Dim,
    /// True if the last coordinate is a layer.
    pub arrayed: bool,
    /// Coordinates, followed by the layer of an arrayed image.
    pub coords: Vec<Value>,
    /// Offset in texels, with one component per dimension. Empty without an offset.
    pub offset: Vec<Value>,
    /// Number of the instruction in its program. It identifies the state that was resolved for the
    /// instruction.
    pub number: u32,
    /// First result. The results have consecutive numbers.
    pub result: Value,
    /// Number of results.
    pub results: u32,
}

operands! { Image {
    Self { coords, offset, element, sampler, op, .. } => coords offset element sampler op;
} }

operands! { Lod {
    Self::Implicit { bias } => bias;
    Self::Explicit(level) => level;
    Self::Gradient { dx, dy } => dx dy;
} }

/// Element of a sampler's binding.
impl Field for (u32, Option<Value>) {
    fn operands(&self, visit: &mut impl FnMut(Value)) {
        self.1.operands(visit);
    }

    fn operands_mut(&mut self, visit: &mut impl FnMut(&mut Value)) {
        self.1.operands_mut(visit);
    }
}

/// Offsets are constants.
impl Field for [[i32; 2]; 4] {}

/// Implements the text of [`Image`] and the text and operands of [`ImageOp`]. The fields have their
/// own names in the text.
macro_rules! image_fields {
    (
        Image { $($part:ident),* }
        ImageOp {$( $name:literal $Op:ident { $($field:ident),* }; )*}
    ) => {
        operands! { ImageOp {
            $(Self::$Op { $($field),* } => $($field)*;)*
        } }

        impl Image {
            pub(crate) fn write(&self, out: &mut Formatter<'_>) -> fmt::Result {
                let Self { op, $($part,)* .. } = self;
                let name = match op { $(ImageOp::$Op { .. } => $name,)* };
                write!(out, "Image {name}")?;
                $($part.put(stringify!($part), out)?;)*
                match op {
                    $(ImageOp::$Op { $($field),* } => {
                        $($field.put(stringify!($field), out)?;)*
                    })*
                }
                Ok(())
            }

            pub(crate) fn read(line: &mut Cursor<'_>) -> Result<Self> {
                let name = line.next()?;
                let fields = line.fields()?;
                let op = match name {
                    $($name => ImageOp::$Op { $($field: ImageField::get(stringify!($field), &fields)?),* },)*
                    _ => return Err("no such image operation"),
                };
                $(let $part = ImageField::get(stringify!($part), &fields)?;)*
                Ok(Self { op, $($part,)* number: 0, result: line.result, results: line.results })
            }
        }
    };
}

image_fields! {
    Image { resource, element, sampler, dim, arrayed, coords, offset }
    ImageOp {
        "sample" Sample { lod, reference };
        "gather" Gather { component, reference, offsets };
        "fetch" Fetch { level, sample };
        "read" Read { sample };
        "write" Write { sample, texel };
        "atomic" Atomic { op, sample, value, comparator };
        "size" Size { level };
        "levels" Levels {};
        "samples" Samples {};
        "query_lod" QueryLod {};
    }
}

/// Field of an image instruction.
trait ImageField: Sized {
    /// Writes the field with its name, or nothing if it is empty.
    fn put(&self, name: &str, out: &mut Formatter<'_>) -> fmt::Result;

    /// Parses the field of this name.
    fn get(name: &str, fields: &Fields<'_>) -> Result<Self>;
}

/// Parses the field of this name, which has one item.
fn item<T: Notation>(name: &str, fields: &Fields<'_>) -> Result<T> {
    T::read(&mut fields.tokens(name).filter(|tokens| !tokens.rest.is_empty()).ok_or("a field is missing")?)
}

/// Implements [`ImageField`] for fields of one item.
macro_rules! items {
    ($($Item:ident)*) => {
        $(impl ImageField for $Item {
            fn put(&self, name: &str, out: &mut Formatter<'_>) -> fmt::Result {
                write!(out, " {name}=(")?;
                self.write(out)?;
                out.write_str(")")
            }

            fn get(name: &str, fields: &Fields<'_>) -> Result<Self> {
                item(name, fields)
            }
        })*
    };
}

items! { u32 Value Dim AtomicOp }

impl ImageField for bool {
    fn put(&self, name: &str, out: &mut Formatter<'_>) -> fmt::Result {
        if *self { write!(out, " {name}=()") } else { Ok(()) }
    }

    fn get(name: &str, fields: &Fields<'_>) -> Result<Self> {
        Ok(fields.tokens(name).is_some())
    }
}

impl ImageField for Option<Value> {
    fn put(&self, name: &str, out: &mut Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|value| value.put(name, out))
    }

    fn get(name: &str, fields: &Fields<'_>) -> Result<Self> {
        fields.tokens(name).map(|_| item(name, fields)).transpose()
    }
}

impl ImageField for Option<(u32, Option<Value>)> {
    fn put(&self, name: &str, out: &mut Formatter<'_>) -> fmt::Result {
        let Some((resource, element)) = self else { return Ok(()) };
        resource.put(name, out)?;
        element.put("sampler_element", out)
    }

    fn get(name: &str, fields: &Fields<'_>) -> Result<Self> {
        let element = || ImageField::get("sampler_element", fields);
        fields.tokens(name).map(|_| Ok((item(name, fields)?, element()?))).transpose()
    }
}

impl ImageField for Vec<Value> {
    fn put(&self, name: &str, out: &mut Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return Ok(());
        }
        write!(out, " {name}=(")?;
        self.write(out)?;
        out.write_str(")")
    }

    fn get(name: &str, fields: &Fields<'_>) -> Result<Self> {
        fields.tokens(name).map_or(Ok(Self::new()), |mut items| Self::read(&mut items))
    }
}

impl ImageField for [Value; 4] {
    fn put(&self, name: &str, out: &mut Formatter<'_>) -> fmt::Result {
        self.to_vec().put(name, out)
    }

    fn get(name: &str, fields: &Fields<'_>) -> Result<Self> {
        Vec::get(name, fields)?.try_into().map_err(|_| "a texel has four components")
    }
}

impl ImageField for Option<[[i32; 2]; 4]> {
    fn put(&self, name: &str, out: &mut Formatter<'_>) -> fmt::Result {
        let Some(offsets) = self else { return Ok(()) };
        write!(out, " {name}=(")?;
        write_list(offsets.as_flattened(), out)?;
        out.write_str(")")
    }

    fn get(name: &str, fields: &Fields<'_>) -> Result<Self> {
        let Some(items) = fields.tokens(name) else { return Ok(None) };
        let parsed: Vec<i32> = items.rest.iter().filter_map(|item| item.parse().ok()).collect();
        let numbers: [i32; 8] = parsed.try_into().map_err(|_| "four offsets have eight numbers")?;
        Ok(Some(std::array::from_fn(|texel| [numbers[2 * texel], numbers[2 * texel + 1]])))
    }
}

impl ImageField for Lod {
    fn put(&self, name: &str, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Implicit { bias } => {
                write!(out, " {name}=(implicit)")?;
                bias.put("bias", out)
            }
            Self::Explicit(level) => write!(out, " {name}=(explicit {level})"),
            Self::Gradient { dx, dy } => {
                write!(out, " {name}=(gradient)")?;
                dx.put("dx", out)?;
                dy.put("dy", out)
            }
        }
    }

    fn get(name: &str, fields: &Fields<'_>) -> Result<Self> {
        let mut items = fields.tokens(name).ok_or("a field is missing")?;
        match items.next()? {
            "implicit" => Ok(Self::Implicit { bias: ImageField::get("bias", fields)? }),
            "explicit" => Ok(Self::Explicit(Value::read(&mut items)?)),
            "gradient" => Ok(Self::Gradient { dx: ImageField::get("dx", fields)?, dy: ImageField::get("dy", fields)? }),
            _ => Err("no such level of detail"),
        }
    }
}
