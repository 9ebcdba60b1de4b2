//! The queues: what is sent, received, hidden and given up.

use std::sync::Arc;

use onsale_local_cloud::testing::ManualClock;
use onsale_local_cloud::{
    Clock, Durability, LocalCloud, Outgoing, QueueCounts, QueueError, QueueSettings, Queues,
    Received, Redrive,
};

const START_MS: u64 = 1_800_000_000_000;

/// Queues `work` and `dead`, on a clock that the test moves.
async fn queues() -> (Queues, ManualClock) {
    let clock = ManualClock::at(START_MS);
    let cloud = LocalCloud::temporary_with_clock(Arc::new(clock.clone()))
        .await
        .unwrap();
    declare(cloud.queues()).await;
    (cloud.queues().clone(), clock)
}

async fn declare(queues: &Queues) {
    let mut work = QueueSettings::new("work");
    work.redrive = Some(Redrive {
        dead_letter_queue: "dead".to_owned(),
        max_receives: 3,
    });
    queues.declare(work).await.unwrap();
    queues.declare(QueueSettings::new("dead")).await.unwrap();
}

async fn take(queues: &Queues, queue: &str) -> Vec<Received> {
    queues.receive(queue, 10, None).await.unwrap()
}

fn bodies(messages: &[Received]) -> Vec<&str> {
    messages.iter().map(|m| m.body.as_str()).collect()
}

#[tokio::test]
async fn a_delayed_message_is_invisible_until_it_is_due() {
    let (queues, clock) = queues().await;
    let message = Outgoing::new("work", "later").delayed(60);
    queues.send(vec![message]).await.unwrap();
    clock.advance_ms(59_999);
    assert!(take(&queues, "work").await.is_empty());
    assert_eq!(queues.counts("work").await.unwrap().delayed, 1);
    clock.advance_ms(1);
    assert_eq!(bodies(&take(&queues, "work").await), ["later"]);
}

#[tokio::test]
async fn a_message_comes_again_after_the_visibility_timeout() {
    let (queues, clock) = queues().await;
    queues
        .send(vec![Outgoing::new("work", "job")])
        .await
        .unwrap();
    let first = take(&queues, "work").await;
    clock.advance_ms(29_999);
    assert!(take(&queues, "work").await.is_empty());
    clock.advance_ms(1);
    let second = take(&queues, "work").await;
    assert_eq!(second[0].id, first[0].id);
    assert_eq!((first[0].receives, second[0].receives), (1, 2));
    assert_eq!(second[0].first_received_ms, START_MS);
}

#[tokio::test]
async fn a_deleted_message_never_comes_again_and_an_old_receipt_deletes_nothing() {
    let (queues, clock) = queues().await;
    queues
        .send(vec![Outgoing::new("work", "job")])
        .await
        .unwrap();
    let first = take(&queues, "work").await.remove(0);
    clock.advance_ms(30_000);
    let second = take(&queues, "work").await.remove(0);
    queues.delete("work", vec![first.receipt]).await.unwrap();
    clock.advance_ms(30_000);
    let third = take(&queues, "work").await.remove(0);
    assert_eq!(third.id, second.id);
    queues.delete("work", vec![third.receipt]).await.unwrap();
    clock.advance_ms(30_000);
    assert!(take(&queues, "work").await.is_empty());
    assert_eq!(queues.counts("work").await.unwrap(), QueueCounts::default());
}

#[tokio::test]
async fn a_message_received_too_often_becomes_a_dead_letter() {
    let (queues, clock) = queues().await;
    queues
        .send(vec![Outgoing::new("work", "poison")])
        .await
        .unwrap();
    for receives in 1..=3 {
        assert_eq!(take(&queues, "work").await[0].receives, receives);
        clock.advance_ms(30_000);
    }
    assert!(take(&queues, "work").await.is_empty());
    assert_eq!(bodies(&take(&queues, "dead").await), ["poison"]);
}

#[tokio::test]
async fn a_message_is_dropped_after_the_retention_period() {
    let (queues, clock) = queues().await;
    queues
        .send(vec![Outgoing::new("work", "stale")])
        .await
        .unwrap();
    clock.advance_ms(4 * 24 * 60 * 60 * 1000);
    assert!(take(&queues, "work").await.is_empty());
    assert_eq!(queues.counts("work").await.unwrap(), QueueCounts::default());
}

