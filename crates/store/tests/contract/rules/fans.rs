//! Verified fans, and the serials of their codes.

use std::collections::BTreeSet;

use onsale_domain::account::Email;
use onsale_domain::ids::ShowId;
use onsale_domain::room::fan_code::{FanKeyId, FanSerial};
use onsale_domain::room::fans::{Fan, FanBatch};
use onsale_domain::room::opaque::FanBatchId;
use onsale_store::Store;

use super::{NOW, eventually, fresh};

contract! {
    a_serial_is_given_out_once,
    a_batch_is_kept_as_it_was_first,
    an_email_registers_once,
    fans_are_listed_by_show_in_the_order_of_their_coming,
}

async fn a_serial_is_given_out_once(store: &Store) {
    let show = ShowId::from_bytes(fresh());
    let take = |count| store.take_serials(show, count, 10);
    assert_eq!(take(11).await.unwrap(), None);
    let many = futures_util::future::join_all((0..4).map(|_| take(2))).await;
    let firsts: BTreeSet<u32> = many.into_iter().map(|s| s.unwrap().unwrap().0).collect();
    assert_eq!(firsts, BTreeSet::from([0, 2, 4, 6]));
    assert_eq!(take(3).await.unwrap(), None, "two are left");
    assert_eq!(take(2).await.unwrap(), Some(FanSerial(8)));
    assert_eq!(take(1).await.unwrap(), None);
    let other = ShowId::from_bytes(fresh());
    let first = store.take_serials(other, 10, 10).await.unwrap();
    assert_eq!(first, Some(FanSerial(0)), "each show counts for itself");
}

async fn a_batch_is_kept_as_it_was_first(store: &Store) {
    let show = ShowId::from_bytes(fresh());
    let id = FanBatchId(fresh());
    let first = FanBatch {
        key: FanKeyId(255),
        first: FanSerial(70_000),
        count: 10_000,
    };
    let second = FanBatch { count: 1, ..first };
    assert_eq!(store.fan_batch(show, id).await.unwrap(), None);
    for batch in [first, second] {
        assert_eq!(store.keep_fan_batch(show, id, &batch).await.unwrap(), first);
    }
    assert_eq!(store.fan_batch(show, id).await.unwrap(), Some(first));
    let elsewhere = ShowId::from_bytes(fresh());
    assert_eq!(store.fan_batch(elsewhere, id).await.unwrap(), None);
}

fn fan(name: &str, serial: u32, after_ms: u64) -> Fan {
    Fan {
        email: Email::parse(&format!("{name}@example.org")).unwrap(),
        key: FanKeyId(3),
        serial: FanSerial(serial),
        registered: NOW + after_ms,
    }
}

async fn an_email_registers_once(store: &Store) {
    let show = ShowId::from_bytes(fresh());
    let (first, again) = (fan("ana", 1, 0), fan("ana", 2, 5));
    assert_eq!(store.fan(show, &first.email).await.unwrap(), None);
    assert_eq!(store.add_fan(show, &first).await.unwrap(), first);
    assert_eq!(store.add_fan(show, &again).await.unwrap(), first);
    assert_eq!(
        store.fan(show, &first.email).await.unwrap(),
        Some(first.clone())
    );
    let elsewhere = ShowId::from_bytes(fresh());
    assert_eq!(store.add_fan(elsewhere, &again).await.unwrap(), again);
}

async fn fans_are_listed_by_show_in_the_order_of_their_coming(store: &Store) {
    let (show, other) = (ShowId::from_bytes(fresh()), ShowId::from_bytes(fresh()));
    let came = [fan("c", 0, 0), fan("a", 1, 10), fan("b", 2, 20)];
    for fan in [2, 0, 1].map(|n: usize| &came[n]) {
        store.add_fan(show, fan).await.unwrap();
    }
    store.add_fan(other, &fan("d", 0, 0)).await.unwrap();
    eventually(came.to_vec(), || async {
        store.fans(show, None, 10).await.unwrap().items
    })
    .await;
    let page = store.fans(show, None, 2).await.unwrap();
    assert_eq!(page.items, came[..2]);
    let rest = store.fans(show, page.next.as_deref(), 2).await.unwrap();
    assert_eq!(rest.items, came[2..]);
    assert_eq!(rest.next, None);
}
