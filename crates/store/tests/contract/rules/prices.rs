//! Price logs, and who looked.

use onsale_domain::ids::ShowId;
use onsale_domain::money::Cents;
use onsale_domain::pricing::{Bounds, Figures, PriceLog, SectionFigures};
use onsale_domain::show::Show;
use onsale_store::{ShowNotes, Store, Versioned, Written};

use super::catalogue::show_and_event;
use super::{NOW, eventually, fresh};

contract! {
    a_log_grows_by_one_writer_at_a_time,
    a_full_part_is_kept_as_it_was_first,
    views_add_up_by_the_minute,
    fixed_prices_are_noted_with_their_show_or_not_at_all,
}

fn figures(sold: u32) -> Figures {
    Figures {
        at: NOW,
        starts_at: NOW + 3_600_000,
        bounds: Bounds::default(),
        views: u64::from(u32::MAX),
        held: 3,
        places: 10,
        sections: vec![SectionFigures {
            base: Cents(4_500),
            sold,
            places: 10,
        }],
    }
}

async fn a_log_grows_by_one_writer_at_a_time(store: &Store) {
    let show = ShowId::from_bytes(fresh());
    assert_eq!(store.price_log(show).await.unwrap(), None);
    let value = PriceLog::begin(figures(0));
    let first = Versioned { version: 0, value };
    let written = store.replace_price_log(show, &first).await.unwrap();
    assert_eq!(written, Written::Done(1));
    let (value, full) = first.value.with(figures(1));
    assert_eq!(full, None);
    let second = Versioned { version: 1, value };
    let written = store.replace_price_log(show, &second).await.unwrap();
    assert_eq!(written, Written::Done(2));
    let stored = Versioned {
        version: 2,
        value: second.value.clone(),
    };
    for late in [&first, &second] {
        let written = store.replace_price_log(show, late).await.unwrap();
        assert_eq!(written, Written::Lost(stored.clone()));
    }
    assert_eq!(store.price_log(show).await.unwrap(), Some(stored));
}

async fn a_full_part_is_kept_as_it_was_first(store: &Store) {
    let show = ShowId::from_bytes(fresh());
    assert_eq!(store.price_part(show, 0).await.unwrap(), None);
    let (first, other) = (PriceLog::begin(figures(0)), PriceLog::begin(figures(9)));
    for part in [&first, &other] {
        store.keep_price_part(show, part).await.unwrap();
    }
    assert_eq!(store.price_part(show, 0).await.unwrap(), Some(first));
    assert_eq!(store.price_part(show, 1).await.unwrap(), None);
}

async fn views_add_up_by_the_minute(store: &Store) {
    let show = ShowId::from_bytes(fresh());
    let minute = NOW.0 / 60_000;
    assert_eq!(store.views(show, minute - 10..=minute).await.unwrap(), 0);
    for (at, views) in [
        (minute - 11, 1_000),
        (minute - 10, 3),
        (minute, 4),
        (minute, 5),
    ] {
        store.add_views(show, at, views).await.unwrap();
    }
    eventually(12, || async {
        store.views(show, minute - 10..=minute).await.unwrap()
    })
    .await;
    let other = ShowId::from_bytes(fresh());
    assert_eq!(store.views(other, minute - 10..=minute).await.unwrap(), 0);
}

async fn fixed_prices_are_noted_with_their_show_or_not_at_all(store: &Store) {
    let (mut show, mut event) = show_and_event(store).await;
    let id = show.id;
    let mut prices = None;
    for version in 0..3 {
        show.prices[0].1 = Cents(100 * (version + 1));
        let log = prices.take().unwrap_or_default();
        let (value, _) = PriceLog::with_fixed(&log, &show, NOW + version);
        let next = Versioned { version, value };
        let notes = ShowNotes {
            prices: Some(&next),
            ..ShowNotes::default()
        };
        let at = |version| Versioned {
            version,
            value: show.clone(),
        };
        let read = at(version + 1);
        assert!(store.replace_show(&read, &event, notes).await.unwrap());
        // The same again finds the show moved on, and adds no second point.
        assert!(!store.replace_show(&read, &event, notes).await.unwrap());
        event.version += 1;
        // A show of now with a log of then changes neither.
        let late = at(version + 2);
        assert!(!store.replace_show(&late, &event, notes).await.unwrap());
        let stored = store.price_log(id).await.unwrap().unwrap();
        assert_eq!(stored.version, version + 1);
        assert_eq!(stored.value, next.value);
        let read = store.read::<Show>(id).await.unwrap().unwrap();
        assert_eq!((read.version, &read.value), (version + 2, &show));
        prices = Some(stored.value);
    }
}
