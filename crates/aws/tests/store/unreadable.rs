//! A document that cannot be read, as a newer release may leave it to an older one.

use aws_sdk_dynamodb::types::AttributeValue;
use onsale_app::App;
use onsale_domain::cancellation::Cancellation;
use onsale_domain::ids::{AccountId, OrderId, ShowId};
use onsale_domain::money::{Cents, Currency, Money};
use onsale_domain::payment::{PaymentId, PaymentMethod, PaymentState};
use onsale_test_support::stage::{Plan, Stage};

use crate::cloud::config;
use crate::contract::fresh;
use crate::contract::sample_orders::order;
use crate::order_cost::with_payments;
use crate::places::{InProcess, START, in_process, wiring};

const LATER_MS: u64 = 10 * 60_000;
const TAKEN: PaymentState = PaymentState::Captured { refunded: Cents(0) };

/// A store, and a client of the table behind its back.
async fn world() -> (InProcess, aws_sdk_dynamodb::Client) {
    let mut http = None;
    let world = in_process(|client| {
        http = Some(client.clone());
        client
    })
    .await;
    let client = config(http.unwrap(), "http://cloud.local").dynamodb();
    (world, client)
}

async fn spoil(client: &aws_sdk_dynamodb::Client, key: &str) {
    let wiring = wiring();
    let table = wiring.table_name().unwrap();
    let all = client.scan().table_name(table).send().await.unwrap();
    let is_it = |pk: &AttributeValue| pk.as_s().is_ok_and(|pk| pk == key);
    let mut items = all.items.unwrap().into_iter();
    let mut item = items.find(|item| is_it(&item["pk"])).unwrap();
    let doc = AttributeValue::S(r#"{"stage":"of_tomorrow"}"#.to_owned());
    assert!(item.insert("doc".to_owned(), doc).is_some());
    let put = client.put_item().table_name(table).set_item(Some(item));
    put.send().await.unwrap();
}

async fn spoil_order(client: &aws_sdk_dynamodb::Client, id: OrderId) {
    spoil(client, &format!("ORD#{}", id.simple())).await;
}

/// Money that was taken for an order of this name.
async fn money_for(app: &App, order: OrderId) -> PaymentId {
    let total = Money {
        amount: Cents(4_500),
        currency: Currency::parse("EUR").unwrap(),
    };
    let opened = app.payments.open(order, total).await.unwrap();
    let payment = opened.payment().unwrap();
    let card = PaymentMethod::parse("pm_card_visa").unwrap();
    let charge = app.payments.authorise(&payment, order, 1, &card);
    charge.await.unwrap();
    app.payments.capture(&payment, order).await.unwrap();
    payment
}

async fn state_of(app: &App, payment: &PaymentId) -> PaymentState {
    let found = app.payments.look_up(payment).await.unwrap();
    found.unwrap().state
}

#[tokio::test]
async fn an_order_that_cannot_be_read_keeps_no_other_from_being_driven() {
    let (world, client) = world().await;
    let account = AccountId::from_bytes(fresh());
    let (spoilt, sound) = (order(account, START), order(account, START));
    for order in [&spoilt, &sound] {
        world.store.create(order).await.unwrap();
    }
    spoil_order(&client, spoilt.id).await;
    world.clock.advance(LATER_MS);
    let report = world.app.reconcile_open().await.unwrap();
    assert_eq!(report.driven_again, 1);
    assert_eq!(report.alarms.len(), 1, "{:?}", report.alarms);
    assert!(report.alarms[0].contains(&spoilt.id.to_string()));
}

#[tokio::test]
async fn what_cannot_be_read_keeps_no_payment_from_being_compared() {
    let (world, client) = world().await;
    let app = with_payments(&world);
    let (spoilt, sound) = (ShowId::from_bytes(fresh()), ShowId::from_bytes(fresh()));
    for (show, began) in [(spoilt, START), (sound, START + 1)] {
        let new = Cancellation::begin(show, began);
        world.store.create(&new).await.unwrap();
    }
    spoil(&client, &format!("CXL#{}", spoilt.simple())).await;
    let stage = Stage::set(&app, &Plan::default()).await.unwrap();
    let event = stage.show.event_id;
    spoil(&client, &format!("EVT#{}", event.simple())).await;
    let orphan = money_for(&app, OrderId::from_bytes(fresh())).await;
    world.clock.advance(LATER_MS);
    let report = app.reconcile_all().await.unwrap();
    assert_eq!(report.open_cancellations, 2, "the second is looked at too");
    assert_eq!((report.missed, report.alarms.len()), (2, 2), "{report}");
    assert!(report.alarms[0].contains(&spoilt.to_string()), "{report}");
    assert!(report.alarms[1].contains("events"), "{report}");
    let refunded = Cents(4_500);
    let went_back = PaymentState::Captured { refunded };
    assert_eq!(state_of(&app, &orphan).await, went_back);
}

/// Whatever the order says, its money is not nobody's.
#[tokio::test]
async fn the_money_of_an_order_that_cannot_be_read_stays_and_other_money_is_compared() {
    let (world, client) = world().await;
    let app = with_payments(&world);
    let unreadable = order(AccountId::from_bytes(fresh()), START);
    world.store.create(&unreadable).await.unwrap();
    let theirs = money_for(&app, unreadable.id).await;
    let orphan = money_for(&app, OrderId::from_bytes(fresh())).await;
    spoil_order(&client, unreadable.id).await;
    let report = app.reconcile_all().await.unwrap();
    assert_eq!((report.missed, report.alarms.len()), (1, 1), "{report}");
    assert_eq!(state_of(&app, &theirs).await, TAKEN);
    assert_ne!(state_of(&app, &orphan).await, TAKEN);
}
