//! Pools of reusable objects, which avoid freeing and allocating memory for each use.

use std::fmt;
use std::ops::{Deref, DerefMut};

use parking_lot::Mutex;

/// A bounded pool of unused objects. Each object keeps the contents that its last user left.
pub struct ObjectPool<T> {
    kept: Mutex<Kept<T>>,
    max_size: usize,
    size_of: fn(&T) -> usize,
}

/// The objects of a pool, and the sum of their sizes.
struct Kept<T> {
    objects: Vec<T>,
    size: usize,
}

impl<T: Default> ObjectPool<T> {
    /// Returns an empty pool that stores at most `max_kept` objects.
    pub fn new(max_kept: usize) -> Self {
        Self::bounded(max_kept, |_| 1)
    }

    /// Returns an empty pool that stores objects whose sizes by `size_of` are at most `max_size`
    /// together. `size_of` must return the same value for an object while it is stored.
    pub fn bounded(max_size: usize, size_of: fn(&T) -> usize) -> Self {
        Self { kept: Mutex::new(Kept { objects: Vec::new(), size: 0 }), max_size, size_of }
    }

    /// Removes an object from the pool and returns it, or returns a new object if the pool is
    /// empty.
    pub fn take(&self) -> T {
        let mut kept = self.kept.lock();
        let Some(object) = kept.objects.pop() else { return T::default() };
        kept.size -= (self.size_of)(&object);
        object
    }

    /// Stores an object in the pool, or drops the object if the pool is full.
    pub fn put(&self, object: T) {
        let mut kept = self.kept.lock();
        let size = kept.size.saturating_add((self.size_of)(&object));
        if size <= self.max_size {
            kept.size = size;
            kept.objects.push(object);
        }
    }

    /// Returns a guard with an object. The object returns to the pool when the guard is dropped.
    pub fn acquire(&self) -> PoolGuard<'_, T> {
        PoolGuard { pool: self, object: Some(self.take()) }
    }
}

impl<T> fmt::Debug for ObjectPool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectPool of at most {}", self.max_size)
    }
}

/// Guard of an object that returns to its pool when the guard is dropped.
pub struct PoolGuard<'a, T: Default> {
    pool: &'a ObjectPool<T>,
    /// The object. `None` only while the guard is being dropped.
    object: Option<T>,
}

impl<T: Default> Deref for PoolGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.object.as_ref().expect("the guard is not dropped yet")
    }
}

impl<T: Default> DerefMut for PoolGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.object.as_mut().expect("the guard is not dropped yet")
    }
}

impl<T: Default> Drop for PoolGuard<'_, T> {
    fn drop(&mut self) {
        self.object.take().into_iter().for_each(|object| self.pool.put(object));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lent_comes_back_as_far_as_there_is_room() {
        let object_pool = ObjectPool::<Vec<u32>>::new(1);
        object_pool.acquire().push(7);
        let (first, second) = (object_pool.acquire(), object_pool.acquire());
        assert_eq!((&**first, &**second), (&[7][..], &[][..]));
        drop((first, second));
        assert_eq!((object_pool.take(), object_pool.take()), (vec![7], vec![]));
    }
    #[test]
    fn objects_are_kept_while_their_sizes_fit() {
        let object_pool = ObjectPool::<Vec<u32>>::bounded(5, Vec::len);
        [vec![1; 3], vec![2; 3], vec![3; 2], vec![4]].into_iter().for_each(|object| object_pool.put(object));
        assert_eq!([object_pool.take(), object_pool.take()], [vec![3; 2], vec![1; 3]]);
        object_pool.put(vec![5; 5]);
        assert_eq!([object_pool.take(), object_pool.take()], [vec![5; 5], vec![]]);
    }
}
