//! The functions that run behind the sale, as this process invokes them: with batches of their
//! queues, and on their schedules.

use std::collections::HashMap;
use std::sync::Arc;

use onsale_app::App;
use onsale_app::ports::Post;
use onsale_consume::Delivery;
use onsale_local_cloud::{Handler, ScheduleHandler};

pub const INDEX_EVENTS: &str = "index-events";
/// The logical id of the queue of saga messages that failed again and again.
const SAGA_DEAD_LETTERS: &str = "SagaDeadLetters";

/// The consumers of queues, by the names of their functions.
pub fn consumers(app: &App, post: Post) -> Result<HashMap<String, Handler>, String> {
    let setting = std::env::var(offer_waitlist::OFFER_SECONDS).ok();
    let offer_ms = offer_waitlist::offer_ms(setting.as_deref())?;
    let expire_holds = handler(app, |app, batch| async move {
        expire_holds::handle(&app, batch).await
    });
    let drive_saga = handler(app, |app, batch| async move {
        drive_saga::handle(&app, SAGA_DEAD_LETTERS, batch).await
    });
    let notify = handler(app, move |app, batch| {
        let post = post.clone();
        async move { notify::handle(&app, &post, batch).await }
    });
    let write_exports = handler(app, |app, batch| async move {
        write_exports::handle(&app, batch).await
    });
    let index_events = handler(app, |app, batch| async move {
        index_events::handle(&app, batch).await
    });
    let offer_waitlist = handler(app, move |app, batch| async move {
        offer_waitlist::handle(&app, offer_ms, batch).await
    });
    Ok(HashMap::from([
        ("notify".to_owned(), notify),
        ("write-exports".to_owned(), write_exports),
        ("expire-holds".to_owned(), expire_holds),
        ("offer-waitlist".to_owned(), offer_waitlist),
        ("drive-saga".to_owned(), drive_saga),
        (INDEX_EVENTS.to_owned(), index_events),
    ]))
}

fn handler<F, Fut>(app: &App, handle: F) -> Handler
where
    F: Fn(App, Vec<Delivery>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Vec<String>> + Send + 'static,
{
    let app = app.clone();
    Arc::new(move |batch| {
        let failed = handle(app.clone(), batch);
        Box::pin(async move { Ok(failed.await) })
    })
}

/// The functions that run on a schedule, by their names.
pub fn schedules(app: &App) -> HashMap<String, ScheduleHandler> {
    let indexing = app.clone();
    let index_events: ScheduleHandler = Arc::new(move |_| {
        let app = indexing.clone();
        Box::pin(async move { index_events::sweep(&app).await.map(|_| ()) })
    });
    let app = app.clone();
    let reconcile: ScheduleHandler = Arc::new(move |input| {
        let app = app.clone();
        Box::pin(async move {
            let request = serde_json::from_value(input).map_err(|e| e.to_string())?;
            reconcile::handle(&app, request).await.map(|_| ())
        })
    });
    HashMap::from([
        ("reconcile".to_owned(), reconcile),
        (INDEX_EVENTS.to_owned(), index_events),
    ])
}
