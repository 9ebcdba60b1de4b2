//! Makes the table of routes from the OpenAPI document.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use serde_json::Value;

const DOCUMENT: &str = "../docs/openapi.json";
const BODY: usize = 64 << 10;
/// A venue with all its seats, or a poster.
const LARGE_BODY: usize = 4 << 20;
/// What Stripe sends is its to decide; the function reads as much.
const WEBHOOK_BODY: usize = 256 << 10;
/// Longer than a function may take, and shorter than a client waits.
const TIMEOUT_MS: u64 = 15_000;

fn main() {
    println!("cargo:rerun-if-changed={DOCUMENT}");
    let text = fs::read_to_string(DOCUMENT).expect("docs/openapi.json can be read");
    let document: Value = serde_json::from_str(&text).expect("docs/openapi.json is JSON");
    let out = env::var("OUT_DIR").expect("cargo names the folder");
    fs::write(Path::new(&out).join("routes.rs"), routes(&document)).expect("the table is written");
}

fn routes(document: &Value) -> String {
    let paths = document["paths"].as_object().expect("paths are an object");
    let mut functions: BTreeMap<&str, &str> = BTreeMap::new();
    for (path, operations) in paths {
        for operation in operations.as_object().into_iter().flat_map(|o| o.values()) {
            let function = operation["x-function"].as_str();
            // What the edge answers by itself it forwards to nobody.
            let Some(function) = function.filter(|function| *function != "edge") else {
                continue;
            };
            let known = functions.insert(path, function);
            // The edge chooses by path, so that a wrong method is refused by its function.
            assert!(
                known.is_none_or(|known| known == function),
                "{path} is answered by two functions"
            );
        }
    }
    // Each function serves the document of its own part; the whole is the catalogue's.
    functions.entry("/api/v1/openapi.json").or_insert("catalog");
    let mut table = String::from("/// Every path of the API.\npub static ROUTES: &[Route] = &[\n");
    for (path, function) in functions {
        let segments: String = path[1..]
            .split('/')
            .map(|segment| match segment.starts_with('{') {
                true => "None, ".to_owned(),
                false => format!("Some({segment:?}), "),
            })
            .collect();
        let max_body = match path {
            "/api/v1/venues" | "/api/v1/events/{event}/poster" => LARGE_BODY,
            "/api/v1/payments/webhook" => WEBHOOK_BODY,
            _ => BODY,
        };
        writeln!(
            table,
            "    Route {{ path: &[{segments}], function: {function:?}, max_body: {max_body}, timeout_ms: {TIMEOUT_MS} }},"
        )
        .expect("a string can be written");
    }
    table + "];\n"
}
