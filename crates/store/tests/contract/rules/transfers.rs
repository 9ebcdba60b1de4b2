//! Transfers: offered together with their ticket, accepted in one piece.

use onsale_domain::account::{Account, Email, Role};
use onsale_domain::deletion::Deletion;
use onsale_domain::ids::{AccountId, TransferId};
use onsale_domain::order::Order;
use onsale_domain::ticket::Ticket;
use onsale_domain::time::Millis;
use onsale_domain::transfer::Transfer;
use onsale_store::{List, Store, Versioned, Written};

use super::sample_orders::{confirmed, order, tickets};
use super::{NOW, eventually, fresh};

contract! {
    an_offer_is_stored_with_its_ticket_or_not_at_all,
    accepting_is_one_piece,
    of_two_acceptances_at_once_one_is_stored,
    a_transfer_is_listed_for_both_sides,
    a_transfer_is_untold_until_it_is_told,
    an_address_that_is_forgotten_finds_nothing,
    an_owner_has_what_they_bought_and_got_and_not_what_they_gave,
}

/// A confirmed order with its first ticket, stored; and the address that gets it.
struct Giver {
    order: Order,
    ticket: Ticket,
    to: Email,
}

impl Giver {
    async fn new(store: &Store) -> Self {
        let order = confirmed(&order(AccountId::from_bytes(fresh()), NOW));
        let ticket = tickets(&order).remove(0);
        store.create(&order).await.unwrap();
        store.create(&ticket).await.unwrap();
        let name = AccountId::from_bytes(fresh()).to_string();
        let to = Email::parse(&format!("{name}@example.org")).unwrap();
        Self { order, ticket, to }
    }

    fn offer(&self, ticket: &Ticket, now: Millis) -> (Transfer, Ticket) {
        let (id, starts) = (TransferId::from_bytes(fresh()), NOW + 86_400_000);
        Transfer::offer(id, ticket, &self.order, self.to.clone(), None, starts, now).unwrap()
    }

    /// Offers the ticket, which is at this version.
    async fn offered(&self, store: &Store) -> (Transfer, Ticket) {
        let (transfer, ticket) = self.offer(&self.ticket, NOW);
        assert!(store_offer(store, &transfer, &at(1, &ticket)).await);
        (transfer, ticket)
    }

    fn acceptance(&self, transfer: &Transfer, ticket: &Ticket) -> Acceptance {
        let by = AccountId::from_bytes([8; 16]);
        let accepted = transfer.accept(ticket, &self.order, by, NOW + 86_400_000, NOW + 5);
        let accepted = accepted.unwrap();
        let mut new = accepted.new;
        new.code = "B".repeat(onsale_domain::ticket_code::CODE_LEN);
        Acceptance {
            transfer: at(1, &accepted.transfer),
            old: at(2, &accepted.old),
            new,
            order: at(1, &accepted.order),
        }
    }
}

/// What is stored together when a transfer is accepted.
#[derive(Clone)]
struct Acceptance {
    transfer: Versioned<Transfer>,
    old: Versioned<Ticket>,
    new: Ticket,
    order: Versioned<Order>,
}

impl Acceptance {
    async fn store(&self, store: &Store) -> bool {
        let mut together = store.together();
        together
            .replace(&self.transfer)
            .and_then(|t| t.replace(&self.old))
            .and_then(|t| t.create(&self.new))
            .and_then(|t| t.replace(&self.order))
            .unwrap();
        store.write(&together).await.unwrap()
    }
}

/// Stores a new transfer with the ticket that it offers.
async fn store_offer(store: &Store, transfer: &Transfer, ticket: &Versioned<Ticket>) -> bool {
    let mut together = store.together();
    together
        .create(transfer)
        .and_then(|t| t.replace(ticket))
        .unwrap();
    store.write(&together).await.unwrap()
}

