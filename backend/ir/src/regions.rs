//! The tree of regions that a function's markers form.

use super::{Function, Inst};

/// What opened a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegionKind {
    /// The whole function.
    Function,
    /// `If` to `EndIf`.
    If,
    /// `Block` to `EndBlock`.
    Block,
    /// `Loop` to `EndLoop`.
    Loop,
}

/// A region: the instructions between two markers. Positions are indices of instructions.
#[derive(Debug, Clone, Copy)]
pub struct Region {
    /// What opened it.
    pub kind: RegionKind,
    /// The region around it; the function is its own.
    pub parent: u32,
    /// Position of the marker that opens it.
    pub start: u32,
    /// Position of `Else` or `Continuing`; the end when there is none.
    pub middle: u32,
    /// Position of the marker that ends it.
    pub end: u32,
}

impl Region {
    /// Whether a position lies in it, markers included.
    pub fn contains(&self, at: u32) -> bool {
        (self.start..=self.end).contains(&at)
    }

    /// Whether `Break` and `Continue` count it.
    pub fn is_target(&self) -> bool {
        matches!(self.kind, RegionKind::Block | RegionKind::Loop)
    }
}

/// All regions of a function.
#[derive(Debug, Clone)]
pub struct Regions {
    /// Region 0 is the function; a region comes after the one around it.
    pub list: Vec<Region>,
    /// For each instruction the innermost region around it. A marker belongs to the region it opens, divides or ends.
    pub of: Vec<u32>,
}

impl Regions {
    /// The regions of a verified function.
    pub fn new(function: &Function) -> Self {
        let last = function.insts.len() as u32;
        let whole = Region { kind: RegionKind::Function, parent: 0, start: 0, middle: last, end: last };
        let mut regions = Self { list: vec![whole], of: Vec::with_capacity(function.insts.len()) };
        let mut current = 0;
        for (at, inst) in function.insts.iter().enumerate() {
            let at = at as u32;
            if let Some(kind) = opens(inst) {
                regions.list.push(Region { kind, parent: current, start: at, middle: last, end: last });
                current = regions.list.len() as u32 - 1;
            }
            regions.of.push(current);
            let region = &mut regions.list[current as usize];
            match inst {
                Inst::Else | Inst::Continuing => region.middle = at,
                Inst::EndIf | Inst::EndBlock | Inst::EndLoop => {
                    region.end = at;
                    region.middle = region.middle.min(at);
                    current = region.parent;
                }
                _ => {}
            }
        }
        regions
    }

    /// A region by number.
    pub fn get(&self, region: u32) -> &Region {
        &self.list[region as usize]
    }

    /// The region and those around it, from the inside out, without the function.
    pub fn chain(&self, region: u32) -> impl Iterator<Item = u32> {
        std::iter::successors((region != 0).then_some(region), |&region| {
            let parent = self.get(region).parent;
            (parent != 0).then_some(parent)
        })
    }

    /// The region that a `Break` or `Continue` of this depth in `region` leaves for.
    pub fn target(&self, region: u32, depth: u32) -> Option<u32> {
        self.chain(region).filter(|&region| self.get(region).is_target()).nth(depth as usize)
    }
}

fn opens(inst: &Inst) -> Option<RegionKind> {
    match inst {
        Inst::If { .. } => Some(RegionKind::If),
        Inst::Block => Some(RegionKind::Block),
        Inst::Loop => Some(RegionKind::Loop),
        _ => None,
    }
}
