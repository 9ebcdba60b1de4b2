//! Paying with Stripe, as far as its emulator goes: our own calls, and webhooks that come
//! back to us. It runs where `ONSALE_LOCALSTRIPE_URL` names an emulator that
//! `scripts/stripe-emulator.py` started.

use reqwest::Method;
use serde_json::{Value, json};

use crate::command_line::reconcile;
use crate::orders::text;
use crate::sale::Sale;
use crate::server::{Server, command};
use crate::visitor::{Visitor, rows};

const KEY: &str = "sk_test_12345";
const WEBHOOK_SECRET: &str = "whsec_embedded";
const DECLINED_CARD: &str = "4000000000000341";
const CARD_WITH_3DS: &str = "4000002500003155";

/// The emulator, asked for what the platform never asks.
struct Stripe(Visitor);

impl Stripe {
    fn find() -> Option<Self> {
        let url = std::env::var("ONSALE_LOCALSTRIPE_URL").ok()?;
        let mut visitor = Visitor::anonymous(&url);
        visitor.token = KEY.to_owned();
        Some(Self(visitor))
    }

    async fn post(&self, path: &str, form: String) -> Value {
        let request = self.0.request(Method::POST, path);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        self.0.send(request.body(form)).await.expect(200)
    }

    /// To `reconcile` a payment of another platform is one that lost its order.
    async fn forget_everything(&self) {
        self.0.delete("/_config/data").await.expect(200);
    }

    async fn send_webhooks_to(&self, platform: &str) {
        let url = format!("{platform}/api/v1/payments/webhook");
        let form = format!("url={url}&secret={WEBHOOK_SECRET}");
        self.post("/_config/webhooks/embedded", form).await;
    }

    /// A way to pay with this card.
    async fn method(&self, card: &str) -> String {
        let card = format!(
            "type=card&card[number]={card}&card[exp_month]=12&card[exp_year]=2050&card[cvc]=123"
        );
        let method = self.post("/v1/payment_methods", card).await;
        text(&method, "id").to_owned()
    }

    /// The one payment that names this order.
    async fn payment_of(&self, order: &str) -> Value {
        let listed = self.0.get("/v1/payment_intents?limit=100").await;
        let mut listed = listed.expect(200)["data"].as_array().unwrap().clone();
        listed.retain(|payment| payment["metadata"]["order_id"] == order);
        assert_eq!(listed.len(), 1, "{listed:?}");
        listed.remove(0)
    }

    /// The emulator takes no other method after a decline, as Stripe does, until it is
    /// made to forget the failed charge.
    async fn forget_failed_charge(&self, order: &str) {
        let payment = self.payment_of(order).await;
        let path = format!("/v1/payment_intents/{}", text(&payment, "id"));
        let forget = json!({"latest_charge": null});
        self.0.post(&path, forget).await.expect(200);
    }

    /// The buyer convinces the bank.
    async fn authenticate(&self, payment: &Value, client_secret: &str) {
        let path = format!("/v1/payment_intents/{}/_authenticate", text(payment, "id"));
        let form = format!("client_secret={client_secret}&success=true");
        self.post(&path, form).await;
    }

    /// A platform that takes its money here: seats at 45.01, of which half goes back.
    async fn sale(&self) -> Sale {
        let data = tempfile::tempdir().unwrap();
        let mut command = command(data.path(), &["--empty", "--rate-limit", "off"]);
        command
            .args(["--port", "0"])
            .env("STRIPE_SECRET_KEY", KEY)
            .env("STRIPE_PUBLISHABLE_KEY", "pk_test_1")
            .env("STRIPE_API_URL", &self.0.url)
            .env("STRIPE_WEBHOOK_SECRETS", WEBHOOK_SECRET);
        let server = Server::from_command(command).await.unwrap();
        let (sections, prices) = (json!([rows("A", 2, 10)]), json!({"A": 4501}));
        let half = json!({"refund_policy": [{"hours_before": 1, "percent": 50}]});
        Sale::open_on(server, data, sections, prices, half).await
    }
}

/// One platform and one story: whoever reconciles takes every payment for its own.
#[tokio::test]
async fn money_is_taken_and_given_back_at_stripe_and_the_books_agree() {
    let Some(stripe) = Stripe::find() else {
        println!("skipped: ONSALE_LOCALSTRIPE_URL is not set");
        return;
    };
    stripe.forget_everything().await;
    let sale = stripe.sale().await;
    stripe.send_webhooks_to(&sale.server.url).await;

    a_paid_order_is_captured_and_cancelling_refunds_its_share(&stripe, &sale).await;
    after_a_decline_the_hold_is_held_and_can_be_paid(&stripe, &sale).await;
    a_webhook_wakes_the_order_when_3d_secure_is_passed(&stripe, &sale).await;
    a_webhook_that_stripe_did_not_sign_is_refused(&sale).await;

    let books = reconcile(sale.data.path()).await;
    assert_eq!((books.free, books.held, books.sold), (18, 0, 2));
    assert_eq!((books.payments, books.orphans), (3, 0));
    assert_eq!((books.captured, books.refunded), (3 * 4501, 2251));
    assert_eq!((books.open_orders, books.repairs), (0, vec![]));
}

