//! Gates of a show: counted, undone, and reconciled after they were offline.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::checkout::time_of;
use crate::orders::text;
use crate::sale::Sale;
use crate::server::{LOAD, Server};
use crate::visitor::Visitor;

/// Tickets that were bought: id and code of each.
async fn tickets(sale: &Sale, buyer: &Visitor, seats: &[&str]) -> Vec<(String, String)> {
    let order = buyer.buys(&sale.show, seats).await;
    let tickets = buyer.tickets(text(&order, "order_id")).await;
    let pair = |t: &Value| (text(t, "ticket_id").to_owned(), text(t, "code").to_owned());
    tickets.iter().map(pair).collect()
}

async fn scan_at(sale: &Sale, gate: &str, code: &str) -> Value {
    let path = format!("/api/v1/shows/{}/scans", sale.show);
    let body = json!({"code": code, "gate": gate});
    sale.organiser.post(&path, body).await.expect(200)
}

async fn counts(sale: &Sale) -> Value {
    let path = format!("/api/v1/shows/{}/gates", sale.show);
    sale.organiser.get(&path).await.expect(200)
}

/// One command of a gate.
struct GateCommand(Command);

impl GateCommand {
    fn new(args: &[&str], data: &Path, token: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_onsale"));
        command.arg("gate").args(args).arg("--data").arg(data);
        command.env("ONSALE_TOKEN", token).kill_on_drop(true);
        Self(command)
    }

    async fn run(mut self) -> (bool, String, String) {
        let output = self.0.output().await.unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.success(),
            text(output.stdout),
            text(output.stderr),
        )
    }

    async fn succeeds(self) -> String {
        let (success, out, err) = self.run().await;
        assert!(success, "{out}{err}");
        out
    }
}

/// `onsale gate scan`, at work.
struct Scanner {
    child: Child,
    codes: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Scanner {
    fn start(data: &Path) -> Self {
        // Without a token: it needs none.
        let mut command = GateCommand::new(&["scan"], data, "").0;
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        Self {
            codes: child.stdin.take().unwrap(),
            answers: BufReader::new(child.stdout.take().unwrap()).lines(),
            child,
        }
    }

    async fn scan(&mut self, code: &str) -> String {
        self.codes
            .write_all(format!("{code}\n").as_bytes())
            .await
            .unwrap();
        let answer = tokio::time::timeout(Duration::from_secs(20), self.answers.next_line());
        answer.await.unwrap().unwrap().unwrap()
    }

    /// `kill -9`.
    async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }
}

