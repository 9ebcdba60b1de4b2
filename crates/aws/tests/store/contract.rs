//! One suite, every store.

use onsale_app::ports::{
    CellsWrite, Creation, Credentials, PasswordHash, Registration, Replaced, Session, Store,
    Versioned,
};
use onsale_domain::account::{Account, Email, Role};
use onsale_domain::block::{BlockIndex, BlockState, Cell, Slot};
use onsale_domain::buyer::{Buyer, Entry};
use onsale_domain::claim::BlockSlots;
use onsale_domain::event::Event;
use onsale_domain::ids::{AccountId, EventId, HoldId, SessionId, ShowId, VenueId};
use onsale_domain::layout::{Layout, PlaceIndex, SectionSpec, SectionSpecKind};
use onsale_domain::map::SeatMap;
use onsale_domain::money::Cents;
use onsale_domain::request_hash::RequestHash;
use onsale_domain::time::Millis;
use onsale_domain::venue::Venue;
use onsale_memory::MemoryStore;

use crate::places;

const NOW: Millis = Millis(1_800_000_000_000);

/// Ids that no other test of this run uses.
fn fresh() -> [u8; 16] {
    let mut bytes = [0u8; 16];
    onsale_app::ports::Entropy::fill(&onsale_aws::OsEntropy, &mut bytes);
    bytes
}

fn slots(block: u32, slots: &[u8]) -> BlockSlots {
    BlockSlots {
        block: BlockIndex(block),
        slots: slots.iter().map(|s| Slot(*s)).collect(),
    }
}

fn cell(expiry: Millis) -> Cell {
    Cell {
        expiry,
        hold: HoldId::from_bytes(fresh()),
    }
}

macro_rules! contract {
    ($($rule:ident,)*) => {
        mod memory {
            $(#[tokio::test] async fn $rule() { super::$rule(&super::MemoryStore::default()).await; })*
        }
        mod in_process {
            $(#[tokio::test] async fn $rule() {
                super::$rule(&super::places::in_process(|http| http).await.store).await;
            })*
        }
        mod ministack {
            $(#[tokio::test] async fn $rule() {
                match super::places::ministack().await {
                    Some(store) => super::$rule(&store).await,
                    None => eprintln!("ONSALE_MINISTACK_URL is not set: not run against MiniStack"),
                }
            })*
        }
    };
}

contract! {
    a_free_place_is_claimed_once,
    a_refused_claim_returns_the_blocks_as_they_were,
    a_lapsed_place_is_claimable_after_the_skew,
    a_claim_over_several_blocks_is_all_or_nothing,
    a_shift_needs_the_exact_cell,
    a_release_needs_the_exact_cell,
    a_sold_place_is_never_claimable,
    blocks_never_written_are_not_returned,
    a_full_block_reads_back,
    a_buyer_moves_under_its_version_only,
    a_session_is_gone_once_closed,
    an_email_belongs_to_one_account,
    a_creation_says_who_was_first,
    a_document_moves_under_its_version_only,
    lists_page_through_everything_once,
    a_map_is_replaced_by_newer_ones_only,
    a_lease_has_one_holder,
}

async fn a_free_place_is_claimed_once(store: &dyn Store) {
    let show = ShowId::from_bytes(fresh());
    let wanted = [slots(0, &[0, 5, 31])];
    let mine = cell(NOW + 60_000);
    assert_eq!(
        store.claim(show, &wanted, mine, NOW).await.unwrap(),
        CellsWrite::Done
    );
    let second = store
        .claim(show, &[slots(0, &[5])], cell(NOW + 60_000), NOW)
        .await
        .unwrap();
    assert!(matches!(second, CellsWrite::Refused(_)));
    let read = store.read(show, &[BlockIndex(0)], true).await.unwrap();
    assert_eq!(read[0].1.cell(Slot(5)), Some(mine));
    assert_eq!(read[0].1.cell(Slot(6)), None);
}

async fn a_refused_claim_returns_the_blocks_as_they_were(store: &dyn Store) {
    let show = ShowId::from_bytes(fresh());
    let theirs = cell(NOW + 60_000);
    store
        .claim(show, &[slots(3, &[1])], theirs, NOW)
        .await
        .unwrap();
    let mut block = BlockState::default();
    block.set(Slot(1), Some(theirs));
    let refused = store
        .claim(show, &[slots(3, &[0, 1])], cell(NOW + 60_000), NOW)
        .await
        .unwrap();
    assert_eq!(
        refused,
        CellsWrite::Refused(vec![(BlockIndex(3), block.clone())])
    );
    // Over several blocks only the one that refused comes back, and nothing is written.
    let wanted = [slots(2, &[0]), slots(3, &[1])];
    let refused = store
        .claim(show, &wanted, cell(NOW + 60_000), NOW)
        .await
        .unwrap();
    assert_eq!(refused, CellsWrite::Refused(vec![(BlockIndex(3), block)]));
    assert_eq!(
        store.read(show, &[BlockIndex(2)], true).await.unwrap(),
        vec![]
    );
}

