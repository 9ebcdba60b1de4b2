//! `onsale gate`: a gate that works without a line to the platform.
//!
//! `download` fetches what it must know, `scan` decides on codes with that alone and writes
//! every decision down before it says it, `sync` reports them once the platform answers.

mod client;
mod folder;
mod journal;
mod sync;

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::time::SystemTime;

use clap::{Args, Subcommand};
use onsale_domain::gate::ShortId;
use onsale_domain::gate_book::{GateBook, Used, Verdict};
use onsale_domain::ids::ShowId;
use onsale_domain::time::Millis;

use client::Client;
use folder::{Folder, Settings};
use journal::{Entry, Journal, Said};

#[derive(Debug, Clone, Args)]
pub struct GateArgs {
    #[command(subcommand)]
    command: GateCommand,
}

#[derive(Debug, Clone, Subcommand)]
enum GateCommand {
    /// Fetch keys, revoked and used tickets of a show
    Download(DownloadArgs),
    /// Decide on codes, one a line, without a line to the platform
    Scan(ScanArgs),
    /// Report what was decided, and fetch what changed
    Sync(SyncArgs),
}

#[derive(Debug, Clone, Args)]
struct DownloadArgs {
    /// Where the platform answers, such as https://tickets.example.org
    #[arg(long)]
    url: String,
    #[arg(long)]
    show: ShowId,
    /// The name of this gate
    #[arg(long)]
    gate: String,
    #[command(flatten)]
    folder: FolderArgs,
    #[command(flatten)]
    token: TokenArgs,
}

#[derive(Debug, Clone, Args)]
struct ScanArgs {
    /// A file of codes; without it, they are read as they are typed or scanned
    codes: Option<PathBuf>,
    #[command(flatten)]
    folder: FolderArgs,
}

#[derive(Debug, Clone, Args)]
struct SyncArgs {
    #[command(flatten)]
    folder: FolderArgs,
    #[command(flatten)]
    token: TokenArgs,
}

#[derive(Debug, Clone, Args)]
struct FolderArgs {
    /// Where this gate keeps what it knows and what it decided
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
}

/// A token never stands on the command line: everybody on the machine can read that.
#[derive(Debug, Clone, Args)]
struct TokenArgs {
    /// A file with the token of a session; without it, ONSALE_TOKEN has it
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

impl TokenArgs {
    fn token(&self) -> Result<String, String> {
        let text = match &self.token_file {
            Some(file) => {
                std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?
            }
            None => std::env::var("ONSALE_TOKEN").map_err(|_| {
                "log in first: POST /api/v1/sessions, and give the token in ONSALE_TOKEN or in a \
                 file named with --token-file"
                    .to_owned()
            })?,
        };
        Ok(text.trim().to_owned())
    }
}

pub async fn run(args: &GateArgs) -> Result<(), String> {
    match &args.command {
        GateCommand::Download(args) => {
            let settings = Settings::new(&args.url, args.show, &args.gate)?;
            let client = Client::new(&settings.url, &args.token.token()?)?;
            let folder = Folder::create(&args.folder.data, settings)?;
            sync::fetch(&folder, &client, 0).await
        }
        GateCommand::Scan(args) => {
            let folder = Folder::open(&args.folder.data)?;
            match &args.codes {
                Some(file) => {
                    let codes = std::fs::File::open(file)
                        .map_err(|e| format!("{}: {e}", file.display()))?;
                    scan(&folder, BufReader::new(codes))
                }
                None => scan(&folder, std::io::stdin().lock()),
            }
        }
        GateCommand::Sync(args) => {
            let folder = Folder::open(&args.folder.data)?;
            let client = Client::new(&folder.settings.url, &args.token.token()?)?;
            sync::run(&folder, &client).await
        }
    }
}

fn now() -> Millis {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let ms = since.map_or(0, |since| since.as_millis());
    Millis(u64::try_from(ms).unwrap_or(u64::MAX))
}

/// A gate at work: what it knows, and where it writes.
struct Gate<'a> {
    folder: &'a Folder,
    journal: Journal,
    book: GateBook,
    /// When the snapshot that the book was made of was stored.
    stored: SystemTime,
}

impl<'a> Gate<'a> {
    fn open(folder: &'a Folder) -> Result<Self, String> {
        let journal = Journal::open(&folder.journal())?;
        let (book, stored) = read_book(folder, journal.entries())?;
        Ok(Self {
            folder,
            journal,
            book,
            stored,
        })
    }

    /// `sync` may bring news while people come in.
    fn refresh(&mut self) -> Result<(), String> {
        if self.folder.snapshot_stored()? != self.stored {
            (self.book, self.stored) = read_book(self.folder, self.journal.entries())?;
        }
        Ok(())
    }

    /// Decides, writes it down, and only then says it.
    fn decide(&mut self, code: &str) -> Result<String, String> {
        self.refresh()?;
        let verdict = self.book.judge(code);
        let (said, words) = match &verdict {
            Verdict::Admit(ticket) => (Said::Admitted, format!("admitted {ticket}")),
            Verdict::AlreadyUsed(ticket, used) => (
                Said::AlreadyUsed,
                format!("already used {ticket} at {} by gate {}", used.at, used.gate),
            ),
            Verdict::Revoked(ticket) => (Said::Revoked, format!("revoked {ticket}")),
            Verdict::WrongShow => return Ok("wrong show".to_owned()),
            Verdict::Invalid(why) => return Ok(format!("invalid: {why}")),
        };
        let at = now();
        let code = code.to_owned();
        self.journal.append(Entry { at, said, code })?;
        if let Verdict::Admit(ticket) = verdict {
            let gate = self.folder.settings.gate.clone();
            self.book.use_up(ShortId::of(ticket), Used { at, gate });
        }
        Ok(words)
    }
}

fn read_book(folder: &Folder, entries: &[Entry]) -> Result<(GateBook, SystemTime), String> {
    let stored = folder.snapshot_stored()?;
    let snapshot = folder.snapshot()?;
    Ok((snapshot.book(&folder.settings, entries)?, stored))
}

/// One answer for each line, at once.
fn scan(folder: &Folder, codes: impl BufRead) -> Result<(), String> {
    let _lock = folder.lock("scan")?;
    let mut gate = Gate::open(folder)?;
    let mut out = std::io::stdout().lock();
    for line in codes.lines() {
        let line = line.map_err(|e| format!("the codes cannot be read: {e}"))?;
        let code = line.trim();
        if code.is_empty() {
            continue;
        }
        let answer = gate.decide(code)?;
        writeln!(out, "{answer}")
            .and_then(|()| out.flush())
            .map_err(|e| format!("nobody hears the answer: {e}"))?;
    }
    Ok(())
}
