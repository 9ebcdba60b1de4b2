//! The least that a Lambda can be: what `holds` is measured against in `tests/start_up.rs`.

use lambda_http::{Body, Error, Request, Response, run, service_fn};

#[tokio::main]
async fn main() -> Result<(), Error> {
    run(service_fn(|_: Request| async {
        Ok::<_, Error>(Response::new(Body::Empty))
    }))
    .await
}
