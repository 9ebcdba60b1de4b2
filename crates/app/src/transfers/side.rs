//! From which side somebody looks at a transfer, and what they may know of it.

use onsale_domain::ids::TicketId;
use onsale_domain::transfer::{Transfer, TransferState};

/// A transfer as one of its sides sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub transfer: Transfer,
    pub side: Side,
    /// Who gives the ticket, for the recipient. Absent once the sender has left, and where
    /// nothing of the name can be told to a stranger. Never an address.
    pub from_name: Option<String>,
}

/// Who looks at a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Sender,
    Recipient,
}

impl Side {
    /// The ticket of this side: what the sender gave, or what the recipient got. The old
    /// ticket is named to its sender alone.
    pub fn ticket_of(self, transfer: &Transfer) -> Option<TicketId> {
        match (self, &transfer.state) {
            (Self::Sender, _) => Some(transfer.ticket),
            (Self::Recipient, TransferState::Accepted { new_ticket, .. }) => Some(*new_ticket),
            (Self::Recipient, _) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use onsale_domain::ids::{AccountId, OrderId, ShowId, TransferId};
    use onsale_domain::time::Millis;

    use super::*;

    const NOW: Millis = Millis(1_800_000_000_000);
    const GIVEN: TicketId = TicketId::from_bytes([1; 16]);
    const GOT: TicketId = TicketId::from_bytes([2; 16]);

    fn transfer(state: TransferState) -> Transfer {
        Transfer {
            id: TransferId::from_bytes([3; 16]),
            ticket: GIVEN,
            order_id: OrderId::from_bytes([4; 16]),
            show_id: ShowId::from_bytes([5; 16]),
            seat: "A-1-1".into(),
            from: AccountId::from_bytes([6; 16]),
            to: None,
            request: None,
            state,
            created: NOW,
            expires: NOW + 1_000,
            changed: NOW,
            offer_told: true,
            acceptance_told: true,
        }
    }

    #[test]
    fn a_recipient_sees_the_ticket_they_got_and_never_the_one_that_was_given() {
        let open = TransferState::Open;
        let declined = TransferState::Declined { at: NOW };
        let withdrawn = TransferState::Withdrawn { at: NOW };
        for state in [open, declined, withdrawn] {
            let transfer = transfer(state);
            assert_eq!(Side::Recipient.ticket_of(&transfer), None, "{transfer:?}");
            assert_eq!(Side::Sender.ticket_of(&transfer), Some(GIVEN));
        }
        let accepted = transfer(TransferState::Accepted {
            at: NOW,
            by: AccountId::from_bytes([7; 16]),
            new_ticket: GOT,
        });
        assert_eq!(Side::Recipient.ticket_of(&accepted), Some(GOT));
        assert_eq!(Side::Sender.ticket_of(&accepted), Some(GIVEN));
    }
}
