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

impl<K: Hash + Eq + Copy, V: Clone> Inner<K, V> {
    fn get(&mut self, key: &K) -> Option<V> {
        self.used += 1;
        let (last, value) = self.entries.get_mut(key)?;
        *last = self.used;
        Some(value.clone())
    }

    fn put(&mut self, most: usize, key: K, value: V) {
        self.used += 1;
        self.entries.insert(key, (self.used, value));
        if self.entries.len() > most
            && let Some(oldest) = self
                .entries
                .iter()
                .min_by_key(|(_, (used, _))| *used)
                .map(|(key, _)| *key)
        {
            self.entries.remove(&oldest);
        }
    }
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
        self.lock().get(key)
    }

    pub fn put(&self, key: K, value: V) {
        self.lock().put(self.most, key, value);
    }

    /// What is there, or what is made now for everybody who asks.
    pub fn get_or_put(&self, key: K, make: impl FnOnce() -> V) -> V {
        let mut inner = self.lock();
        let known = inner.get(&key);
        known.unwrap_or_else(|| {
            let made = make();
            inner.put(self.most, key, made.clone());
            made
        })
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

    #[test]
    fn what_is_made_for_one_is_kept_for_the_next_and_others_stay() {
        let cache = Cache::new(2);
        cache.put(1, "a");
        assert_eq!(cache.get_or_put(2, || "b"), "b");
        assert_eq!(cache.get_or_put(2, || "again"), "b");
        assert_eq!(cache.get(&1), Some("a"));
        assert_eq!(cache.get_or_put(3, || "c"), "c");
        assert_eq!((cache.get(&1), cache.get(&2)), (Some("a"), None));
    }
}
