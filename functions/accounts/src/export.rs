//! What is stored about me, to take along.

use axum::extract::State;
use axum::http::header;
use axum::response::{AppendHeaders, IntoResponse};
use onsale_app::account_export::Export;
use onsale_app::holds::HoldView;
use onsale_app::ports::Session;
use onsale_app::transfers::Side;
use onsale_domain::account::Account;
use onsale_domain::buyer::EntryState;
use onsale_domain::ids::{
    AccountId, HoldId, OrderId, SessionId, ShowId, TicketId, TransferId, VisitorId, WaitlistId,
};
use onsale_domain::money::Money;
use onsale_domain::order::{Order, OrderStatus};
use onsale_domain::staff::Staff;
use onsale_domain::ticket::{Ticket, TicketState};
use onsale_domain::time::Millis;
use onsale_domain::transfer::{Transfer, TransferState, TransferStatus};
use onsale_domain::waitlist::{Outcome, State as WaitState, WaitlistEntry};
use onsale_http::schemas::{
    AccountIdText, HoldIdText, MoneyValue, OrderIdText, ShowIdText, TicketIdText, Timestamp,
    TransferIdText, WaitlistIdText,
};
use onsale_http::{Api, Cursor, LoggedIn, Problem, Query};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::account::AccountAnswer;

#[derive(Serialize, ToSchema)]
struct ExportedAccount {
    #[serde(flatten)]
    account: AccountAnswer,
    #[schema(value_type = Timestamp)]
    created_at: Millis,
}

#[derive(Serialize, ToSchema)]
struct ExportedStaff {
    #[schema(value_type = AccountIdText)]
    organiser: AccountId,
    #[schema(value_type = Vec<ShowIdText>)]
    show_ids: Vec<ShowId>,
}

#[derive(Serialize, ToSchema)]
struct ExportedSession {
    /// Its name. The token that carries it is not stored.
    #[schema(value_type = String)]
    session_id: SessionId,
    #[schema(value_type = Timestamp)]
    opened_at: Millis,
    /// Left out once the session was closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Timestamp>)]
    expires_at: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>)]
    device_id: Option<VisitorId>,
}

#[derive(Serialize, ToSchema)]
struct ExportedSeat {
    seat: String,
    #[schema(value_type = MoneyValue)]
    price: Money,
}

#[derive(Serialize, ToSchema)]
struct ExportedTicket {
    #[schema(value_type = TicketIdText)]
    ticket_id: TicketId,
    seat: String,
    /// `valid`, `used` or `revoked`.
    status: &'static str,
    #[schema(value_type = Timestamp)]
    issued_at: Millis,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Timestamp>)]
    used_at: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    gate: Option<String>,
    /// That it was put back, and what has become of that.
    #[serde(rename = "return", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    put_back: Option<ExportedReturn>,
}

#[derive(Serialize, ToSchema)]
struct ExportedGift {
    #[serde(flatten)]
    ticket: ExportedTicket,
    #[schema(value_type = ShowIdText)]
    show_id: ShowId,
}

#[derive(Serialize, ToSchema)]
struct ExportedReturn {
    /// `offered`, `being_bought`, `ended` or `resold`.
    status: &'static str,
    #[schema(value_type = Timestamp)]
    put_back_at: Millis,
    #[schema(value_type = MoneyValue)]
    refund: Money,
}

#[derive(Serialize, ToSchema)]
struct ExportedOrder {
    #[schema(value_type = OrderIdText)]
    order_id: OrderId,
    #[schema(value_type = ShowIdText)]
    show_id: ShowId,
    #[schema(value_type = String)]
    status: OrderStatus,
    #[schema(value_type = MoneyValue)]
    total: Money,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<MoneyValue>)]
    refund: Option<Money>,
    seats: Vec<ExportedSeat>,
    /// The provider's names of the cards that were tried.
    payment_methods: Vec<String>,
    #[schema(value_type = Timestamp)]
    created_at: Millis,
    #[schema(value_type = Timestamp)]
    changed_at: Millis,
    tickets: Vec<ExportedTicket>,
}

#[derive(Serialize, ToSchema)]
struct ExportedHold {
    #[schema(value_type = HoldIdText)]
    hold_id: HoldId,
    #[schema(value_type = ShowIdText)]
    show_id: ShowId,
    status: &'static str,
    seats: Vec<ExportedSeat>,
    #[schema(value_type = MoneyValue)]
    total: Money,
    #[schema(value_type = Timestamp)]
    expires_at: Millis,
}

#[derive(Serialize, ToSchema)]
struct ExportedFan {
    #[schema(value_type = ShowIdText)]
    show_id: ShowId,
    #[schema(value_type = Timestamp)]
    registered_at: Millis,
}

