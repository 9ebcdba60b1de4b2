//! The durable engine on a disk that forgets, delays, fills up and fails.
//!
//! Each test starts itself again as a child process with a shim between it and libc, which keeps
//! what a power cut would leave of the files (`flush_shim.c`). The child writes and says what was
//! answered; the parent opens what power cuts left.
#![cfg(all(feature = "sqlite", target_os = "linux"))]
#![allow(clippy::unwrap_used)]

mod child;
mod cuts;

use std::process::Output;

use child::{Child, Role};

/// Runs a child on a shim, or says why not.
macro_rules! child_or_skip {
    ($role:expr, $settings:expr) => {
        match Child::run($role, $settings) {
            Some(child) => child,
            None => {
                println!("skipped: there is no C compiler");
                return;
            }
        }
    };
}

#[track_caller]
fn assert_ended_well(output: &Output) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
}

#[tokio::test]
async fn every_answer_survives_a_power_cut_in_the_same_moment() {
    let child = child_or_skip!(Role::Cuts, &[("SHIM_DELAY_MS", "2")]);
    assert_ended_well(&child.output);
    let cuts = child.cuts();
    assert!(cuts.len() >= 40, "{} cuts", cuts.len());
    for cut in &cuts {
        for kind in ["dropped", "torn"] {
            let missing = cut.missing(kind).await;
            assert_eq!(missing, Vec::<String>::new(), "{}-{kind}", cut.name);
        }
    }
}

/// Shows that the test above would notice answers that leave before their flush.
#[tokio::test]
async fn without_flushes_a_power_cut_takes_answered_writes() {
    let child = child_or_skip!(Role::CutsWithoutFlushes, &[("SHIM_DELAY_MS", "2")]);
    assert_ended_well(&child.output);
    let mut missing = 0;
    for cut in child.cuts() {
        missing += cut.missing("dropped").await.len();
        // Torn or not, the file stays consistent.
        cut.missing("torn").await;
    }
    assert!(missing > 0);
}

#[tokio::test]
async fn after_a_failed_flush_the_process_ends_and_answers_nothing_that_was_lost() {
    let settings = [("SHIM_DELAY_MS", "2"), ("SHIM_FAIL_FLUSH", "12")];
    let child = child_or_skip!(Role::Writes, &settings);
    assert_eq!(child.output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&child.output.stderr);
    assert!(errors.contains("Onsale ends: the disk failed"), "{errors}");
    let cut = child.cut("failed");
    assert!(cut.answered.len() > 3, "{:?}", cut.answered);
    assert_eq!(cut.missing("dropped").await, Vec::<String>::new());
    assert_eq!(cut.missing("torn").await, Vec::<String>::new());
    // Without a power cut the next process finds the same.
    let missing = cut.missing_in(&child.file()).await;
    assert_eq!(missing, Vec::<String>::new());
}

#[tokio::test]
async fn after_a_failed_flush_a_file_with_a_hook_answers_nothing_any_more() {
    let child = child_or_skip!(Role::FailedFlushWithHook, &[("SHIM_FAIL_FLUSH", "12")]);
    assert_ended_well(&child.output);
}

#[tokio::test]
async fn a_full_disk_fails_a_write_and_the_next_works() {
    let child = child_or_skip!(Role::FullDisk, &[("SHIM_FULL_WRITE", "60")]);
    assert_ended_well(&child.output);
    let cut = child.cut("end");
    assert_eq!(cut.missing("dropped").await, Vec::<String>::new());
}