fn at<T: Clone>(version: u64, value: &T) -> Versioned<T> {
    let value = value.clone();
    Versioned { version, value }
}

async fn an_offer_is_stored_with_its_ticket_or_not_at_all(store: &Store) {
    let giver = Giver::new(store).await;
    let (transfer, ticket) = giver.offered(store).await;
    assert_eq!(
        store.read::<Transfer>(transfer.id).await.unwrap(),
        Some(at(1, &transfer))
    );
    assert_eq!(
        store.read::<Ticket>(ticket.id).await.unwrap(),
        Some(at(2, &ticket))
    );
    // The same transfer again, and another one for a ticket that has moved on.
    assert!(!store_offer(store, &transfer, &at(2, &ticket)).await);
    let (late, offered) = giver.offer(&giver.ticket, NOW + 1);
    assert!(!store_offer(store, &late, &at(1, &offered)).await);
    assert_eq!(store.read::<Transfer>(late.id).await.unwrap(), None);
    assert_eq!(
        store.read::<Ticket>(ticket.id).await.unwrap(),
        Some(at(2, &ticket))
    );
}

async fn an_address_that_is_forgotten_finds_nothing(store: &Store) {
    let giver = Giver::new(store).await;
    let (transfer, _) = giver.offered(store).await;
    let of = |account: AccountId| {
        let to = giver.to.clone();
        async move {
            let page = store.transfers_of(account, &to, None, 10).await.unwrap();
            page.items.into_iter().map(|t| t.id).collect::<Vec<_>>()
        }
    };
    let stranger = AccountId::from_bytes(fresh());
    eventually(vec![transfer.id], || of(stranger)).await;
    let leaver = Account {
        id: stranger,
        email: giver.to.clone(),
        name: "Bo".into(),
        role: Role::Buyer,
        created: NOW,
        language: None,
        proven: None,
    };
    let left = transfer.forgotten(&Deletion::begin(&leaver, None, NOW), NOW);
    let left = left.unwrap();
    let written = store.replace(&at(1, &left)).await.unwrap();
    assert_eq!(written, Written::Done(2));
    eventually(vec![], || of(stranger)).await;
    eventually(vec![transfer.id], || of(transfer.from)).await;
    let stored = store.read::<Transfer>(transfer.id).await.unwrap();
    assert_eq!(stored, Some(at(2, &left)));
}

async fn accepting_is_one_piece(store: &Store) {
    let giver = Giver::new(store).await;
    let (transfer, ticket) = giver.offered(store).await;
    let write = giver.acceptance(&transfer, &ticket);
    let other = tickets(&giver.order).remove(1);
    store.create(&other).await.unwrap();
    // Each part in turn has moved on, or is there already.
    let stale = [
        Acceptance {
            transfer: at(2, &write.transfer.value),
            ..write.clone()
        },
        Acceptance {
            old: at(1, &write.old.value),
            ..write.clone()
        },
        Acceptance {
            new: other,
            ..write.clone()
        },
        Acceptance {
            order: at(2, &write.order.value),
            ..write.clone()
        },
    ];
    for (n, stale) in stale.iter().enumerate() {
        assert!(!stale.store(store).await, "part {n}");
        assert_eq!(
            store.read::<Transfer>(transfer.id).await.unwrap(),
            Some(at(1, &transfer))
        );
        assert_eq!(
            store.read::<Ticket>(ticket.id).await.unwrap(),
            Some(at(2, &ticket))
        );
        assert_eq!(
            store.read::<Ticket>(write.new.id).await.unwrap(),
            None,
            "part {n}"
        );
        let order = store.read::<Order>(giver.order.id).await.unwrap();
        assert_eq!(order, Some(at(1, &giver.order)), "part {n}");
    }
    assert!(write.store(store).await);
    assert!(!write.store(store).await);
    let stored = store.read::<Transfer>(transfer.id).await.unwrap();
    assert_eq!(stored, Some(at(2, &write.transfer.value)));
    assert_eq!(
        store.read::<Ticket>(ticket.id).await.unwrap(),
        Some(at(3, &write.old.value))
    );
    assert_eq!(
        store.read::<Ticket>(write.new.id).await.unwrap(),
        Some(at(1, &write.new))
    );
    let order = store.read::<Order>(giver.order.id).await.unwrap();
    assert_eq!(order, Some(at(2, &write.order.value)));
}

