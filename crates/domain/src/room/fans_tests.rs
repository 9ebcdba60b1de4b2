use super::*;
use crate::ids::{AccountId, EventId, ShowId, VenueId};
use crate::money::Currency;
use crate::show::{Room, default_refund_policy};

const NOW: Millis = Millis(1_800_000_000_000);
const HOUR_MS: u64 = 3_600_000;

fn show(status: StoredStatus, opens_at: Option<Millis>, on_sale_at: Option<Millis>) -> Show {
    Show {
        id: ShowId::from_bytes([1; 16]),
        event_id: EventId::from_bytes([2; 16]),
        venue_id: VenueId::from_bytes([3; 16]),
        owner: AccountId::from_bytes([4; 16]),
        starts_at: NOW + 100 * HOUR_MS,
        on_sale_at,
        currency: Currency::parse("EUR").unwrap(),
        prices: vec![],
        pricing: crate::pricing::Pricing::Fixed,
        hold_seconds: 600,
        max_tickets_per_buyer: 6,
        refund_policy: default_refund_policy(),
        room: Room {
            opens_at,
            ..Room::default()
        },
        overbook_percent: 0,
        status,
        created: NOW.saturating_sub(HOUR_MS),
        waitlist: Default::default(),
    }
}

#[test]
fn fans_register_until_the_room_opens() {
    use RegistrationClosed::*;
    let on_sale = |opens, sale| check_registration(&show(StoredStatus::OnSale, opens, sale), NOW);
    let (past, later) = (Some(NOW), Some(NOW + HOUR_MS));
    assert_eq!(on_sale(later, Some(NOW + 2 * HOUR_MS)), Ok(()));
    assert_eq!(on_sale(None, later), Ok(()));
    assert_eq!(on_sale(later, None), Ok(()));
    assert_eq!(on_sale(past, later), Err(TooLate));
    assert_eq!(on_sale(None, past), Err(TooLate));
    assert_eq!(on_sale(later, past), Err(TooLate));
    assert_eq!(on_sale(None, None), Err(NoOpening));
}

#[test]
fn nobody_registers_for_a_show_that_takes_no_buyers() {
    use RegistrationClosed::NotOnSale as Closed;
    let of = |status| check_registration(&show(status, None, Some(NOW + HOUR_MS)), NOW);
    assert_eq!(of(StoredStatus::Draft), Err(Closed(NotOnSale::Draft)));
    assert_eq!(
        of(StoredStatus::Cancelled),
        Err(Closed(NotOnSale::Cancelled))
    );
}

#[test]
fn a_batch_has_its_serials_in_order() {
    let batch = FanBatch {
        key: FanKeyId(1),
        first: FanSerial(10),
        count: 3,
    };
    let serials: Vec<u32> = batch.serials().map(|serial| serial.0).collect();
    assert_eq!(serials, [10, 11, 12]);
}
