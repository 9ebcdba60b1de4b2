//! What only an emulated cloud lets one do: kill functions, poison queues, deploy and delete.
//! `scripts/cloud` names its folder in `ONSALE_CLOUD`; without it these tests are skipped. They
//! change the cloud for everybody, so they take turns.

mod observing;
pub(crate) mod roles;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use hmac::{Hmac, KeyInit, Mac};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::process::Command;
use tokio::sync::{Mutex, MutexGuard};

use crate::orders::{order_of, text, until};
use crate::owners::wait_for_counts;
use crate::place::Place;
use crate::visitor::Visitor;

static TURN: Mutex<()> = Mutex::const_new(());

pub(crate) struct Cloud {
    _turn: MutexGuard<'static, ()>,
}

impl Cloud {
    pub(crate) async fn find() -> Option<Self> {
        if std::env::var_os("ONSALE_CLOUD").is_none() {
            println!("skipped: there is no emulated cloud. Try: scripts/cloud");
            return None;
        }
        Some(Self {
            _turn: TURN.lock().await,
        })
    }

    /// What `scripts/cloud-stack.py` says to this.
    pub(crate) async fn stack(&self, args: &[&str]) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut command = Command::new(root.join(".tools/venv/bin/python"));
        command.current_dir(&root).arg("scripts/cloud-stack.py");
        let done = command.args(args).output().await.unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{args:?}: {said}");
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    }

    /// What functions asked for and their roles do not allow, a line each.
    pub(crate) fn refusals(&self) -> Vec<String> {
        let folder = std::env::var_os("ONSALE_CLOUD").unwrap();
        let log = std::fs::read_to_string(Path::new(&folder).join("aws.log")).unwrap();
        let refused = log.lines().filter(|line| line.starts_with("AccessDenied"));
        refused.map(str::to_owned).collect()
    }

    /// Waits until the answer is good.
    async fn stack_until(&self, args: &[&str], good: impl Fn(&str) -> bool) -> String {
        until(&format!("{args:?}"), async || {
            let said = self.stack(args).await;
            good(&said).then_some(said)
        })
        .await
    }
}

/// The emulated Stripe, which can be made slow.
struct Stripe(Visitor);

impl Stripe {
    fn find() -> Self {
        let mut visitor = Visitor::anonymous(&std::env::var("STRIPE_API_URL").unwrap());
        visitor.token = std::env::var("STRIPE_SECRET_KEY").unwrap();
        Self(visitor)
    }

    async fn slow(&self, method: Method) -> u64 {
        let told = self.0.send(self.0.request(method, "/_slow")).await;
        told.expect(200)["waiting"].as_u64().unwrap()
    }

    async fn payments_of(&self, order: &str) -> Vec<Value> {
        let listed = self
            .0
            .get("/v1/payment_intents?limit=100")
            .await
            .expect(200);
        let mut listed = listed["data"].as_array().unwrap().clone();
        listed.retain(|payment| payment["metadata"]["order_id"] == order);
        listed
    }
}

