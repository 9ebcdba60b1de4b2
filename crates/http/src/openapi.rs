//! The OpenAPI document. An operation lists what is its own; what every operation has in
//! common is added here, so that no answer the server can give is left out.
//!
//! What an operation may write in short:
//! - `security(("session" = []))`: needs a session; `security((), ("session" = []))`:
//!   takes one. Bearer and cookie, 401 and (for changes) 403 follow from that.
//! - `(status = 409, description = "…")`: a problem, without naming body and media type.

use axum::Router;
use axum::http::StatusCode;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{Operation, ParameterIn, PathItem};
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::{
    Components, ContentBuilder, Info, License, OpenApi, Paths, Ref, RefOr, Response,
};
use utoipa_axum::router::OpenApiRouter;

use crate::problem::{self, Code, PROBLEM_MEDIA_TYPE, Problem};
use crate::schemas;
use crate::session::COOKIE;
use crate::state::Api;

/// Completes the router of one function and its part of the document. Unknown paths are
/// answered by [`crate::trace::layer`]: several routers are merged into one, and only
/// one of them could have a fallback.
pub fn finish(router: OpenApiRouter<Api>, function: &'static str) -> (Router<Api>, OpenApi) {
    let (router, mut document) = router.split_for_parts();
    let components = document.components.get_or_insert_with(Components::new);
    schemas::add_to(components);
    components
        .schemas
        .insert(problem::SCHEMA_NAME.to_owned(), problem::schema());
    add_security_schemes(components);
    for item in document.paths.paths.values_mut() {
        for (operation, is_write) in operations(item) {
            complete(operation, is_write, function);
        }
    }
    (
        router.method_not_allowed_fallback(method_not_allowed),
        document,
    )
}

/// What operations name that the edge answers by itself and forwards to no function.
const EDGE: &str = "edge";

/// The part of the document that the edge answers by itself.
pub fn of_edge(text: &str) -> Result<OpenApi, serde_json::Error> {
    let mut document: OpenApi = serde_json::from_str(text)?;
    for item in document.paths.paths.values_mut() {
        for (operation, _) in operations(item) {
            name(operation, EDGE);
            fill_problems(operation);
        }
    }
    Ok(document)
}

/// One document out of those of all functions.
pub fn merge(parts: Vec<OpenApi>) -> OpenApi {
    let mut info = Info::new("Onsale", env!("CARGO_PKG_VERSION"));
    info.description = Some("A ticket on-sale that sells a seat once.".to_owned());
    info.license = Some(License::new("Apache-2.0"));
    let mut document = OpenApi::new(info, Paths::new());
    for part in parts {
        document.merge(part);
    }
    document
}

/// What a path answers to a method that it does not take, for routers that are not finished
/// here. axum adds the `Allow` header.
pub async fn method_not_allowed() -> Problem {
    Problem::new(
        Code::MethodNotAllowed,
        "This address does not take this method. The Allow header names those it takes.",
    )
}

