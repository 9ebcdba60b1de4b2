//! Whether a task is at work that there must be one of, and another once it has ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug, Default)]
pub struct AtWork(Arc<AtomicBool>);

/// In the hands of whoever is at work. However they end, by a panic too, it is given back.
#[derive(Debug)]
pub struct Working(Arc<AtomicBool>);

impl AtWork {
    /// For whoever begins. `None`: somebody is at work.
    pub fn begin(&self) -> Option<Working> {
        let is_free = !self.0.swap(true, Ordering::AcqRel);
        is_free.then(|| Working(self.0.clone()))
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::task::JoinHandle;

    #[tokio::test]
    async fn one_is_at_work_and_the_next_when_that_one_has_ended_or_panicked() {
        let at_work = AtWork::default();
        let working = at_work.begin().unwrap();
        assert!(at_work.begin().is_none());
        drop(working);
        let working = at_work.begin().unwrap();
        let task: JoinHandle<()> = tokio::spawn(async move {
            let _working = working;
            panic!("the task ends here");
        });
        assert!(task.await.is_err());
        assert!(at_work.begin().is_some());
    }
}