/// What Stripe tells unasked, signed as it signs.
async fn tell_signed(url: &str, event: &Value) {
    let payload = event.to_string();
    let now_s = time::OffsetDateTime::now_utc().unix_timestamp();
    let secret = std::env::var("STRIPE_WEBHOOK_SECRETS").unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(format!("{now_s}.{payload}").as_bytes());
    let signed = format!("t={now_s},v1={}", hex::encode(mac.finalize().into_bytes()));
    let stripe = Visitor::anonymous(url);
    let request = stripe
        .request(Method::POST, "/api/v1/payments/webhook")
        .header("content-type", "application/json")
        .header("stripe-signature", signed)
        .body(payload);
    stripe.send(request).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_charge_back_revokes_and_reconciling_everything_can_look_at_everything() {
    let Some(cloud) = Cloud::find().await else {
        return;
    };
    let (place, stripe) = (Place::find().await, Stripe::find());
    let sale = place.sale(2, json!({})).await;
    let ana = place.buyer("ana").await;
    let order = ana.buys(&sale.show, &["A-1-1"]).await;
    let order = text(&order, "order_id").to_owned();
    let payment = stripe.payments_of(&order).await.remove(0);
    let dispute = json!({"id": "dp_1", "object": "dispute", "payment_intent": payment["id"]});
    let event =
        json!({"id": "evt_1", "type": "charge.dispute.created", "data": {"object": dispute}});
    tell_signed(&place.url, &event).await;
    until("the order is charged back", async || {
        (ana.read_order(&order).await["status"] == "cancelled").then_some(())
    })
    .await;
    assert_eq!(ana.tickets(&order).await[0]["status"], "revoked");

    let report = cloud
        .stack(&["invoke", "ReconcileFunction", r#"{"scope":"all"}"#])
        .await;
    println!("{report}");
    assert!(report.contains("payments "), "{report}");
    assert!(!report.contains("could not be checked"), "{report}");
    assert!(!report.contains("cannot be"), "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_function_killed_in_the_middle_of_a_saga_is_replaced_and_the_order_completes() {
    let Some(cloud) = Cloud::find().await else {
        return;
    };
    let (place, stripe) = (Place::find().await, Stripe::find());
    let sale = place.sale(2, json!({})).await;
    let ana = place.buyer("ana").await;
    let hold = ana.holds(&sale.show, &["A-1-1"]).await;
    // Six minutes otherwise.
    cloud.stack(&["retry-after", "SagaQueue", "10"]).await;
    stripe.slow(Method::PUT).await;
    ana.check_out(&sale.show, &hold, "pay", "pm_card_visa")
        .await
        .expect(202);
    until("the saga asks for money", async || {
        (stripe.slow(Method::GET).await > 0).then_some(())
    })
    .await;
    let killed = cloud.stack(&["kill", "DriveSagaFunction"]).await;
    stripe.slow(Method::DELETE).await;
    assert_ne!(killed, "0");

    let order = ana.order_becomes(&order_of(&hold), "confirmed").await;
    assert_eq!(ana.tickets(text(&order, "order_id")).await.len(), 1);
    let payments = stripe.payments_of(&order_of(&hold)).await;
    assert_eq!(payments.len(), 1, "{payments:?}");
    assert_eq!(payments[0]["status"], "succeeded");
    cloud
        .stack_until(&["count", "SagaQueue"], |n| n == "0")
        .await;
    cloud.stack(&["retry-after", "SagaQueue", "360"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_poison_message_ends_among_the_dead_letters_and_an_alarm_rings() {
    let Some(cloud) = Cloud::find().await else {
        return;
    };
    let dead_letters = ["count", "ExpireHoldsDeadLetters"];
    let ringing = ["alarms", "ExpireHoldsDeadLetters"];
    assert_eq!(cloud.stack(&dead_letters).await, "0");
    assert_eq!(cloud.stack(&ringing).await, "");
    // Three minutes otherwise, five times.
    cloud.stack(&["retry-after", "ExpireHoldsQueue", "1"]).await;
    cloud.stack(&["send", "ExpireHoldsQueue", "poison"]).await;
    cloud.stack_until(&dead_letters, |n| n == "1").await;
    cloud.stack_until(&ringing, |names| !names.is_empty()).await;
    assert_eq!(cloud.stack(&["count", "ExpireHoldsQueue"]).await, "0");

    // The queue goes on meanwhile, and afterwards.
    let place = Place::find().await;
    let sale = place.sale(2, json!({"hold_seconds": 2})).await;
    let ana = place.buyer("ana").await;
    ana.holds(&sale.show, &["A-1-1"]).await;
    wait_for_counts(&ana, &sale.show, 2, 0).await;
    cloud
        .stack(&["retry-after", "ExpireHoldsQueue", "180"])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn while_another_version_is_deployed_no_order_fails() {
    const BUYERS: usize = 3;
    const SEATS: usize = 100;
    let Some(cloud) = Cloud::find().await else {
        return;
    };
    let place = Place::find().await;
    let sale = place
        .sale(BUYERS * SEATS, json!({"max_tickets_per_buyer": 50}))
        .await;
    let deployed = AtomicBool::new(false);
    let flow = (0..BUYERS).map(async |n| {
        let mut bought = 0;
        let mut buyer = place.buyer(&format!("buyer{n}")).await;
        // One order more after the deployment, by the new version alone.
        loop {
            let last = deployed.load(Ordering::Relaxed);
            let seat = format!("A-1-{}", n * SEATS + bought + 1);
            let order = buyer.buys(&sale.show, &[&seat]).await;
            assert_eq!(buyer.tickets(text(&order, "order_id")).await.len(), 1);
            bought += 1;
            if last {
                return bought;
            }
            // An account may hold five times a minute.
            if bought % 4 == 0 {
                buyer = place.buyer(&format!("buyer{n}-{bought}")).await;
            }
        }
    });
    let deploy = async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        let before = cloud.stack(&["code", "DriveSagaFunction"]).await;
        cloud.stack(&["deploy-again"]).await;
        assert_ne!(cloud.stack(&["code", "DriveSagaFunction"]).await, before);
        deployed.store(true, Ordering::Relaxed);
    };
    let (bought, ()) = tokio::join!(join_all(flow), deploy);
    println!("orders while deploying: {bought:?}");
    assert!(bought.iter().all(|&orders| orders >= 2), "{bought:?}");
    let free = BUYERS * SEATS - bought.iter().sum::<usize>();
    wait_for_counts(&sale.organiser, &sale.show, free as u64, 0).await;
}
