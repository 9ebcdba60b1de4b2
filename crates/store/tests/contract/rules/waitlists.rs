//! Waitlists: entries, lists, the mark on the show, and who looks after one.

use onsale_domain::block::{BlockIndex, Cell, Slot};
use onsale_domain::ids::{AccountId, ShowId, WaitlistId};
use onsale_domain::layout::PlaceIndex;
use onsale_domain::request_hash::RequestHash;
use onsale_domain::show::{Show, Waitlist};
use onsale_domain::time::Millis;
use onsale_domain::waitlist::{OFFER_MS, Outcome, Passes, State, WaitlistEntry, Wish};
use onsale_store::{CellsWrite, List, ShowNotes, Store, Versioned, Written};

use super::{NOW, cell, eventually, fresh, slots};

contract! {
    an_account_has_one_entry_and_it_moves_under_its_version_only,
    the_line_is_in_order_and_says_what_everybody_wants,
    an_offer_leaves_the_line_and_an_end_leaves_every_list,
    a_mark_moves_from_what_it_was_and_keeps_the_version_of_the_show,
    one_pass_at_a_time,
    a_place_that_comes_back_is_left_as_nobodys,
    somebodys_entries_are_listed_newest_first_ended_or_not,
}

fn entry(show_id: ShowId, joined: Millis, quantity: u32) -> WaitlistEntry {
    WaitlistEntry {
        id: WaitlistId::from_bytes(fresh()),
        show_id,
        account: AccountId::from_bytes(fresh()),
        wish: Wish {
            quantity,
            together: quantity.is_multiple_of(2),
            sections: vec![0, 12],
        },
        joined,
        position: 1,
        request: RequestHash([1; 16]),
        attempt: 0,
        state: State::Waiting,
        changed: joined,
        earlier: vec![],
    }
}

fn at<T>(version: u64, value: T) -> Versioned<T> {
    Versioned { version, value }
}

async fn an_account_has_one_entry_and_it_moves_under_its_version_only(store: &Store) {
    let show = ShowId::from_bytes(fresh());
    let first = entry(show, NOW, 2);
    let account = first.account;
    assert_eq!(
        store.read::<WaitlistEntry>((show, account)).await.unwrap(),
        None
    );
    let created = store.create(&first).await.unwrap();
    assert_eq!(created, Written::Done(1));
    let second = WaitlistEntry {
        account,
        ..entry(show, NOW + 1, 3)
    };
    let lost = store.create(&second).await.unwrap();
    assert_eq!(lost, Written::Lost(at(1, first.clone())));
    let offered = first.offered(
        vec![PlaceIndex(3), PlaceIndex(4)],
        vec![],
        NOW + 1,
        OFFER_MS,
    );
    let moved = store.replace(&at(1, offered.clone())).await;
    assert_eq!(moved.unwrap(), Written::Done(2));
    let left = at(1, first.ended(Outcome::Left, NOW + 2));
    let lost = store.replace(&left).await.unwrap();
    assert_eq!(lost, Written::Lost(at(2, offered.clone())));
    let read = store.read::<WaitlistEntry>((show, account)).await.unwrap();
    assert_eq!(read, Some(at(2, offered)));
}

async fn somebodys_entries_are_listed_newest_first_ended_or_not(store: &Store) {
    let account = AccountId::from_bytes(fresh());
    let of = |n: u64| WaitlistEntry {
        account,
        ..entry(ShowId::from_bytes(fresh()), NOW + n, 1)
    };
    let (first, second) = (of(0), of(1));
    store.create(&first).await.unwrap();
    store.create(&second).await.unwrap();
    let other = entry(first.show_id, NOW, 1);
    store.create(&other).await.unwrap();
    let left = second.ended(Outcome::Left, NOW + 2);
    store.replace(&at(1, left.clone())).await.unwrap();
    let listed = |after: Option<String>, limit| async move {
        let page = store.waitlist_entries_of(account, after.as_deref(), limit);
        page.await.unwrap()
    };
    let expected = vec![at(2, left), at(1, first)];
    eventually(expected.clone(), async || listed(None, 10).await.items).await;
    let page = listed(None, 1).await;
    assert_eq!(page.items, expected[..1]);
    let rest = listed(page.next, 10).await;
    assert_eq!((rest.items, rest.next), (expected[1..].to_vec(), None));
}

async fn the_line_is_in_order_and_says_what_everybody_wants(store: &Store) {
    let show = ShowId::from_bytes(fresh());
    let other = entry(ShowId::from_bytes(fresh()), NOW, 1);
    store.create(&other).await.unwrap();
    // Forty accounts are in most of the sixteen parts of the line.
    let mut line: Vec<_> = (0..40)
        .map(|n| entry(show, NOW + n / 4, 1 + n as u32 % 6))
        .collect();
    for entry in line.iter().rev() {
        store.create(entry).await.unwrap();
    }
    line.sort_by_key(WaitlistEntry::turn);
    let expected: Vec<_> = line.iter().filter_map(WaitlistEntry::waiting).collect();
    assert_eq!(expected.len(), 40);
    eventually(expected, || async { store.waiting(show).await.unwrap() }).await;
}

