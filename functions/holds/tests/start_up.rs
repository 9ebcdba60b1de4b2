//! How much a new process of `holds` computes until it asks for work: the part of a cold start that
//! is ours. A small runtime API, which only notes the first request, is all of Lambda that it needs.

#![allow(clippy::unwrap_used)]

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const RUNS: usize = 21;
const ALLOWED: Duration = Duration::from_millis(15);

/// The time on a processor from the start of the process to its first request.
fn start_up(binary: &Path) -> Duration {
    let runtime = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut command = Command::new(binary);
    command
        .env_clear()
        .env(
            "AWS_LAMBDA_RUNTIME_API",
            runtime.local_addr().unwrap().to_string(),
        )
        .envs([
            ("AWS_LAMBDA_FUNCTION_NAME", "holds"),
            ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512"),
            ("AWS_LAMBDA_FUNCTION_VERSION", "1"),
            ("AWS_LAMBDA_LOG_STREAM_NAME", "log"),
            ("AWS_LAMBDA_LOG_GROUP_NAME", "log"),
            ("AWS_REGION", "eu-central-1"),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
            ("TABLE_NAME", "onsale"),
            ("EXPIRE_HOLDS_QUEUE_URL", "http://127.0.0.1/queue"),
            ("OFFER_WAITLIST_QUEUE_URL", "http://127.0.0.1/queue"),
            // Any point of the curve will do: nobody signs with it.
            (
                "SESSION_PUBLIC_KEYS",
                "1:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
            ),
            (
                "PASS_PUBLIC_KEYS",
                "1:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
            ),
            (
                "QUOTE_SIGNING_KEY",
                "1:nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
            ),
            (
                "WORK_KEYS",
                "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
            ),
            ("RUST_LOG", "info"),
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let began = Instant::now();
    let mut process = command.spawn().unwrap();
    let (mut asking, _) = runtime.accept().unwrap();
    // Elapsed time tells how busy the machine is, too, so it serves only where nothing else is known.
    let took = on_processor(&process).unwrap_or_else(|| began.elapsed());
    let mut asked = [0; 64];
    let length = std::io::Read::read(&mut asking, &mut asked).unwrap();
    let asked = String::from_utf8_lossy(&asked[..length]);
    process.kill().unwrap();
    process.wait().unwrap();
    assert!(
        asked.starts_with("GET /2018-06-01/runtime/invocation/next"),
        "{asked}"
    );
    took
}

/// How long the threads of a process have run, as Linux counts it in nanoseconds.
fn on_processor(process: &Child) -> Option<Duration> {
    let threads = std::fs::read_dir(format!("/proc/{}/task", process.id())).ok()?;
    let of_thread = |thread: std::io::Result<std::fs::DirEntry>| {
        let counted = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        counted.split_whitespace().next()?.parse().ok()
    };
    let all: Vec<u64> = threads.filter_map(of_thread).collect();
    (!all.is_empty()).then(|| Duration::from_nanos(all.iter().sum()))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Built beside the tests, as cargo builds the examples of a package that is tested.
fn minimal() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    profile.join("examples/minimal")
}

#[test]
fn a_new_process_asks_for_work_almost_as_soon_as_the_smallest_one_could() {
    let (holds, minimal) = (Path::new(env!("CARGO_BIN_EXE_holds")), minimal());
    // In turns, so that a busy moment of the machine hits both.
    let mut times = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        times.0.push(start_up(holds));
        times.1.push(start_up(&minimal));
    }
    let (holds, minimal) = (median(times.0), median(times.1));
    println!("holds asks after {holds:?}, the smallest function after {minimal:?}");
    assert!(holds < minimal + ALLOWED, "{holds:?} and {minimal:?}");
}
