//! Masks of the lanes of a wave.

use vitric_base::simd::Mask;

/// Lanes that an instruction is executed for.
#[derive(Debug, Clone, Copy)]
pub struct Masks {
    /// Lanes that run.
    pub active: Mask,
    /// Lanes that run and have side effects, which excludes helpers.
    pub effective: Mask,
}

/// Returns the lanes of a mask in ascending order.
pub fn lanes_of(mask: Mask) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros() as usize;
        (rest != 0).then(|| {
            rest &= rest - 1;
            lane
        })
    })
}