async fn an_offer_leaves_the_line_and_an_end_leaves_every_list(store: &Store) {
    let show = ShowId::from_bytes(fresh());
    let first = entry(show, NOW, 2);
    let lists = || async {
        let waiting = store.waiting(show).await.unwrap();
        let offered = store.offered(show).await.unwrap();
        let accounts: Vec<_> = waiting.into_iter().map(|w| w.account).collect();
        (accounts, offered)
    };
    store.create(&first).await.unwrap();
    eventually((vec![first.account], vec![]), lists).await;
    let offered = first.offered(vec![PlaceIndex(0)], vec![], NOW, OFFER_MS);
    store.replace(&at(1, offered.clone())).await.unwrap();
    eventually((vec![], vec![first.account]), lists).await;
    let back = offered.back_in_line(NOW);
    store.replace(&at(2, back.clone())).await.unwrap();
    eventually((vec![first.account], vec![]), lists).await;
    let left = back.ended(Outcome::Left, NOW);
    store.replace(&at(3, left)).await.unwrap();
    eventually((vec![], vec![]), lists).await;
}

async fn a_mark_moves_from_what_it_was_and_keeps_the_version_of_the_show(store: &Store) {
    let (show, event) = super::catalogue::show_and_event(store).await;
    let id = show.id;
    let listed = || async {
        store
            .ids_in::<Show>(&List::OpenWaitlists)
            .await
            .unwrap()
            .contains(&id)
    };
    let unknown = ShowId::from_bytes(fresh());
    let marked = store.mark_waitlist(unknown, Waitlist::Closed, Waitlist::Open);
    assert!(!marked.await.unwrap(), "there is no such show");
    let closing = Waitlist::Closing(NOW);
    for (from, to, open) in [
        (Waitlist::Closed, Waitlist::Open, true),
        (Waitlist::Open, closing, true),
        (closing, Waitlist::Open, true),
        (Waitlist::Open, closing, true),
        (closing, Waitlist::Closed, false),
    ] {
        let wrong = Waitlist::Closing(NOW + 77);
        assert!(
            !store
                .mark_waitlist(id, wrong, Waitlist::Closing(NOW + 78))
                .await
                .unwrap()
        );
        assert!(store.mark_waitlist(id, from, to).await.unwrap());
        let read = store.read::<Show>(id).await.unwrap().unwrap();
        assert_eq!((read.version, read.value.waitlist), (1, to));
        eventually(open, listed).await;
    }
    // An organiser who changes the show leaves the mark alone.
    assert!(
        store
            .mark_waitlist(id, Waitlist::Closed, Waitlist::Open)
            .await
            .unwrap()
    );
    assert!(
        store
            .replace_show(&at(1, show), &event, ShowNotes::default())
            .await
            .unwrap()
    );
    let read = store.read::<Show>(id).await.unwrap().unwrap();
    assert_eq!((read.version, read.value.waitlist), (2, Waitlist::Open));
    eventually(true, listed).await;
    // Others of this run need not look at it.
    assert!(
        store
            .mark_waitlist(id, Waitlist::Open, Waitlist::Closed)
            .await
            .unwrap()
    );
}

async fn one_pass_at_a_time(store: &Store) {
    let show = ShowId::from_bytes(fresh());
    assert_eq!(store.read::<Passes>(show).await.unwrap(), None);
    let begun = Passes::none(show).begun(NOW);
    assert!(store.replace_waitlist_passes(&at(0, begun)).await.unwrap());
    assert!(!store.replace_waitlist_passes(&at(0, begun)).await.unwrap());
    let stored = store.read::<Passes>(show).await.unwrap();
    assert_eq!(stored, Some(at(1, begun)));
    let ended = begun.ended(NOW);
    assert!(store.replace_waitlist_passes(&at(1, ended)).await.unwrap());
    assert!(!store.replace_waitlist_passes(&at(1, begun)).await.unwrap());
    assert_eq!(
        store.read::<Passes>(show).await.unwrap(),
        Some(at(2, ended))
    );
}

async fn a_place_that_comes_back_is_left_as_nobodys(store: &Store) {
    let show = ShowId::from_bytes(fresh());
    let mine = cell(NOW + 60_000);
    store
        .claim(show, &[slots(0, &[0, 1])], mine, NOW)
        .await
        .unwrap();
    let returned = Cell::returned(NOW);
    let wrong = store
        .leave(show, &slots(0, &[0]), cell(NOW), returned)
        .await
        .unwrap();
    assert!(matches!(wrong, CellsWrite::Refused(_)));
    let left = store
        .leave(show, &slots(0, &[0]), mine, returned)
        .await
        .unwrap();
    assert_eq!(left, CellsWrite::Done);
    let again = store
        .leave(show, &slots(0, &[0]), mine, returned)
        .await
        .unwrap();
    let CellsWrite::Refused(found) = again else {
        panic!("it was left before");
    };
    assert_eq!(found[0].1.cell(Slot(0)), Some(returned));
    // Whoever waits may have it at once; whoever comes by, by a clock that runs behind.
    let wanted = [slots(0, &[0])];
    let late = store.claim(show, &wanted, cell(NOW + 1), NOW.saturating_sub(1));
    assert!(matches!(late.await.unwrap(), CellsWrite::Refused(_)));
    let now = store
        .claim(show, &[slots(0, &[0])], cell(NOW + 1), NOW)
        .await;
    assert_eq!(now.unwrap(), CellsWrite::Done);
    store.close_blocks(show, &[BlockIndex(0)]).await.unwrap();
    let closed = store.leave(show, &slots(0, &[1]), mine, returned).await;
    assert_eq!(closed.unwrap(), CellsWrite::Done);
}
