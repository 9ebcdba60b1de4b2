//! For tests only: lost replies, failures, counted requests and a clock that stands still.
//! Each wraps the HTTP client of a cloud, so the code under test needs no hook of its own.

mod faults;
mod manual_clock;
mod recorder;

use aws_smithy_runtime_api::client::orchestrator::HttpRequest;

pub use faults::{Call, Fault, FaultPlan, Faults, FaultyClient};
pub use manual_clock::ManualClock;
pub use recorder::{Recorder, Usage};

/// The operation a request asks for, such as `UpdateItem`; empty when it names none.
fn operation(request: &HttpRequest) -> String {
    let target = request.headers().get("x-amz-target").unwrap_or_default();
    if request.uri().contains(crate::mailbox::SEND_PATH) {
        return "SendEmail".to_owned();
    }
    let name = target.split_once('.').map_or(target, |(_, name)| name);
    name.to_owned()
}
