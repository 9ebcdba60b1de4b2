//! Cancelling a show: its document, and the blocks it closes.

use onsale_domain::block::{BlockIndex, Cell, Slot};
use onsale_domain::cancellation::Cancellation;
use onsale_domain::ids::ShowId;
use onsale_store::{CellsWrite, List, Reads, Store, Versioned, Written};

use super::{NOW, cell, eventually, fresh, slots};

contract! {
    a_cancellation_moves_under_its_version_only,
    a_cancellation_is_listed_until_it_is_done,
    nothing_in_a_closed_block_can_be_claimed_or_moved,
    a_closed_block_keeps_its_cells_and_lets_them_go,
    a_block_that_was_never_written_can_be_closed,
    a_whole_show_is_closed_at_once,
}

fn at(version: u64, value: &Cancellation) -> Versioned<Cancellation> {
    let value = value.clone();
    Versioned { version, value }
}

async fn a_cancellation_moves_under_its_version_only(store: &Store) {
    let first = Cancellation::begin(ShowId::from_bytes(fresh()), NOW);
    let show = first.show_id;
    assert_eq!(store.read::<Cancellation>(show).await.unwrap(), None);
    let created = store.create(&first).await.unwrap();
    assert_eq!(created, Written::Done(1));
    let other = Cancellation::begin(show, NOW + 1);
    let lost = store.create(&other).await.unwrap();
    assert_eq!(lost, Written::Lost(at(1, &first)));
    let closed = first.closed(3, NOW + 1);
    let moved = store.replace(&at(1, &closed)).await.unwrap();
    assert_eq!(moved, Written::Done(2));
    let late = first.done(NOW + 2);
    let lost = store.replace(&at(1, &late)).await.unwrap();
    assert_eq!(lost, Written::Lost(at(2, &closed)));
    assert_eq!(
        store.read::<Cancellation>(show).await.unwrap(),
        Some(at(2, &closed))
    );
}

async fn a_cancellation_is_listed_until_it_is_done(store: &Store) {
    let first = Cancellation::begin(ShowId::from_bytes(fresh()), NOW);
    let listed = || async {
        let open = store
            .ids_in::<Cancellation>(&List::OpenCancellations)
            .await
            .unwrap();
        open.contains(&first.show_id)
    };
    assert!(!listed().await);
    store.create(&first).await.unwrap();
    eventually(true, listed).await;
    let closed = first.closed(1, NOW);
    store.replace(&at(1, &closed)).await.unwrap();
    eventually(true, listed).await;
    let done = closed.done(NOW);
    store.replace(&at(2, &done)).await.unwrap();
    eventually(false, listed).await;
}

async fn nothing_in_a_closed_block_can_be_claimed_or_moved(store: &Store) {
    let show = ShowId::from_bytes(fresh());
    let mine = cell(NOW + 60_000);
    store
        .claim(show, &[slots(0, &[0]), slots(1, &[0])], mine, NOW)
        .await
        .unwrap();
    store.close_blocks(show, &[BlockIndex(0)]).await.unwrap();
    let claims = [
        vec![slots(0, &[5])],
        // One closed block refuses for all.
        vec![slots(0, &[5]), slots(1, &[5])],
    ];
    for wanted in claims {
        let refused = store
            .claim(show, &wanted, cell(NOW + 60_000), NOW)
            .await
            .unwrap();
        let CellsWrite::Refused(found) = refused else {
            panic!("a closed block was claimed");
        };
        assert_eq!(found.len(), 1);
        assert!(found[0].0 == BlockIndex(0) && found[0].1.closed);
        assert_eq!(found[0].1.cell(Slot(0)), Some(mine));
    }
    let sold = Cell::sold(mine.hold);
    for wanted in [vec![slots(0, &[0])], vec![slots(0, &[0]), slots(1, &[0])]] {
        let refused = store.shift(show, &wanted, mine, sold).await.unwrap();
        assert!(matches!(refused, CellsWrite::Refused(_)));
    }
    let open = store.shift(show, &[slots(1, &[0])], mine, sold).await;
    assert_eq!(open.unwrap(), CellsWrite::Done, "its neighbour is open");
}

async fn a_closed_block_keeps_its_cells_and_lets_them_go(store: &Store) {
    let show = ShowId::from_bytes(fresh());
    let (mine, theirs) = (cell(NOW + 60_000), cell(NOW + 60_000));
    let sold = Cell::sold(theirs.hold);
    store
        .claim(show, &[slots(0, &[0, 1])], mine, NOW)
        .await
        .unwrap();
    store
        .claim(show, &[slots(0, &[31])], theirs, NOW)
        .await
        .unwrap();
    store
        .shift(show, &[slots(0, &[31])], theirs, sold)
        .await
        .unwrap();
    for _ in 0..2 {
        store.close_blocks(show, &[BlockIndex(0)]).await.unwrap();
    }
    let block = || async {
        let read = store
            .read_blocks(show, &[BlockIndex(0)], Reads::Consistent)
            .await
            .unwrap();
        read[0].1.clone()
    };
    let closed = block().await;
    assert!(closed.closed);
    let cells = [0, 1, 31].map(|slot| closed.cell(Slot(slot)));
    assert_eq!(cells, [Some(mine), Some(mine), Some(sold)]);
    assert_eq!(closed.cells.iter().flatten().count(), 3);

    let freed = store.release(show, &slots(0, &[0, 1]), mine).await.unwrap();
    assert_eq!(freed, CellsWrite::Done);
    let freed = store.release(show, &slots(0, &[31]), sold).await.unwrap();
    assert_eq!(freed, CellsWrite::Done);
    let empty = block().await;
    assert!(empty.closed && empty.cells.iter().all(Option::is_none));
    let refused = store.claim(show, &[slots(0, &[0])], mine, NOW).await;
    assert!(matches!(refused.unwrap(), CellsWrite::Refused(_)));
}

async fn a_block_that_was_never_written_can_be_closed(store: &Store) {
    let show = ShowId::from_bytes(fresh());
    store.close_blocks(show, &[BlockIndex(7)]).await.unwrap();
    let refused = store
        .claim(show, &[slots(7, &[0])], cell(NOW + 60_000), NOW)
        .await
        .unwrap();
    let CellsWrite::Refused(found) = refused else {
        panic!("a closed block was claimed");
    };
    assert!(found[0].1.closed && found[0].1.cells.iter().all(Option::is_none));
    let open = store
        .claim(show, &[slots(8, &[0])], cell(NOW + 60_000), NOW)
        .await
        .unwrap();
    assert_eq!(open, CellsWrite::Done);
}

async fn a_whole_show_is_closed_at_once(store: &Store) {
    let show = ShowId::from_bytes(fresh());
    store
        .claim(show, &[slots(3, &[0])], cell(NOW + 60_000), NOW)
        .await
        .unwrap();
    let all: Vec<_> = (0..120).map(BlockIndex).collect();
    store.close_blocks(show, &all).await.unwrap();
    let read = store
        .read_blocks(show, &all, Reads::Consistent)
        .await
        .unwrap();
    assert_eq!(read.len(), all.len());
    assert!(read.iter().all(|(_, block)| block.closed));
    store.close_blocks(show, &[]).await.unwrap();
}
