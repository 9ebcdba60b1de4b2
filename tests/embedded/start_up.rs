//! Starting: quick and small; what goes wrong says so and touches nothing.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use crate::owners::{Promise, check_kept};
use crate::promise::promised;
use crate::server::{Server, command};
use crate::show_cancellation::cancel_show;
use crate::visitor::{Visitor, crowd, rows};

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_port_a_foreign_folder_and_a_folder_in_use_are_told_apart() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let port = server.url.rsplit(':').next().unwrap().to_owned();
    let elsewhere = tempfile::tempdir().unwrap();
    let refused = |command| async { Server::from_command(command).await.map(|_| ()).unwrap_err() };
    let said = refused(command(elsewhere.path(), &["--port", &port])).await;
    assert!(
        said.contains("cannot listen") && said.contains("--port"),
        "{said}"
    );
    assert_eq!(
        elsewhere.path().read_dir().unwrap().count(),
        0,
        "nothing was created"
    );

    let said = refused(command(data.path(), &["--port", "0"])).await;
    assert!(said.contains("another onsale process"), "{said}");

    std::fs::write(elsewhere.path().join("thesis.txt"), "years").unwrap();
    let said = refused(command(elsewhere.path(), &["--port", "0"])).await;
    assert!(said.contains("not Onsale's"), "{said}");
    assert_eq!(elsewhere.path().read_dir().unwrap().count(), 1);

    let file = elsewhere.path().join("thesis.txt");
    let said = refused(command(&file, &["--port", "0"])).await;
    assert!(said.contains("cannot use the data folder"), "{said}");
}

/// The titles of all events, each with the times of its shows.
async fn programme(url: &str) -> BTreeMap<String, Vec<Value>> {
    let visitor = Visitor::anonymous(url);
    let events = visitor.get("/api/v1/events?limit=100").await.expect(200);
    let mut programme = BTreeMap::new();
    for item in events["items"].as_array().unwrap() {
        let event = item["event_id"].as_str().unwrap();
        let event = visitor.get(&format!("/api/v1/events/{event}")).await;
        let event = event.expect(200);
        let shows = event["shows"].as_array().unwrap();
        let starts = shows.iter().map(|show| show["starts_at"].clone());
        let title = event["title"].as_str().unwrap().to_owned();
        programme.insert(title, starts.collect());
    }
    programme
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_folder_gets_a_demo_and_a_restart_keeps_it() {
    let data = tempfile::tempdir().unwrap();
    let mut seen = Vec::new();
    for _ in 0..2 {
        let server = Server::start_with(data.path(), &[]).await;
        let visitor = Visitor::anonymous(&server.url);
        let log_in = json!({"email": "buyer@demo.onsale.example", "password": "on-sale-at-ten"});
        visitor.post("/api/v1/sessions", log_in).await.expect(201);
        seen.push(programme(&server.url).await);
        server.kill().await;
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0].len(), 8);
    assert_eq!(seen[0]["Opening Night"].len(), 2);
    assert_eq!(seen[0]["The Lighthouse Keeper"].len(), 10);
}

