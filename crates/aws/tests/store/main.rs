//! The store on DynamoDB through the SDK.
//!
//! `contract` has what the store promises on every table (`onsale-store` runs it on the tables of
//! one process). It runs on DynamoDB in this process, and, when `ONSALE_MINISTACK_URL` is set, on
//! MiniStack's. `lost_reply` and `cost` look
//! at the requests that the hold path makes, `lost_write`, `order_cost` and `mail_cost`
//! at those of an order and its mail, `unreadable` at what is spoilt, `template` at the shape of the table. `messages` looks
//! at the queue and the bus, `map_rebuild`, `cap_race` and `crowd` at what happens when
//! many ask at once.

#![allow(clippy::unwrap_used)]

/// Runs each rule on DynamoDB in this process, and on MiniStack's.
macro_rules! contract {
    ($($rule:ident,)*) => {
        mod in_process {
            $(#[tokio::test] async fn $rule() {
                super::$rule(&crate::places::in_process(|http| http).await.store).await;
            })*
        }
        mod ministack {
            $(#[tokio::test] async fn $rule() {
                match crate::places::ministack().await {
                    Some(store) => super::$rule(&store).await,
                    None => eprintln!("ONSALE_MINISTACK_URL is not set: not run on MiniStack"),
                }
            })*
        }
    };
}

mod cap_race;
#[path = "../cloud/mod.rs"]
mod cloud;
#[path = "../../../store/tests/contract/rules/mod.rs"]
mod contract;
mod cost;
mod crowd;
mod lost_reply;
mod lost_write;
mod mail_cost;
mod map_rebuild;
mod messages;
mod ministack_order;
mod network;
mod objects;
mod order_cost;
mod places;
mod template;
mod unreadable;