async fn of_two_acceptances_at_once_one_is_stored(store: &Store) {
    let giver = Giver::new(store).await;
    let (transfer, ticket) = giver.offered(store).await;
    let write = giver.acceptance(&transfer, &ticket);
    let (one, two) = tokio::join!(write.store(store), write.store(store));
    assert_ne!(one, two);
}

async fn a_transfer_is_listed_for_both_sides(store: &Store) {
    let giver = Giver::new(store).await;
    let (first, ticket) = giver.offered(store).await;
    let (second, offered) = giver.offer(&ticket, NOW + 10);
    assert!(store_offer(store, &second, &at(2, &offered)).await);
    let (nobody, no_address) = (
        AccountId::from_bytes(fresh()),
        Email::parse("no@b.de").unwrap(),
    );
    let sides = [(giver.order.account, &no_address), (nobody, &giver.to)];
    for (account, email) in sides {
        let listed = async || -> Vec<TransferId> {
            let page = store.transfers_of(account, email, None, 10).await.unwrap();
            page.items.into_iter().map(|t| t.id).collect()
        };
        eventually(vec![second.id, first.id], &listed).await;
        let page = store.transfers_of(account, email, None, 1).await.unwrap();
        assert_eq!(page.items, std::slice::from_ref(&second));
        let after = page.next.unwrap();
        let page = store
            .transfers_of(account, email, Some(&after), 5)
            .await
            .unwrap();
        assert_eq!((page.items, page.next), (vec![first.clone()], None));
    }
    // Whoever is both finds each once.
    let both = store
        .transfers_of(giver.order.account, &giver.to, None, 10)
        .await;
    assert_eq!(both.unwrap().items.len(), 2);
    let none = store
        .transfers_of(nobody, &no_address, None, 10)
        .await
        .unwrap();
    assert_eq!(none.items, []);
}

async fn a_transfer_is_untold_until_it_is_told(store: &Store) {
    let giver = Giver::new(store).await;
    let (transfer, _) = giver.offered(store).await;
    let untold = async || {
        let mut after = None;
        loop {
            let page = store
                .page_of_ids::<Transfer>(&List::UntoldTransfers, after.as_deref(), 100)
                .await
                .unwrap();
            if page.items.contains(&transfer.id) {
                return true;
            }
            after = page.next;
            if after.is_none() {
                return false;
            }
        }
    };
    eventually(true, &untold).await;
    let told = at(1, &transfer.told());
    assert_eq!(store.replace(&told).await.unwrap(), Written::Done(2));
    eventually(false, &untold).await;
    let late = store.replace(&at(1, &transfer)).await.unwrap();
    assert_eq!(late, Written::Lost(at(2, &told.value)));
}

async fn an_owner_has_what_they_bought_and_got_and_not_what_they_gave(store: &Store) {
    let giver = Giver::new(store).await;
    let (transfer, ticket) = giver.offered(store).await;
    let mut write = giver.acceptance(&transfer, &ticket);
    let friend = AccountId::from_bytes(fresh());
    write.new.account = friend;
    let owned = async |account| -> Vec<_> {
        let page = store.tickets_owned(account, None, 10).await.unwrap();
        page.items.into_iter().map(|ticket| ticket.id).collect()
    };
    eventually(vec![ticket.id], || owned(giver.order.account)).await;
    assert!(write.store(store).await);
    eventually(vec![], || owned(giver.order.account)).await;
    eventually(vec![write.new.id], || owned(friend)).await;
}