/// The demo has a house of every kind, and every place of each is on its plan.
#[tokio::test(flavor = "multi_thread")]
async fn the_demo_has_a_theatre_an_arena_a_club_and_a_room() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start_with(data.path(), &[]).await;
    let visitor = Visitor::anonymous(&server.url);
    let mut places = BTreeMap::new();
    let mut rooms = 0;
    let events = visitor.get("/api/v1/events?limit=100").await.expect(200);
    for item in events["items"].as_array().unwrap() {
        let event = item["event_id"].as_str().unwrap();
        let event = visitor.get(&format!("/api/v1/events/{event}")).await;
        let event = event.expect(200);
        let show = event["shows"][0]["show_id"].as_str().unwrap().to_owned();
        let show = format!("/api/v1/shows/{show}");
        let read = visitor.get(&show).await.expect(200);
        rooms += usize::from(read["room"]["mode"] == "queue_all");
        let layout = visitor.get(&format!("{show}/layout")).await.expect(200);
        assert!(layout["stage"].is_object(), "{item}");
        for section in layout["sections"].as_array().unwrap() {
            assert!(section["shape"].is_object(), "{section}");
        }
        let city = item["city"].as_str().unwrap().to_owned();
        places.insert(city, layout["places"].as_u64().unwrap());
    }
    assert_eq!(rooms, 2);
    let places: Vec<_> = places.iter().map(|(k, v)| (k.as_str(), *v)).collect();
    let expected = [
        ("Hamburg", 2_500),
        ("Lyon", 852),
        ("Madrid", 400),
        ("Vienna", 20_000),
    ];
    assert_eq!(places, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_demo_that_was_cut_off_while_planted_is_finished_by_the_next_start() {
    let whole = tempfile::tempdir().unwrap();
    let server = Server::start_with(whole.path(), &[]).await;
    let expected = programme(&server.url).await;
    server.kill().await;
    for shows in [0, 1, 5] {
        let data = tempfile::tempdir().unwrap();
        let mut starting = command(data.path(), &["--port", "0"]).spawn().unwrap();
        let mut said = BufReader::new(starting.stderr.take().unwrap()).lines();
        let (mut planted, marks) = (0, ["venue created", "show created"]);
        while let Some(line) = said.next_line().await.unwrap() {
            planted += usize::from(line.contains(marks[usize::from(shows > 0)]));
            if planted > shows {
                break;
            }
        }
        starting.kill().await.unwrap();
        let server = Server::start_with(data.path(), &[]).await;
        assert_eq!(programme(&server.url).await, expected, "after {shows}");
        server.kill().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_demo_shows_are_cancelled_starts_and_says_what_to_try() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start_with(data.path(), &[]).await;
    let mut organiser = Visitor::anonymous(&server.url);
    let log_in = json!({"email": "organiser@demo.onsale.example", "password": "on-sale-at-ten"});
    let session = organiser.post("/api/v1/sessions", log_in).await.expect(201);
    organiser.token = session["token"].as_str().unwrap().to_owned();
    let events = organiser.get("/api/v1/events?query=opening").await;
    let events = events.expect(200);
    let event = events["items"][0]["event_id"].as_str().unwrap().to_owned();
    let event = format!("/api/v1/events/{event}");
    let shows = organiser.get(&event).await.expect(200)["shows"].clone();
    for show in shows.as_array().unwrap() {
        let show = show["show_id"].as_str().unwrap();
        cancel_show(&organiser, show).await.expect(202);
    }
    server.stop().await;

    let mut starting = command(data.path(), &["--port", "0"]).spawn().unwrap();
    let mut said = BufReader::new(starting.stdout.take().unwrap()).lines();
    let mut tries = None;
    while let Some(line) = said.next_line().await.unwrap() {
        match line.trim().strip_prefix("curl ") {
            Some(url) => tries = Some(url.to_owned()),
            None if line.starts_with("Stop with") => break,
            None => {}
        }
    }
    let answer = reqwest::get(tries.unwrap()).await.unwrap();
    assert_eq!(answer.status(), 200);
    starting.kill().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_start_is_quick_and_an_idle_server_takes_less_than_100_mb() {
    let data = tempfile::tempdir().unwrap();
    Server::start_with(data.path(), &[]).await.kill().await;
    // The best of three: what else the machine does is not the platform's time.
    let mut fastest = Duration::MAX;
    let mut resident_kib = Vec::new();
    for _ in 0..3 {
        let began = Instant::now();
        let server = Server::start_with(data.path(), &[]).await;
        fastest = fastest.min(began.elapsed());
        Visitor::anonymous(&server.url)
            .get("/healthz")
            .await
            .expect(200);
        resident_kib.extend(server.resident_kib());
        server.kill().await;
    }
    promised("a later start", fastest, Duration::from_secs(1));
    match resident_kib.into_iter().min() {
        Some(kib) => assert!(kib * 1_024 < 100_000_000, "{kib} KiB"),
        None => eprintln!("skipped: this system has no /proc to read the memory from"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_an_error_that_passes_and_loses_nothing() {
    let data = tempfile::tempdir().unwrap();
    // First a life without a limit, to have a show and buyers.
    let server = Server::start(data.path()).await;
    let organiser = Visitor::new(&server.url, "organiser", "organiser").await;
    let event = organiser
        .event(&organiser.venue(json!([rows("A", 400, 50)])).await)
        .await;
    let more = json!({"max_tickets_per_buyer": 50, "hold_seconds": 900});
    let show = organiser.show(&event, json!({"A": 1}), more).await;
    let buyers = crowd(&server.url, 8).await;
    assert!(server.stop().await.success());

    // Then one in which no file may grow by more than a little. `ulimit -f` counts KiB.
    let file = data.path().join("onsale.db").metadata().unwrap();
    let limit_kib = file.len() / 1024 + 300;
    let mut limited = Command::new("bash");
    let serve = "ulimit -f $1; exec \"$2\" serve --port 0 --empty --rate-limit off --data \"$3\"";
    limited.args([
        "-c",
        serve,
        "limited",
        &limit_kib.to_string(),
        env!("CARGO_BIN_EXE_onsale"),
    ]);
    limited
        .arg(data.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let server = Server::from_command(limited).await.unwrap();
    let mut promises = Vec::new();
    let mut met = false;
    for n in 0..390 {
        let owner = buyers[n % 8].at(&server.url);
        let wanted = json!({"seats": [format!("A-{}-1", n + 1)]});
        let answer = owner.hold(&show, &format!("k{n}"), wanted).await;
        if answer.status == 201 {
            promises.push(Promise {
                owner,
                show: show.clone(),
                answer: answer.body,
            });
            continue;
        }
        assert!(answer.headers.contains_key("retry-after"));
        answer.problem(503, "unavailable");
        met = true;
        break;
    }
    assert!(met, "the limit was never met");
    // Reading goes on, also when the map is so old that it has to be built again.
    let reader = buyers[0].at(&server.url);
    let show_url = format!("/api/v1/shows/{show}");
    reader.get(&show_url).await.expect(200);
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    reader.get(&show_url).await.expect(200);
    server.kill().await;

    // With room again everything acknowledged is there and the sale goes on.
    let server = Server::start(data.path()).await;
    check_kept(&promises, &server.url).await;
    buyers[0]
        .at(&server.url)
        .hold(&show, "after", json!({"seats": ["A-400-1"]}))
        .await
        .expect(201);
}
