use super::*;
use crate::account::Role;

const NOW: Millis = Millis(1_800_000_000_000);
const ANA: AccountId = AccountId::from_bytes([1; 16]);
const BO: AccountId = AccountId::from_bytes([2; 16]);

fn email(name: &str) -> Email {
    Email::parse(&format!("{name}@example.org")).unwrap()
}

/// Ana offers a ticket to Bo.
fn offer(state: TransferState) -> Transfer {
    Transfer {
        id: TransferId::from_bytes([3; 16]),
        ticket: TicketId::from_bytes([4; 16]),
        order_id: OrderId::from_bytes([5; 16]),
        show_id: ShowId::from_bytes([6; 16]),
        seat: "A-1-1".into(),
        from: ANA,
        to: Some(email("bo")),
        request: Some(RequestHash([7; 16])),
        state,
        created: NOW,
        expires: NOW + 1_000,
        changed: NOW,
        offer_told: true,
        acceptance_told: true,
    }
}

fn accepted() -> TransferState {
    TransferState::Accepted {
        at: NOW,
        by: BO,
        new_ticket: TicketId::from_bytes([8; 16]),
    }
}

/// An account, and the address in which its name is.
fn account(id: AccountId, name: &str, created: Millis) -> Account {
    Account {
        id,
        email: email(name),
        name: name.to_owned(),
        role: Role::Buyer,
        created,
        language: None,
        proven: None,
    }
}

#[test]
fn no_list_names_an_offer_that_can_be_accepted() {
    let (before, after) = (NOW.saturating_sub(1_000_000), NOW + 1_000_000);
    let open = offer(TransferState::Open);
    for created in [before, NOW, after] {
        let bo = account(BO, "bo", created);
        assert!(!open.is_listed_for(&bo, NOW), "{created:?}");
        assert!(open.is_for(&bo), "by its id");
        assert!(offer(accepted()).is_listed_for(&bo, NOW), "{created:?}");
    }
    // It has expired by every clock.
    let bo = account(BO, "bo", before);
    assert!(!open.is_listed_for(&bo, open.expires));
    assert!(open.is_listed_for(&bo, open.expires + CLOCK_SKEW_MS));
}

#[test]
fn what_ended_is_listed_for_whoever_had_the_address_by_then() {
    let late = NOW + 1_000_000;
    let expired = (TransferState::Open, NOW);
    let withdrawn = (TransferState::Withdrawn { at: late }, NOW);
    let declined = (TransferState::Declined { at: late }, late);
    for (state, reached) in [expired, withdrawn, declined] {
        let over = offer(state);
        let listed = |created| over.is_listed_for(&account(BO, "bo", created), late);
        assert!(listed(NOW.saturating_sub(1)), "{over:?}");
        assert!(listed(reached + CLOCK_SKEW_MS), "{over:?}");
        assert!(!listed(reached + CLOCK_SKEW_MS + 1), "{over:?}");
        assert!(!over.is_listed_for(&account(ANA, "cy", NOW), late));
    }
}

#[test]
fn whoever_leaves_ends_and_forgets_nothing_from_before_their_account() {
    let made = NOW + CLOCK_SKEW_MS + 1;
    let leaver = Deletion::begin(&account(BO, "bo", made), None, made + 10);
    let withdrawn = TransferState::Withdrawn { at: NOW };
    let declined = TransferState::Declined { at: NOW };
    for state in [TransferState::Open, withdrawn, declined] {
        let before = offer(state);
        assert_eq!(before.forgotten(&leaver, made + 10), None, "{before:?}");
        // By so much may two clocks differ.
        let since = Deletion::begin(&account(BO, "bo", NOW + CLOCK_SKEW_MS), None, made);
        assert_eq!(before.forgotten(&since, made).unwrap().to, None);
    }
    // What they answered is theirs, however old it is.
    let at = made + 5;
    for state in [TransferState::Declined { at }, accepted()] {
        let answered = offer(state);
        assert_eq!(answered.forgotten(&leaver, made + 10).unwrap().to, None);
    }
}

#[test]
fn whoever_leaves_takes_offers_and_addresses_along() {
    let left = NOW + 10;
    let leaver = |id, name| Deletion::begin(&account(id, name, NOW), None, left);
    let (ana, bo) = (leaver(ANA, "ana"), leaver(BO, "bo"));
    let forget = |transfer: &Transfer, who: &Deletion| transfer.forgotten(who, left);
    let open = offer(TransferState::Open);
    for (who, state) in [
        (&ana, TransferState::Withdrawn { at: left }),
        (&bo, TransferState::Declined { at: left }),
    ] {
        let next = forget(&open, who).unwrap();
        assert_eq!((&next.state, &next.to), (&state, &None));
        assert_eq!(forget(&next, who), None, "done once");
    }
    // Bo got it and keeps the address that is his own, until he leaves as well.
    let taken = offer(accepted());
    let without_ana = forget(&taken, &ana).unwrap();
    assert_eq!(without_ana.to, Some(email("bo")));
    assert_eq!(without_ana.request, None);
    assert_eq!(forget(&without_ana, &ana), None);
    assert_eq!(forget(&without_ana, &bo).unwrap().to, None);
    // Somebody else's, and what is for whoever has the address next.
    let stranger = leaver(AccountId::from_bytes([9; 16]), "cy");
    assert_eq!(forget(&open, &stranger), None);
    let later = Transfer {
        created: left + CLOCK_SKEW_MS + 1,
        ..open
    };
    assert_eq!(forget(&later, &bo), None);
}

#[test]
fn a_letter_is_found_by_its_offer() {
    let mut open = offer(TransferState::Open);
    open.offer_told = false;
    let news = open.untold().remove(0);
    let News::TransferOffered { to_email, .. } = &news else {
        panic!("{news:?}");
    };
    let to = Recipient::Address(to_email.clone());
    let told = news.announce(&open.id.to_string(), NOW);
    assert_eq!(open.letter(), Some(MailId::of(&told.id, &to)));
}
