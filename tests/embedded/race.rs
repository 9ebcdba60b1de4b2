//! Crowds: every seat ends with exactly one owner.

use serde_json::{Value, json};

use crate::owners::{Promise, check_kept, check_single_owners, states, wait_for_counts};
use crate::sale::Sale;
use crate::visitor::{Dice, Visitor, crowd, rows, seat_ids};

const CLIENTS: usize = 64;

async fn sale(sections: Value, prices: Value) -> Sale {
    let more = json!({"max_tickets_per_buyer": 50, "hold_seconds": 900});
    Sale::open(sections, prices, more).await
}

/// One client wants these seats, in groups, until each is somebody's or its cap is full.
/// After a few refusals it looks at the map, as a person would.
async fn want_all(visitor: Visitor, show: String, all: Vec<String>, seed: u64) -> Vec<Promise> {
    let (mut wanted, mut refused) = (all.clone(), 0);
    let mut dice = Dice::new(seed);
    let (mut promises, mut mine, mut attempt) = (Vec::new(), 0, 0);
    dice.shuffle(&mut wanted);
    while !wanted.is_empty() && mine < 50 {
        let size = (1 + dice.below(6)).min(wanted.len()).min(50 - mine);
        let group: Vec<_> = wanted[wanted.len() - size..].to_vec();
        attempt += 1;
        let answer = visitor
            .hold(&show, &format!("key-{attempt}"), json!({"seats": group}))
            .await;
        let gone: Vec<String> = match answer.status.as_u16() {
            201 => {
                let got = seat_ids(&answer.body);
                assert_eq!(got, group);
                mine += got.len();
                promises.push(Promise {
                    owner: visitor.clone(),
                    show: show.clone(),
                    answer: answer.body,
                });
                got
            }
            409 => {
                let taken = answer.problem(409, "seats_taken")["taken"].clone();
                let taken: Vec<String> = serde_json::from_value(taken).unwrap();
                assert!(!taken.is_empty() && taken.iter().all(|seat| group.contains(seat)));
                refused += 1;
                match refused % 5 {
                    0 => held_seats(&visitor, &show, &all).await,
                    _ => taken,
                }
            }
            _ => panic!("{} {}", answer.status, answer.body),
        };
        wanted.retain(|seat| !gone.contains(seat));
    }
    promises
}

/// The seats that the map shows as held; `all` is in the order of the layout.
async fn held_seats(visitor: &Visitor, show: &str, all: &[String]) -> Vec<String> {
    let (_, bits) = visitor
        .bytes(&format!("/api/v1/shows/{show}/availability.bin"))
        .await;
    let held = states(&bits, all.len())
        .into_iter()
        .zip(all)
        .filter(|(state, _)| *state == 1);
    held.map(|(_, seat)| seat.clone()).collect()
}

