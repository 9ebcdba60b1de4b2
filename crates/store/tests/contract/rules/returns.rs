//! Tickets that were put back: listed while they are, and sold in one piece.

use onsale_domain::block::{BlockIndex, BlockState, Cell, Slot};
use onsale_domain::ids::{AccountId, HoldId, OrderId, ShowId};
use onsale_domain::order::Order;
use onsale_domain::ticket::Ticket;
use onsale_domain::ticket_return::Promise;
use onsale_store::{BlockCells, Reads, Store, Versioned, Written};

use super::sample_orders::{confirmed, order, tickets};
use super::{NOW, eventually, fresh, slots};

contract! {
    a_ticket_is_listed_while_it_is_put_back,
    selling_from_others_is_one_piece,
    a_closed_block_sells_nothing,
    of_two_sales_at_once_one_is_stored,
}

const STARTS_IN: u64 = 86_400_000;

/// What is stored together when places change their owner.
#[derive(Clone)]
struct Resale {
    show: ShowId,
    blocks: Vec<BlockCells>,
    /// What every one of these cells becomes.
    sold: Cell,
    /// The tickets that end with it.
    tickets: Vec<Versioned<Ticket>>,
    /// The orders they were bought with, which are owed the money now.
    orders: Vec<Versioned<Order>>,
}

impl Resale {
    async fn store(&self, store: &Store) -> bool {
        let mut together = store.together();
        together.sell_from(self.show, &self.blocks, self.sold);
        together
            .replace_all(&self.tickets)
            .and_then(|t| t.replace_all(&self.orders))
            .unwrap();
        store.write(&together).await.unwrap()
    }
}

/// Two seats of one block: one that its owner put back, and a free one beside it, both on
/// their way to a buyer.
struct Sale {
    show: ShowId,
    order: Order,
    ticket: Ticket,
    buyer: OrderId,
    write: Resale,
}

fn at<T: Clone>(version: u64, value: &T) -> Versioned<T> {
    let value = value.clone();
    Versioned { version, value }
}

fn put_back(order: &Order) -> Ticket {
    let ticket = tickets(order).remove(0);
    let put_back = ticket.put_back_for(order, None, NOW + STARTS_IN, NOW);
    put_back.unwrap()
}

impl Sale {
    async fn new(store: &Store) -> Self {
        let order = confirmed(&order(AccountId::from_bytes(fresh()), NOW));
        let buyer = OrderId::of(HoldId::from_bytes(fresh()));
        let promise = Promise {
            hold: buyer.hold(),
            until: NOW + 60_000,
        };
        let ticket = put_back(&order).promised(promise, NOW).unwrap();
        store.create(&order).await.unwrap();
        store.create(&ticket).await.unwrap();
        let show = order.show_id;
        let sold = Cell::sold(order.id.hold());
        let paying = Cell {
            expiry: NOW + 60_000,
            hold: buyer.hold(),
        };
        for (slot, cell) in [(3, sold), (4, paying)] {
            let wanted = [slots(7, &[slot])];
            store.claim(show, &wanted, cell, NOW).await.unwrap();
        }
        let dead = ticket.resold(promise, buyer, NOW + 5).unwrap();
        let owing = order.with_resold(std::slice::from_ref(&dead), NOW + 5);
        let write = Resale {
            show,
            blocks: vec![BlockCells {
                block: BlockIndex(7),
                cells: vec![(Slot(3), sold), (Slot(4), paying)],
            }],
            sold: Cell::sold(buyer.hold()),
            tickets: vec![at(1, &dead)],
            orders: vec![at(1, &owing.unwrap())],
        };
        Self {
            show,
            order,
            ticket,
            buyer,
            write,
        }
    }

    async fn block(&self, store: &Store) -> BlockState {
        let read = store
            .read_blocks(self.show, &[BlockIndex(7)], Reads::Consistent)
            .await;
        read.unwrap().remove(0).1
    }

    async fn assert_untouched(&self, store: &Store, note: &str) {
        let ticket = store.read::<Ticket>(self.ticket.id).await.unwrap();
        assert_eq!(ticket, Some(at(1, &self.ticket)), "{note}");
        let order = store.read::<Order>(self.order.id).await.unwrap();
        assert_eq!(order, Some(at(1, &self.order)), "{note}");
        let seller = Some(Cell::sold(self.order.id.hold()));
        assert_eq!(self.block(store).await.cell(Slot(3)), seller, "{note}");
    }
}

