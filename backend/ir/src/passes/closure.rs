//! Region closure: passes every value that is used outside of its defining region through a local.
//!
//! Afterwards, every use lies inside the region of its definition. Executors may therefore compute
//! a value in all lanes, whichever lanes are active. Data that a lane must keep while inactive
//! lives in locals, whose stores are masked.

use crate::{Function, Inst, Local, Regions, Value};

/// Passes escaping values through locals.
pub fn run(function: &mut Function) {
    let regions = Regions::new(function);
    let escaping = escaping(function, &regions);
    if escaping.iter().all(|escapes| !escapes) {
        return;
    }
    let homes: Vec<Option<Local>> = escaping.iter().map(|escapes| escapes.then(|| new_local(function))).collect();
    let mut out = Vec::with_capacity(function.insts.len() * 2);
    let mut defined_in = vec![0; escaping.len()];
    for (at, mut inst) in std::mem::take(&mut function.insts).into_iter().enumerate() {
        let region = user_region(&regions, at, &inst);
        load_operands(function, &mut inst, &mut out, |value| {
            let definition = defined_in[value.0 as usize];
            homes[value.0 as usize].filter(|_| !is_inside(&regions, region, definition))
        });
        let defined = inst.results();
        out.push(inst);
        for value in defined {
            defined_in[value.0 as usize] = regions.of[at];
            if let Some(local) = homes[value.0 as usize] {
                out.push(Inst::LocalStore { local, base: 0, index: None, value, all: false });
            }
        }
    }
    function.insts = out;
}

fn new_local(function: &mut Function) -> Local {
    function.locals.push(1);
    Local(function.locals.len() as u32 - 1)
}

/// Returns the region in which an instruction uses its operands. An `If` uses its condition before
/// its region starts.
fn user_region(regions: &Regions, at: usize, inst: &Inst) -> u32 {
    let region = regions.of[at];
    if matches!(inst, Inst::If { .. }) { regions.get(region).parent } else { region }
}

fn is_inside(regions: &Regions, region: u32, definition: u32) -> bool {
    let (inner, outer) = (regions.get(region), regions.get(definition));
    definition == 0 || region != 0 && outer.start <= inner.start && inner.end <= outer.end
}

/// Returns, for each value, whether it is used outside of the region that defines it. Both parts
/// of an `If` or `Loop` count as one region.
fn escaping(function: &Function, regions: &Regions) -> Vec<bool> {
    let mut escaping = vec![false; function.types.len()];
    let mut defined_in = vec![0; function.types.len()];
    for (at, inst) in function.insts.iter().enumerate() {
        let region = user_region(regions, at, inst);
        inst.operands(|value| {
            escaping[value.0 as usize] |= !is_inside(regions, region, defined_in[value.0 as usize]);
        });
        for value in inst.results() {
            defined_in[value.0 as usize] = regions.of[at];
        }
    }
    escaping
}

/// Inserts loads of the locals that `local` returns for the operands, and replaces the operands by
/// the loads.
fn load_operands(
    function: &mut Function,
    inst: &mut Inst,
    out: &mut Vec<Inst>,
    local: impl Fn(Value) -> Option<Local>,
) {
    let mut loads: Vec<(Value, Value)> = Vec::new();
    inst.operands(|value| {
        if loads.iter().any(|(from, _)| *from == value) {
            return;
        }
        if let Some(local) = local(value) {
            function.types.push(function.types[value.0 as usize]);
            let result = Value(function.types.len() as u32 - 1);
            out.push(Inst::LocalLoad { result, local, base: 0, index: None });
            loads.push((value, result));
        }
    });
    if !loads.is_empty() {
        inst.map_operands(|value| loads.iter().find(|(from, _)| *from == value).map_or(value, |(_, to)| *to));
    }
}
