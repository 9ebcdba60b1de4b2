//! What a show has sold, to the second.

use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::response::IntoResponse;
use onsale_app::sales::SalesView;
use onsale_domain::ids::ShowId;
use onsale_domain::layout::Section;
use onsale_domain::map::Counts;
use onsale_domain::money::{Cents, Currency, Money};
use onsale_domain::sales::{Figures, RoomFigures};
use onsale_domain::show::RoomMode;
use onsale_domain::time::Millis;
use onsale_http::schemas::{MoneyValue, RoomModeText, ShowIdText, Timestamp};
use onsale_http::{Api, Organiser, Path, Problem};
use serde::Serialize;
use utoipa::ToSchema;

/// Figures of the edge that are older tell of a room that nobody is in.
const FIGURES_COUNT_MS: u64 = 60_000;

/// Money that was taken and money that was paid back.
#[derive(Debug, Serialize, ToSchema)]
struct Takings {
    /// What stays: `gross` without `refunds`.
    #[schema(value_type = MoneyValue)]
    revenue: Money,
    #[schema(value_type = MoneyValue)]
    gross: Money,
    #[schema(value_type = MoneyValue)]
    refunds: Money,
}

impl Takings {
    fn new(figures: &Figures, currency: Currency) -> Self {
        Self {
            revenue: money(figures.net(), currency),
            gross: money(figures.gross, currency),
            refunds: money(figures.refunds, currency),
        }
    }
}

fn money(amount: Cents, currency: Currency) -> Money {
    Money { amount, currency }
}

#[derive(Debug, Serialize, ToSchema)]
struct SectionSales {
    name: String,
    free: u32,
    held: u32,
    sold: u32,
    total: u32,
    #[serde(flatten)]
    takings: Takings,
}

#[derive(Debug, Serialize, ToSchema)]
struct MinuteSales {
    /// When the minute began.
    #[schema(value_type = Timestamp)]
    minute: Millis,
    /// Tickets that were sold, and tickets that came back.
    tickets: u64,
    returned: u64,
    /// What was taken in this minute; what was paid back in it stands beside.
    #[schema(value_type = MoneyValue)]
    revenue: Money,
    #[schema(value_type = MoneyValue)]
    refunds: Money,
}

/// The people in the waiting room, some seconds ago.
#[derive(Debug, Serialize, ToSchema)]
struct RoomSales {
    #[schema(value_type = RoomModeText)]
    mode: RoomMode,
    waiting: u64,
    /// Passes that are good now.
    admitted: u64,
    /// How many are let in a second.
    rate: u32,
}

/// What a show has sold. Places are counted as in the availability.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SalesAnswer {
    #[schema(value_type = ShowIdText)]
    show_id: ShowId,
    free: u32,
    held: u32,
    sold: u32,
    total: u32,
    #[serde(flatten)]
    takings: Takings,
    by_section: Vec<SectionSales>,
    /// The last 120 minutes in which anything was sold or came back, oldest first.
    by_minute: Vec<MinuteSales>,
    room: RoomSales,
}

impl From<&SalesView> for SalesAnswer {
    fn from(view: &SalesView) -> Self {
        let (sales, currency) = (&view.sales, view.show.currency);
        let section = |(section, counts): (&Section, &Counts)| {
            let figures = sales.sections.get(&section.name);
            SectionSales {
                name: section.name.clone(),
                free: counts.free,
                held: counts.held,
                sold: counts.sold,
                total: counts.total(),
                takings: Takings::new(&figures.copied().unwrap_or_default(), currency),
            }
        };
        let minute = |(minute, figures): (&Millis, &Figures)| MinuteSales {
            minute: *minute,
            tickets: figures.tickets,
            returned: figures.returned,
            revenue: money(figures.gross, currency),
            refunds: money(figures.refunds, currency),
        };
        let all = view.map.counts();
        let sections = view.layout.sections().iter().zip(&view.map.sections);
        Self {
            show_id: view.show.id,
            free: all.free,
            held: all.held,
            sold: all.sold,
            total: all.total(),
            takings: Takings::new(&sales.total(), currency),
            by_section: sections.map(section).collect(),
            by_minute: sales.minutes.iter().map(minute).collect(),
            room: room_of(view),
        }
    }
}

fn room_of(view: &SalesView) -> RoomSales {
    let room = &view.show.room;
    let counted = |figures: &RoomFigures| {
        room.mode != RoomMode::Off && view.at - figures.at < FIGURES_COUNT_MS
    };
    let figures = view.room.filter(counted);
    RoomSales {
        mode: room.mode,
        waiting: figures.map_or(0, |f| f.waiting),
        admitted: figures.map_or(0, |f| f.admitted),
        rate: figures.map_or(room.rate_per_second, |f| f.rate),
    }
}

/// Watch the sales of a show
///
/// For its organiser, about a second old. `GET /feed/{show}/sales` sends the same whenever
/// it changes, as an event stream.
#[utoipa::path(
    get,
    path = "/api/v1/shows/{show}/sales",
    operation_id = "read_sales",
    security(("session" = [])),
    params(("show" = ShowIdText, Path)),
    responses(
        (status = 200, description = "The sales", body = SalesAnswer),
        (status = 403, description = "The show belongs to another organiser."),
    )
)]
pub(crate) async fn read(
    State(api): State<Api>,
    Organiser(caller): Organiser,
    Path(show): Path<ShowId>,
) -> Result<impl IntoResponse, Problem> {
    let view = api.app.sales(&caller, show).await?;
    let answer = axum::Json(SalesAnswer::from(view.as_ref()));
    Ok(([(CACHE_CONTROL, "private, no-store")], answer))
}