#[derive(Serialize, ToSchema)]
struct ExportedWait {
    #[schema(value_type = WaitlistIdText)]
    waitlist_id: WaitlistId,
    #[schema(value_type = ShowIdText)]
    show_id: ShowId,
    /// `waiting`, `offered`, `taken`, `lapsed` or `left`.
    status: &'static str,
    quantity: u32,
    together: bool,
    /// None: any will do.
    sections: Vec<String>,
    #[schema(value_type = Timestamp)]
    joined_at: Millis,
    /// What was waited for in this show before.
    earlier: Vec<ExportedEarlier>,
}

#[derive(Serialize, ToSchema)]
struct ExportedEarlier {
    #[schema(value_type = WaitlistIdText)]
    waitlist_id: WaitlistId,
    /// `taken`, `lapsed` or `left`.
    status: &'static str,
}

#[derive(Serialize, ToSchema)]
struct ExportedTransfer {
    #[schema(value_type = TransferIdText)]
    transfer_id: TransferId,
    /// `out`: you offered it; `in`: it was offered to you.
    direction: &'static str,
    /// `open`, `accepted`, `declined`, `withdrawn` or `expired`.
    status: &'static str,
    #[schema(value_type = ShowIdText)]
    show_id: ShowId,
    seat: String,
    /// The ticket that you gave, or that you got.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<TicketIdText>)]
    ticket_id: Option<TicketId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    to_email: Option<String>,
    #[schema(value_type = Timestamp)]
    created_at: Millis,
    #[schema(value_type = Timestamp)]
    changed_at: Millis,
}

#[derive(Serialize, ToSchema)]
struct ExportedPass {
    #[schema(value_type = ShowIdText)]
    show_id: ShowId,
    pass_id: String,
}

/// A page of what is stored about an account.
#[derive(Serialize, ToSchema)]
#[schema(as = Export)]
pub(crate) struct ExportAnswer {
    #[schema(value_type = Timestamp)]
    exported_at: Millis,
    /// On the first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    account: Option<ExportedAccount>,
    /// Whose staff you are, and where.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    staff: Option<ExportedStaff>,
    sessions: Vec<ExportedSession>,
    /// The devices on which these sessions were opened, as far as their cookies say.
    #[schema(value_type = Vec<String>)]
    devices: Vec<VisitorId>,
    orders: Vec<ExportedOrder>,
    /// Tickets that somebody gave you, and that you have.
    received_tickets: Vec<ExportedGift>,
    /// In shows that are still to come.
    holds: Vec<ExportedHold>,
    /// The pass that was last used in each of these shows.
    passes: Vec<ExportedPass>,
    /// Of your address, since you have the account.
    fan_registrations: Vec<ExportedFan>,
    waitlists: Vec<ExportedWait>,
    /// What you offered, and what became of what was offered to your address. The ids of
    /// offers to you that are open are in the mails to that address.
    transfers: Vec<ExportedTransfer>,
    /// Pass it as `cursor` to get the next page. Absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next_cursor: Option<String>,
}

fn account(account: Account) -> ExportedAccount {
    ExportedAccount {
        created_at: account.created,
        account: account.into(),
    }
}

fn staff(staff: Staff) -> ExportedStaff {
    ExportedStaff {
        organiser: staff.organiser,
        show_ids: staff.shows.into_iter().collect(),
    }
}

fn session(session: &Session) -> ExportedSession {
    ExportedSession {
        session_id: session.id,
        opened_at: session.opened,
        expires_at: Some(session.expires).filter(|at| *at > Millis(0)),
        device_id: session.device,
    }
}

fn ticket(ticket: Ticket) -> ExportedTicket {
    let put_back = ticket.put_back.as_ref().map(|r| ExportedReturn {
        status: r.state.as_str(),
        put_back_at: r.since,
        refund: r.price,
    });
    let (status, used_at, gate) = match ticket.state {
        TicketState::Valid => ("valid", None, None),
        TicketState::Used { at, gate, .. } => ("used", Some(at), Some(gate)),
        TicketState::Revoked { .. } => ("revoked", None, None),
    };
    ExportedTicket {
        ticket_id: ticket.id,
        seat: ticket.seat,
        status,
        issued_at: ticket.issued,
        used_at,
        gate,
        put_back,
    }
}

fn gift(received: Ticket) -> ExportedGift {
    ExportedGift {
        show_id: received.show_id,
        ticket: ticket(received),
    }
}

fn order((order, tickets): (Order, Vec<Ticket>)) -> ExportedOrder {
    let currency = order.currency;
    let seat = |seat: &onsale_domain::order::OrderedSeat| ExportedSeat {
        seat: seat.seat.clone(),
        price: Money {
            amount: seat.price,
            currency,
        },
    };
    let methods = order.attempts.iter().map(|attempt| attempt.method.as_str());
    ExportedOrder {
        order_id: order.id,
        show_id: order.show_id,
        status: order.status(),
        total: order.total(),
        refund: order.given_back(),
        seats: order.seats.iter().map(seat).collect(),
        payment_methods: methods.map(str::to_owned).collect(),
        created_at: order.created,
        changed_at: order.changed,
        tickets: tickets.into_iter().map(ticket).collect(),
    }
}

