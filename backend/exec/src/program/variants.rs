//! Variants of a program with inlined routines, and the counts that decide on inlining.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use vitric_ir::{Image, Token};

use super::Program;

/// Number of passes that must draw with a program before it is inlined: a base, plus a count for
/// each image instruction.
///
/// Compile time grows with the number of image instructions. The delay spreads the compilation of
/// a frame's programs over several frames.
const MIN_PASSES: u32 = 4;
const MIN_PASSES_PER_IMAGE: u32 = 2;

/// Maximum average number of bindings per pass of an inlined program. Each of them costs a routine
/// lookup for every image instruction.
const MAX_BINDINGS: u32 = 32;

/// Inlined variants of a program.
#[derive(Debug, Default)]
pub struct Inlined {
    uses: Arc<UseCounts>,
    /// Image instructions that routines may replace.
    pub(crate) images: OnceLock<Vec<Image>>,
    /// Variants, the oldest first.
    pub(crate) variants: Mutex<Vec<Variant>>,
}

/// Usage counts that a program and its inlined variants share.
#[derive(Debug, Default)]
struct UseCounts {
    /// Number of passes that drew with the program, or of dispatches.
    passes: AtomicU32,
    /// Number of bindings the program was used with.
    bindings: AtomicU32,
}

/// Routines by image instruction, and the program with them inlined, or `None` if inlining is not
/// worthwhile.
pub(crate) type Variant = (Vec<Option<Token>>, Option<Arc<Program>>);

impl Inlined {
    /// Returns the state of an inlined variant, which shares the usage counts.
    pub(crate) fn of_variant(&self) -> Self {
        Self { uses: self.uses.clone(), ..Self::default() }
    }

    /// Counts a pass that draws with the program, or a dispatch of it.
    pub fn begin_pass(&self) {
        self.uses.passes.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a change of the program's bindings.
    pub fn bind(&self) {
        self.uses.bindings.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns true if a program with `images` image instructions runs often enough and with few
    /// enough bindings.
    pub(crate) fn is_worth_inlining(&self, images: u32) -> bool {
        let [passes, bindings] = [&self.uses.passes, &self.uses.bindings].map(|count| count.load(Ordering::Relaxed));
        passes >= MIN_PASSES_PER_IMAGE.saturating_mul(images).saturating_add(MIN_PASSES)
            && bindings / MAX_BINDINGS <= passes
    }
}