async fn a_paid_order_is_captured_and_cancelling_refunds_its_share(stripe: &Stripe, sale: &Sale) {
    let buyer = sale.buyer("visa").await;
    let order = buyer.buys(&sale.show, &["A-1-1"]).await;
    let id = text(&order, "order_id");
    let payment = stripe.payment_of(id).await;
    assert_eq!(payment["status"], "succeeded");
    assert_eq!(payment["amount"], 4501);
    assert_eq!(payment["currency"], "eur");
    assert_eq!(payment["latest_charge"]["captured"], true);
    assert_eq!(payment["latest_charge"]["amount_refunded"], 0);
    let tickets = buyer.tickets(id).await;
    assert_eq!(tickets.len(), 1);
    assert_eq!(tickets[0]["status"], "valid");

    let cancelled = buyer.cancel(id, "cancel").await.expect(202);
    assert_eq!(cancelled["percent"], 50);
    // Half a cent is rounded in the buyer's favour.
    assert_eq!(cancelled["refund"]["amount"], 2251);
    buyer.order_becomes(id, "refunded").await;
    let payment = stripe.payment_of(id).await;
    assert_eq!(payment["latest_charge"]["amount_refunded"], 2251);
    assert_eq!(buyer.tickets(id).await[0]["status"], "revoked");
}

async fn after_a_decline_the_hold_is_held_and_can_be_paid(stripe: &Stripe, sale: &Sale) {
    let buyer = sale.buyer("declined").await;
    let hold = buyer.holds(&sale.show, &["A-1-2"]).await;
    let method = stripe.method(DECLINED_CARD).await;
    let begun = buyer.check_out(&sale.show, &hold, "first", &method).await;
    let begun = begun.expect(202);
    let id = text(&begun, "order_id");
    let declined = buyer.order_becomes(id, "declined").await;
    assert_eq!(declined["reason"], "Your card was declined.");
    assert_eq!(declined["tickets"], json!([]));
    let payment = stripe.payment_of(id).await;
    assert_eq!(payment["status"], "requires_payment_method");
    assert_eq!(buyer.read_hold(&sale.show, &hold).await["status"], "held");

    stripe.forget_failed_charge(id).await;
    let again = buyer.check_out(&sale.show, &hold, "second", "pm_card_visa");
    again.await.expect(202);
    buyer.order_becomes(id, "confirmed").await;
    assert_eq!(stripe.payment_of(id).await["status"], "succeeded");
}

async fn a_webhook_wakes_the_order_when_3d_secure_is_passed(stripe: &Stripe, sale: &Sale) {
    let buyer = sale.buyer("careful").await;
    let hold = buyer.holds(&sale.show, &["A-1-3"]).await;
    let method = stripe.method(CARD_WITH_3DS).await;
    let begun = buyer.check_out(&sale.show, &hold, "pay", &method).await;
    let begun = begun.expect(202);
    let id = text(&begun, "order_id");
    let waiting = buyer.order_becomes(id, "requires_action").await;
    let action = &waiting["action"];
    assert_eq!(action["type"], "use_sdk");
    let payment = stripe.payment_of(id).await;
    assert_eq!(payment["status"], "requires_action");
    assert_eq!(buyer.read_hold(&sale.show, &hold).await["status"], "paying");

    // Nothing but the webhook knows: reconciling would look after two minutes.
    let secret = text(action, "client_secret");
    stripe.authenticate(&payment, secret).await;
    let confirmed = buyer.order_becomes(id, "confirmed").await;
    assert!(confirmed["action"].is_null(), "{confirmed}");
    assert_eq!(stripe.payment_of(id).await["status"], "succeeded");
}

async fn a_webhook_that_stripe_did_not_sign_is_refused(sale: &Sale) {
    let stranger = Visitor::anonymous(&sale.server.url);
    let event = json!({"id": "evt_1", "type": "charge.dispute.created", "data": {"object": {}}});
    let request = stranger.request(Method::POST, "/api/v1/payments/webhook");
    let request = request.header("stripe-signature", format!("t=1,v1={}", "0".repeat(64)));
    let refused = stranger.send(request.json(&event)).await;
    refused.problem(400, "invalid_request");
}
