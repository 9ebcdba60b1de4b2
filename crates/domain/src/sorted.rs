//! Sorting by a heap. The sort of slices is compiled anew for each type of item, several
//! kilobytes at a time, and the worker has to stay small.

use std::collections::BinaryHeap;

/// The items in rising order.
pub fn sorted<T: Ord>(items: Vec<T>) -> Vec<T> {
    BinaryHeap::from(items).into_sorted_vec()
}
