//! Small rooms and quiet ones: whoever is admitted enters, and nobody waits without need.

use std::time::Duration;

use serde_json::json;

use crate::sale::Sale;
use crate::visitor::Visitor;
use crate::waiting::{Waiting, solved, spelled};

async fn sale(mode: &str, capacity: u32, rate: u32) -> Sale {
    let room = json!({"mode": mode, "capacity": capacity, "rate_per_second": rate});
    Sale::small(json!({"room": room})).await
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_admitted_enters_though_there_are_fewer_slots_than_gates() {
    for mode in ["queue", "queue_all"] {
        let sale = sale(mode, 2, 1).await;
        let anybody = Visitor::anonymous(&sale.server.url);
        for n in 0..6 {
            let waiting = Waiting::join(&anybody, &sale.show).await;
            waiting.until("admitted").await;
            let entered = waiting.enter().await;
            assert_eq!(entered.status, 200, "{mode}, number {n}: {}", entered.body);
            waiting.leave().await.expect(204);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quiet_room_is_open_at_once_and_stays_open() {
    let sale = sale("queue", 10, 10).await;
    let anybody = Visitor::anonymous(&sale.server.url);
    let path = format!("/room/{}/status", sale.show);
    for quiet_s in [0, 2, 5, 8] {
        tokio::time::sleep(Duration::from_secs(quiet_s)).await;
        let told = anybody.get(&path).await.expect(200);
        assert_eq!(told["state"], "open", "after {quiet_s} s: {told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn however_a_solution_is_spelled_it_is_one_ticket_and_its_first_enters_one_pass() {
    let sale = sale("queue_all", 100, 100).await;
    let anybody = Visitor::anonymous(&sale.server.url);
    let altcha = solved(&anybody, &sale.show).await;
    let joins = (0..1_000).map(|n| {
        let (visitor, show) = (anybody.clone(), sale.show.clone());
        let body = json!({"altcha": spelled(&altcha, n)});
        tokio::spawn(async move { Waiting::join_with(&visitor, &show, body).await })
    });
    let mut tickets = Vec::new();
    for join in joins.collect::<Vec<_>>() {
        tickets.push(join.await.unwrap());
    }
    let waiting = tickets[0].clone();
    assert!(tickets.iter().all(|other| other.ticket == waiting.ticket));
    waiting.until("admitted").await;
    let enters = (0..100).map(|_| {
        let waiting = waiting.clone();
        tokio::spawn(async move { waiting.pass().await })
    });
    let mut passes = std::collections::BTreeSet::new();
    for enter in enters.collect::<Vec<_>>() {
        passes.insert(crate::room::jti(&enter.await.unwrap()));
    }
    assert_eq!(passes.len(), 1, "{passes:?}");
}
