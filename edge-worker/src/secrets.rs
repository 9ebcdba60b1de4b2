//! What the edge alone knows, read from bindings or the environment.

use onsale_domain::internal_call::InternalKeys;
use onsale_domain::room::fan_code::FanKeys;
use onsale_domain::room::keyed_hash::Key;
use onsale_domain::room::pass_key::PassKey;
use onsale_domain::room::secret::RoomSecret;
use onsale_domain::room::ticket::TicketRing;
use onsale_domain::work::WorkKeys;
use std::sync::Arc;

#[derive(Debug, Clone)]
pub struct Secrets {
    pub room: RoomSecret,
    pub tickets: TicketRing,
    pub work: WorkKeys,
    pub passes: Arc<PassKey>,
    pub internal: InternalKeys,
    /// Without them no fan code counts.
    pub fans: Option<FanKeys>,
    pub captcha: Option<Captcha>,
}

/// A service that speaks Turnstile's siteverify protocol.
#[derive(Clone)]
pub struct Captcha {
    pub url: String,
    pub secret: String,
    /// The site that tokens must come from, if that is to be checked.
    pub hostname: Option<String>,
}

impl std::fmt::Debug for Captcha {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Captcha({})", self.url)
    }
}

impl Captcha {
    /// `CAPTCHA_SECRET` turns it on; `CAPTCHA_VERIFY_URL` and `CAPTCHA_HOSTNAME` say more.
    pub fn configured(setting: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let given = |name: &str| setting(name).filter(|text| !text.is_empty());
        given("CAPTCHA_SECRET").map(|secret| Self {
            url: given("CAPTCHA_VERIFY_URL").unwrap_or_else(|| TURNSTILE.to_owned()),
            secret,
            hostname: given("CAPTCHA_HOSTNAME"),
        })
    }
}

pub const TURNSTILE: &str = "https://challenges.cloudflare.com/turnstile/v0/siteverify";

impl Secrets {
    /// Reads `ROOM_SECRET`, `TICKET_KEYS`, `WORK_KEYS`, `PASS_SIGNING_KEY`,
    /// `INTERNAL_KEYS` and, where given, `FAN_KEYS`, `CAPTCHA_SECRET`,
    /// `CAPTCHA_VERIFY_URL` and `CAPTCHA_HOSTNAME`. The errors name what is wrong and never what it says.
    pub fn read(setting: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let given = |name: &str| setting(name).filter(|text| !text.is_empty());
        let need = |name: &str| given(name).ok_or_else(|| format!("{name} is not set"));
        Ok(Self {
            room: room_secret(&need("ROOM_SECRET")?)?,
            tickets: ticket_ring(&need("TICKET_KEYS")?).map_err(|e| format!("TICKET_KEYS: {e}"))?,
            work: parsed("WORK_KEYS", &need("WORK_KEYS")?)?,
            passes: Arc::new(parsed("PASS_SIGNING_KEY", &need("PASS_SIGNING_KEY")?)?),
            internal: parsed("INTERNAL_KEYS", &need("INTERNAL_KEYS")?)?,
            fans: given("FAN_KEYS")
                .map(|text| parsed("FAN_KEYS", &text))
                .transpose()?,
            captcha: Captcha::configured(given),
        })
    }
}

fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(
    name: &str,
    text: &str,
) -> Result<T, String> {
    text.parse().map_err(|error| format!("{name}: {error}"))
}

/// `ROOM_SECRET`.
pub fn room_secret(digits: &str) -> Result<RoomSecret, String> {
    let key = key(digits).ok_or("ROOM_SECRET is not 64 hexadecimal digits")?;
    Ok(RoomSecret(key))
}

fn key(digits: &str) -> Option<Key> {
    let mut key = [0; 32];
    hex::decode_to_slice(digits, &mut key).ok()?;
    Some(key)
}

/// `1:<64 digits>,2:<64 digits>`, the one that signs first.
fn ticket_ring(text: &str) -> Result<TicketRing, String> {
    let read = |entry: &str| {
        let (id, digits) = entry.trim().split_once(':')?;
        Some((id.parse::<u8>().ok()?, key(digits)?))
    };
    let keys: Option<Vec<_>> = text.split(',').map(read).collect();
    let keys = keys.ok_or("a key is a number, a colon and 64 hexadecimal digits")?;
    TicketRing::new(keys).map_err(|e| e.to_string())
}
