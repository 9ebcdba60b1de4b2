//! `holds`: places that are one buyer's for some minutes, and the wait for those that
//! come back.

mod request;
mod view;
mod waitlist;

use axum::extract::State;
use axum::http::StatusCode;
use onsale_domain::ids::{HoldId, ShowId};
use onsale_http::schemas::{HoldIdText, ShowIdText};
use onsale_http::{
    Api, Attempt, Authenticated, Json, List, OfferedPass, Path, Problem, RequiredKey, WorkProof,
    to_the_end,
};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use request::HoldRequest;
use view::{HoldAnswer, HoldStatus};

pub fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(place, list))
        .routes(routes!(read, release))
        .merge(waitlist::router())
}

/// Hold places
///
/// All or nothing. Repeating the request with the same Idempotency-Key gives the first
/// answer again. While the show's waiting room is not off, a new hold needs a pass, in the
/// header or as the cookie `onsale_pass`. While anybody is on the waitlist of the show, places
/// that come back are kept for those who wait for up to 2 minutes, and count as held.
#[utoipa::path(
    post,
    path = "/api/v1/shows/{show}/holds",
    operation_id = "place_hold",
    params(
        ("show" = ShowIdText, Path),
        RequiredKey,
        WorkProof,
        ("Onsale-Pass" = Option<String>, Header, description = "A pass of the waiting room."),
    ),
    request_body = HoldRequest,
    responses(
        (status = 201, description = "Held.", body = HoldAnswer),
        (status = 403, description = "`pass_required`: no pass, or one that does not count; `forbidden`: a staff account."),
        (status = 409, description = "Places are taken (`taken` names them), or the show is not on sale."),
        (status = 422, description = "The cap per buyer, or the key came with another request."),
        (status = 428, description = "`work_required`: solve `challenge` and repeat."),
    ),
    security(("session" = [])),
)]
async fn place(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path(show): Path<ShowId>,
    RequiredKey(key): RequiredKey,
    OfferedPass(pass): OfferedPass,
    work: WorkProof,
    Json(request, _): Json<HoldRequest>,
) -> Result<(StatusCode, axum::Json<HoldAnswer>), Problem> {
    let wish = request.into_wish()?;
    let attempt = Attempt {
        caller: &caller,
        show,
        hold: None,
        key: &key,
    };
    let work = api.judge_work(&work, attempt).await;
    let verdict = work.clone();
    let placing = api.clone();
    let hold = to_the_end(async move {
        let api = placing;
        let admit = || {
            let (account, now) = (caller.account, api.app.now());
            api.limits.hold_attempt_if(account, now, || verdict.admit())
        };
        api.app
            .place_hold_if(&caller, show, &key, &wish, pass.as_ref(), admit)
            .await
    });
    let hold = hold.await.map_err(|refusal| work.explain(refusal))?;
    let answer = HoldAnswer::explained(&api, hold).await?;
    Ok((StatusCode::CREATED, axum::Json(answer)))
}

/// The caller's holds of a show that are not over
///
/// Newest first: holds that can still be paid (`held`) and those being paid (`paying`). A page
/// that was loaded again finds its hold here. Sold holds are orders.
#[utoipa::path(
    get,
    path = "/api/v1/shows/{show}/holds",
    operation_id = "list_holds",
    params(("show" = ShowIdText, Path)),
    responses((status = 200, description = "All of them, on one page.", body = List<HoldStatus>)),
    security(("session" = [])),
)]
async fn list(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path(show): Path<ShowId>,
) -> Result<axum::Json<List<HoldStatus>>, Problem> {
    let mut items = Vec::new();
    for hold in api.app.open_holds(&caller, show).await? {
        items.push(HoldStatus::explained(&api, hold).await?);
    }
    Ok(axum::Json(List::whole(items)))
}

/// Read a hold
#[utoipa::path(
    get,
    path = "/api/v1/shows/{show}/holds/{hold}",
    operation_id = "read_hold",
    params(("show" = ShowIdText, Path), ("hold" = HoldIdText, Path)),
    responses((status = 200, description = "The hold.", body = HoldStatus)),
    security(("session" = [])),
)]
async fn read(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path((show, hold)): Path<(ShowId, HoldId)>,
) -> Result<axum::Json<HoldStatus>, Problem> {
    let hold = api.app.hold(&caller, show, hold).await?;
    Ok(axum::Json(HoldStatus::explained(&api, hold).await?))
}

/// Give a hold up
#[utoipa::path(
    delete,
    path = "/api/v1/shows/{show}/holds/{hold}",
    operation_id = "release_hold",
    params(("show" = ShowIdText, Path), ("hold" = HoldIdText, Path)),
    responses(
        (status = 204, description = "The places are free, or were before."),
        (status = 409, description = "The hold is being paid, or is paid."),
    ),
    security(("session" = [])),
)]
async fn release(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path((show, hold)): Path<(ShowId, HoldId)>,
) -> Result<StatusCode, Problem> {
    to_the_end(async move { api.app.release_hold(&caller, show, hold).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}
