//! The `onsale` command: the whole platform in one process.
//!
//! `onsale serve` is what `cargo run` starts. It answers by the same routers as the
//! Lambda functions, on the same store code, over a cloud that lives in this process.

mod data_folder;
mod demo;
mod dev_mail;
mod downloads;
mod edge_bindings;
mod gate;
mod handlers;
mod new_keys;
mod operator;
mod platform;
mod prometheus;
mod public_keys;
mod serve;
mod verify;
mod verify_draw;
mod verify_quote;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};

#[derive(Debug, Parser)]
#[command(
    name = "onsale",
    version,
    about = "A ticket on-sale that sells a seat once"
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start the whole platform (the default)
    Serve(ServeArgs),
    /// Check the code of a ticket offline
    Verify(verify::VerifyArgs),
    /// Check a quote offline, and make its prices again
    VerifyQuote(verify_quote::VerifyQuoteArgs),
    /// A gate that works without a line to the platform
    Gate(gate::GateArgs),
    /// Recompute your draw in a lottery offline
    VerifyDraw(verify_draw::VerifyDrawArgs),
    /// Print the secrets of the edge, for a worker that stands before this platform
    EdgeBindings(edge_bindings::BindingsArgs),
    /// Make the keys that a deployment begins with, as JSON
    NewKeys,
    /// Check that places, orders, tickets and money agree; mend what is safe
    Reconcile(operator::OperatorArgs),
    /// Let a stuck order go on
    Resume(operator::ResumeArgs),
    /// List the mails that nobody sends any more, or send them after all
    Resend(operator::ResendArgs),
    /// Print the OpenAPI document of this build
    Openapi,
}

#[derive(Debug, Clone, Args)]
struct ServeArgs {
    /// Where to listen on 127.0.0.1
    #[arg(long, default_value_t = 8787)]
    port: u16,
    /// Where the data lives; it survives restarts and crashes
    #[arg(long, default_value = ".onsale")]
    data: PathBuf,
    /// Start without the demo: its organiser, buyer, venues, events and shows
    #[arg(long)]
    empty: bool,
    /// `off` lifts every rate limit: for load tests only
    #[arg(long, value_enum, default_value_t = Switch::On)]
    rate_limit: Switch,
    /// Leave a queue consumer out, such as `expire-holds`: to try what happens without it
    #[arg(long, value_name = "FUNCTION")]
    without: Vec<String>,
    /// Joining a waiting room takes a CAPTCHA too, by the CAPTCHA_SECRET of the environment.
    /// The waiting page shows the widget of Turnstile where ONSALE_CAPTCHA_SITE_KEY is set
    #[arg(long)]
    room_captcha: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

impl Default for ServeArgs {
    fn default() -> Self {
        Self {
            port: 8787,
            data: PathBuf::from(".onsale"),
            empty: false,
            rate_limit: Switch::On,
            without: Vec::new(),
            room_captcha: false,
        }
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let result = match Cli::parse().command {
        None => serve::run(ServeArgs::default()).await,
        Some(Command::Serve(args)) => serve::run(args).await,
        Some(Command::Verify(args)) => verify::run(&args),
        Some(Command::VerifyQuote(args)) => verify_quote::run(&args),
        Some(Command::Gate(args)) => gate::run(&args).await,
        Some(Command::VerifyDraw(args)) => verify_draw::run(&args),
        Some(Command::EdgeBindings(args)) => edge_bindings::print(&args),
        Some(Command::NewKeys) => new_keys::print(),
        Some(Command::Reconcile(args)) => operator::reconcile(&args).await,
        Some(Command::Resume(args)) => operator::resume(&args).await,
        Some(Command::Resend(args)) => operator::resend(&args).await,
        Some(Command::Openapi) => platform::openapi_text().map(|text| println!("{text}")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("onsale: {error}");
            ExitCode::FAILURE
        }
    }
}
