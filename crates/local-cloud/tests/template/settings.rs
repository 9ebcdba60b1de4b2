//! What the stack can be told, and what counts where nobody tells it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::reading::{Template, at, points_to, texts};

const LIMITS: &str = include_str!("../../../http/src/limits.rs");
/// What the code takes for the value of a limit.
const RANGE: (u64, u64) = (1, 1_000_000);

/// Units a second that an on-demand table, and each of its indexes, takes without being told, and
/// the condition under which it is told. Read units follow write units.
const NEW_TABLE: [(&str, u64, Option<&str>); 3] = [
    ("WarmWriteUnits", 4_000, Some("WithWarmTable")),
    ("WarmIndexWriteUnits", 4_000, Some("WithWarmIndexes")),
    ("WarmReadUnits", 12_000, None),
];

/// Every limit that the code reads from its environment is a parameter, with the value that the
/// code has by itself.
pub fn limits(template: &Template) -> Vec<String> {
    let mut problems = Vec::new();
    let variables = variables(template);
    for (name, usual) in limits_of_the_code() {
        let told = variables.get(name).copied().and_then(points_to);
        let Some(parameter) = told else {
            problems.push(format!("{name}: the stack cannot be told"));
            continue;
        };
        let parameter = &template.0["Parameters"][parameter.as_str()];
        let says = |part: &str| parameter[part].as_u64();
        if says("Default") != Some(usual) {
            problems.push(format!("{name}: the code has {usual} by itself"));
        }
        if (says("MinValue"), says("MaxValue")) != (Some(RANGE.0), Some(RANGE.1)) {
            problems.push(format!("{name}: functions would not start with it"));
        }
    }
    problems
}

/// The calls of the code that name a setting, and its usual value.
fn limits_of_the_code() -> Vec<(&'static str, u64)> {
    let calls = LIMITS.split("limiter(\"").skip(1);
    let read = calls.map(|call| {
        let mut parts = call.split(',');
        let name = parts.next().unwrap().trim_end_matches('"');
        let usual = parts.next().unwrap().trim().replace('_', "");
        (name, usual.parse::<u64>().unwrap())
    });
    let read: Vec<_> = read.collect();
    assert!(!read.is_empty(), "limits are read in another way");
    read
}

/// What functions find in their environment, those of all of them together.
fn variables(template: &Template) -> BTreeMap<&str, &Value> {
    let functions = template.functions();
    let own = functions.iter().map(|f| f.at("Environment.Variables"));
    let globals = at(&template.0, "Globals.Function.Environment.Variables");
    let all = own.chain([globals]).filter_map(Value::as_object);
    all.flatten().map(|(n, v)| (n.as_str(), v)).collect()
}

/// A token that somebody solved on another site is worth nothing here, though the same secret
/// belongs to both.
pub fn captchas(template: &Template) -> Vec<String> {
    let mut problems = Vec::new();
    for function in template.functions() {
        let variables = function.at("Environment.Variables");
        let asks = variables.get("CAPTCHA_SECRET").is_some();
        if asks && !texts(&variables["CAPTCHA_HOSTNAME"]).contains(&"DomainName") {
            problems.push(format!("{}: takes the tokens of any site", function.id));
        }
    }
    problems
}

/// Throughput is only ever raised: less than a new table has is a mistake, and refused before
/// anything is changed.
pub fn warm_throughput(template: &Template) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, units, condition) in NEW_TABLE {
        let parameter = &template.0["Parameters"][name];
        for part in ["MinValue", "Default"] {
            if parameter[part].as_u64() != Some(units) {
                problems.push(format!("{name}: {part} is not {units}"));
            }
        }
        let raised = json!({ "Fn::Not": [{ "Fn::Equals": [{ "Ref": name }, units] }] });
        let wrong = condition.filter(|c| template.0["Conditions"][*c] != raised);
        problems.extend(wrong.map(|c| format!("{c}: not where {name} is raised")));
    }
    problems
}
