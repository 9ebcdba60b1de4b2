//! The lines of what was sold, the book of them, and the figures of a room.

use std::collections::BTreeSet;

use onsale_domain::ids::{AccountId, ShowId};
use onsale_domain::sales::{RoomFigures, SaleLine, SalesBook};
use onsale_domain::time::Millis;
use onsale_store::{Store, Versioned};

use super::sample_orders::{confirmed, order};
use super::{NOW, fresh};

contract! {
    a_line_is_kept_once_as_it_was_first,
    lines_are_read_from_a_time_on,
    a_walk_meets_every_line_of_the_show_once,
    a_book_is_replaced_only_at_its_version,
    late_lines_are_counted,
    the_newest_figures_of_a_room_stay,
}

fn line(at: Millis) -> SaleLine {
    let order = confirmed(&order(AccountId::from_bytes(fresh()), NOW));
    SaleLine {
        at,
        ..order.sale_lines().remove(0)
    }
}

async fn a_line_is_kept_once_as_it_was_first(store: &Store) {
    let show = ShowId::from_bytes(fresh());
    let first = line(NOW);
    let mut again = first.clone();
    again.sections.clear();
    for line in [&first, &again, &first] {
        store.keep_sale_line(show, line).await.unwrap();
    }
    let stored = store.sale_lines_from(show, Millis(0)).await.unwrap();
    assert_eq!(stored, [first]);
}

async fn lines_are_read_from_a_time_on(store: &Store) {
    let (show, other) = (ShowId::from_bytes(fresh()), ShowId::from_bytes(fresh()));
    let lines: Vec<_> = (0..20).map(|n| line(NOW + n)).collect();
    for line in &lines {
        store.keep_sale_line(show, line).await.unwrap();
    }
    store.keep_sale_line(other, &line(NOW + 30)).await.unwrap();
    let read = store.sale_lines_from(show, NOW + 7).await.unwrap();
    let places: BTreeSet<_> = read.iter().map(SaleLine::place).collect();
    let expected: BTreeSet<_> = lines[7..].iter().map(SaleLine::place).collect();
    assert_eq!((read.len(), places), (13, expected));
    let none = store.sale_lines_from(show, NOW + 20).await.unwrap();
    assert_eq!(none, []);
}

async fn a_walk_meets_every_line_of_the_show_once(store: &Store) {
    let show = ShowId::from_bytes(fresh());
    let empty = store.walk_sale_lines(show, None, 3).await.unwrap();
    assert_eq!((empty.items, empty.next), (vec![], None));
    let mut expected = BTreeSet::new();
    for n in 0..20 {
        let line = line(NOW + n);
        store.keep_sale_line(show, &line).await.unwrap();
        expected.insert(line.place());
    }
    let (mut met, mut after) = (Vec::new(), None::<String>);
    for _ in 0..40 {
        let page = store
            .walk_sale_lines(show, after.as_deref(), 3)
            .await
            .unwrap();
        assert!(page.items.len() <= 3);
        met.extend(page.items.iter().map(SaleLine::place));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!((met.len(), after), (20, None));
    assert_eq!(met.into_iter().collect::<BTreeSet<_>>(), expected);
}

async fn a_book_is_replaced_only_at_its_version(store: &Store) {
    let show = ShowId::from_bytes(fresh());
    assert_eq!(store.sales_book(show).await.unwrap(), (None, 0));
    let empty = SalesBook::begin(show, 0);
    let full = empty.fold(&[line(NOW), line(NOW + 90_000)], NOW + 60_000);
    let at = |version, book: &SalesBook| Versioned {
        version,
        value: book.clone(),
    };
    assert!(!store.put_sales_book(&at(1, &full)).await.unwrap_or(false));
    assert!(store.put_sales_book(&at(0, &empty)).await.unwrap());
    assert!(!store.put_sales_book(&at(0, &full)).await.unwrap());
    assert!(store.put_sales_book(&at(1, &full)).await.unwrap());
    assert!(!store.put_sales_book(&at(1, &empty)).await.unwrap());
    let (stored, _) = store.sales_book(show).await.unwrap();
    assert_eq!(stored, Some(at(2, &full)));
}

async fn late_lines_are_counted(store: &Store) {
    let (show, other) = (ShowId::from_bytes(fresh()), ShowId::from_bytes(fresh()));
    for n in 1..=3 {
        store.count_late_line(show).await.unwrap();
        assert_eq!(store.sales_book(show).await.unwrap(), (None, n));
    }
    assert_eq!(store.sales_book(other).await.unwrap(), (None, 0));
}

async fn the_newest_figures_of_a_room_stay(store: &Store) {
    let show = ShowId::from_bytes(fresh());
    assert_eq!(store.room_figures(show).await.unwrap(), None);
    let figures = |after_ms| RoomFigures {
        waiting: after_ms,
        admitted: 7,
        rate: 20,
        at: NOW + after_ms,
    };
    for after_ms in [5, 9, 3] {
        store
            .put_room_figures(show, &figures(after_ms))
            .await
            .unwrap();
    }
    assert_eq!(store.room_figures(show).await.unwrap(), Some(figures(9)));
}
