//! An order in an answer.

use axum::extract::State;
use onsale_domain::ids::{OrderId, ShowId, TicketId};
use onsale_domain::money::Money;
use onsale_domain::order::{Order, OrderStatus, RefundTerms};
use onsale_domain::payment::Action;
use onsale_domain::resale::Resold;
use onsale_domain::time::Millis;
use onsale_http::schemas::{
    MoneyValue, OrderIdText, RefundStepValue, ShowIdText, TicketIdText, Timestamp,
};
use onsale_http::{Api, Authenticated, List, PageQuery, Path, Problem, Query};
use serde::Serialize;
use utoipa::ToSchema;

use crate::cancel::CancelAnswer;

/// `cancelled` has ended without a refund; `failed` could not be completed, and nothing
/// was charged.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = OrderStatus)]
pub(crate) enum StatusText {
    Pending,
    RequiresAction,
    Authorised,
    Confirmed,
    Declined,
    Cancelling,
    Cancelled,
    Refunded,
    Failed,
    Stuck,
}

impl From<OrderStatus> for StatusText {
    fn from(status: OrderStatus) -> Self {
        match status {
            OrderStatus::Pending => Self::Pending,
            OrderStatus::RequiresAction => Self::RequiresAction,
            OrderStatus::Authorised => Self::Authorised,
            OrderStatus::Confirmed => Self::Confirmed,
            OrderStatus::Declined => Self::Declined,
            OrderStatus::Cancelling => Self::Cancelling,
            OrderStatus::Cancelled => Self::Cancelled,
            OrderStatus::Refunded => Self::Refunded,
            OrderStatus::Failed => Self::Failed,
            OrderStatus::Stuck => Self::Stuck,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OrderedSeat {
    #[schema(examples("A-12-7"))]
    seat: String,
    #[schema(value_type = MoneyValue)]
    price: Money,
}

/// A place of this order that somebody else has now.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ResoldSeat {
    #[schema(examples("A-12-7"))]
    seat: String,
    #[schema(value_type = TicketIdText)]
    ticket_id: TicketId,
    #[schema(value_type = MoneyValue)]
    refund: Money,
    #[schema(value_type = Timestamp)]
    resold_at: Millis,
    /// Whether the money was sent back.
    refunded: bool,
}

impl ResoldSeat {
    fn of(resold: &Resold, order: &Order) -> Option<Self> {
        let seat = order.seats.iter().find(|s| s.place == resold.place)?;
        Some(Self {
            seat: seat.seat.clone(),
            ticket_id: resold.ticket,
            refund: Money {
                amount: resold.price,
                currency: order.currency,
            },
            resold_at: resold.at,
            refunded: resold.repaid,
        })
    }
}

/// What the buyer has to do before the payment goes on.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OrderAction)]
pub(crate) struct ActionView {
    /// `redirect`: visit `url`, which leads back to the order's page; `use_sdk`: hand
    /// `client_secret` to `handleNextAction` of Stripe's script; then POST to
    /// `confirm-action` of the order. `confirm_in_sandbox`: POST to `url`.
    #[schema(value_type = ActionKind)]
    r#type: ActionKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    client_secret: Option<String>,
}

#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = OrderActionKind)]
pub(crate) enum ActionKind {
    Redirect,
    UseSdk,
    ConfirmInSandbox,
}

impl ActionView {
    fn of(action: Action, order: OrderId) -> Self {
        let (r#type, url, client_secret) = match action {
            Action::Redirect { url } => (ActionKind::Redirect, Some(url), None),
            Action::UseSdk { client_secret } => (ActionKind::UseSdk, None, Some(client_secret)),
            Action::ConfirmInSandbox => {
                let url = format!("/api/v1/orders/{order}/confirm-action");
                (ActionKind::ConfirmInSandbox, Some(url), None)
            }
        };
        Self {
            r#type,
            url,
            client_secret,
        }
    }
}

/// The refund policy of the show and its start as they were when this was sold. Whoever
/// cancels gets back what these give, by the later of the two starts, or what those of
/// today give, whichever is more.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RefundTerms)]
pub(crate) struct TermsView {
    refund_policy: Vec<RefundStepValue>,
    #[schema(value_type = Timestamp)]
    starts_at: Millis,
}

impl From<RefundTerms> for TermsView {
    fn from(terms: RefundTerms) -> Self {
        Self {
            refund_policy: terms.policy.into_iter().map(Into::into).collect(),
            starts_at: terms.starts_at,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Order)]
pub(crate) struct OrderView {
    #[schema(value_type = OrderIdText)]
    order_id: OrderId,
    /// What people call it: to be read out, and no key.
    #[schema(min_length = 10, max_length = 10, examples("K7M4-2PQXR"))]
    number: String,
    #[schema(value_type = ShowIdText)]
    show_id: ShowId,
    status: StatusText,
    #[schema(value_type = MoneyValue)]
    total: Money,
    seats: Vec<OrderedSeat>,
    /// Empty until the order is confirmed.
    #[schema(value_type = Vec<TicketIdText>)]
    tickets: Vec<TicketId>,
    /// Places that were put back and have a new owner.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    resold: Vec<ResoldSeat>,
    /// What goes back to the buyer, once that is decided; for places that were resold, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<MoneyValue>)]
    refund: Option<Money>,
    /// What cancelling would answer at this moment; left out where it would be refused, where
    /// the order was cancelled before, and in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    refund_if_cancelled_now: Option<CancelAnswer>,
    /// Left out once the order is cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sold_under: Option<TermsView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    action: Option<ActionView>,
    /// Why it was declined, failed or was cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reason: Option<String>,
    /// Until when a declined order can be paid in another way.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Timestamp>)]
    pay_until: Option<Millis>,
    #[schema(value_type = Timestamp)]
    created_at: Millis,
}

impl From<Order> for OrderView {
    fn from(order: Order) -> Self {
        let status = order.status();
        let refusal = order.attempts.last().and_then(|a| a.refusal.clone());
        let reason = match (&order.undo, status) {
            (Some(undo), _) => Some(undo.why.as_str().to_owned()),
            (None, OrderStatus::Declined) => refusal,
            (None, _) => None,
        };
        let waits = matches!(
            status,
            OrderStatus::Pending | OrderStatus::RequiresAction | OrderStatus::Declined
        );
        let money = |amount| Money {
            amount,
            currency: order.currency,
        };
        let seat = |s: &onsale_domain::order::OrderedSeat| OrderedSeat {
            seat: s.seat.clone(),
            price: money(s.price),
        };
        Self {
            order_id: order.id,
            number: order.number().to_string(),
            show_id: order.show_id,
            status: status.into(),
            total: order.total(),
            seats: order.seats.iter().map(seat).collect(),
            tickets: match order.has_tickets() {
                true => order.ticket_ids(),
                false => Vec::new(),
            },
            resold: order
                .resold
                .iter()
                .filter_map(|r| ResoldSeat::of(r, &order))
                .collect(),
            refund: order.given_back(),
            refund_if_cancelled_now: None,
            sold_under: order.terms.map(TermsView::from),
            reason,
            pay_until: waits.then_some(order.pay_until),
            created_at: order.created,
            action: order.action.map(|a| ActionView::of(a, order.id)),
        }
    }
}

/// Read an order
#[utoipa::path(
    get,
    path = "/api/v1/orders/{order}",
    operation_id = "read_order",
    params(("order" = OrderIdText, Path)),
    responses((status = 200, description = "The order.", body = OrderView)),
    security(("session" = [])),
)]
pub(crate) async fn read(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path(order): Path<OrderId>,
) -> Result<axum::Json<OrderView>, Problem> {
    let order = api.app.order(&caller, order).await?;
    let refund = api.app.refund_if_cancelled(&order).await?;
    Ok(axum::Json(OrderView {
        refund_if_cancelled_now: refund.map(CancelAnswer::from),
        ..order.into()
    }))
}

/// The place in the list: a time, and the order that was listed last.
fn read_cursor(text: &str) -> Result<&str, Problem> {
    let is_place = text.split_once('#').is_some_and(|(time, id)| {
        let digits = !time.is_empty() && time.bytes().all(|b| b.is_ascii_digit());
        digits && id.parse::<OrderId>().is_ok()
    });
    match is_place {
        true => Ok(text),
        false => Err(Problem::invalid("cursor: not one of this list")),
    }
}

/// List my orders, newest first
#[utoipa::path(
    get,
    path = "/api/v1/orders",
    operation_id = "list_orders",
    params(PageQuery),
    responses((status = 200, description = "One page.", body = List<OrderView>)),
    security(("session" = [])),
)]
pub(crate) async fn list(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Query(query): Query<PageQuery>,
) -> Result<axum::Json<List<OrderView>>, Problem> {
    let after = query.after().map(read_cursor).transpose()?;
    let page = api.app.orders(&caller, after, query.limit.0).await?;
    Ok(axum::Json(List::from_page(page, OrderView::from)))
}
