//! How what the stack is told can differ from what the code and DynamoDB take.

use serde_json::json;

use super::Change;

pub const BREACHES: &[(&str, &str, Change)] = &[
    (
        "limits are those of the code",
        "ONSALE_GATE_REQUESTS_PER_MINUTE: the stack cannot be told",
        |t| {
            let variable = "Properties.Environment.Variables.ONSALE_GATE_REQUESTS_PER_MINUTE";
            t.remove("TicketsFunction", variable);
        },
    ),
    (
        "limits are those of the code",
        "ONSALE_REQUESTS_PER_MINUTE: the code has 100",
        |t| t.0["Parameters"]["RequestsPerMinute"]["Default"] = json!(60),
    ),
    (
        "limits are those of the code",
        "ONSALE_LOG_INS_PER_QUARTER_HOUR: functions would not start",
        |t| t.0["Parameters"]["LogInsPerQuarterHour"]["MinValue"] = json!(0),
    ),
    (
        "a CAPTCHA counts on one site",
        "CheckoutFunction: takes the tokens of any site",
        |t| {
            let variable = "Properties.Environment.Variables.CAPTCHA_HOSTNAME";
            t.remove("CheckoutFunction", variable);
        },
    ),
    (
        "a CAPTCHA counts on one site",
        "HoldsFunction: takes the tokens of any site",
        |t| {
            let variable = "Properties.Environment.Variables.CAPTCHA_HOSTNAME";
            let unset = json!({ "Ref": "CaptchaHostname" });
            t.set("HoldsFunction", variable, unset);
        },
    ),
    (
        "warm throughput is what a new table has, or more",
        "WarmWriteUnits: MinValue is not 4000",
        |t| t.0["Parameters"]["WarmWriteUnits"]["MinValue"] = json!(0),
    ),
    (
        "warm throughput is what a new table has, or more",
        "WarmReadUnits: Default is not 12000",
        |t| t.0["Parameters"]["WarmReadUnits"]["Default"] = json!(24_000),
    ),
    (
        "warm throughput is what a new table has, or more",
        "WithWarmIndexes: not where WarmIndexWriteUnits is raised",
        |t| {
            let always = json!({ "Fn::Not": [{ "Fn::Equals": ["", "on"] }] });
            t.0["Conditions"]["WithWarmIndexes"] = always;
        },
    ),
];