async fn download(sale: &Sale, url: &str, gate: &str, data: &Path) {
    let args = [
        "download", "--url", url, "--show", &sale.show, "--gate", gate,
    ];
    let said = GateCommand::new(&args, data, &sale.organiser.token)
        .succeeds()
        .await;
    assert!(said.contains("tickets used"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn gates_count_who_came_in_and_a_supervisor_undoes_it() {
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    let bought = tickets(&sale, &ana, &["A-1-1", "A-1-2", "A-1-3"]).await;
    assert_eq!(counts(&sale).await["admitted"], 0);
    for ((_, code), gate) in bought.iter().zip(["north", "south", "north"]) {
        assert_eq!(scan_at(&sale, gate, code).await["result"], "admitted");
    }
    scan_at(&sale, "south", &bought[0].1).await;
    let counted = counts(&sale).await;
    assert_eq!(counted["admitted"], 3);
    assert_eq!(
        counted["gates"],
        json!([{"gate": "north", "admitted": 2}, {"gate": "south", "admitted": 1}])
    );

    let (id, code) = &bought[0];
    let path = format!("/api/v1/shows/{}/scans/{id}", sale.show);
    ana.delete(&path).await.problem(403, "forbidden");
    ana.get(&path).await.problem(403, "forbidden");
    for _ in 0..2 {
        let undone = sale.organiser.delete(&path).await.expect(200);
        assert_eq!(undone["status"], "valid");
        let [admission] = undone["admissions"].as_array().unwrap().as_slice() else {
            panic!("{undone}");
        };
        assert_eq!(admission["gate"], "north");
        assert!(admission["undone_at"].is_string() && admission["undone_by"].is_string());
    }
    assert_eq!(counts(&sale).await["admitted"], 2);
    assert_eq!(scan_at(&sale, "south", code).await["result"], "admitted");
    let wrong = format!("{path}?used_at=2020-01-01T00:00:00Z");
    sale.organiser.delete(&wrong).await.problem(409, "conflict");
    let missing = format!("/api/v1/shows/{}/scans/tkt_{}", sale.show, "0".repeat(32));
    sale.organiser
        .delete(&missing)
        .await
        .problem(404, "not_found");
    for path in ["gate", "gates", "scans"] {
        let path = format!("/api/v1/shows/{}/{path}", sale.show);
        ana.get(&path).await.problem(403, "forbidden");
        let anonymous = Visitor::anonymous(&sale.server.url);
        anonymous.get(&path).await.problem(401, "unauthenticated");
    }
}

/// The heart of it: two gates let in the same code while nobody could tell them, one of
/// them was killed in the middle, and in the end everybody knows.
#[tokio::test(flavor = "multi_thread")]
async fn two_gates_that_admitted_the_same_code_offline_are_reconciled_and_reported() {
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    let bought = tickets(&sale, &ana, &["A-1-1", "A-1-2", "A-1-3", "A-1-4"]).await;
    let cancelled = ana.buys(&sale.show, &["A-2-1"]).await;
    let cancelled = text(&cancelled, "order_id").to_owned();
    let revoked = text(&ana.tickets(&cancelled).await[0], "code").to_owned();
    let codes: Vec<_> = bought.iter().map(|(_, code)| code.as_str()).collect();
    scan_at(&sale, "main", codes[3]).await;

    let folder = tempfile::tempdir().unwrap();
    let (north, south) = (folder.path().join("north"), folder.path().join("south"));
    for (gate, data) in [("north", &north), ("south", &south)] {
        download(&sale, &sale.server.url, gate, data).await;
    }
    ana.cancel(&cancelled, "c").await.expect(202);
    ana.order_becomes(&cancelled, "refunded").await;
    let Sale {
        server,
        data,
        organiser,
        show,
        event,
    } = sale;
    server.kill().await;

    // Nobody answers any more.
    let mut gate = Scanner::start(&north);
    assert!(gate.scan(codes[0]).await.starts_with("admitted"));
    assert!(gate.scan(codes[1]).await.starts_with("admitted"));
    gate.kill().await;
    let mut gate = Scanner::start(&north);
    let known = gate.scan(codes[0]).await;
    assert!(
        known.starts_with("already used") && known.contains("north"),
        "{known}"
    );
    assert!(
        gate.scan(codes[3]).await.contains("by gate main"),
        "from the snapshot"
    );
    assert!(
        gate.scan(&revoked).await.starts_with("admitted"),
        "nobody told it"
    );
    assert!(gate.scan("NONSENSE").await.starts_with("invalid"));
    gate.kill().await;
    let mut gate = Scanner::start(&south);
    assert!(
        gate.scan(codes[0]).await.starts_with("admitted"),
        "the same code"
    );
    assert!(gate.scan(codes[2]).await.starts_with("admitted"));
    gate.kill().await;
    let (success, _, err) = GateCommand::new(&["sync"], &north, &organiser.token)
        .run()
        .await;
    assert!(!success && err.contains("does not answer"), "{err}");

    let server = Server::start(data.path()).await;
    let organiser = organiser.at(&server.url);
    let sale = Sale {
        server,
        data,
        organiser,
        show,
        event,
    };
    // It has another port now; a gate may be told where the platform is.
    for (gate, data) in [("north", &north), ("south", &south)] {
        download(&sale, &sale.server.url, gate, data).await;
    }
    let token = sale.organiser.token.clone();
    // The later gate reports first.
    let said = GateCommand::new(&["sync"], &south, &token).succeeds().await;
    assert!(said.contains("2 scans reported, 0 to look at"), "{said}");
    let said = GateCommand::new(&["sync"], &north, &token).succeeds().await;
    let double = said
        .lines()
        .find(|line| line.contains("double admission"))
        .unwrap();
    assert!(
        double.contains(&bought[0].0) && double.contains("then by south"),
        "{said}"
    );
    assert!(said.contains("admitted although revoked"), "{said}");
    let again = GateCommand::new(&["sync"], &north, &token).succeeds().await;
    assert!(again.contains("0 scans reported"), "{again}");
    // A gate that lost its note of what it reported reports everything again.
    std::fs::remove_file(south.join("synced")).unwrap();
    let said = GateCommand::new(&["sync"], &south, &token).succeeds().await;
    assert!(
        said.contains("first by north") && said.contains("then here (south)"),
        "{said}"
    );

    let path = format!("/api/v1/shows/{}/scans?kind=double", sale.show);
    let listed = sale.organiser.get(&path).await.expect(200);
    let [conflict] = listed["items"].as_array().unwrap().as_slice() else {
        panic!("{listed}");
    };
    assert_eq!(text(conflict, "ticket_id"), bought[0].0);
    let admissions = conflict["admissions"].as_array().unwrap();
    let gates: Vec<_> = admissions.iter().map(|a| text(a, "gate")).collect();
    assert_eq!(gates, ["north", "south"]);
    assert!(time_of(&admissions[0], "at") < time_of(&admissions[1], "at"));
    let path = format!("/api/v1/shows/{}/scans?kind=revoked", sale.show);
    let listed = sale.organiser.get(&path).await.expect(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1, "{listed}");
    let counted = counts(&sale).await;
    assert_eq!(
        counted["gates"],
        json!([
            {"gate": "main", "admitted": 1},
            {"gate": "north", "admitted": 3},
            {"gate": "south", "admitted": 2},
        ])
    );
    // What the others did is known here by now.
    let mut gate = Scanner::start(&south);
    assert!(gate.scan(codes[1]).await.contains("by gate north"));
    assert!(gate.scan(&revoked).await.starts_with("revoked"));
    gate.kill().await;
    assert_eq!(
        scan_at(&sale, "main", codes[2]).await["result"],
        "already_used"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_comes_in_pages_and_then_only_what_changed() {
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    let bought = tickets(&sale, &ana, &["A-1-1", "A-1-2", "A-1-3"]).await;
    for (_, code) in &bought {
        scan_at(&sale, "north #1 & more", code).await;
    }
    let mut short: Vec<_> = bought
        .iter()
        .map(|(id, _)| id["tkt_".len()..][..16].to_owned())
        .collect();
    short.sort();
    let path = format!("/api/v1/shows/{}/gate", sale.show);
    let whole = sale.organiser.get(&path).await.expect(200);
    let used = |page: &Value| -> Vec<String> {
        let used = page["used"].as_array().unwrap();
        used.iter()
            .map(|one| text(one, "ticket").to_owned())
            .collect()
    };
    assert_eq!(used(&whole), short);
    assert_eq!(whole["revoked"], json!([]));
    assert_eq!(whole["keys"].as_array().unwrap().len(), 1);
    assert_eq!(whole["show"]["show_id"], sale.show.as_str());
    // The names of gates are in a cursor, which goes into an address as it is.
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = format!("{path}?limit=1{cursor}");
        let page = sale.organiser.get(&page).await.expect(200);
        seen.extend(used(&page));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    seen.sort();
    assert_eq!(seen, short);
    for wrong in ["?since=yesterday", "?cursor=x", "?limit=0", "?sinc=1"] {
        let path = format!("{path}{wrong}");
        sale.organiser
            .get(&path)
            .await
            .problem(400, "invalid_request");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_refused_whole_when_it_is_no_batch_and_each_scan_by_itself_otherwise() {
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    let bought = tickets(&sale, &ana, &["A-1-1"]).await;
    let path = format!("/api/v1/shows/{}/scans/batch", sale.show);
    let scan = json!({"code": bought[0].1, "at": "2026-01-01T00:00:00Z"});
    let batch = |scans: Value| json!({"gate": "north", "device": "d1", "scans": scans});
    let many = Value::Array(vec![scan.clone(); 201]);
    for wrong in [
        batch(json!([])),
        batch(many),
        json!({"gate": "", "device": "d1", "scans": [scan]}),
        json!({"gate": "north", "device": "", "scans": [scan]}),
        json!({"gate": "north", "device": "d1", "scans": [scan], "more": 1}),
        batch(json!([{"code": "x", "at": "noon"}])),
    ] {
        let refused = sale.organiser.post(&path, wrong).await;
        refused.problem(400, "invalid_request");
    }
    ana.post(&path, batch(json!([scan])))
        .await
        .problem(403, "forbidden");
    let scans = json!([scan, {"code": "x", "at": "2026-01-01T00:00:01Z"}]);
    let answer = sale.organiser.post(&path, batch(scans)).await.expect(200);
    assert_eq!(answer["scans"][0]["result"], "admitted");
    assert_eq!(answer["scans"][1]["result"], "invalid");
    assert_eq!(answer["scans"][1]["reason"], "malformed");
    // A device without a clock of its own is taken at its word, but never into the future.
    let future = json!({"code": bought[0].1, "at": "2099-01-01T00:00:00Z"});
    let answer = sale
        .organiser
        .post(&path, batch(json!([future])))
        .await
        .expect(200);
    let first = &answer["scans"][0];
    assert_eq!(first["result"], "double_admission");
    assert!(text(first, "at") < "2099");
    assert_eq!(first["others"].as_array().unwrap().len(), 1, "{first}");
}

/// One session lets in more than a hundred a minute, which is what others may ask.
#[tokio::test(flavor = "multi_thread")]
async fn a_gate_may_ask_more_often_than_anybody_else() {
    let _turn = LOAD.lock().await;
    let data = tempfile::tempdir().unwrap();
    let server = Server::start_with(data.path(), &["--empty"]).await;
    let sections = json!([crate::visitor::rows("A", 1, 4)]);
    let sale = Sale::open_on(server, data, sections, json!({"A": 4501}), json!({})).await;
    let path = format!("/api/v1/shows/{}/scans", sale.show);
    let nonsense = json!({"code": "NONSENSE", "gate": "north"});
    for _ in 0..150 {
        let scan = sale.organiser.request(Method::POST, &path).json(&nonsense);
        let scan = sale.organiser.send_once(scan).await;
        assert_eq!(scan.expect(200)["result"], "invalid");
    }
}
