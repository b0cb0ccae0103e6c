//! Generated code in executable memory.
//!
//! A mapping with code is first written and then made executable, never both at once.

use std::sync::Arc;

use vitric_codegen::{Generated, Site, Target};
use vitric_ir::Token;

use super::frame::{ARGUMENTS, BufferEntry, Frame, RESULTS, ROUTINE_FRAME_BYTES, ResourceEntry, RoutineEntry};
use super::symbols::{self, GdbSymbol, Tools};

/// Executable code.
#[derive(Debug)]
pub struct Native {
    symbol: Option<GdbSymbol>,
    pub(super) target: Target,
    map: Arc<memmap2::Mmap>,
    entry: usize,
    pub(super) sites: Vec<Site>,
    /// End of the numbers of image instructions whose routines the code enters.
    pub(super) images: usize,
    /// True if a routine needs only resources, push constants, inputs and the deadline check. Its
    /// inputs and outputs must fit in those of a call site.
    stands_alone: bool,
    pub(super) local_bytes: usize,
    pub(super) frame_bytes: usize,
    /// Number of words that the parameters must have.
    pub(super) parameters: usize,
    /// Number of input words that the code reads.
    pub(super) inputs: usize,
    /// Number of output words that the code stores.
    pub(super) outputs: usize,
    /// Number of memory ranges that the code accesses.
    pub(super) ranges: usize,
    /// Minimum size of the push constants, in bytes.
    pub(super) pushed_bytes: usize,
    /// True if the code accesses far resources.
    pub(crate) is_far: bool,
    /// True if the code runs only with all lanes, none of them a helper.
    pub(super) with_all_lanes: bool,
    /// Inlined routines, by the numbers of the image instructions whose data they access.
    pub(super) routines: Vec<(u32, Token)>,
}

impl Native {
    /// Places generated code in executable memory, with the routines of its function.
    ///
    /// # Errors
    /// Returns an error if the host provides no memory, or does not permit making it executable.
    pub fn new(generated: Generated, routines: Vec<(u32, Token)>) -> std::io::Result<Self> {
        let mut map = memmap2::MmapMut::map_anon(generated.code.bytes.len().max(1))?;
        map[..generated.code.bytes.len()].copy_from_slice(&generated.code.bytes);
        let Generated { sites, parameters, ranges, local_bytes, inputs, .. } = &generated;
        let needs_little = sites.is_empty() && routines.is_empty() && (*parameters, *ranges, *local_bytes) == (0, 0, 0);
        Ok(Self {
            images: sites.iter().filter_map(|site| site.one_image).max().map_or(0, |number| number as usize + 1),
            stands_alone: needs_little && *inputs <= ARGUMENTS && generated.outputs <= RESULTS,
            symbol: None,
            target: generated.target,
            map: Arc::new(map.make_exec()?),
            entry: generated.code.entry,
            sites: generated.sites,
            local_bytes: generated.local_bytes,
            parameters: generated.parameters,
            inputs: generated.inputs,
            outputs: generated.outputs,
            ranges: generated.ranges,
            pushed_bytes: generated.pushed_bytes,
            is_far: generated.is_far,
            with_all_lanes: generated.with_all_lanes,
            routines,
            frame_bytes: Frame::BYTES + generated.local_bytes + generated.code.spill_bytes,
        })
    }

    /// Tells tools the code's name. Code that perf knows stays mapped until the process ends. perf
    /// cannot remove a name, and would use it for other code at that address.
    pub fn announce(&mut self, tools: Tools, name: &str) {
        if tools.perf {
            std::mem::forget(self.map.clone());
        }
        let code = &self.map[self.entry..];
        self.symbol = symbols::announce(tools, code.as_ptr().addr(), code.len(), name);
    }

    /// Returns the bytes, which start with the constant pool.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Returns the number of input words that the code reads.
    #[inline]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Returns the offset of the entry, in bytes.
    #[inline]
    pub fn entry(&self) -> usize {
        self.entry
    }

    /// Makes a routine available to generated code, for entering it if possible, or for an inlined
    /// copy. Token, push constants and resources must live as long as the entry.
    pub(crate) fn publish(&self, entry: &RoutineEntry, token: &Token, push: &[u8], resources: &[ResourceEntry]) {
        if push.len() < self.pushed_bytes {
            return;
        }
        let push = BufferEntry::new(push.as_ptr().cast_mut(), push.len() as u64);
        let can_be_entered = self.stands_alone && self.frame_bytes <= ROUTINE_FRAME_BYTES;
        let code = if can_be_entered { self.map[self.entry..].as_ptr().cast() } else { std::ptr::null() };
        entry.set((code, token), push, resources);
    }

    /// Runs the code from the position in `frame`.
    ///
    /// # Safety
    /// All of the frame's header must be written for this code. Everything it points to must live
    /// until the code returns.
    #[inline]
    pub(super) unsafe fn enter(&self, frame: *mut Frame) {
        // SAFETY: the entry is in the map, which is executable, and a function of this type starts
        // there.
        let entry: extern "C" fn(*mut Frame) = unsafe { std::mem::transmute(self.map.as_ptr().add(self.entry)) };
        entry(frame);
    }
}

#[cfg(all(test, target_arch = "x86_64", target_os = "linux"))]
mod tests {
    use vitric_codegen::Encoded;

    use super::*;
    use crate::runtime::symbols::{announce, map_path};

    #[test]
    fn names_are_written_for_perf() {
        let tools = Tools { perf: true, gdb: false };
        assert!(announce(tools, 0xabc0, 0x40, "vitric::fragment main (1)").is_none());
        assert!(announce(tools, 0xabd0, 0x20, "two\nlines\0").is_none());
        let text = std::fs::read_to_string(map_path()).unwrap();
        assert_eq!(text, "abc0 40 vitric::fragment main (1)\nabd0 20 two?lines?\n");
        let places = ["first", "second"].map(|name| {
            let code = Encoded { bytes: vec![0; 0x50], entry: 0x40, spill_bytes: 0 };
            let generated = Generated {
                target: Target::Avx2,
                code,
                sites: Vec::new(),
                local_bytes: 0,
                parameters: 0,
                inputs: 0,
                outputs: 0,
                ranges: 0,
                pushed_bytes: 0,
                is_far: false,
                with_all_lanes: false,
            };
            let mut native = Native::new(generated, Vec::new()).unwrap();
            native.announce(tools, name);
            format!("{:x} 10 {name}", native.bytes().as_ptr().addr() + 0x40)
        });
        let text = std::fs::read_to_string(map_path()).unwrap();
        assert_eq!(text.lines().skip(2).collect::<Vec<_>>(), places);
        assert_ne!(places[0].split(' ').next(), places[1].split(' ').next(), "the first one's place is not used again");
        std::fs::remove_file(map_path()).unwrap();
    }
}
