//! Blocks: who may write a cell, and what a refusal tells.

use onsale_domain::block::{BlockIndex, BlockState, Cell, Slot};
use onsale_domain::ids::ShowId;
use onsale_domain::time::Millis;
use onsale_store::{CellsWrite, Reads, Store};

use super::{NOW, cell, fresh, slots};

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
}

async fn a_free_place_is_claimed_once(store: &Store) {
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
    let read = store
        .read_blocks(show, &[BlockIndex(0)], Reads::Consistent)
        .await
        .unwrap();
    assert_eq!(read[0].1.cell(Slot(5)), Some(mine));
    assert_eq!(read[0].1.cell(Slot(6)), None);
}

async fn a_refused_claim_returns_the_blocks_as_they_were(store: &Store) {
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
        store
            .read_blocks(show, &[BlockIndex(2)], Reads::Consistent)
            .await
            .unwrap(),
        vec![]
    );
}

async fn a_lapsed_place_is_claimable_after_the_skew(store: &Store) {
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

async fn a_claim_over_several_blocks_is_all_or_nothing(store: &Store) {
    let show = ShowId::from_bytes(fresh());
    let mine = cell(NOW + 60_000);
    let wanted = [slots(0, &[0]), slots(1, &[1]), slots(2, &[2])];
    assert_eq!(
        store.claim(show, &wanted, mine, NOW).await.unwrap(),
        CellsWrite::Done
    );
    let blocks: Vec<_> = (0..3).map(BlockIndex).collect();
    let read = store
        .read_blocks(show, &blocks, Reads::Consistent)
        .await
        .unwrap();
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

async fn a_shift_needs_the_exact_cell(store: &Store) {
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

async fn a_release_needs_the_exact_cell(store: &Store) {
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

async fn a_sold_place_is_never_claimable(store: &Store) {
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

async fn blocks_never_written_are_not_returned(store: &Store) {
    let show = ShowId::from_bytes(fresh());
    store
        .claim(show, &[slots(150, &[0])], cell(NOW + 1), NOW)
        .await
        .unwrap();
    let all: Vec<_> = (0..250).map(BlockIndex).collect();
    for reads in [Reads::Consistent, Reads::Eventual] {
        let read = store.read_blocks(show, &all, reads).await.unwrap();
        assert_eq!(read.iter().map(|(b, _)| b.0).collect::<Vec<_>>(), vec![150]);
    }
}

async fn a_full_block_reads_back(store: &Store) {
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
    let read = store
        .read_blocks(show, &[BlockIndex(0)], Reads::Consistent)
        .await
        .unwrap();
    assert!(read[0].1.cells.iter().all(|c| *c == Some(mine)));
}
