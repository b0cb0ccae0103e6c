//! The tree of regions that a function's markers form.

use super::{Function, Inst};

/// Kind of the marker that opens a region.
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

/// Instructions between two markers. Positions are indices of instructions.
#[derive(Debug, Clone, Copy)]
pub struct Region {
    /// Kind of the opening marker.
    pub kind: RegionKind,
    /// Number of the enclosing region. The function is its own parent.
    pub parent: u32,
    /// Position of the opening marker.
    pub start: u32,
    /// Position of `Else` or `Continuing`, or the end if there is none.
    pub middle: u32,
    /// Position of the closing marker.
    pub end: u32,
}

impl Region {
    /// Returns true if a position lies in the region, markers included.
    pub fn contains(&self, at: u32) -> bool {
        (self.start..=self.end).contains(&at)
    }

    /// Returns true if `Break` and `Continue` count the region.
    pub fn is_target(&self) -> bool {
        matches!(self.kind, RegionKind::Block | RegionKind::Loop)
    }
}

/// All regions of a function.
#[derive(Debug, Clone)]
pub struct Regions {
    /// List of regions. Region 0 is the function, and every region follows its parent.
    pub list: Vec<Region>,
    /// Innermost region around each instruction. A marker belongs to the region that it opens,
    /// divides or closes.
    pub of: Vec<u32>,
}

impl Regions {
    /// Returns the regions of a verified function.
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

    /// Returns the region with this number.
    pub fn get(&self, region: u32) -> &Region {
        &self.list[region as usize]
    }

    /// Returns the region and its ancestors, innermost first, without the function.
    pub fn chain(&self, region: u32) -> impl Iterator<Item = u32> {
        std::iter::successors((region != 0).then_some(region), |&region| {
            let parent = self.get(region).parent;
            (parent != 0).then_some(parent)
        })
    }

    /// Returns the region that a `Break` or `Continue` of this depth in `region` targets.
    pub fn target(&self, region: u32, depth: u32) -> Option<u32> {
        self.chain(region).filter(|&region| self.get(region).is_target()).nth(depth as usize)
    }
}

/// Returns for each instruction whether a path leads to it. No path leads to code behind a jump or
/// a `Kill` in the same part of a region.
pub fn reachable(function: &Function) -> Vec<bool> {
    /// Parts of an open region to which a path leads.
    struct Open {
        before: bool,
        continuing: bool,
        end: bool,
        is_target: bool,
    }
    let (mut here, mut open) = (true, Vec::<Open>::new());
    let reach = |inst: &Inst| {
        match inst {
            Inst::If { .. } | Inst::Block | Inst::Loop => {
                let is_target = !matches!(inst, Inst::If { .. });
                open.push(Open { before: here, continuing: false, end: false, is_target });
            }
            Inst::Else => {
                if let Some(region) = open.last_mut() {
                    // Both branches exist, so no path leads from the condition directly to the end.
                    (region.end, here) = (here, std::mem::take(&mut region.before));
                }
            }
            Inst::Continuing => here |= open.last().is_some_and(|region| region.continuing),
            Inst::EndIf => here |= open.pop().is_some_and(|region| region.before || region.end),
            Inst::EndBlock => here |= open.pop().is_some_and(|region| region.end),
            Inst::EndLoop => here = open.pop().is_some_and(|region| region.end),
            Inst::Break { depth } | Inst::Continue { depth } => {
                let mut targets = open.iter_mut().rev().filter(|region| region.is_target);
                if let Some(region) = targets.nth(*depth as usize) {
                    let place =
                        if matches!(inst, Inst::Break { .. }) { &mut region.end } else { &mut region.continuing };
                    *place |= here;
                }
                here = false;
            }
            Inst::Kill => here = false,
            _ => {}
        }
        here
    };
    function.insts.iter().map(reach).collect()
}

fn opens(inst: &Inst) -> Option<RegionKind> {
    match inst {
        Inst::If { .. } => Some(RegionKind::If),
        Inst::Block => Some(RegionKind::Block),
        Inst::Loop => Some(RegionKind::Loop),
        _ => None,
    }
}
