//! From a challenge to a place in the line.

use onsale_domain::room::fan_code::{FanKeys, FanSerial};
use onsale_domain::show::RoomMode;
use serde_json::{Value, json};

use crate::scene::{SHOW, SINCE, Scene, secrets, settings};

fn fan_code() -> String {
    let keys: FanKeys = secrets(&[]).fans.unwrap();
    let code = keys.code(SHOW, keys.signing(), FanSerial(1)).unwrap();
    code.to_string()
}

/// Everything in a solution that its sender may choose: how long it took, and the spelling.
/// Another counter that solves the challenge is a matter of the rules, and tested there.
#[tokio::test]
async fn a_challenge_sent_in_several_ways_is_one_ticket() {
    use base64::prelude::{BASE64_STANDARD, Engine as _};
    let scene = Scene::new(settings(RoomMode::Queue, None));
    let mut ana = scene.visitor();
    let solved = BASE64_STANDARD.decode(ana.solved().await).unwrap();
    let solved: Value = serde_json::from_slice(&solved).unwrap();
    let mut texts = vec![solved.to_string(), format!("{solved:#}")];
    for time in 0..10 {
        let mut slower = solved.clone();
        slower["solution"]["time"] = json!(time);
        texts.push(slower.to_string());
    }
    let mut tickets = Vec::new();
    for text in texts {
        let altcha = BASE64_STANDARD.encode(text);
        let mut anybody = scene.visitor();
        let told = anybody.post("join", json!({"altcha": altcha})).await;
        tickets.push(told.expect(201).json["ticket"].clone());
    }
    assert!(tickets.iter().all(|ticket| *ticket == tickets[0]));
}

#[tokio::test]
async fn a_fan_code_typed_late_costs_nobody_their_place_in_the_lottery() {
    let opens = SINCE + 10_000;
    let scene = Scene::new(settings(RoomMode::QueueAll, Some(opens)));
    let (mut ana, mut ben) = (scene.visitor(), scene.visitor());
    scene.run(1).await;
    let everybody = ana.join().await.expect(201).json["ticket"].clone();
    let altcha = ben.solved().await;
    ben.post("join", json!({"altcha": altcha}))
        .await
        .expect(201);
    // In time the code is the better place.
    let altcha = ben.solved().await;
    let body = json!({"altcha": altcha, "fan_code": fan_code()});
    let fan = ben.post("join", body).await.expect(201).json["ticket"].clone();
    assert_ne!(fan, everybody);
    scene.run(11).await;
    let altcha = ana.solved().await;
    let body = json!({"altcha": altcha, "fan_code": fan_code()});
    let late = ana.post("join", body).await.expect(201).json["ticket"].clone();
    assert_eq!(late, everybody);
}

#[tokio::test]
async fn forms_are_refused_with_a_page_and_lead_to_the_way_on() {
    let scene = Scene::new(settings(RoomMode::Queue, None));
    let mut ana = scene.visitor();
    scene.run(10).await;
    let page = ana.page("").await.expect(200).text;
    let altcha = page.split("name=\"altcha\" value=\"").nth(1).unwrap();
    let altcha = altcha.split('"').next().unwrap().to_owned();
    let body = form_urlencoded::Serializer::new(String::new())
        .append_pair("altcha", &altcha)
        .finish();
    for (action, body, status) in [("join", body.as_str(), 400), ("enter", "", 401)] {
        let refused = ana.form(action, body).await.expect(status);
        assert_eq!(refused.media_type, "text/html; charset=utf-8", "{action}");
        assert!(refused.text.contains(&format!("href=\"/room/{SHOW}\"")));
    }
    scene.run(21).await;
    let joined = ana.form("join", &body).await.expect(303);
    assert_eq!(joined.location, Some(format!("/room/{SHOW}")));
    let entered = ana.form("enter", "").await.expect(303);
    assert_eq!(entered.location, Some(format!("/room/{SHOW}?inside")));
    let inside = ana.page("?inside").await.expect(200).text;
    assert!(inside.contains(&format!("/room/{SHOW}/leave")), "{inside}");
    ana.form("leave", "").await.expect(303);
    let page = ana.page("").await.expect(200).text;
    assert!(
        page.contains("name=\"altcha\""),
        "a new turn begins with a challenge"
    );
}
