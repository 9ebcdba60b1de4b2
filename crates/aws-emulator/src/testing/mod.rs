//! Lost replies, failures and counted requests. Each wraps the HTTP client of an emulator, so the
//! code under test needs no hook of its own.

mod faults;
mod recorder;

use aws_smithy_runtime_api::client::orchestrator::HttpRequest;

pub use faults::{Call, Fault, FaultPlan, Faults, FaultyClient};
pub use onsale_local_cloud::testing::ManualClock;
pub use recorder::{Recorder, Usage};

/// The operation a request asks for, such as `UpdateItem`; empty when it names none.
fn operation(request: &HttpRequest) -> String {
    let target = request.headers().get("x-amz-target").unwrap_or_default();
    if request.uri().contains(crate::ses::SEND_PATH) {
        return "SendEmail".to_owned();
    }
    let name = target.split_once('.').map_or(target, |(_, name)| name);
    name.to_owned()
}