async fn a_ticket_is_listed_while_it_is_put_back(store: &Store) {
    let order = confirmed(&order(AccountId::from_bytes(fresh()), NOW));
    let mut mine = tickets(&order);
    for (n, ticket) in mine.iter_mut().enumerate() {
        store.create(ticket).await.unwrap();
        let since = NOW + (100 - n as u64);
        let next = ticket.put_back_for(&order, None, NOW + STARTS_IN, since);
        *ticket = next.unwrap();
        let written = store.replace(&at(1, ticket)).await.unwrap();
        assert_eq!(written, Written::Done(2));
    }
    let listed = async |limit| store.tickets_put_back(order.show_id, limit).await.unwrap();
    // The second was put back first.
    let both = vec![mine[1].id, mine[0].id];
    eventually(both, || listed(10)).await;
    assert_eq!(listed(1).await, [mine[1].id]);
    let kept = mine[1].taken_back(NOW + 200).unwrap().unwrap();
    store.replace(&at(2, &kept)).await.unwrap();
    eventually(vec![mine[0].id], || listed(10)).await;
    let other = ShowId::from_bytes(fresh());
    assert_eq!(store.tickets_put_back(other, 10).await.unwrap(), []);
}

async fn selling_from_others_is_one_piece(store: &Store) {
    let sale = Sale::new(store).await;
    let write = &sale.write;
    let mut other_cell = write.blocks.clone();
    other_cell[0].cells[1].1.expiry = NOW + 60_001;
    let no_block = vec![BlockCells {
        block: BlockIndex(8),
        cells: vec![(Slot(0), write.sold)],
    }];
    // Each part in turn is not what it was.
    let stale = [
        Resale {
            blocks: other_cell,
            ..write.clone()
        },
        Resale {
            blocks: no_block,
            ..write.clone()
        },
        Resale {
            tickets: vec![at(2, &write.tickets[0].value)],
            ..write.clone()
        },
        Resale {
            orders: vec![at(2, &write.orders[0].value)],
            ..write.clone()
        },
    ];
    for (n, stale) in stale.iter().enumerate() {
        assert!(!stale.store(store).await, "part {n}");
        sale.assert_untouched(store, &format!("part {n}")).await;
    }
    assert!(write.store(store).await);
    assert!(!write.store(store).await);
    let block = sale.block(store).await;
    let sold = Some(Cell::sold(sale.buyer.hold()));
    assert_eq!((block.cell(Slot(3)), block.cell(Slot(4))), (sold, sold));
    let ticket = store.read::<Ticket>(sale.ticket.id).await.unwrap();
    assert_eq!(ticket, Some(at(2, &write.tickets[0].value)));
    let order = store.read::<Order>(sale.order.id).await.unwrap();
    assert_eq!(order, Some(at(2, &write.orders[0].value)));
    // It owes, so the sweep finds it; the ticket is on offer no longer, and gates hear of it.
    let open = async || {
        let mut after = None;
        loop {
            let page = store.open_orders(after.as_deref(), 100).await.unwrap();
            if page.items.contains(&sale.order.id) {
                return true;
            }
            after = page.next;
            if after.is_none() {
                return false;
            }
        }
    };
    eventually(true, &open).await;
    let listed = async || store.tickets_put_back(sale.show, 10).await.unwrap();
    eventually(vec![], &listed).await;
    let gates = async || -> Vec<_> {
        let page = store.gate_changes(sale.show, NOW, None, 10).await.unwrap();
        page.items.into_iter().map(|change| change.ticket).collect()
    };
    eventually(vec![sale.ticket.id], &gates).await;
}

async fn a_closed_block_sells_nothing(store: &Store) {
    let sale = Sale::new(store).await;
    store
        .close_blocks(sale.show, &[BlockIndex(7)])
        .await
        .unwrap();
    assert!(!sale.write.store(store).await);
    sale.assert_untouched(store, "closed").await;
}

async fn of_two_sales_at_once_one_is_stored(store: &Store) {
    let sale = Sale::new(store).await;
    let (one, two) = tokio::join!(sale.write.store(store), sale.write.store(store));
    assert_ne!(one, two);
}
