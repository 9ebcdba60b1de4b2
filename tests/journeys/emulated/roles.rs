//! Whether the emulated cloud refuses anything at all. If it did not, nobody would miss a right.

use super::Cloud;
use crate::place::Place;

/// Places of a show, which are nothing that `accounts` may read.
pub(crate) const ASKED_ON_PURPOSE: &str = "BLK#asked-for-on-purpose";

#[tokio::test(flavor = "multi_thread")]
async fn what_a_role_does_not_allow_is_refused_and_told() {
    let Some(cloud) = Cloud::find().await else {
        return;
    };
    // Whoever registers leaves a process of the function behind, whose credentials are used here.
    Place::find().await.buyer("ana").await;
    let own = ["read-as", "AccountsFunction", "ACC#nobody"];
    assert_eq!(cloud.stack(&own).await, "allowed");
    let foreign = ["read-as", "AccountsFunction", ASKED_ON_PURPOSE];
    assert_eq!(cloud.stack(&foreign).await, "AccessDeniedException");
    let refusals = cloud.refusals();
    let told = |line: &String| line.contains("dynamodb:GetItem") && line.contains(ASKED_ON_PURPOSE);
    assert!(refusals.iter().any(told), "{refusals:#?}");
}
