//! A challenge for whoever wants to join.

use http::StatusCode;
use onsale_domain::ids::VisitorId;
use onsale_domain::room::difficulty::{Suspicion, cost};
use onsale_domain::room::joining;
use onsale_domain::time::Millis;
use onsale_domain::work;

use super::{Asked, VISITOR_COOKIE};
use crate::answer::{Answer, Cookie, Problem, bytes, cookie, set_cookie};
use crate::host::Host;
use crate::objects::controller::Bulletin;

const VISITOR_SECONDS: u64 = 365 * 24 * 3_600;

impl<H: Host> Asked<'_, H> {
    pub(super) async fn challenge(&self) -> Result<Answer, Problem> {
        let view = self.edge.view(self.host, self.show).await?;
        check_open(&view.bulletin, self.now)?;
        let (visitor, known) = self.visitor();
        let suspicion = match self.edge.limits.is_usual(self.address, self.now) {
            true => known,
            false => known.max(Suspicion::Unusual),
        };
        let published = &view.bulletin.published;
        let cost = cost(
            published.arrivals_per_second,
            published.rate_per_second,
            suspicion,
        );
        let terms = joining::terms(self.show, visitor, self.now);
        let challenge = work::issue(&terms, cost, &self.random(), &self.edge.secrets.work);
        let mut answer = bytes(StatusCode::OK, "application/json", challenge.to_json());
        self.name_visitor(&mut answer, visitor, known);
        Ok(answer)
    }

    /// Who asks, and what is known against them; somebody new when nobody is known.
    pub(super) fn visitor(&self) -> (VisitorId, Suspicion) {
        let sent = cookie(self.headers(), VISITOR_COOKIE);
        sent.and_then(|text| self.edge.secrets.room.read_visitor(text))
            .unwrap_or_else(|| {
                let named = VisitorId::from_bytes(self.random());
                (named, Suspicion::Nothing)
            })
    }

    pub(super) fn known_visitor(&self) -> Option<VisitorId> {
        let sent = cookie(self.headers(), VISITOR_COOKIE)?;
        let (visitor, _) = self.edge.secrets.room.read_visitor(sent)?;
        Some(visitor)
    }

    pub(super) fn name_visitor(
        &self,
        answer: &mut Answer,
        visitor: VisitorId,
        suspicion: Suspicion,
    ) {
        let text = self.edge.secrets.room.visitor_text(visitor, suspicion);
        let cookie = Cookie {
            name: VISITOR_COOKIE,
            value: &text,
            path: "/",
            max_age_s: VISITOR_SECONDS,
        };
        set_cookie(answer, &cookie, self.request.uri());
    }

    pub(super) fn random<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.host.fill(&mut bytes);
        bytes
    }
}

/// Nobody works for a line that does not move any more.
pub(super) fn check_open(bulletin: &Bulletin, now: Millis) -> Result<(), Problem> {
    let published = &bulletin.published;
    if published.is_over(now) {
        return Err(Problem::conflict("The waiting room is closed.").with("state", "closed"));
    }
    if published.sold_out {
        return Err(Problem::conflict(
            "The show is sold out. Join the waitlist to be offered what comes back.",
        )
        .with("state", "sold_out"));
    }
    Ok(())
}