fn add_security_schemes(components: &mut Components) {
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .bearer_format("JWT");
    components.add_security_scheme("bearer", SecurityScheme::Http(bearer.build()));
    let cookie = ApiKey::Cookie(ApiKeyValue::new(COOKIE));
    components.add_security_scheme("cookie", SecurityScheme::ApiKey(cookie));
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = (&mut Operation, bool)> {
    let reads = [&mut item.get, &mut item.head].map(|operation| (operation, false));
    let writes = [
        &mut item.put,
        &mut item.post,
        &mut item.delete,
        &mut item.patch,
    ]
    .map(|operation| (operation, true));
    let all = reads.into_iter().chain(writes);
    all.filter_map(|(operation, is_write)| Some((operation.as_mut()?, is_write)))
}

fn complete(operation: &mut Operation, is_write: bool, function: &str) {
    name(operation, function);
    fill_problems(operation);
    for status in shared_statuses(operation, is_write) {
        add_problem(operation, status);
    }
}

/// Who answers it.
fn name(operation: &mut Operation, function: &str) {
    operation
        .extensions
        .get_or_insert_default()
        .insert("x-function".to_owned(), function.into());
    // The default tag is the name of a Rust module.
    operation.tags = Some(vec![function.to_owned()]);
}

/// The refusals that an operation can give because of what it takes.
fn shared_statuses(operation: &mut Operation, is_write: bool) -> Vec<StatusCode> {
    let mut statuses = vec![
        StatusCode::BAD_REQUEST,
        StatusCode::METHOD_NOT_ALLOWED,
        StatusCode::TOO_MANY_REQUESTS,
        StatusCode::INTERNAL_SERVER_ERROR,
        StatusCode::SERVICE_UNAVAILABLE,
    ];
    if operation.request_body.is_some() {
        statuses.extend([
            StatusCode::PAYLOAD_TOO_LARGE,
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ]);
    }
    let in_path = |parameter: &RefOr<utoipa::openapi::path::Parameter>| matches!(parameter, RefOr::T(parameter) if parameter.parameter_in == ParameterIn::Path);
    if operation.parameters.iter().flatten().any(in_path) {
        statuses.push(StatusCode::NOT_FOUND);
    }
    if takes_session(operation) {
        statuses.push(StatusCode::UNAUTHORIZED);
        if is_write {
            // A cookie sent by another site's page.
            statuses.push(StatusCode::FORBIDDEN);
        }
    }
    statuses
}

/// Spells the scheme `session` out as its two carriers.
fn takes_session(operation: &mut Operation) -> bool {
    let Some(requirements) = &mut operation.security else {
        return false;
    };
    let named = |name: &str| SecurityRequirement::new(name, Vec::<String>::new());
    let session = named("session");
    if requirements.contains(&session) {
        requirements.retain(|requirement| *requirement != session);
        requirements.extend([named("bearer"), named("cookie")]);
    }
    let nobody = SecurityRequirement::default();
    requirements
        .iter()
        .any(|requirement| *requirement != nobody)
}

fn add_problem(operation: &mut Operation, status: StatusCode) {
    let responses = &mut operation.responses.responses;
    let known = responses.entry(status.as_str().to_owned());
    let response = known.or_insert_with(|| {
        let codes = Code::ALL.iter().filter(|code| code.status() == status);
        let names: Vec<String> = codes.map(|code| format!("`{}`", code.name())).collect();
        RefOr::T(Response::new(names.join(", ")))
    });
    if let RefOr::T(response) = response {
        fill_problem(status, response);
    }
}

fn fill_problems(operation: &mut Operation) {
    for (status, response) in &mut operation.responses.responses {
        if let (Ok(status), RefOr::T(response)) = (status.parse(), response) {
            fill_problem(status, response);
        }
    }
}

fn fill_problem(status: StatusCode, response: &mut Response) {
    if !(status.is_client_error() || status.is_server_error()) {
        return;
    }
    if response.content.is_empty() {
        let problem =
            ContentBuilder::new().schema(Some(Ref::from_schema_name(problem::SCHEMA_NAME)));
        response
            .content
            .insert(PROBLEM_MEDIA_TYPE.to_owned(), RefOr::T(problem.build()));
    }
    let header = match status {
        StatusCode::METHOD_NOT_ALLOWED => Some(("Allow", Type::String)),
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            Some(("Retry-After", Type::Integer))
        }
        _ => None,
    };
    if let Some((name, kind)) = header {
        let schema = ObjectBuilder::new().schema_type(SchemaType::new(kind));
        let header = HeaderBuilder::new().schema(Some(schema)).build();
        response
            .headers
            .entry(name.to_owned())
            .or_insert(RefOr::T(header));
    }
}

#[cfg(test)]
#[path = "openapi_tests.rs"]
mod tests;
