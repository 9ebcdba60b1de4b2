//! The end of an emulated cloud. Tests run in the order of their names where they run one by one,
//! so `--test-threads=1 --include-ignored` comes here last.

use crate::emulated::Cloud;
use crate::emulated::roles::ASKED_ON_PURPOSE;

/// The functions that count something, each with something that the journeys let it count.
const COUNTED: [&str; 12] = [
    "accounts onsale_http_requests_total",
    "catalog onsale_http_requests_total",
    "checkout onsale_http_requests_total",
    "drive-saga onsale_bookings_total",
    "expire-holds onsale_holds_total",
    "holds onsale_http_requests_total",
    "notify onsale_mails_total",
    "offer-waitlist onsale_waitlist_offers_total",
    "organiser onsale_http_requests_total",
    "reconcile onsale_reconcile_runs_total",
    "room onsale_http_requests_total",
    "tickets onsale_http_requests_total",
];

/// A function that is frozen before it wrote its metrics may never do so.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "it looks back on the others: run it last"]
async fn a_function_told_what_it_counted() {
    let Some(cloud) = Cloud::find().await else {
        return;
    };
    let told = cloud.stack(&["metrics"]).await;
    for counted in COUNTED {
        assert!(told.lines().any(|l| l == counted), "{counted}:\n{told}");
    }
}

/// The emulated cloud holds every function to its role in the template, action by action, resource
/// by resource, key by key.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "it looks back on the others: run it last"]
async fn a_role_was_enough_for_what_its_function_asked_for() {
    let Some(cloud) = Cloud::find().await else {
        return;
    };
    let mut refused = cloud.refusals();
    refused.retain(|line| !line.contains(ASKED_ON_PURPOSE));
    assert!(refused.is_empty(), "{refused:#?}");
}

/// The table because it is what a team cannot make again, the bucket because CloudFormation deletes
/// none that has something in it, as the template says.
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
