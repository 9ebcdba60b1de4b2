//! `kill -9` while many pay, ten times: whoever was told that the payment is under way
//! gets tickets, and nobody pays twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::json;

use crate::command_line::reconcile;
use crate::orders::{order_of, text, until};
use crate::promise::promised;
use crate::sale::Sale;
use crate::server::{LOAD, Server};
use crate::visitor::{Visitor, crowd, rows};

const CRASHES: usize = 10;
const BUYERS: usize = 25;
const HOLDS_EACH: usize = 4;
const CHECKOUTS: usize = BUYERS * HOLDS_EACH;
/// The process dies once so many were accepted; some of them are then under way.
const ACCEPTED: usize = 60;
/// The queue is in the data folder: what it held goes on as soon as the process does.
const GOES_ON_WITHIN: Duration = Duration::from_secs(30);

/// A hold of one seat and who has it.
#[derive(Clone)]
struct Basket {
    buyer: Visitor,
    hold: String,
}

impl Basket {
    fn at(&self, url: &str) -> Self {
        Self {
            buyer: self.buyer.at(url),
            hold: self.hold.clone(),
        }
    }
}

/// One seat for each basket: four rows of 25 in every round.
async fn fill_baskets(buyers: &[Visitor], show: &str, round: usize) -> Vec<Basket> {
    let baskets = join_all(buyers.iter().enumerate().map(async |(n, buyer)| {
        let mut baskets = Vec::new();
        for row in 0..HOLDS_EACH {
            let seat = format!("A-{}-{}", round * HOLDS_EACH + row + 1, n + 1);
            let hold = buyer.holds(show, &[&seat]).await;
            let buyer = buyer.clone();
            baskets.push(Basket { buyer, hold });
        }
        baskets
    }));
    baskets.await.into_iter().flatten().collect()
}

/// Pays for all at once until the process is killed; which of them were accepted.
async fn pay_until_killed(baskets: &[Basket], show: &str, server: Server) -> Vec<bool> {
    let accepted = Arc::new(AtomicUsize::new(0));
    let paying: Vec<_> = baskets
        .iter()
        .cloned()
        .map(|Basket { buyer, hold }| {
            let (show, accepted) = (show.to_owned(), accepted.clone());
            tokio::spawn(async move {
                match buyer
                    .try_check_out(&show, &hold, "pay", "pm_card_visa")
                    .await
                {
                    Ok(answer) => {
                        answer.expect(202);
                        accepted.fetch_add(1, Ordering::SeqCst);
                        true
                    }
                    // The process died under this request: nothing was promised.
                    Err(_) => false,
                }
            })
        })
        .collect();
    until("enough are accepted", async || {
        (accepted.load(Ordering::SeqCst) >= ACCEPTED).then_some(())
    })
    .await;
    server.kill().await;
    let told = join_all(paying).await;
    told.into_iter().map(Result::unwrap).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_accepted_checkout_is_confirmed_and_paid_once_over_ten_crashes() {
    let _alone = LOAD.lock().await;
    let more = json!({"max_tickets_per_buyer": 50, "hold_seconds": 900});
    let Sale {
        mut server,
        data,
        show,
        ..
    } = Sale::open(json!([rows("A", 40, 25)]), json!({"A": 4501}), more).await;
    let mut buyers = crowd(&server.url, BUYERS).await;
    let (mut killed_under_way, mut slowest) = (0, Duration::ZERO);
    for round in 0..CRASHES {
        let baskets = fill_baskets(&buyers, &show, round).await;
        let accepted = pay_until_killed(&baskets, &show, server).await;
        server = Server::start(data.path()).await;
        let restarted = Instant::now();
        buyers = buyers.iter().map(|b| b.at(&server.url)).collect();
        let baskets: Vec<_> = baskets.iter().map(|b| b.at(&server.url)).collect();
        for (basket, accepted) in baskets.iter().zip(&accepted) {
            if !accepted {
                // Whoever was not answered asks again, under the same key.
                let Basket { buyer, hold } = basket;
                let again = buyer.check_out(&show, hold, "pay", "pm_card_visa").await;
                assert_eq!(text(&again.expect(202), "order_id"), order_of(hold));
            }
        }
        let first_look = join_all(baskets.iter().map(async |Basket { buyer, hold }| {
            buyer.read_order(&order_of(hold)).await["status"] == "confirmed"
        }));
        let done = first_look.await.into_iter().filter(|done| *done).count();
        killed_under_way += CHECKOUTS - done;
        for Basket { buyer, hold } in &baskets {
            buyer.order_becomes(&order_of(hold), "confirmed").await;
            assert_eq!(buyer.tickets(&order_of(hold)).await.len(), 1);
        }
        slowest = slowest.max(restarted.elapsed());
    }
    println!(
        "{CRASHES} crashes, {killed_under_way} orders were not confirmed when the process came \
         back; at the latest {slowest:.1?} after it all were"
    );
    promised("orders go on after a crash", slowest, GOES_ON_WITHIN);
    let orders = (CRASHES * CHECKOUTS) as u64;
    let books = reconcile(data.path()).await;
    assert_eq!((books.sold, books.free, books.held), (orders, 0, 0));
    assert_eq!((books.payments, books.captured), (orders, orders * 4501));
    assert_eq!((books.refunded, books.orphans), (0, 0));
    assert!(server.stop().await.success());
}