async fn a_lapsed_place_is_claimable_after_the_skew(store: &dyn Store) {
    let show = ShowId::from_bytes(fresh());
    let wanted = [slots(0, &[7])];
    store
        .claim(show, &wanted, cell(NOW + 1_000), NOW)
        .await
        .unwrap();
    let next = cell(NOW + 60_000);
    let early = store.claim(show, &wanted, next, NOW + 6_000).await.unwrap();
    assert!(
        matches!(early, CellsWrite::Refused(_)),
        "exactly at the horizon it is still closed"
    );
    assert_eq!(
        store.claim(show, &wanted, next, NOW + 6_001).await.unwrap(),
        CellsWrite::Done
    );
}

async fn a_claim_over_several_blocks_is_all_or_nothing(store: &dyn Store) {
    let show = ShowId::from_bytes(fresh());
    let mine = cell(NOW + 60_000);
    let wanted = [slots(0, &[0]), slots(1, &[1]), slots(2, &[2])];
    assert_eq!(
        store.claim(show, &wanted, mine, NOW).await.unwrap(),
        CellsWrite::Done
    );
    let blocks: Vec<_> = (0..3).map(BlockIndex).collect();
    let read = store.read(show, &blocks, true).await.unwrap();
    assert_eq!(read.len(), 3);
    assert!(
        read.iter()
            .all(|(b, state)| state.cell(Slot(b.0 as u8)) == Some(mine))
    );
    // The same claim again finds its own cells in every block.
    match store.claim(show, &wanted, mine, NOW).await.unwrap() {
        CellsWrite::Refused(found) => assert_eq!(found.len(), 3),
        CellsWrite::Done => panic!("claimed twice"),
    }
}

async fn a_shift_needs_the_exact_cell(store: &dyn Store) {
    let show = ShowId::from_bytes(fresh());
    let old = cell(NOW + 60_000);
    let wanted = [slots(0, &[0, 1])];
    store.claim(show, &wanted, old, NOW).await.unwrap();
    let extended = Cell {
        expiry: NOW + 90_000,
        hold: old.hold,
    };
    assert_eq!(
        store.shift(show, &wanted, old, extended).await.unwrap(),
        CellsWrite::Done
    );
    let late = store
        .shift(show, &wanted, old, Cell::sold(old.hold))
        .await
        .unwrap();
    assert!(
        matches!(late, CellsWrite::Refused(found) if found[0].1.cell(Slot(0)) == Some(extended))
    );
    let never = store
        .shift(show, &[slots(9, &[0])], old, extended)
        .await
        .unwrap();
    assert_eq!(
        never,
        CellsWrite::Refused(vec![(BlockIndex(9), BlockState::default())])
    );
}

async fn a_release_needs_the_exact_cell(store: &dyn Store) {
    let show = ShowId::from_bytes(fresh());
    let mine = cell(NOW + 60_000);
    store
        .claim(show, &[slots(0, &[0, 1])], mine, NOW)
        .await
        .unwrap();
    let other_expiry = Cell {
        expiry: NOW + 60_001,
        hold: mine.hold,
    };
    let wrong = store
        .release(show, &slots(0, &[0]), other_expiry)
        .await
        .unwrap();
    assert!(matches!(wrong, CellsWrite::Refused(_)));
    assert_eq!(
        store.release(show, &slots(0, &[0]), mine).await.unwrap(),
        CellsWrite::Done
    );
    let again = store.release(show, &slots(0, &[0, 1]), mine).await.unwrap();
    let CellsWrite::Refused(found) = again else {
        panic!("all or nothing")
    };
    assert_eq!(
        (found[0].1.cell(Slot(0)), found[0].1.cell(Slot(1))),
        (None, Some(mine))
    );
}

async fn a_sold_place_is_never_claimable(store: &dyn Store) {
    let show = ShowId::from_bytes(fresh());
    let mine = cell(NOW + 60_000);
    let wanted = [slots(0, &[0])];
    store.claim(show, &wanted, mine, NOW).await.unwrap();
    store
        .shift(show, &wanted, mine, Cell::sold(mine.hold))
        .await
        .unwrap();
    let far = Millis(u64::MAX / 2);
    let refused = store.claim(show, &wanted, cell(far), far).await.unwrap();
    assert!(matches!(refused, CellsWrite::Refused(_)));
}

