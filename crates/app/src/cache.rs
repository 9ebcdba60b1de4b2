//! A small bounded cache. When it is full the entry used least recently goes.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug)]
pub struct Cache<K, V> {
    most: usize,
    inner: Mutex<Inner<K, V>>,
}

#[derive(Debug)]
struct Inner<K, V> {
    used: u64,
    entries: HashMap<K, (u64, V)>,
}

impl<K: Hash + Eq + Copy, V: Clone> Cache<K, V> {
    pub fn new(most: usize) -> Self {
        Self {
            most,
            inner: Mutex::new(Inner {
                used: 0,
                entries: HashMap::new(),
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner<K, V>> {
        // A cache holds nothing that a panic elsewhere could have left half done.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn get(&self, key: &K) -> Option<V> {
        let mut inner = self.lock();
        inner.used += 1;
        let used = inner.used;
        let (last, value) = inner.entries.get_mut(key)?;
        *last = used;
        Some(value.clone())
    }

    pub fn put(&self, key: K, value: V) {
        let mut inner = self.lock();
        inner.used += 1;
        let used = inner.used;
        inner.entries.insert(key, (used, value));
        if inner.entries.len() > self.most
            && let Some(oldest) = inner
                .entries
                .iter()
                .min_by_key(|(_, (u, _))| *u)
                .map(|(k, _)| *k)
        {
            inner.entries.remove(&oldest);
        }
    }

    pub fn remove(&self, key: &K) {
        self.lock().entries.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_used_least_recently_goes_first() {
        let cache = Cache::new(2);
        cache.put(1, "a");
        cache.put(2, "b");
        cache.get(&1);
        cache.put(3, "c");
        assert_eq!(
            (cache.get(&1), cache.get(&2), cache.get(&3)),
            (Some("a"), None, Some("c"))
        );
    }
}
