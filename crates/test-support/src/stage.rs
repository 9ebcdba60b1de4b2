//! A small show on any store, for tests: one venue, one show on sale, any number of
//! buyers with open sessions.

use onsale_app::ports::{Session, ShowNotes, Stored, Versioned};
use onsale_app::{App, Caller};
use onsale_domain::account::Role;
use onsale_domain::event::{Event, ShowSummary};
use onsale_domain::ids::{AccountId, EventId, SessionId, ShowId, VenueId};
use onsale_domain::layout::{Layout, SectionSpec, SectionSpecKind};
use onsale_domain::map::SeatMap;
use onsale_domain::money::{Cents, Currency};
use onsale_domain::pricing::Pricing;
use onsale_domain::room::opaque::PassId;
use onsale_domain::room::pass::PassClaims;
use onsale_domain::show::{Room, RoomMode, Show, StoredStatus, default_refund_policy};
use onsale_domain::venue::Venue;

/// How the show of a stage differs from the default.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Seats of each row of section A.
    pub rows: Vec<u16>,
    /// The ids of its accessible seats.
    pub accessible: Vec<String>,
    /// Places of the general section `Floor`; 0 for none.
    pub floor: u32,
    pub cap: u32,
    pub hold_seconds: u32,
    /// The price of every place.
    pub price: u64,
    pub room: RoomMode,
    pub pricing: Pricing,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            rows: vec![20, 40],
            accessible: vec![],
            floor: 100,
            cap: 6,
            hold_seconds: 600,
            price: 4_500,
            room: RoomMode::Off,
            pricing: Pricing::Fixed,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Stage {
    pub app: App,
    pub show: Show,
    pub layout: Layout,
}

impl Stage {
    pub async fn set(app: &App, plan: &Plan) -> Stored<Self> {
        let mut entropy = [0u8; 10];
        app.entropy.fill(&mut entropy);
        let owner = AccountId::new(app.now(), entropy);
        Self::set_for(app, plan, owner).await
    }

    /// The same for an organiser who has an account.
    pub async fn set_for(app: &App, plan: &Plan, owner: AccountId) -> Stored<Self> {
        let now = app.now();
        let entropy = || {
            let mut bytes = [0u8; 10];
            app.entropy.fill(&mut bytes);
            bytes
        };
        let layout = layout(plan);
        let venue = Venue {
            id: VenueId::new(now, entropy()),
            owner,
            name: "Stage".into(),
            city: "Test".into(),
            address: None,
            timezone: "UTC".into(),
            location: None,
            places: layout.places(),
            created: now,
        };
        let prices = layout
            .sections()
            .iter()
            .map(|s| (s.name.clone(), Cents(plan.price)))
            .collect();
        let mut event = Event {
            id: EventId::new(now, entropy()),
            owner,
            title: "Rehearsal".into(),
            description: None,
            category: "test".into(),
            venue_id: venue.id,
            venue: venue.name.clone(),
            city: venue.city.clone(),
            location: None,
            timezone: Some(venue.timezone.clone()),
            poster_url: None,
            shows: vec![],
            created: now,
        };
        let show = Show {
            id: ShowId::new(now, entropy()),
            event_id: event.id,
            venue_id: venue.id,
            owner,
            starts_at: now + 30 * 24 * 3_600_000,
            on_sale_at: None,
            currency: Currency::parse("EUR").unwrap_or_else(|| unreachable!("EUR is a currency")),
            prices,
            pricing: plan.pricing,
            hold_seconds: plan.hold_seconds,
            max_tickets_per_buyer: plan.cap,
            refund_policy: default_refund_policy(),
            room: Room {
                mode: plan.room,
                ..Room::default()
            },
            overbook_percent: 0,
            status: StoredStatus::OnSale,
            created: now,
            waitlist: Default::default(),
        };
        app.store.create_venue(&venue, &layout, None).await?;
        app.store.create_event(&event, None).await?;
        event.put_show(ShowSummary::of(&show));
        let versioned = Versioned {
            version: 1,
            value: event,
        };
        app.store
            .create_show(&show, &versioned, None, ShowNotes::default())
            .await?;
        let map = SeatMap::build(&layout, std::iter::empty(), now.saturating_sub(60_000));
        app.store
            .put_map(show.id, &map, show.forgotten_at())
            .await?;
        Ok(Self {
            app: app.clone(),
            show,
            layout,
        })
    }

    /// A buyer with an open session.
    pub async fn buyer(&self, n: u8) -> Stored<Caller> {
        let mut entropy = [n; 10];
        self.app.entropy.fill(&mut entropy[..8]);
        let account = AccountId::new(self.app.now(), entropy);
        self.logged_in(account, Role::Buyer).await
    }

    /// A pass of the show's waiting room, good for five minutes.
    pub fn pass(&self, n: u8) -> PassClaims {
        let now = self.app.now();
        PassClaims {
            pass: PassId([n; 16]),
            show: self.show.id,
            issued: now,
            expires: now + 300_000,
            key_id: "stage".to_owned(),
        }
    }

    /// The organiser of the show, with an open session.
    pub async fn organiser(&self) -> Stored<Caller> {
        self.logged_in(self.show.owner, Role::Organiser).await
    }

    async fn logged_in(&self, account: AccountId, role: Role) -> Stored<Caller> {
        let now = self.app.now();
        let mut entropy = [0u8; 10];
        self.app.entropy.fill(&mut entropy);
        let caller = Caller {
            account,
            session: SessionId::new(now, entropy),
            role,
        };
        let session = Session {
            id: caller.session,
            account: caller.account,
            opened: now,
            expires: now + 60 * 24 * 3_600_000,
            epoch: 0,
            device: None,
        };
        self.app.store.open_session(&session).await?;
        Ok(caller)
    }
}

fn layout(plan: &Plan) -> Layout {
    let section = |name: &str, kind| SectionSpec {
        name: name.into(),
        kind,
        ..SectionSpec::default()
    };
    let rows = plan
        .rows
        .iter()
        .enumerate()
        .map(|(i, seats)| ((i + 1).to_string(), (1..=*seats).collect()))
        .collect();
    let mut sections = vec![SectionSpec {
        accessible: plan.accessible.clone(),
        ..section("A", SectionSpecKind::Seated(rows))
    }];
    if plan.floor > 0 {
        sections.push(section("Floor", SectionSpecKind::General(plan.floor)));
    }
    Layout::build(sections, None).unwrap_or_else(|error| panic!("the plan is no layout: {error}"))
}
