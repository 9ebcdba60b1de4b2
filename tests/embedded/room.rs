//! The waiting room of the embedded platform, from the challenge to the hold.

use std::time::Duration;

use onsale_domain::time::Millis;
use reqwest::Method;
use serde_json::{Value, json};

use crate::command_line::onsale;
use crate::sale::Sale;
use crate::visitor::{Visitor, rows};
use crate::waiting::{Waiting, solved, spelled};

async fn sale(room: Value) -> Sale {
    Sale::small(json!({"room": room})).await
}

fn queue(mode: &str, capacity: u32, rate: u32) -> Value {
    json!({"mode": mode, "capacity": capacity, "rate_per_second": rate})
}

fn in_seconds(seconds: u64) -> String {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    Millis(now.as_millis() as u64 + seconds * 1_000).to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pass_comes_from_the_room_and_holds_for_one_account_only() {
    let sale = sale(queue("queue", 10, 10)).await;
    let (ana, ben) = (sale.buyer("ana").await, sale.buyer("ben").await);
    let wanted = json!({"seats": ["A-1-1"]});
    ana.hold(&sale.show, "none", wanted.clone())
        .await
        .problem(403, "pass_required");
    let waiting = Waiting::join(&ana, &sale.show).await;
    let pass = waiting.pass().await;
    for (who, key) in [(&ana, "first"), (&ana, "first")] {
        let held = who.hold_with(&pass, &sale.show, key, wanted.clone()).await;
        held.expect(201);
    }
    let other = json!({"seats": ["A-1-2"]});
    ben.hold_with(&pass, &sale.show, "b", other.clone())
        .await
        .problem(403, "pass_required");
    // Entering again renews the same pass; leaving ends it, in the functions too.
    let again = waiting.enter().await.expect(200);
    assert_eq!(jti(again["pass"].as_str().unwrap()), jti(&pass));
    waiting.leave().await.expect(204);
    ana.hold_with(&pass, &sale.show, "late", other)
        .await
        .problem(403, "pass_required");
    waiting.enter().await.problem(409, "conflict");
    waiting.leave().await.expect(204);
}

pub(crate) fn jti(token: &str) -> String {
    use base64::Engine as _;
    let claims = token.split('.').nth(1).unwrap();
    let claims = base64::prelude::BASE64_URL_SAFE_NO_PAD
        .decode(claims)
        .unwrap();
    let claims: Value = serde_json::from_slice(&claims).unwrap();
    claims["jti"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirmed_order_ends_its_pass_and_gives_the_slot_back() {
    let sale = sale(queue("queue_all", 1, 5)).await;
    let (ana, ben) = (sale.buyer("ana").await, sale.buyer("ben").await);
    let first = Waiting::join(&ana, &sale.show).await;
    let pass = first.pass().await;
    let second = Waiting::join(&ben, &sale.show).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    second.enter().await.problem(425, "not_admitted");
    let held = ana
        .hold_with(&pass, &sale.show, "h", json!({"seats": ["A-1-1"]}))
        .await
        .expect(201);
    let hold = held["hold_id"].as_str().unwrap();
    ana.pays(&sale.show, hold).await;
    // Long before the five minutes of the pass.
    second.pass().await;
    ana.hold_with(&pass, &sale.show, "more", json!({"seats": ["A-1-2"]}))
        .await
        .problem(403, "pass_required");
}

#[tokio::test(flavor = "multi_thread")]
async fn before_opening_everybody_is_in_the_lottery_and_can_check_the_draw() {
    let opens = in_seconds(6);
    let sale = sale(
        json!({"mode": "queue_all", "capacity": 50, "rate_per_second": 50, "opens_at": opens}),
    )
    .await;
    let anybody = Visitor::anonymous(&sale.server.url);
    let fairness = format!("/room/{}/fairness", sale.show);
    let before = anybody.get(&fairness).await.expect(200);
    assert!(before["opening"]["seed"].is_null());
    let mut crowd = Vec::new();
    for _ in 0..3 {
        crowd.push(Waiting::join(&anybody, &sale.show).await);
    }
    for waiting in &crowd {
        let status = waiting.status().await;
        assert_eq!(status["state"], "prequeue", "{status}");
        assert_eq!(status["opens_at"], opens);
        assert!(status["position"].is_null() && status["draw"].is_null());
        waiting.enter().await.problem(425, "not_admitted");
    }
    for waiting in &crowd {
        waiting.until("admitted").await;
        waiting.pass().await;
    }
    let after = loop {
        let told = anybody.get(&fairness).await.expect(200);
        if told["opening"]["seed"].is_string() {
            break told;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    };
    assert_eq!(
        after["opening"]["commitment"],
        before["opening"]["commitment"]
    );
    assert!(after["later"]["seed"].is_null());
    let saved = sale.data.path().join("fairness.json");
    std::fs::write(&saved, after.to_string()).unwrap();
    let saved = saved.to_str().unwrap();
    for waiting in &crowd {
        let draw = waiting.status().await["draw"].as_str().unwrap().to_owned();
        let noted = before["opening"]["commitment"].as_str().unwrap();
        let own = waiting.ask(Method::GET, "fairness").await.expect(200);
        assert_eq!(own["yours"]["draw"], draw);
        let copy = own["yours"]["ticket"].as_str().unwrap();
        for ticket in [waiting.ticket.as_str(), copy] {
            let args = [
                "verify-draw",
                ticket,
                "--fairness",
                saved,
                "--draw",
                &draw,
                "--commitment",
                noted,
            ];
            let said = onsale(&args).await;
            assert_eq!(said.code, 0, "{said:?}");
        }
        let wrong = [
            "verify-draw",
            &waiting.ticket,
            "--fairness",
            saved,
            "--draw",
            "00000000000000ff",
        ];
        assert_ne!(onsale(&wrong).await.code, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_challenge_is_one_ticket_and_one_ticket_one_pass() {
    let sale = sale(queue("queue", 100, 100)).await;
    let anybody = Visitor::anonymous(&sale.server.url);
    let altcha = solved(&anybody, &sale.show).await;
    let joins = (0..1_000).map(|n| {
        let (visitor, show) = (anybody.clone(), sale.show.clone());
        let body = json!({"altcha": spelled(&altcha, n)});
        tokio::spawn(async move { Waiting::join_with(&visitor, &show, body).await })
    });
    let mut tickets = Vec::new();
    for join in joins.collect::<Vec<_>>() {
        tickets.push(join.await.unwrap());
    }
    let waiting = tickets[0].clone();
    assert!(tickets.iter().all(|other| other.ticket == waiting.ticket));
    waiting.until("admitted").await;
    waiting.pass().await;
    let enters = (0..100).map(|_| {
        let waiting = waiting.clone();
        tokio::spawn(async move { waiting.pass().await })
    });
    let mut passes = Vec::new();
    for enter in enters.collect::<Vec<_>>() {
        passes.push(jti(&enter.await.unwrap()));
    }
    passes.dedup();
    assert_eq!(passes.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_forged_or_of_another_show_is_refused() {
    let sale = sale(queue("queue", 10, 10)).await;
    let more = json!({"room": queue("queue", 10, 10)});
    let other = sale
        .organiser
        .show(&sale.event, json!({"A": 4501}), more)
        .await;
    let anybody = Visitor::anonymous(&sale.server.url);
    let waiting = Waiting::join(&anybody, &sale.show).await;
    let altcha = solved(&anybody, &sale.show).await;
    let join = |show: &str, altcha: &str| {
        let (path, body) = (format!("/room/{show}/join"), json!({"altcha": altcha}));
        let anybody = anybody.clone();
        async move { anybody.post(&path, body).await }
    };
    join(&other, &altcha).await.problem(400, "invalid_request");
    let mut forged = altcha.clone();
    forged.replace_range(40..41, if &forged[40..41] == "A" { "B" } else { "A" });
    for wrong in [forged.as_str(), "", "not base64", &altcha[..100]] {
        join(&sale.show, wrong)
            .await
            .problem(400, "invalid_request");
    }
    let mut changed = waiting.ticket.clone();
    changed.replace_range(60..61, if &changed[60..61] == "A" { "B" } else { "A" });
    for (show, ticket) in [
        (&other, waiting.ticket.as_str()),
        (&sale.show, changed.as_str()),
        (&sale.show, ""),
        (&sale.show, "zzz"),
    ] {
        let wrong = Waiting {
            visitor: anybody.clone(),
            show: show.clone(),
            ticket: ticket.to_owned(),
        };
        for (method, action) in [
            (Method::GET, "status"),
            (Method::POST, "enter"),
            (Method::POST, "leave"),
        ] {
            wrong
                .ask(method, action)
                .await
                .problem(401, "unauthenticated");
        }
    }
    let pass = waiting.pass().await;
    let ana = sale.buyer("ana").await;
    ana.hold_with(&pass, &other, "other", json!({"seats": ["A-1-1"]}))
        .await
        .problem(403, "pass_required");
    anybody
        .get("/room/shw_00000000000000000000000000000000/status")
        .await
        .problem(404, "not_found");
    anybody
        .post(
            &format!("/room/{}/join", sale.show),
            json!({"altcha": altcha, "more": 1}),
        )
        .await
        .problem(400, "invalid_request");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_organiser_changes_the_room_and_it_follows() {
    let sale = sale(queue("queue", 10, 10)).await;
    let anybody = Visitor::anonymous(&sale.server.url);
    let room = format!("/api/v1/shows/{}/room", sale.show);
    let status = || async {
        let told = anybody.get(&format!("/room/{}/status", sale.show)).await;
        told.expect(200)["state"].as_str().unwrap().to_owned()
    };
    let becomes = |wanted: &'static str| {
        let status = &status;
        async move {
            for _ in 0..100 {
                if status().await == wanted {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            panic!("never {wanted}: {}", status().await);
        }
    };
    becomes("open").await;
    let waiting = Waiting::join(&anybody, &sale.show).await;
    sale.organiser
        .put(&room, queue("closed", 10, 10))
        .await
        .expect(200);
    becomes("closed").await;
    waiting.until("closed").await;
    waiting.enter().await.problem(425, "not_admitted");
    anybody
        .get(&format!("/room/{}/challenge", sale.show))
        .await
        .problem(409, "conflict");
    sale.organiser
        .put(&room, queue("queue_all", 10, 10))
        .await
        .expect(200);
    becomes("join").await;
    waiting.pass().await;
    sale.organiser
        .put(&room, queue("off", 10, 10))
        .await
        .expect(200);
    becomes("open").await;
    let ana = sale.buyer("ana").await;
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    ana.hold(&sale.show, "off", json!({"seats": ["A-1-1"]}))
        .await
        .expect(201);
    anybody
        .put(&room, queue("off", 10, 10))
        .await
        .problem(401, "unauthenticated");
    ana.put(&room, queue("off", 10, 10))
        .await
        .problem(403, "forbidden");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sold_out_show_points_to_the_waitlist() {
    let room = queue("queue_all", 10, 10);
    let sale = Sale::open(
        json!([rows("A", 1, 2)]),
        json!({"A": 100}),
        json!({"room": room}),
    )
    .await;
    let ana = sale.buyer("ana").await;
    let waiting = Waiting::join(&ana, &sale.show).await;
    let pass = waiting.pass().await;
    let late = Waiting::join(&Visitor::anonymous(&sale.server.url), &sale.show).await;
    let held = ana
        .hold_with(
            &pass,
            &sale.show,
            "all",
            json!({"seats": ["A-1-1", "A-1-2"]}),
        )
        .await
        .expect(201);
    ana.pays(&sale.show, held["hold_id"].as_str().unwrap())
        .await;
    let status = late.until("sold_out").await;
    assert_eq!(
        status["waitlist"],
        format!("/api/v1/shows/{}/waitlist", sale.show)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_room_survives_kill_9_with_its_passes() {
    let sale = sale(queue("queue_all", 1, 10)).await;
    let anybody = Visitor::anonymous(&sale.server.url);
    let first = Waiting::join(&anybody, &sale.show).await;
    let pass = first.pass().await;
    let (data, show) = (sale.data, sale.show.clone());
    sale.server.kill().await;
    let server = crate::server::Server::start(data.path()).await;
    let at = |waiting: &Waiting| Waiting {
        visitor: waiting.visitor.at(&server.url),
        ..waiting.clone()
    };
    let first = at(&first);
    assert_eq!(jti(&first.pass().await), jti(&pass));
    // The only slot is taken, and the process that forgot it would give it away.
    let second = Waiting::join(&anybody.at(&server.url), &show).await;
    for _ in 0..12 {
        let refused = second.enter().await;
        refused.problem(425, "not_admitted");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    first.leave().await.expect(204);
    second.pass().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_script_a_form_and_some_patience_do() {
    let sale = sale(queue("queue", 10, 10)).await;
    let client = reqwest::Client::builder()
        .cookie_store(true)
        .build()
        .unwrap();
    let page = format!("{}/room/{}", sale.server.url, sale.show);
    let html = |path: String| {
        let client = client.clone();
        async move {
            let request = client.get(path).header("accept", "text/html");
            let answer = request.send().await.unwrap();
            assert_eq!(answer.status(), 200);
            let policy = answer.headers()["content-security-policy"]
                .to_str()
                .unwrap();
            assert!(policy.starts_with("default-src 'none'"));
            answer.text().await.unwrap()
        }
    };
    let text = html(page.clone()).await;
    let altcha = text.split("name=\"altcha\" value=\"").nth(1).unwrap();
    let altcha = altcha.split('"').next().unwrap().to_owned();
    let join = || {
        let form = [("altcha", altcha.as_str()), ("fan_code", "")];
        client.post(format!("{page}/join")).form(&form).send()
    };
    assert_eq!(join().await.unwrap().status(), 400, "too early");
    tokio::time::sleep(Duration::from_secs(21)).await;
    // Joining leads back to the page, which now has another form.
    let text = join().await.unwrap().text().await.unwrap();
    assert!(!text.contains("name=\"altcha\""), "{text}");
    let entered = loop {
        let text = html(page.clone()).await;
        if text.contains("/enter\"") {
            break client
                .post(format!("{page}/enter"))
                .form(&[("a", "b")])
                .send()
                .await
                .unwrap();
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    };
    assert!(entered.url().path().starts_with("/room/"));
    assert_eq!(entered.status(), 200);
}