async fn race(sale: &Sale, wanted: &[String]) -> Vec<Promise> {
    let clients = crowd(&sale.server.url, CLIENTS).await;
    let runs: Vec<_> = clients
        .into_iter()
        .enumerate()
        .map(|(n, client)| {
            tokio::spawn(want_all(
                client,
                sale.show.clone(),
                wanted.to_vec(),
                n as u64 + 1,
            ))
        })
        .collect();
    let mut promises = Vec::new();
    for run in runs {
        promises.extend(run.await.unwrap());
    }
    promises
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_takes_every_seat_once() {
    let sale = sale(
        json!([rows("A", 25, 40), rows("B", 25, 40)]),
        json!({"A": 4500, "B": 2500}),
    )
    .await;
    let section = |name: &'static str| {
        (0..1_000).map(move |i| format!("{name}-{}-{}", i / 40 + 1, i % 40 + 1))
    };
    let all: Vec<String> = section("A").chain(section("B")).collect();
    let promises = race(&sale, &all).await;
    assert_eq!(
        check_single_owners(&promises),
        2_000,
        "every seat is somebody's"
    );
    check_kept(&promises, &sale.server.url).await;
    wait_for_counts(&sale.organiser, &sale.show, 0, 2_000).await;
    let (headers, bits) = sale
        .organiser
        .bytes(&format!("/api/v1/shows/{}/availability.bin", sale.show))
        .await;
    assert!(
        headers["onsale-version"]
            .to_str()
            .unwrap()
            .parse::<u64>()
            .is_ok()
    );
    assert!(
        states(&bits, 2_000).iter().all(|state| *state == 1),
        "every seat is held"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_on_eight_seats_takes_each_once() {
    let sale = sale(json!([rows("A", 1, 8)]), json!({"A": 4500})).await;
    let all: Vec<String> = (1..=8).map(|n| format!("A-1-{n}")).collect();
    let promises = race(&sale, &all).await;
    assert_eq!(check_single_owners(&promises), 8);
    check_kept(&promises, &sale.server.url).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_on_the_floor_and_on_the_best_seats_gets_exactly_what_there_is() {
    let sections = json!([{"name": "Floor", "capacity": 150}, rows("A", 10, 20)]);
    let sale = sale(sections, json!({"Floor": 1000, "A": 4500})).await;
    let runs: Vec<_> = crowd(&sale.server.url, CLIENTS)
        .await
        .into_iter()
        .enumerate()
        .map(|(n, visitor)| {
            let show = sale.show.clone();
            tokio::spawn(async move {
                let mut promises = Vec::new();
                for attempt in 0..12 {
                    let body = match (n + attempt) % 2 {
                        0 => json!({"general": {"section": "Floor", "quantity": 1 + attempt % 3}}),
                        _ => json!({"best_available": {"quantity": 1 + attempt % 3, "section": "A", "allow_fewer": true}}),
                    };
                    let answer = visitor.hold(&show, &format!("key-{attempt}"), body).await;
                    match answer.status.as_u16() {
                        201 => promises.push(Promise { owner: visitor.clone(), show: show.clone(), answer: answer.body }),
                        422 => break,
                        _ => assert_eq!(answer.problem(409, "seats_taken")["taken"], json!([])),
                    }
                }
                promises
            })
        })
        .collect();
    let mut promises = Vec::new();
    for run in runs {
        promises.extend(run.await.unwrap());
    }
    let floor = |promise: &Promise| seat_ids(&promise.answer)[0].starts_with("Floor");
    let (on_floor, seated): (Vec<_>, Vec<_>) = promises.iter().cloned().partition(floor);
    assert_eq!(
        check_single_owners(&on_floor),
        150,
        "a general place is refused only when none is left"
    );
    assert_eq!(
        check_single_owners(&seated),
        200,
        "best available is refused only when none is left"
    );
    check_kept(&promises, &sale.server.url).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_request_fifty_times_at_once_gives_one_hold_and_never_frees_it() {
    let sale = sale(json!([rows("A", 2, 40)]), json!({"A": 4500})).await;
    let visitor = Visitor::new(&sale.server.url, "ana", "buyer").await;
    // The cap of 50 is nearly used.
    let most: Vec<_> = (1..=40).map(|n| format!("A-1-{n}")).collect();
    visitor
        .hold(&sale.show, "most", json!({"seats": most}))
        .await
        .expect(201);
    for (round, body) in [
        json!({"seats": ["A-2-1", "A-2-2", "A-2-3", "A-2-4", "A-2-5", "A-2-6"]}),
        json!({"best_available": {"quantity": 4}}),
    ]
    .into_iter()
    .enumerate()
    {
        let key = format!("same-{round}");
        let twins: Vec<_> = (0..50)
            .map(|_| {
                let (visitor, show, key, body) = (
                    visitor.clone(),
                    sale.show.clone(),
                    key.clone(),
                    body.clone(),
                );
                tokio::spawn(async move { visitor.hold(&show, &key, body).await.expect(201) })
            })
            .collect();
        let mut answers = Vec::new();
        for twin in twins {
            answers.push(twin.await.unwrap());
        }
        assert!(
            answers.iter().all(|answer| *answer == answers[0]),
            "{answers:?}"
        );
        let promise = Promise {
            owner: visitor.clone(),
            show: sale.show.clone(),
            answer: answers[0].clone(),
        };
        check_kept(&[promise], &sale.server.url).await;
    }
    wait_for_counts(&visitor, &sale.show, 30, 50).await;
    let over = visitor
        .hold(&sale.show, "one more", json!({"seats": ["A-2-40"]}))
        .await;
    assert_eq!(over.problem(422, "limit_exceeded")["limit"], 50);
    let other = visitor
        .hold(&sale.show, "same-0", json!({"seats": ["A-2-40"]}))
        .await;
    other.problem(422, "idempotency_mismatch");
}
