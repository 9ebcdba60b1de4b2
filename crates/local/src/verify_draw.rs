//! `onsale verify-draw`: recomputes a draw at home, from one's own ticket and the published
//! fairness document. It asks nobody.

use std::io::Read;
use std::path::PathBuf;

use clap::Args;
use onsale_domain::room::draw::{Draw, Seed, commitment, draw};
use onsale_domain::room::opening::Bucket;
use onsale_domain::room::ticket::{Band, QueueTicket};
use serde::Deserialize;

#[derive(Debug, Args)]
pub struct VerifyDrawArgs {
    /// Your queue ticket: the answer of join, the cookie onsale_ticket, or the copy that the
    /// waiting page shows
    ticket: String,
    /// What GET /room/{show}/fairness answered, saved to a file; - reads standard input
    #[arg(long, value_name = "FILE")]
    fairness: PathBuf,
    /// The draw that GET /room/{show}/status told you
    #[arg(long)]
    draw: Option<String>,
    /// The commitment you noted down before the sale, if you did
    #[arg(long)]
    commitment: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Fairness {
    show_id: String,
    opening: Told,
    later: Told,
    beacon: Beacon,
}

#[derive(Debug, Deserialize)]
struct Told {
    commitment: String,
    seed: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Beacon {
    value: Option<String>,
}

pub fn run(args: &VerifyDrawArgs) -> Result<(), String> {
    let fairness = read_fairness(&args.fairness)?;
    let ticket = QueueTicket::read_unverified(&args.ticket).map_err(|e| e.to_string())?;
    let drawn = check(&fairness, &ticket, args.commitment.as_deref())?;
    let told = args.draw.as_deref().map(read_draw).transpose()?;
    println!("show        {}", ticket.show);
    match ticket.bucket {
        Bucket::LOTTERY => println!("bucket      the lottery: everybody who came before opening"),
        Bucket(second) => println!("bucket      second {second} of the sale"),
    }
    println!("draw        {:016x}", drawn.0);
    let share = drawn.share_of_band() * 100.0;
    let band = match ticket.band {
        Band::Fan => "fans",
        Band::Everybody => "everybody without a fan code",
    };
    println!("place       {share:.4} % of {band} in this bucket come no later");
    match told {
        None => println!(
            "The seed is the one that was committed to. Compare the draw with what you were told."
        ),
        Some(told) if told == drawn => {
            println!("The seed is the one that was committed to, and your draw follows from it.");
        }
        Some(told) => {
            return Err(format!(
                "you were told {:016x}, but the seed gives {:016x}: the draw was not what was published",
                told.0, drawn.0
            ));
        }
    }
    Ok(())
}

fn read_fairness(path: &PathBuf) -> Result<Fairness, String> {
    let text = if path.as_os_str() == "-" {
        let mut text = String::new();
        let read = std::io::stdin().read_to_string(&mut text);
        read.map_err(|e| e.to_string())?;
        text
    } else {
        std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?
    };
    serde_json::from_str(&text).map_err(|e| format!("this is no fairness document: {e}"))
}

fn check(fairness: &Fairness, ticket: &QueueTicket, noted: Option<&str>) -> Result<Draw, String> {
    if fairness.show_id != ticket.show.to_string() {
        return Err(format!(
            "the ticket is for {}, the document for {}",
            ticket.show, fairness.show_id
        ));
    }
    let told = match ticket.bucket {
        Bucket::LOTTERY => &fairness.opening,
        _ => &fairness.later,
    };
    if noted.is_some_and(|noted| !noted.eq_ignore_ascii_case(&told.commitment)) {
        return Err("the commitment is not the one you noted down".to_owned());
    }
    let seed = told.seed.as_deref().ok_or_else(|| {
        let when = match ticket.bucket {
            Bucket::LOTTERY => "when the lottery has been drawn",
            _ => "when the show begins",
        };
        format!("the seed of this ticket is not revealed yet; fetch the document again {when}")
    })?;
    let mut bytes = [0; 32];
    hex::decode_to_slice(seed, &mut bytes).map_err(|e| format!("the seed cannot be read: {e}"))?;
    let seed = Seed(bytes);
    if hex::encode(commitment(&seed)) != told.commitment {
        return Err("the seed is not the one that was committed to".to_owned());
    }
    let beacon = fairness.beacon.value.as_deref().unwrap_or_default();
    let beacon = hex::decode(beacon).map_err(|e| format!("the beacon cannot be read: {e}"))?;
    Ok(draw(&seed, &beacon, ticket.bucket, ticket.band, ticket.lot))
}

fn read_draw(text: &str) -> Result<Draw, String> {
    u64::from_str_radix(text, 16)
        .map(Draw)
        .map_err(|_| "a draw has 16 hexadecimal digits".to_owned())
}
