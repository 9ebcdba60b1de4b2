//! A room that also wants a CAPTCHA.

use onsale_domain::show::RoomMode;
use onsale_edge::EdgeLimits;
use serde_json::json;

use crate::scene::{Scene, held, secrets, settings};

#[tokio::test]
async fn a_captcha_is_asked_about_once_for_each_challenge_and_must_be_of_this_site() {
    let captcha = [("CAPTCHA_SECRET", "s"), ("CAPTCHA_HOSTNAME", "room.test")];
    let settings = settings(RoomMode::Queue, None);
    let scene = Scene::with(settings, secrets(&captcha), EdgeLimits::off());
    let mut ana = scene.visitor();
    let altcha = ana.solved().await;
    ana.post("join", json!({"altcha": altcha}))
        .await
        .expect(400);
    assert!(held(&scene.world().asked).is_empty());
    let body = json!({"altcha": altcha, "captcha": "token"});
    for (answer, status) in [
        (
            json!({"success": false, "error-codes": ["invalid-input-response"]}),
            400,
        ),
        (json!({"success": true, "hostname": "elsewhere.test"}), 400),
        (json!({"success": true, "hostname": "room.test"}), 201),
        (json!({"success": true, "hostname": "room.test"}), 201),
    ] {
        *held(&scene.world().captcha) = answer;
        ana.post("join", body.clone()).await.expect(status);
    }
    let question = |body: &str| {
        let mut fields = form_urlencoded::parse(body.as_bytes());
        let key = fields.find(|(name, _)| name == "idempotency_key");
        key.unwrap().1.into_owned()
    };
    let altcha = ana.solved().await;
    let body = json!({"altcha": altcha, "captcha": "token"});
    ana.post("join", body).await.expect(201);
    let asked: Vec<_> = held(&scene.world().asked)
        .iter()
        .map(|body| question(body))
        .collect();
    assert!(asked[..4].iter().all(|key| *key == asked[0]));
    assert_ne!(asked[4], asked[0], "another challenge is another question");
}
