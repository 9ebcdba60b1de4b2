//! An account in an answer.

use onsale_domain::account::{Account, MAX_NAME_CHARS, Role};
use onsale_domain::ids::AccountId;
use onsale_domain::language::Language;
use onsale_http::EmailText;
use onsale_http::schemas::AccountIdText;
use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// Control characters, and marks that turn the direction of the text around them.
const UNPRINTABLE: &str = r"\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufeff";

/// The schema of a name: one line that is not blank.
pub(crate) struct NameText;

impl PartialSchema for NameText {
    fn schema() -> RefOr<Schema> {
        let pattern = format!(r"^[^{UNPRINTABLE}]*[^\s{UNPRINTABLE}][^{UNPRINTABLE}]*$");
        let schema = ObjectBuilder::new()
            .schema_type(SchemaType::new(Type::String))
            .min_length(Some(1))
            .max_length(Some(MAX_NAME_CHARS))
            .pattern(Some(pattern));
        RefOr::T(Schema::Object(schema.build()))
    }
}

impl ToSchema for NameText {
    fn name() -> std::borrow::Cow<'static, str> {
        "Name".into()
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Role)]
pub(crate) enum RoleAnswer {
    Buyer,
    Organiser,
    Staff,
}

impl From<Role> for RoleAnswer {
    fn from(role: Role) -> Self {
        match role {
            Role::Buyer => Self::Buyer,
            Role::Organiser => Self::Organiser,
            Role::Staff => Self::Staff,
        }
    }
}

#[derive(Serialize, ToSchema)]
#[schema(as = Account)]
pub(crate) struct AccountAnswer {
    #[schema(value_type = AccountIdText)]
    account_id: AccountId,
    #[schema(value_type = EmailText)]
    email: String,
    #[schema(value_type = NameText)]
    name: String,
    role: RoleAnswer,
    /// In which language we write to them, if they ever said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    language: Option<LanguageName>,
    /// Whether they followed a link that was mailed to their address.
    address_proven: bool,
}

/// A language in which we write mails.
#[derive(Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Language)]
pub(crate) enum LanguageName {
    En,
    De,
    Fr,
    Es,
}

impl From<LanguageName> for Language {
    fn from(name: LanguageName) -> Self {
        match name {
            LanguageName::En => Self::En,
            LanguageName::De => Self::De,
            LanguageName::Fr => Self::Fr,
            LanguageName::Es => Self::Es,
        }
    }
}

impl From<Language> for LanguageName {
    fn from(language: Language) -> Self {
        match language {
            Language::En => Self::En,
            Language::De => Self::De,
            Language::Fr => Self::Fr,
            Language::Es => Self::Es,
        }
    }
}

impl From<Account> for AccountAnswer {
    fn from(account: Account) -> Self {
        Self {
            account_id: account.id,
            email: account.email.as_str().to_owned(),
            name: account.name,
            role: account.role.into(),
            language: account.language.map(Into::into),
            address_proven: account.proven.is_some(),
        }
    }
}
