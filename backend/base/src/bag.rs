//! Things that are kept for who needs one next, so that memory is not given back and asked for again and again.

use std::fmt;
use std::ops::{Deref, DerefMut};

use parking_lot::Mutex;

/// A bag of things that are all alike but for what they held last.
pub struct Bag<T> {
    kept: Mutex<Vec<T>>,
    most: usize,
}

impl<T: Default> Bag<T> {
    /// An empty one, for at most so many.
    pub fn new(most: usize) -> Self {
        Self { kept: Mutex::default(), most }
    }

    /// Takes one out, or makes one.
    pub fn take(&self) -> T {
        self.kept.lock().pop().unwrap_or_default()
    }

    /// Puts one in, where there is room.
    pub fn put(&self, thing: T) {
        let mut kept = self.kept.lock();
        if kept.len() < self.most {
            kept.push(thing);
        }
    }

    /// Takes one out for as long as it is needed.
    pub fn lend(&self) -> Lent<'_, T> {
        Lent { bag: self, thing: Some(self.take()) }
    }
}

impl<T> fmt::Debug for Bag<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bag of at most {}", self.most)
    }
}

/// A thing that goes back into its bag.
pub struct Lent<'a, T: Default> {
    bag: &'a Bag<T>,
    /// Nothing only while it goes back.
    thing: Option<T>,
}

impl<T: Default> Deref for Lent<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.thing.as_ref().expect("it has not gone back")
    }
}

impl<T: Default> DerefMut for Lent<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.thing.as_mut().expect("it has not gone back")
    }
}

impl<T: Default> Drop for Lent<'_, T> {
    fn drop(&mut self) {
        self.thing.take().into_iter().for_each(|thing| self.bag.put(thing));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lent_comes_back_as_far_as_there_is_room() {
        let bag = Bag::<Vec<u32>>::new(1);
        bag.lend().push(7);
        let (first, second) = (bag.lend(), bag.lend());
        assert_eq!((&**first, &**second), (&[7][..], &[][..]));
        drop((first, second));
        assert_eq!((bag.take(), bag.take()), (vec![7], vec![]));
    }
}