async fn blocks_never_written_are_not_returned(store: &dyn Store) {
    let show = ShowId::from_bytes(fresh());
    store
        .claim(show, &[slots(150, &[0])], cell(NOW + 1), NOW)
        .await
        .unwrap();
    let all: Vec<_> = (0..250).map(BlockIndex).collect();
    for consistent in [true, false] {
        let read = store.read(show, &all, consistent).await.unwrap();
        assert_eq!(read.iter().map(|(b, _)| b.0).collect::<Vec<_>>(), vec![150]);
    }
}

async fn a_full_block_reads_back(store: &dyn Store) {
    let show = ShowId::from_bytes(fresh());
    let all: Vec<u8> = (0..32).collect();
    let mine = cell(NOW + 60_000);
    assert_eq!(
        store
            .claim(show, &[slots(0, &all)], mine, NOW)
            .await
            .unwrap(),
        CellsWrite::Done
    );
    let read = store.read(show, &[BlockIndex(0)], true).await.unwrap();
    assert!(read[0].1.cells.iter().all(|c| *c == Some(mine)));
}

async fn a_buyer_moves_under_its_version_only(store: &dyn Store) {
    let (show, account) = (ShowId::from_bytes(fresh()), AccountId::from_bytes(fresh()));
    assert_eq!(store.buyer(show, account).await.unwrap(), Buyer::default());
    let hold = HoldId::from_bytes(fresh());
    let entry = Entry::held(
        hold,
        NOW + 1,
        RequestHash([1; 16]),
        vec![PlaceIndex(4)],
        vec![Cents(5)],
        NOW,
    );
    let first = Buyer::default().record(entry, 6, NOW).unwrap();
    let put = |buyer: Buyer| async move { store.replace(show, account, &buyer).await.unwrap() };
    assert_eq!(put(first.clone()).await, Replaced::Done);
    assert_eq!(put(first.clone()).await, Replaced::Lost(first.clone()));
    let second = first.release(hold, NOW).unwrap();
    assert_eq!(put(second.clone()).await, Replaced::Done);
    assert_eq!(put(second.clone()).await, Replaced::Lost(second.clone()));
    let session = SessionId::from_bytes(fresh());
    assert_eq!(
        store
            .session_and_buyer(session, show, account)
            .await
            .unwrap(),
        (None, second)
    );
}

async fn a_session_is_gone_once_closed(store: &dyn Store) {
    let session = Session {
        id: SessionId::from_bytes(fresh()),
        account: AccountId::from_bytes(fresh()),
        opened: NOW,
        expires: NOW + 60_000,
    };
    assert_eq!(store.session(session.id).await.unwrap(), None);
    assert_eq!(store.open(&session).await.unwrap(), session);
    let later = Session {
        opened: NOW + 1,
        ..session.clone()
    };
    assert_eq!(
        store.open(&later).await.unwrap(),
        session,
        "the one that is open"
    );
    let show = ShowId::from_bytes(fresh());
    let (read, _) = store
        .session_and_buyer(session.id, show, session.account)
        .await
        .unwrap();
    assert_eq!(read, Some(session.clone()));
    store.close(session.id).await.unwrap();
    store.close(session.id).await.unwrap();
    assert_eq!(store.session(session.id).await.unwrap(), None);
    let (read, _) = store
        .session_and_buyer(session.id, show, session.account)
        .await
        .unwrap();
    assert_eq!(read, None);
    assert_eq!(
        store.open(&session).await.unwrap().expires,
        Millis(0),
        "its key opens it no more"
    );
    store.close(SessionId::from_bytes(fresh())).await.unwrap();
}

async fn an_email_belongs_to_one_account(store: &dyn Store) {
    let tag = AccountId::from_bytes(fresh());
    let email = Email::parse(&format!("{tag}@example.org")).unwrap();
    let credentials = |id| Credentials {
        account: Account {
            id,
            email: email.clone(),
            name: "Zoë 東京".into(),
            role: Role::Organiser,
            created: NOW,
        },
        password: PasswordHash("secret".into()),
        request: Some(RequestHash([3; 16])),
    };
    let first = credentials(AccountId::from_bytes(fresh()));
    let second = credentials(AccountId::from_bytes(fresh()));
    assert_eq!(store.credentials(&email).await.unwrap(), None);
    assert_eq!(
        store.register(&first).await.unwrap(),
        Registration::Registered
    );
    let taken = store.register(&second).await.unwrap();
    assert_eq!(taken, Registration::EmailTaken(Box::new(first.clone())));
    assert_eq!(store.account(second.account.id).await.unwrap(), None);
    assert_eq!(
        store.credentials(&email).await.unwrap(),
        Some(first.clone())
    );
    assert!(store.rename(first.account.id, "New").await.unwrap());
    assert_eq!(
        store.account(first.account.id).await.unwrap().unwrap().name,
        "New"
    );
    assert!(!store.rename(second.account.id, "New").await.unwrap());
}

