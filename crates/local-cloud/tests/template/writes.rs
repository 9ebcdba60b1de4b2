//! Who may write what. A function that only reads a kind of item has no way to change it,
//! so a defect of one function cannot damage what belongs to another.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use serde_json::Value;

use crate::access::statements;
use crate::metrics::sources;
use crate::reading::{Template, texts};

/// The code of the store, in which every kind of item is named next to its key.
static STORE: LazyLock<String> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../store/src");
    let files = sources(&folder).into_iter();
    files
        .map(|file| fs::read_to_string(file).unwrap())
        .collect()
});

struct Writes {
    role: &'static str,
    /// Whole items, each on condition that its key is new.
    puts: &'static str,
    updates: &'static str,
    deletes: &'static str,
}

const fn writes(
    role: &'static str,
    puts: &'static str,
    updates: &'static str,
    deletes: &'static str,
) -> Writes {
    Writes {
        role,
        puts,
        updates,
        deletes,
    }
}

/// What `crates/store` writes on behalf of each function. A kind belongs in here
/// together with the code that writes it, and leaves with it.
const ALLOWED: &[Writes] = &[
    writes(
        "AccountsRole",
        "ACC EML SES AUD",
        "ACC SES SEP DEV RST DEL STF",
        "EML STF",
    ),
    writes(
        "CatalogRole",
        "LAY PRP AUD",
        "VEN EVT SHW MAP MPL PRC VWS MLG",
        "",
    ),
    writes("IndexEventsRole", "", "EVT IDX", ""),
    writes(
        "HoldsRole",
        "PRP",
        "SHW MAP MPL BLK BUY PAS PRC WLS TKT",
        "",
    ),
    writes(
        "RoomRole",
        "FNB FNE PRP AUD",
        "SHW EVT MAP MPL PAS FAN PRC RMF",
        "",
    ),
    writes("ExpireHoldsRole", "", "BLK BUY", ""),
    writes(
        "OfferWaitlistRole",
        "PRP",
        "SHW BLK BUY WLS WLP MAP MPL PRC TKT",
        "",
    ),
    writes("CheckoutRole", "AUD", "SHW EVT BLK BUY ORD TKT CXL SBX", ""),
    writes(
        "DriveSagaRole",
        "SAL AUD",
        "SHW EVT BLK BUY ORD TKT CXL SBX PAS RST DEL ACC SEP MAIL SLL WLS TRF",
        "FNE STF EML",
    ),
    writes("ReconcileRole", "", "EVT BLK ORD SBX TRF MAIL EXP", ""),
    writes("NotifyRole", "", "MAIL MLG BNC", ""),
    writes("TicketsRole", "AUD", "ORD TKT TRF GTC SCN", ""),
    writes("OrganiserRole", "AUD", "EVT MAP MPL SLB EXP", ""),
    writes("WriteExportsRole", "", "EXP", ""),
];

pub fn only_what_is_written(template: &Template) -> Vec<String> {
    let mut problems = Vec::new();
    for role in template.of_type("AWS::IAM::Role") {
        let Some(allowed) = ALLOWED.iter().find(|writes| writes.role == role.id) else {
            problems.push(format!("{}: nobody says what it writes", role.id));
            continue;
        };
        let granted = statements(&role);
        for (action, kinds) in [
            ("dynamodb:PutItem", allowed.puts),
            ("dynamodb:UpdateItem", allowed.updates),
            ("dynamodb:DeleteItem", allowed.deletes),
            ("dynamodb:BatchWriteItem", ""),
        ] {
            let needed: BTreeSet<_> = kinds.split_whitespace().map(str::to_owned).collect();
            let may = kinds_of(&granted, action);
            let excess = may.difference(&needed);
            let role = role.id;
            problems
                .extend(excess.map(|k| format!("{role}: {action} on {k}, which it never does")));
            let missing = needed.difference(&may);
            problems.extend(missing.map(|k| format!("{role}: lacks {action} on {k}")));
            let unknown = needed.iter().filter(|kind| !is_kind(kind));
            problems.extend(unknown.map(|k| format!("{role}: {k} is no kind of item")));
        }
    }
    problems
}

/// A kind stands by itself, or at the beginning of a key.
fn is_kind(kind: &str) -> bool {
    STORE.contains(&format!("\"{kind}\"")) || STORE.contains(&format!("\"{kind}#"))
}

/// The kinds of items that an action is allowed on.
fn kinds_of(granted: &[&Value], action: &str) -> BTreeSet<String> {
    let granting = granted
        .iter()
        .filter(|statement| texts(&statement["Action"]).contains(&action));
    let keys = granting
        .map(|s| &s["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"])
        .flat_map(texts);
    keys.map(|key| key.trim_end_matches("#*").to_owned())
        .collect()
}
