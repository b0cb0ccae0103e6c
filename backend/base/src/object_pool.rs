//! Pools of reusable objects, which avoid freeing and allocating memory for each use.

use std::fmt;
use std::ops::{Deref, DerefMut};

use parking_lot::Mutex;

/// A bounded pool of unused objects. Each object keeps the contents that its last user left.
pub struct ObjectPool<T> {
    kept: Mutex<Vec<T>>,
    max_kept: usize,
}

impl<T: Default> ObjectPool<T> {
    /// Returns an empty pool that stores at most `max_kept` objects.
    pub fn new(max_kept: usize) -> Self {
        Self { kept: Mutex::default(), max_kept }
    }

    /// Removes an object from the pool and returns it, or returns a new object if the pool is
    /// empty.
    pub fn take(&self) -> T {
        self.kept.lock().pop().unwrap_or_default()
    }

    /// Stores an object in the pool, or drops the object if the pool is full.
    pub fn put(&self, object: T) {
        let mut kept = self.kept.lock();
        if kept.len() < self.max_kept {
            kept.push(object);
        }
    }

    /// Returns a guard with an object. The object returns to the pool when the guard is dropped.
    pub fn acquire(&self) -> PoolGuard<'_, T> {
        PoolGuard { pool: self, object: Some(self.take()) }
    }
}

impl<T> fmt::Debug for ObjectPool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectPool of at most {}", self.max_kept)
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
}
