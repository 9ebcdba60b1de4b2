//! The settings of a waiting room in requests and answers: `catalog` takes them with a
//! show, `room` by themselves.

use onsale_app::shows::RoomChange;
use onsale_domain::room::beacon::{BeaconSetting, BeaconValue};
use onsale_domain::show::{Room, RoomMode, RoomOrder};
use onsale_domain::time::Millis;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::optional::present;
use crate::schemas::{RoomModeText, RoomOrderText, Timestamp};

/// The waiting room. What is left out or `null` has its default, or stays as it is;
/// `opens_at`, `beacon` and `message` are taken away by `null`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RoomSettings)]
pub struct RoomBody {
    #[schema(value_type = Option<RoomModeText>)]
    mode: Option<RoomMode>,
    #[schema(minimum = 1, maximum = 1_000_000)]
    capacity: Option<u32>,
    #[schema(minimum = 1, maximum = 100_000)]
    rate_per_second: Option<u32>,
    #[schema(value_type = Option<RoomOrderText>)]
    order: Option<RoomOrder>,
    /// When the lottery opens; with the sale unless told.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<Timestamp>)]
    opens_at: Option<Option<Millis>>,
    #[schema(minimum = 10, maximum = 900)]
    pass_seconds: Option<u32>,
    /// `null`: none.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<BeaconBody>)]
    beacon: Option<Option<BeaconBody>>,
    /// What those who wait read on their page; `null`: nothing.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 200)]
    message: Option<Option<String>>,
}

/// A public value that nobody knows yet, named in advance and entered once it is known.
/// It is mixed into the draw, and stays as it is from then on.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Beacon)]
pub struct BeaconBody {
    #[schema(
        min_length = 1,
        max_length = 100,
        example = "drand quicknet, round 14062912"
    )]
    name: String,
    /// 1 to 64 bytes in hexadecimal.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(nullable = false, value_type = Option<String>, pattern = "^([0-9a-fA-F]{2}){1,64}$")]
    value: Option<BeaconValue>,
}

impl From<BeaconBody> for BeaconSetting {
    fn from(body: BeaconBody) -> Self {
        Self {
            name: body.name,
            value: body.value,
        }
    }
}

impl From<&BeaconSetting> for BeaconBody {
    fn from(setting: &BeaconSetting) -> Self {
        Self {
            name: setting.name.clone(),
            value: setting.value.clone(),
        }
    }
}

impl From<RoomBody> for RoomChange {
    fn from(body: RoomBody) -> Self {
        Self {
            mode: body.mode,
            capacity: body.capacity,
            rate_per_second: body.rate_per_second,
            order: body.order,
            opens_at: body.opens_at,
            pass_seconds: body.pass_seconds,
            beacon: body.beacon.map(|beacon| beacon.map(BeaconSetting::from)),
            message: body.message,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Room)]
pub struct RoomAnswer {
    #[schema(value_type = RoomModeText)]
    mode: RoomMode,
    capacity: u32,
    rate_per_second: u32,
    #[schema(value_type = RoomOrderText)]
    order: RoomOrder,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Timestamp>)]
    opens_at: Option<Millis>,
    pass_seconds: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    beacon: Option<BeaconBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    message: Option<String>,
}

impl From<&Room> for RoomAnswer {
    fn from(room: &Room) -> Self {
        Self {
            mode: room.mode,
            capacity: room.capacity,
            rate_per_second: room.rate_per_second,
            order: room.order,
            opens_at: room.opens_at,
            pass_seconds: room.pass_seconds,
            beacon: room.beacon.as_ref().map(BeaconBody::from),
            message: room.message.clone(),
        }
    }
}