fn layout() -> Layout {
    let section = SectionSpec {
        name: "A".into(),
        kind: SectionSpecKind::Seated(vec![("1".into(), vec![1, 2, 5])]),
        not_for_sale: vec!["A-1-5".into()],
        accessible: vec!["A-1-1".into()],
    };
    Layout::build(vec![section], Some("A-1-2")).unwrap()
}

fn event(owner: AccountId, created: Millis) -> Event {
    Event {
        id: EventId::from_bytes(fresh()),
        owner,
        title: "T".into(),
        description: None,
        category: "c".into(),
        venue_id: VenueId::from_bytes(fresh()),
        venue: "V".into(),
        city: "C".into(),
        location: None,
        poster_url: None,
        shows: vec![],
        created,
    }
}

async fn a_creation_says_who_was_first(store: &dyn Store) {
    let venue = Venue {
        id: VenueId::from_bytes(fresh()),
        owner: AccountId::from_bytes(fresh()),
        name: "V".into(),
        city: "C".into(),
        address: None,
        timezone: "UTC".into(),
        location: None,
        places: 3,
        created: NOW,
    };
    let (first, other) = (Some(RequestHash([1; 16])), Some(RequestHash([2; 16])));
    assert_eq!(
        store.create_venue(&venue, &layout(), first).await.unwrap(),
        Creation::New
    );
    assert_eq!(
        store.create_venue(&venue, &layout(), other).await.unwrap(),
        Creation::Existing(first)
    );
    assert_eq!(store.venue(venue.id).await.unwrap(), Some(venue.clone()));
    assert_eq!(store.layout(venue.id).await.unwrap(), Some(layout()));
    assert_eq!(
        store.venue(VenueId::from_bytes(fresh())).await.unwrap(),
        None
    );
    let event = event(venue.owner, NOW);
    assert_eq!(
        store.create_event(&event, None).await.unwrap(),
        Creation::New
    );
    assert_eq!(
        store.create_event(&event, first).await.unwrap(),
        Creation::Existing(None)
    );
}

async fn a_document_moves_under_its_version_only(store: &dyn Store) {
    let mut event = event(AccountId::from_bytes(fresh()), NOW);
    store.create_event(&event, None).await.unwrap();
    let read = store.event(event.id).await.unwrap().unwrap();
    event.title = "New".into();
    let change = Versioned {
        version: read.version,
        value: event.clone(),
    };
    assert!(store.replace_event(&change).await.unwrap());
    assert!(!store.replace_event(&change).await.unwrap());
    let read = store.event(event.id).await.unwrap().unwrap();
    assert_eq!((read.version, read.value), (change.version + 1, event));
}

async fn lists_page_through_everything_once(store: &dyn Store) {
    let owner = AccountId::from_bytes(fresh());
    let mut made = Vec::new();
    for n in 0..7u64 {
        let event = event(owner, NOW + n / 2);
        store.create_event(&event, None).await.unwrap();
        made.push((event.created, event.id.to_string()));
    }
    made.sort_by(|a, b| b.cmp(a));
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = store.events_of(owner, after.as_deref(), 3).await.unwrap();
        assert!(page.items.len() <= 3);
        seen.extend(page.items.iter().map(|e| (e.created, e.id.to_string())));
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    assert_eq!(seen, made);
    let mine = |page: onsale_app::ports::Page<Event>| {
        page.items.iter().filter(|e| e.owner == owner).count()
    };
    assert_eq!(
        mine(store.public_events(None, 100).await.unwrap()),
        0,
        "drafts are not public"
    );
}

async fn a_map_is_replaced_by_newer_ones_only(store: &dyn Store) {
    let show = ShowId::from_bytes(fresh());
    let map = |at| SeatMap::build(&layout(), std::iter::empty(), at);
    assert_eq!(store.map(show).await.unwrap(), None);
    store.put_map(show, &map(NOW + 1), NOW).await.unwrap();
    store.put_map(show, &map(NOW), NOW).await.unwrap();
    assert_eq!(store.map(show).await.unwrap(), Some(map(NOW + 1)));
    store.put_map(show, &map(NOW + 2), NOW).await.unwrap();
    assert_eq!(store.map(show).await.unwrap(), Some(map(NOW + 2)));
}

async fn a_lease_has_one_holder(store: &dyn Store) {
    let show = ShowId::from_bytes(fresh());
    assert!(store.lease_map(show, NOW, NOW + 1_000).await.unwrap());
    assert!(!store.lease_map(show, NOW + 999, NOW + 2_000).await.unwrap());
    assert!(
        store
            .lease_map(show, NOW + 1_000, NOW + 2_000)
            .await
            .unwrap()
    );
}
