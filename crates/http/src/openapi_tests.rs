//! What every operation has without saying so.

use axum::body::Body;
use axum::http::{Request, header};
use http_body_util::BodyExt;
use onsale_domain::time::Millis;
use onsale_test_support::MemoryWorld;
use serde_json::{Value, json};
use tower::ServiceExt;
use utoipa_axum::routes;

use super::*;
use crate::limits::Limits;
use crate::schemas::ShowIdText;
use crate::session::SessionSigner;
use crate::{OptionalKey, Path, RequiredKey, trace};

#[utoipa::path(get, path = "/shows/{show}", params(("show" = ShowIdText, Path)),
    security((), ("session" = [])), responses((status = 200, description = "A show.", body = String)))]
async fn read(Path(show): Path<onsale_domain::ids::ShowId>) -> String {
    show.to_string()
}

#[utoipa::path(post, path = "/shows/{show}", params(("show" = ShowIdText, Path), RequiredKey),
    security(("session" = [])), request_body = String,
    responses((status = 201, description = "Done."), (status = 409, description = "Too late.")))]
async fn change() {}

#[utoipa::path(post, path = "/open", params(OptionalKey), responses((status = 200, description = "Done.")))]
async fn open() {}

fn parts() -> (Router<Api>, Value) {
    let router = OpenApiRouter::default()
        .routes(routes!(read, change))
        .routes(routes!(open));
    let (router, document) = finish(router, "example");
    (router, serde_json::to_value(merge(vec![document])).unwrap())
}

fn statuses(operation: &Value) -> Vec<&str> {
    operation["responses"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn every_answer_is_documented_as_a_problem() {
    let (_, document) = parts();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["info"]["title"], "Onsale");
    let show = &document["paths"]["/shows/{show}"];
    assert_eq!(
        statuses(&show["get"]),
        ["200", "400", "401", "404", "405", "429", "500", "503"]
    );
    assert_eq!(
        statuses(&show["post"]),
        [
            "201", "400", "401", "403", "404", "405", "409", "413", "415", "429", "500", "503"
        ]
    );
    assert_eq!(
        statuses(&document["paths"]["/open"]["post"]),
        ["200", "400", "405", "429", "500", "503"]
    );
    let schema = json!({"$ref": "#/components/schemas/Problem"});
    for (status, response) in show["post"]["responses"].as_object().unwrap() {
        if status != "201" {
            assert_eq!(
                response["content"]["application/problem+json"]["schema"], schema,
                "{status}"
            );
        }
    }
    assert_eq!(show["post"]["responses"]["409"]["description"], "Too late.");
    assert!(show["get"]["responses"]["429"]["headers"]["Retry-After"].is_object());
}

#[test]
fn operations_name_their_function_and_who_may_call() {
    let (_, document) = parts();
    let show = &document["paths"]["/shows/{show}"];
    assert_eq!(show["get"]["x-function"], "example");
    assert_eq!(show["get"]["tags"], json!(["example"]));
    assert_eq!(
        show["get"]["security"],
        json!([{}, {"bearer": []}, {"cookie": []}])
    );
    assert_eq!(
        show["post"]["security"],
        json!([{"bearer": []}, {"cookie": []}])
    );
    let schemes = &document["components"]["securitySchemes"];
    assert_eq!(schemes["bearer"]["scheme"], "bearer");
    assert_eq!(schemes["cookie"]["name"], "onsale_session");
    let key = &show["post"]["parameters"][1];
    assert_eq!(
        (&key["name"], &key["required"]),
        (&json!("Idempotency-Key"), &json!(true))
    );
    let pattern = &document["components"]["schemas"]["ShowId"]["pattern"];
    assert_eq!(pattern, "^shw_[0-9a-f]{32}$");
}

#[test]
fn every_reference_has_its_schema() {
    let (_, document) = parts();
    let text = document.to_string();
    for reference in text.split("#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(
            document["components"]["schemas"][name].is_object(),
            "{name}"
        );
    }
}

#[tokio::test]
async fn other_methods_and_unknown_addresses_are_problems_too() {
    let (router, _) = parts();
    let world = MemoryWorld::new(Millis(1_800_000_000_000));
    let sessions = SessionSigner::from_secret("k", [1; 32]).verifier();
    let router = trace::layer(router.with_state(Api::new(world.app, sessions, Limits::off())));
    let send = async |method: &str, path: &str| {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .body(Body::empty())
            .unwrap();
        let response = router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        (parts, body)
    };
    for method in ["DELETE", "TRACE", "QUERY", "OPTIONS"] {
        let (parts, body) = send(method, "/shows/x").await;
        assert_eq!(parts.status, StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(parts.headers[header::ALLOW], "GET,HEAD,POST");
        assert_eq!(parts.headers[header::CONTENT_TYPE], PROBLEM_MEDIA_TYPE);
        assert_eq!(body["type"], "urn:onsale:method_not_allowed");
    }
    for path in [
        "/nowhere",
        "/shows/x",
        "/shows/shw_0",
        "/shows/%ff",
        "/shows/x/y",
    ] {
        let (parts, body) = send("GET", path).await;
        assert_eq!(parts.status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(
            parts.headers[header::CONTENT_TYPE],
            PROBLEM_MEDIA_TYPE,
            "{path}"
        );
        assert_eq!(body["type"], "urn:onsale:not_found", "{path}");
        assert_eq!(body["status"], 404, "{path}");
    }
    let (parts, _) = send("GET", &format!("/shows/shw_{}", "0".repeat(32))).await;
    assert_eq!(parts.status, StatusCode::OK);
}

/// The first word of an operation that changes nothing.
const READS: &[&str] = &["count", "export", "list", "read", "switch", "watch"];

/// The first word of every other operation.
const WRITES: &[&str] = &[
    "accept", "add", "ask", "begin", "cancel", "change", "check", "confirm", "create", "decline",
    "delete", "enter", "join", "keep", "leave", "log", "make", "offer", "place", "prove",
    "receive", "register", "release", "remind", "remove", "resume", "return", "scan", "sync",
    "undo", "upload", "use", "withdraw",
];

fn is_well_spelled(id: &str, verbs: &[&str]) -> bool {
    let mut words = id.split('_');
    let begins = words.next().is_some_and(|verb| verbs.contains(&verb));
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|it| it.is_ascii_lowercase());
    let mut rest = words.peekable();
    begins && rest.peek().is_some() && rest.all(is_word)
}

#[test]
fn every_operation_id_is_a_verb_and_its_object_in_snake_case() {
    let document = include_str!("../../../docs/openapi.json");
    let document: Value = serde_json::from_str(document).unwrap();
    let paths = document["paths"].as_object().unwrap();
    let mut ids = Vec::new();
    for (path, operations) in paths {
        for (method, operation) in operations.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap_or_default();
            let verbs = if method == "get" { READS } else { WRITES };
            assert!(is_well_spelled(id, verbs), "{method} {path}: `{id}`");
            ids.push(id);
        }
    }
    ids.sort_unstable();
    assert!(ids.windows(2).all(|two| two[0] != two[1]), "{ids:?}");
    assert!(ids.len() > 100, "{}", ids.len());
}

#[test]
fn another_spelling_of_an_operation_id_is_noticed() {
    assert!(is_well_spelled("read_room_status", READS));
    for id in [
        "",
        "read",
        "read_",
        "read__room",
        "readRoom",
        "read_Room",
        "read-room",
        "room_status",
        "create_room",
        "read_room_2",
    ] {
        assert!(!is_well_spelled(id, READS), "{id}");
    }
}
