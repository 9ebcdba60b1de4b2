//! What every HTTP function shares: how a request is read, who is asking, how often
//! they may ask, what a refusal looks like, and how all of it is documented.
//!
//! It holds no rule of the on-sale: those are in `onsale-domain` and `onsale-app`.

pub mod captcha;
pub mod csv;
pub mod device;
pub mod email;
pub mod idempotency;
pub mod json;
pub mod limits;
pub mod openapi;
pub mod optional;
pub mod page;
pub mod pass;
pub mod prices;
pub mod problem;
pub mod quote;
pub mod room_settings;
pub mod schemas;
pub mod session;
pub mod state;
pub mod trace;
pub mod url;
pub mod work;

mod ed25519;
mod key_ring;
mod named_keys;
mod strict_json;
mod token_key;
mod write;

pub use device::Device;
pub use email::EmailText;
pub use idempotency::{OptionalKey, RequiredKey};
pub use json::{Json, LargeJson, OptionalJson, request_hash};
pub use limits::{Limiter, Limits};
pub use onsale_wire::{SUSPICION_HEADER, cookie};
pub use page::{Cursor, Limit, List, PageQuery};
pub use pass::{OfferedPass, PassVerifier};
pub use problem::{Code, Problem};
pub use quote::{QuoteSigner, QuoteVerifier};
pub use session::{
    AtGate, Authenticated, FromHere, LoggedIn, MaybeLoggedIn, Organiser, SessionSigner,
    SessionVerifier,
};
pub use state::{Api, api_from_env};
pub use url::{Path, Query};
pub use work::{Attempt, WorkGate, WorkProof};
pub use write::to_the_end;
