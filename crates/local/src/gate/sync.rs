//! Reporting what a gate decided, and fetching what changed.

use onsale_domain::gate::ShortId;
use onsale_domain::ids::TicketId;
use onsale_domain::time::Millis;
use serde::{Deserialize, Serialize};

use super::client::Client;
use super::folder::{Folder, Snapshot};
use super::journal::{self, Entry};
use super::now;

/// The platform takes so many scans at once.
const BATCH: usize = 200;

#[derive(Serialize)]
struct Batch<'a> {
    gate: &'a str,
    device: &'a str,
    sent_at: Millis,
    scans: Vec<Scan<'a>>,
}

#[derive(Serialize)]
struct Scan<'a> {
    code: &'a str,
    at: Millis,
    result: &'static str,
}

impl<'a> From<&'a Entry> for Scan<'a> {
    fn from(entry: &'a Entry) -> Self {
        Self {
            code: &entry.code,
            at: entry.at,
            result: entry.said.as_str(),
        }
    }
}

#[derive(Deserialize)]
struct Synced {
    scans: Vec<SyncedScan>,
}

#[derive(Deserialize)]
struct SyncedScan {
    result: String,
    at: Millis,
    ticket_id: Option<TicketId>,
    seat: Option<String>,
    used_at: Option<Millis>,
    gate: Option<String>,
    revoked_at: Option<Millis>,
    #[serde(default)]
    others: Vec<Other>,
}

#[derive(Deserialize)]
struct Other {
    at: Millis,
    gate: String,
}

/// Reports what was not reported yet, then fetches what changed. What is cut off is
/// reported again: the platform knows a scan by its device, its code and its time.
pub async fn run(folder: &Folder, client: &Client) -> Result<(), String> {
    let _lock = folder.lock("sync")?;
    let entries = journal::entries(&folder.journal())?;
    let before = folder.synced()?.min(entries.len());
    let (mut done, mut conflicts) = (before, 0);
    for batch in entries[before..].chunks(BATCH) {
        for synced in report(folder, client, batch).await? {
            conflicts += usize::from(say(&folder.settings.gate, &synced));
        }
        done += batch.len();
        folder.store_synced(done)?;
    }
    println!("{} scans reported, {conflicts} to look at", done - before);
    update(folder, client, before).await
}

async fn report(
    folder: &Folder,
    client: &Client,
    entries: &[Entry],
) -> Result<Vec<SyncedScan>, String> {
    let settings = &folder.settings;
    let batch = Batch {
        gate: &settings.gate,
        device: &settings.device,
        sent_at: now(),
        scans: entries.iter().map(Scan::from).collect(),
    };
    let path = format!("/api/v1/shows/{}/scans/batch", settings.show);
    let synced: Synced = client.post(&path, &batch).await?;
    Ok(synced.scans)
}

/// Says what somebody has to look at; whether there is such a thing.
fn say(gate: &str, scan: &SyncedScan) -> bool {
    let ticket = scan.ticket_id.map(|id| id.to_string()).unwrap_or_default();
    let seat = scan.seat.as_deref().unwrap_or("?");
    let here = format!("here ({gate}) at {}", scan.at);
    match scan.result.as_str() {
        "double_admission" => {
            let (Some(first), Some(at)) = (&scan.gate, scan.used_at) else {
                return false;
            };
            println!(
                "double admission: {ticket} seat {seat}: first by {first} at {at}, then {here}"
            );
            true
        }
        "admitted" if !scan.others.is_empty() => {
            for other in &scan.others {
                let (gate, at) = (&other.gate, other.at);
                println!(
                    "double admission: {ticket} seat {seat}: first {here}, then by {gate} at {at}"
                );
            }
            true
        }
        "revoked" if scan.used_at.is_some() => {
            let since = scan.revoked_at.map(|at| at.to_string()).unwrap_or_default();
            println!("admitted although revoked since {since}: {ticket} seat {seat}: {here}");
            true
        }
        "not_admitted" => {
            println!("turned away with a good ticket: {ticket} seat {seat}: {here}");
            true
        }
        _ => false,
    }
}

#[derive(Deserialize)]
struct Page {
    show: Show,
    keys: Vec<Key>,
    version: Millis,
    revoked: Vec<ShortId>,
    used: Vec<UsedTicket>,
    good_again: Vec<ShortId>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct Show {
    title: String,
}

#[derive(Deserialize)]
struct Key {
    x: String,
}

#[derive(Deserialize)]
struct UsedTicket {
    ticket: ShortId,
    at: Millis,
    gate: String,
}

/// Fetches all that there is to know, or what changed since the last time.
pub async fn fetch(folder: &Folder, client: &Client, covers: usize) -> Result<(), String> {
    let _lock = folder.lock("sync")?;
    update(folder, client, covers).await
}

/// The same for whoever has the lock.
async fn update(folder: &Folder, client: &Client, covers: usize) -> Result<(), String> {
    let mut snapshot = folder.snapshot_or_none()?.unwrap_or_default();
    let mut path = format!("/api/v1/shows/{}/gate", folder.settings.show);
    if let Some(since) = snapshot.version {
        path.push_str(&format!("?since={since}"));
    }
    let mut next = path.clone();
    loop {
        let page: Page = client.get(&next).await?;
        apply(&mut snapshot, &page);
        let Some(cursor) = page.next_cursor else {
            break;
        };
        let mark = if path.contains('?') { '&' } else { '?' };
        next = format!("{path}{mark}cursor={}", encoded(&cursor));
    }
    snapshot.covers = snapshot.covers.max(covers);
    folder.store_snapshot(&snapshot)?;
    println!(
        "{}: {} tickets used, {} revoked",
        snapshot.title,
        snapshot.used.len(),
        snapshot.revoked.len()
    );
    Ok(())
}

fn apply(snapshot: &mut Snapshot, page: &Page) {
    snapshot.title.clone_from(&page.show.title);
    snapshot.keys = page.keys.iter().map(|key| key.x.clone()).collect();
    snapshot.version = Some(page.version);
    for ticket in &page.revoked {
        snapshot.revoked.insert(*ticket);
    }
    for UsedTicket { ticket, at, gate } in &page.used {
        snapshot.good_again.remove(ticket);
        snapshot.used.insert(*ticket, (*at, gate.clone()));
    }
    for ticket in &page.good_again {
        snapshot.used.remove(ticket);
        snapshot.good_again.insert(*ticket);
    }
}

/// A cursor has the names of gates in it, and those have anything in them.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| match plain(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}