#[tokio::test]
async fn messages_survive_reopening_with_their_delay_and_receive_count() {
    let dir = tempfile::tempdir().unwrap();
    let clock = ManualClock::at(START_MS);
    let open = async || {
        let clock = Arc::new(clock.clone());
        let opened = LocalCloud::open_with(dir.path(), clock, Durability::ProcessDeath);
        opened.await.unwrap()
    };
    let cloud = open().await;
    declare(cloud.queues()).await;
    let sent = vec![
        Outgoing::new("work", "now"),
        Outgoing::new("work", "later").delayed(60),
    ];
    cloud.queues().send(sent).await.unwrap();
    assert_eq!(bodies(&take(cloud.queues(), "work").await), ["now"]);
    drop(cloud);

    // Its consumer died with the process, so it is there at once, and dying was not its
    // fault. The delay of the other goes on.
    let cloud = open().await;
    declare(cloud.queues()).await;
    let messages = take(cloud.queues(), "work").await;
    assert_eq!(bodies(&messages), ["now"]);
    assert_eq!(messages[0].receives, 1);
    clock.advance_ms(60_000);
    drop(cloud);

    // This time its consumer had all the time it may take: that receive counts.
    let cloud = open().await;
    declare(cloud.queues()).await;
    cloud.queues().wait_for_due("work").await.unwrap();
    let messages = take(cloud.queues(), "work").await;
    assert_eq!(bodies(&messages), ["now", "later"]);
    assert_eq!(messages[0].receives, 2);
}

#[tokio::test]
async fn a_waiting_consumer_is_woken_by_a_message_and_by_its_due_time() {
    let (queues, clock) = queues().await;
    let waiting = {
        let queues = queues.clone();
        tokio::spawn(async move {
            loop {
                queues.wait_for_due("work").await.unwrap();
                let messages = take(&queues, "work").await;
                if !messages.is_empty() {
                    return messages;
                }
            }
        })
    };
    let far = Outgoing::new("work", "far").delayed(900);
    queues.send(vec![far]).await.unwrap();
    let near = Outgoing::new("work", "near").delayed(5);
    queues.send(vec![near]).await.unwrap();
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    clock.advance_ms(5_000);
    assert_eq!(bodies(&waiting.await.unwrap()), ["near"]);
}

#[tokio::test]
async fn on_the_machines_clock_a_consumer_wakes_within_50_ms_of_the_due_time() {
    let cloud = LocalCloud::temporary().await.unwrap();
    declare(cloud.queues()).await;
    let message = Outgoing::new("work", "soon").delayed(1);
    cloud.queues().send(vec![message]).await.unwrap();
    cloud.queues().wait_for_due("work").await.unwrap();
    let woken_ms = onsale_local_cloud::SystemClock.now_ms();
    let message = take(cloud.queues(), "work").await.remove(0);
    let late_ms = woken_ms - (message.sent_ms + 1000);
    assert!(late_ms <= 50, "woke {late_ms} ms late");
}

#[tokio::test]
async fn a_delay_beyond_fifteen_minutes_is_refused_and_nothing_is_sent() {
    let (queues, _) = queues().await;
    let messages = vec![
        Outgoing::new("work", "fine"),
        Outgoing::new("work", "too late").delayed(901),
    ];
    let refused = queues.send(messages).await.unwrap_err();
    assert!(matches!(refused, QueueError::InvalidParameter(_)));
    assert!(take(&queues, "work").await.is_empty());
}

#[tokio::test]
async fn a_dead_letter_keeps_its_attributes() {
    let (queues, clock) = queues().await;
    let message = Outgoing::new("work", "job").with_attribute("request_id", "req-7");
    queues.send(vec![message]).await.unwrap();
    for _ in 0..3 {
        assert_eq!(
            take(&queues, "work").await[0].attributes["request_id"],
            "req-7"
        );
        clock.advance_ms(31_000);
    }
    assert!(take(&queues, "work").await.is_empty());
    assert_eq!(
        take(&queues, "dead").await[0].attributes["request_id"],
        "req-7"
    );
}
