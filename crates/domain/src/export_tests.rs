use super::*;
use crate::ids::{OrderId, TicketId};
use crate::layout::PlaceIndex;

const NOW: Millis = Millis(1_800_000_000_000);

fn export() -> Export {
    let (id, show) = (ExportId::from_bytes([1; 16]), ShowId::from_bytes([2; 16]));
    let account = AccountId::from_bytes([3; 16]);
    Export::begin(id, show, account, ExportKind::Attendees, NOW)
}

#[test]
fn an_export_is_walked_when_nothing_follows_its_last_part() {
    let first = export().part_written(2, 500, Some("here".to_owned()), NOW);
    assert_eq!(
        (first.is_walked, first.after.as_deref()),
        (false, Some("here"))
    );
    let last = first.part_written(7, 3, None, NOW);
    assert_eq!((last.is_walked, last.rows), (true, 503));
    assert_eq!(last.parts, [2, 7]);
    assert!(last.is_open() && !last.ended(ExportStatus::Ready, NOW).is_open());
}

#[test]
fn parts_sort_as_they_are_numbered_and_the_file_is_none_of_them() {
    let export = export();
    assert!(export.part_key(9) < export.part_key(10));
    assert!(!export.file_key().contains("parts"));
    assert!(export.file_key().starts_with(FOLDER));
}

#[test]
fn after_seven_days_it_is_over() {
    assert!(!export().is_over(NOW + (KEPT_MS - 1)));
    assert!(export().is_over(NOW + KEPT_MS));
}

#[test]
fn what_strangers_wrote_is_one_cell_and_no_formula() {
    let ticket = Ticket {
        id: TicketId::from_bytes([4; 16]),
        order_id: OrderId::from_bytes([5; 16]),
        show_id: ShowId::from_bytes([2; 16]),
        account: AccountId::from_bytes([3; 16]),
        place: PlaceIndex(0),
        seat: "Parkett links-12-7".to_owned(),
        serial: 0,
        code: String::new(),
        state: TicketState::Used {
            at: NOW,
            gate: "Tor, Nord".to_owned(),
            scan: "s".to_owned(),
        },
        issued: NOW,
        changed: NOW,
        admissions: Default::default(),
        hands: Default::default(),
        put_back: None,
    };
    let holder = Person {
        name: "=HYPERLINK(\"x\")",
        email: "",
    };
    let row = attendee_row(&ticket, holder);
    let expected = format!(
        "{},{},Parkett links-12-7,Parkett links,used,2027-01-15T08:00:00Z,\"Tor, Nord\",\"'=HYPERLINK(\"\"x\"\")\",{}\n",
        ticket.id,
        ticket.order_id,
        OrderNumber::of(ticket.order_id)
    );
    assert_eq!(row, expected);
    assert!(
        ExportKind::Orders
            .heading()
            .starts_with("\u{feff}order_id,time,")
    );
}

#[test]
fn amounts_are_numbers() {
    let euro = crate::money::Currency::parse("EUR").unwrap();
    let money = Money {
        amount: crate::money::Cents(450_005),
        currency: euro,
    };
    assert_eq!(decimal(money), "4500.05");
}
