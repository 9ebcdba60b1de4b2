//! Writes that outlive their client.

use onsale_observe::cause;

use crate::problem::Problem;

/// Runs a write to its end although the client hangs up: a handler that is dropped
/// between two steps would leave the first without the second.
pub async fn to_the_end<T: Send + 'static>(
    write: impl Future<Output = onsale_app::Result<T>> + Send + 'static,
) -> Result<T, Problem> {
    match tokio::spawn(cause::inherited(write)).await {
        Ok(done) => Ok(done?),
        Err(_) => {
            tracing::error!("a write panicked");
            Err(Problem::internal())
        }
    }
}
