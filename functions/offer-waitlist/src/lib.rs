//! `offer-waitlist`: offers places that came back to those who wait for them.
//!
//! A message only says where to look; what there is to do is read from the store. It
//! comes from whoever gave places back, or from the bus.

use onsale_app::App;
use onsale_app::ports::OfferPlaces;
use onsale_consume::{Delivery, each_message};
use onsale_domain::announcement::{Announcement, News};
use onsale_domain::ids::ShowId;
use onsale_domain::waitlist::OFFER_MS;
use serde::Deserialize;

/// The setting of how long an offer can be taken, in seconds.
pub const OFFER_SECONDS: &str = "ONSALE_OFFER_SECONDS";
/// Half an hour unless told; a week is more than anybody keeps a place for another.
const OFFER_SECONDS_RANGE: std::ops::RangeInclusive<u64> = 2..=604_800;

/// How long offers can be taken, in milliseconds, from the value of the setting.
pub fn offer_ms(setting: Option<&str>) -> Result<u64, String> {
    let Some(text) = setting.filter(|text| !text.is_empty()) else {
        return Ok(OFFER_MS);
    };
    match text.parse() {
        Ok(seconds) if OFFER_SECONDS_RANGE.contains(&seconds) => Ok(seconds * 1_000),
        _ => Err(format!("{OFFER_SECONDS} must be a number from 2 to 604800")),
    }
}

pub async fn handle(app: &App, offer_ms: u64, batch: Vec<Delivery>) -> Vec<String> {
    each_message(batch, |message| look(app, offer_ms, message)).await
}

async fn look(app: &App, offer_ms: u64, message: Message) -> Result<(), String> {
    let message = match message {
        Message::Asked(asked) => asked,
        Message::Announced { detail } => match show_of(&detail.news) {
            // What was announced has happened by now, whenever that was.
            Some(show_id) => OfferPlaces {
                show_id,
                since: app.now(),
            },
            None => return Ok(()),
        },
    };
    let outcome = app.offer_places_for(&message, offer_ms).await;
    let outcome = outcome.map_err(|error| error.to_string())?;
    tracing::debug!(show = %message.show_id, ?outcome, "waitlist");
    Ok(())
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Message {
    Asked(OfferPlaces),
    /// An event of the bus, in its envelope.
    Announced {
        detail: Announcement,
    },
}

/// The show in which an announcement may have something to offer, or to end.
fn show_of(news: &News) -> Option<ShowId> {
    match news {
        News::SeatsReturned { show_id, .. } | News::ShowCancelled { show_id, .. } => Some(*show_id),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_lasts_half_an_hour_or_as_long_as_the_setting_says() {
        assert_eq!(offer_ms(None), Ok(1_800_000));
        assert_eq!(offer_ms(Some("")), Ok(1_800_000));
        assert_eq!(offer_ms(Some("90")), Ok(90_000));
        for wrong in ["1", "604801", "-5", "soon"] {
            assert!(offer_ms(Some(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_message_comes_from_us_or_from_the_bus() {
        let show = "shw_0192f0c1a2b37c4d8e5f60718293a4b6";
        let asked = format!(r#"{{"show_id":"{show}","since":"2027-03-01T09:00:05Z"}}"#);
        assert!(matches!(
            serde_json::from_str(&asked),
            Ok(Message::Asked(_))
        ));
        let returned = format!(
            r#"{{"version":"0","detail-type":"SeatsReturned","detail":{{"version":1,
            "id":"SeatsReturned:x","at":"2027-03-01T09:00:05Z","type":"SeatsReturned","data":
            {{"order_id":"ord_0192f0c1a2b37c4d8e5f60718293a4b5","show_id":"{show}","seats":[]}}}}}}"#
        );
        let Ok(Message::Announced { detail }) = serde_json::from_str(&returned) else {
            panic!("an event of the bus is not understood");
        };
        assert_eq!(show_of(&detail.news).unwrap().to_string(), show);
    }
}
