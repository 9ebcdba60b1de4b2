//! Staff accounts, for the organiser whose they are.

use axum::Json as JsonAnswer;
use axum::extract::State;
use axum::http::StatusCode;
use onsale_domain::account::Account;
use onsale_domain::ids::{AccountId, ShowId};
use onsale_domain::staff::Staff;
use onsale_http::schemas::{AccountIdText, ShowIdText};
use onsale_http::{
    Api, EmailText, Json, List, OptionalKey, Organiser, PageQuery, Path, Problem, Query, to_the_end,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::account::{NameText, RoleAnswer};

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewStaff {
    email: EmailText,
    #[schema(value_type = NameText)]
    name: String,
    #[schema(value_type = Vec<ShowIdText>, min_items = 1, max_items = 50)]
    show_ids: Vec<ShowId>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Staff)]
pub(crate) struct StaffAnswer {
    #[schema(value_type = AccountIdText)]
    account_id: AccountId,
    #[schema(value_type = EmailText)]
    email: String,
    #[schema(value_type = NameText)]
    name: String,
    role: RoleAnswer,
    #[schema(value_type = Vec<ShowIdText>)]
    show_ids: Vec<ShowId>,
}

impl From<(Account, Staff)> for StaffAnswer {
    fn from((account, staff): (Account, Staff)) -> Self {
        Self {
            account_id: account.id,
            email: account.email.as_str().to_owned(),
            name: account.name,
            role: account.role.into(),
            show_ids: staff.shows.into_iter().collect(),
        }
    }
}

/// Make a staff account
///
/// It may scan tickets at these shows, and nothing else of an organiser's. Whoever has the
/// address is mailed an invitation to choose a password, good for seven days. For a staff
/// account that you made before, the shows are added.
#[utoipa::path(
    post,
    path = "/api/v1/staff",
    operation_id = "add_staff",
    security(("session" = [])),
    params(OptionalKey),
    request_body = NewStaff,
    responses(
        (status = 201, description = "The account, with all of its shows.", body = StaffAnswer),
        (status = 403, description = "`forbidden`: a show belongs to another organiser, or you are none."),
        (status = 404, description = "`not_found`: there is no such show."),
        (status = 409, description = "`email_taken`: the address has an account that is not your staff's."),
        (status = 422, description = "`limit_exceeded`; `idempotency_mismatch`: the key made an account by another request."),
    )
)]
pub(crate) async fn add(
    State(api): State<Api>,
    Organiser(caller): Organiser,
    OptionalKey(key): OptionalKey,
    Json(body, request): Json<NewStaff>,
) -> Result<(StatusCode, JsonAnswer<StaffAnswer>), Problem> {
    let EmailText(email) = body.email;
    let (name, show_ids) = (body.name, body.show_ids);
    let added = to_the_end(async move {
        let app = &api.app;
        let key = key.as_ref();
        app.add_staff(&caller, email, &name, &show_ids, key, request)
            .await
    });
    Ok((StatusCode::CREATED, JsonAnswer(added.await?.into())))
}

/// List one's staff accounts
#[utoipa::path(
    get,
    path = "/api/v1/staff",
    operation_id = "list_staff",
    security(("session" = [])),
    params(PageQuery),
    responses(
        (status = 200, description = "In the order in which they were made.", body = List<StaffAnswer>),
        (status = 403, description = "`forbidden`: only organisers have staff."),
    )
)]
pub(crate) async fn list(
    State(api): State<Api>,
    Organiser(caller): Organiser,
    Query(query): Query<PageQuery>,
) -> Result<JsonAnswer<List<StaffAnswer>>, Problem> {
    let page = api
        .app
        .list_staff(&caller, query.after(), query.limit.0)
        .await?;
    Ok(JsonAnswer(List::from_page(page, StaffAnswer::from)))
}

/// Remove a staff account
///
/// Its sessions end at once, and its email is free again. Again: 204.
#[utoipa::path(
    delete,
    path = "/api/v1/staff/{account}",
    operation_id = "remove_staff",
    security(("session" = [])),
    params(("account" = AccountIdText, Path)),
    responses(
        (status = 204, description = "The account is gone."),
        (status = 404, description = "`not_found`: you have no such staff account."),
    )
)]
pub(crate) async fn remove(
    State(api): State<Api>,
    Organiser(caller): Organiser,
    Path(account): Path<AccountId>,
) -> Result<StatusCode, Problem> {
    to_the_end(async move { api.app.remove_staff(&caller, account).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}
