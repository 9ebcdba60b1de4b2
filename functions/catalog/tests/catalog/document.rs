//! What the OpenAPI document says of the limits.

use super::*;

#[test]
fn the_document_states_the_limits_of_the_code() {
    let (_, document) = openapi::finish(catalog::router(), "catalog");
    let document = serde_json::to_value(document).unwrap();
    let limit = |pointer: &str| {
        let found = document.pointer(&format!("/components/schemas/{pointer}"));
        found
            .and_then(Value::as_u64)
            .unwrap_or_else(|| panic!("{pointer} is missing"))
    };
    for (pointer, value) in [
        (
            "NewVenue/properties/name/maxLength",
            venues::MAX_VENUE_NAME_CHARS as u64,
        ),
        (
            "NewVenue/properties/city/maxLength",
            venues::MAX_CITY_CHARS as u64,
        ),
        (
            "NewVenue/properties/address/maxLength",
            venues::MAX_ADDRESS_CHARS as u64,
        ),
        (
            "NewVenue/properties/sections/maxItems",
            layout::MAX_SECTIONS as u64,
        ),
        (
            "SeatedSection/properties/rows/maxItems",
            layout::MAX_ROWS as u64,
        ),
        ("Seats/oneOf/0/maximum", layout::MAX_ROW_SEATS as u64),
        ("Seats/oneOf/1/maxItems", layout::MAX_ROW_SEATS as u64),
        (
            "GeneralSection/properties/capacity/maximum",
            layout::MAX_PLACES as u64,
        ),
        (
            "NewEvent/properties/title/maxLength",
            events::MAX_TITLE_CHARS as u64,
        ),
        (
            "NewEvent/properties/description/maxLength",
            events::MAX_DESCRIPTION_CHARS as u64,
        ),
        (
            "NewEvent/properties/category/maxLength",
            events::MAX_CATEGORY_CHARS as u64,
        ),
        (
            "NewEvent/properties/poster_url/maxLength",
            events::MAX_URL_CHARS as u64,
        ),
        (
            "EventChange/properties/title/maxLength",
            events::MAX_TITLE_CHARS as u64,
        ),
        (
            "EventChange/properties/poster_url/maxLength",
            events::MAX_URL_CHARS as u64,
        ),
        (
            "NewShow/properties/hold_seconds/minimum",
            (*show::HOLD_SECONDS.start()).into(),
        ),
        (
            "NewShow/properties/hold_seconds/maximum",
            (*show::HOLD_SECONDS.end()).into(),
        ),
        (
            "NewShow/properties/hold_seconds/default",
            show::DEFAULT_HOLD_SECONDS.into(),
        ),
        (
            "NewShow/properties/overbook_percent/maximum",
            layout::MAX_OVERBOOK_PERCENT.into(),
        ),
        (
            "NewShow/properties/refund_policy/maxItems",
            show::MAX_REFUND_STEPS as u64,
        ),
        (
            "NewShow/properties/max_tickets_per_buyer/maximum",
            (*show::TICKETS_PER_BUYER.end()).into(),
        ),
        (
            "NewShow/properties/max_tickets_per_buyer/default",
            show::DEFAULT_TICKETS_PER_BUYER.into(),
        ),
        (
            "ShowChange/properties/hold_seconds/maximum",
            (*show::HOLD_SECONDS.end()).into(),
        ),
        (
            "RefundStep/properties/hours_before/maximum",
            show::MAX_REFUND_HOURS.into(),
        ),
        (
            "RoomSettings/properties/capacity/maximum",
            (*show::ROOM_CAPACITY.end()).into(),
        ),
        (
            "RoomSettings/properties/rate_per_second/maximum",
            (*show::ROOM_RATE.end()).into(),
        ),
        (
            "RoomSettings/properties/pass_seconds/minimum",
            (*show::PASS_SECONDS.start()).into(),
        ),
        (
            "RoomSettings/properties/pass_seconds/maximum",
            (*show::PASS_SECONDS.end()).into(),
        ),
        ("Amount/maximum", money::MAX_PRICE.0),
    ] {
        assert_eq!(limit(pointer), value, "{pointer}");
    }
    for closed in [
        "NewVenue",
        "SeatedSection",
        "GeneralSection",
        "Row",
        "Location",
        "FocalPoint",
        "NewEvent",
        "EventChange",
        "NewShow",
        "ShowChange",
        "RoomSettings",
        "RefundStep",
    ] {
        let more = &document["components"]["schemas"][closed]["additionalProperties"];
        assert_eq!(*more, json!(false), "{closed}");
    }
}