fn hold(hold: HoldView) -> ExportedHold {
    let seat = |(seat, price)| ExportedSeat { seat, price };
    ExportedHold {
        hold_id: hold.hold_id,
        show_id: hold.show_id,
        status: match hold.state {
            EntryState::Held => "held",
            EntryState::Paying => "paying",
            EntryState::Sold => "sold",
            EntryState::Released | EntryState::Undone => "released",
            EntryState::Expired => "expired",
        },
        seats: hold.seats.into_iter().map(seat).collect(),
        total: hold.total,
        expires_at: hold.expires_at,
    }
}

fn ended(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Taken => "taken",
        Outcome::Lapsed => "lapsed",
        Outcome::Left => "left",
    }
}

fn wait((entry, sections): (WaitlistEntry, Vec<String>)) -> ExportedWait {
    let earlier = entry.earlier.iter().map(|earlier| ExportedEarlier {
        waitlist_id: earlier.id,
        status: ended(earlier.outcome),
    });
    ExportedWait {
        waitlist_id: entry.id,
        show_id: entry.show_id,
        status: match &entry.state {
            WaitState::Waiting => "waiting",
            WaitState::Offered(_) => "offered",
            WaitState::Ended(outcome) => ended(*outcome),
        },
        quantity: entry.wish.quantity,
        together: entry.wish.together,
        sections,
        joined_at: entry.joined,
        earlier: earlier.collect(),
    }
}

fn transfer((transfer, side): (Transfer, Side), now: Millis) -> ExportedTransfer {
    let (direction, ticket_id) = match (side, &transfer.state) {
        (Side::Sender, _) => ("out", Some(transfer.ticket)),
        (Side::Recipient, TransferState::Accepted { new_ticket, .. }) => ("in", Some(*new_ticket)),
        (Side::Recipient, _) => ("in", None),
    };
    ExportedTransfer {
        transfer_id: transfer.id,
        direction,
        status: match transfer.status(now) {
            TransferStatus::Open => "open",
            TransferStatus::Accepted => "accepted",
            TransferStatus::Declined => "declined",
            TransferStatus::Withdrawn => "withdrawn",
            TransferStatus::Expired => "expired",
        },
        show_id: transfer.show_id,
        seat: transfer.seat,
        ticket_id,
        to_email: transfer.to.map(|to| to.as_str().to_owned()),
        created_at: transfer.created,
        changed_at: transfer.changed,
    }
}

fn answer(export: Export, now: Millis) -> ExportAnswer {
    let mut devices: Vec<_> = export.sessions.iter().filter_map(|s| s.device).collect();
    devices.sort();
    devices.dedup();
    let fan = |(show_id, registered_at)| ExportedFan {
        show_id,
        registered_at,
    };
    let pass = |(show_id, pass): (ShowId, onsale_domain::room::opaque::PassId)| ExportedPass {
        show_id,
        pass_id: pass.to_string(),
    };
    let transfers = export.transfers.into_iter().map(|one| transfer(one, now));
    ExportAnswer {
        exported_at: now,
        account: export.account.map(account),
        staff: export.staff.map(staff),
        sessions: export.sessions.iter().map(session).collect(),
        devices,
        orders: export.orders.into_iter().map(order).collect(),
        received_tickets: export.received.into_iter().map(gift).collect(),
        holds: export.holds.into_iter().map(hold).collect(),
        passes: export.passes.into_iter().map(pass).collect(),
        fan_registrations: export.fan_registrations.into_iter().map(fan).collect(),
        waitlists: export.waitlists.into_iter().map(wait).collect(),
        transfers: transfers.collect(),
        next_cursor: export.next.map(Cursor::encoded),
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExportQuery {
    #[param(inline, value_type = Option<Cursor>)]
    cursor: Option<Cursor>,
}

/// Export what is stored about me
///
/// A file of JSON. Most people get all of it at once; when there is more, the file has a
/// `next_cursor`. It has no password, no token and no code of a ticket: codes come with
/// the tickets. Mails are not in it, since you have them; nor are the venues and events of
/// an organiser, which `GET /api/v1/events?mine=true` lists.
#[utoipa::path(
    get,
    path = "/api/v1/me/export",
    operation_id = "export_account",
    security(("session" = [])),
    params(ExportQuery),
    responses((status = 200, description = "What is stored about you.", body = ExportAnswer))
)]
pub(crate) async fn export(
    State(api): State<Api>,
    LoggedIn(caller): LoggedIn,
    Query(query): Query<ExportQuery>,
) -> Result<impl IntoResponse, Problem> {
    let cursor = query.cursor.as_ref().map(|cursor| cursor.0.as_str());
    let export = api.app.export_account(&caller, cursor).await?;
    let headers = AppendHeaders([
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"onsale-export.json\"",
        ),
        (header::CACHE_CONTROL, "private, no-store"),
    ]);
    Ok((headers, axum::Json(answer(export, api.app.now()))))
}
