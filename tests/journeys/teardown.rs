//! The end of an emulated cloud. Tests run in the order of their names where they run one by one,
//! so `--test-threads=1 --include-ignored` comes here last.

use std::path::Path;

use crate::emulated::Cloud;

/// The emulated cloud holds every function to its role in the template, action by action, resource
/// by resource, key by key.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "it looks back on the others: run it last"]
async fn a_role_was_enough_for_what_its_function_asked_for() {
    let Some(folder) = std::env::var_os("ONSALE_CLOUD") else {
        return;
    };
    let log = std::fs::read_to_string(Path::new(&folder).join("aws.log")).unwrap();
    let refused: Vec<_> = log
        .lines()
        .filter(|l| l.starts_with("AccessDenied"))
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

/// The table because it is what a team cannot make again, the bucket because rebuilding the search
/// index takes long, as the template says.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "it ends the cloud: run it last"]
async fn deleting_the_stack_leaves_nothing_but_the_retained_table_and_bucket() {
    let Some(cloud) = Cloud::find().await else {
        return;
    };
    let left = cloud.stack(&["delete"]).await;
    let kinds: Vec<_> = left
        .lines()
        .map(|line| line.split_once(' ').unwrap().0)
        .collect();
    assert_eq!(kinds, ["table", "bucket"], "{left}");
}
