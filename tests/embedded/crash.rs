//! `kill -9` under load, ten times: what was acknowledged is still there.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::owners::{Promise, check_kept, check_single_owners};
use crate::server::Server;
use crate::visitor::{Dice, Visitor, crowd, rows, seat_ids};

const CRASHES: usize = 10;
const CLIENTS: usize = 64;
/// Each life of the process ends after about this many acknowledged holds, or after a
/// while if the machine is slow.
const HOLDS_A_LIFE: usize = 150;

/// What a client was told, and what it asked for and heard nothing of.
#[derive(Default)]
struct Heard {
    promises: Vec<Promise>,
    unanswered: Option<(Visitor, String, Value)>,
}

async fn load(
    visitor: Visitor,
    show: String,
    seed: u64,
    acknowledged: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
) -> Heard {
    let mut dice = Dice::new(seed);
    let mut heard = Heard::default();
    for attempt in 0.. {
        if over.load(Ordering::SeqCst) {
            break;
        }
        let size = 1 + dice.below(6);
        let mut group = BTreeSet::new();
        while group.len() < size {
            group.insert(format!("A-{}-{}", dice.below(50) + 1, dice.below(40) + 1));
        }
        let key = format!("life-{seed}-{attempt}");
        let wish = json!({"seats": group});
        match visitor.try_hold(&show, &key, wish.clone()).await {
            Ok(answer) if answer.status == 201 => {
                acknowledged.fetch_add(1, Ordering::SeqCst);
                heard.promises.push(Promise {
                    owner: visitor.clone(),
                    show: show.clone(),
                    answer: answer.body,
                });
            }
            Ok(answer) => assert!(
                matches!(answer.status.as_u16(), 409 | 422),
                "{} {}",
                answer.status,
                answer.body
            ),
            // The process died under this request: nothing was promised.
            Err(_) => {
                heard.unanswered = Some((visitor, key, wish));
                break;
            }
        }
    }
    heard
}

/// Whoever heard nothing asks again under the same key, and gets the hold or is told who
/// was before them.
async fn ask_again(heard: &Heard, show: &str, url: &str) -> Option<Promise> {
    let (visitor, key, wish) = heard.unanswered.clone()?;
    let owner = visitor.at(url);
    let answer = owner.hold(show, &key, wish).await;
    let status = answer.status.as_u16();
    assert!(matches!(status, 201 | 409 | 422), "{}", answer.body);
    (status == 201).then(|| Promise {
        owner,
        show: show.to_owned(),
        answer: answer.body,
    })
}

/// The places themselves are kept, not only the record of them: nobody else gets one.
async fn check_taken(promises: &[Promise], stranger: &Visitor) {
    for (n, promise) in promises.iter().enumerate() {
        let wish = json!({"seats": seat_ids(&promise.answer)});
        let answer = stranger.hold(&promise.show, &format!("s-{n}"), wish).await;
        assert_eq!(answer.status, 409, "{}", answer.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_acknowledged_hold_is_lost_and_no_seat_has_two_owners() {
    let data = tempfile::tempdir().unwrap();
    let mut server = Server::start(data.path()).await;
    let organiser = Visitor::new(&server.url, "organiser", "organiser").await;
    let event = organiser
        .event(&organiser.venue(json!([rows("A", 50, 40)])).await)
        .await;
    let clients = crowd(&server.url, CLIENTS).await;
    let mut promises = Vec::new();
    for life in 0..CRASHES {
        // Every life has a show of 2,000 seats to fight for.
        let more = json!({"max_tickets_per_buyer": 50, "hold_seconds": 900});
        let organiser = organiser.at(&server.url);
        let show = organiser.show(&event, json!({"A": 4500}), more).await;
        let (acknowledged, over) = (
            Arc::new(AtomicUsize::new(0)),
            Arc::new(AtomicBool::new(false)),
        );
        let runs: Vec<_> = clients
            .iter()
            .enumerate()
            .map(|(n, client)| {
                let seed = (life * 1_000 + n + 1) as u64;
                tokio::spawn(load(
                    client.at(&server.url),
                    show.clone(),
                    seed,
                    acknowledged.clone(),
                    over.clone(),
                ))
            })
            .collect();
        for _ in 0..500 {
            if acknowledged.load(Ordering::SeqCst) >= HOLDS_A_LIFE {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        server.kill().await;
        over.store(true, Ordering::SeqCst);
        let before = promises.len();
        let mut heard = Vec::new();
        for run in runs {
            let mut of_one: Heard = run.await.unwrap();
            promises.append(&mut of_one.promises);
            heard.push(of_one);
        }
        server = Server::start(data.path()).await;
        let stranger = Visitor::new(&server.url, &format!("stranger-{life}"), "buyer").await;
        check_taken(&promises[before..], &stranger).await;
        for of_one in &heard {
            promises.extend(ask_again(of_one, &show, &server.url).await);
        }
        check_single_owners(&promises);
        check_kept(&promises, &server.url).await;
    }
    assert!(
        promises.len() > CRASHES * 20,
        "{} holds were acknowledged",
        promises.len()
    );
    assert!(server.stop().await.success(), "a polite end is a success");
}
