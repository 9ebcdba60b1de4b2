//! What is written, and what never is.

use std::io;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tracing_subscriber::layer::SubscriberExt as _;

use super::*;

#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What is written while `work` runs.
fn written(asked: &str, work: impl FnOnce()) -> String {
    let sink = Sink::default();
    let to = sink.clone();
    let lines = layer(Some(asked), "info", Format::json("holds"), move || {
        to.clone()
    });
    tracing::subscriber::with_default(tracing_subscriber::registry().with(lines), work);
    let bytes = sink.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn code_that_is_not_ours_never_writes_what_it_carries() {
    const SECRET: &str = "token-and-body";
    for asked in [
        "trace",
        "lambda_runtime=trace,aws_smithy_runtime=trace,hyper_util=debug",
        "info,h2=trace,rustls=trace,aws_sdk_dynamodb=debug,lambda_http=trace",
    ] {
        let lines = written(asked, || {
            // As the runtime does with every payload, and clients with every request.
            tracing::trace!(target: "lambda_runtime::layers::api_response", body = SECRET, "response body");
            tracing::debug!(target: "lambda_http", body = SECRET, "request");
            tracing::debug!(target: "aws_smithy_runtime::client::orchestrator", request = SECRET, "sending");
            tracing::trace!(target: "aws_sdk_dynamodb::operation", input = SECRET, "input");
            tracing::debug!(target: "hyper_util::client", uri = SECRET, "connecting");
            tracing::trace!(target: "h2::codec", frame = SECRET, "send");
            tracing::debug!(target: "rustls::client::hs", name = SECRET, "hello");
            tracing::debug!(target: "not_onsale", what = SECRET, "anything");
            tracing::warn!(target: "hyper_util::client", "still told");
        });
        assert!(!lines.contains(SECRET), "{asked}: {lines}");
        assert!(lines.contains("still told"), "{asked}: {lines}");
    }
}

#[test]
fn our_own_lines_are_as_talkative_as_asked() {
    let work = || {
        tracing::trace!(target: "onsale_app::checkout", "ours");
        tracing::debug!(target: "drive_saga", "a function's");
    };
    let all = written("trace", work);
    assert!(all.contains("ours") && all.contains("a function's"));
    assert_eq!(written("info", work), "");
    // What cannot be read is taken for the usual.
    assert_eq!(written("=!=", work), "");
}

#[tokio::test]
async fn a_line_has_its_fields_and_the_id_of_its_request() {
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let cause = Cause::begin(Some("req-7"), Some(parent));
    let lines = cause
        .scope(async {
            written("info", || {
                tracing::info!(
                    target: "onsale_app", order = "ord_1", tries = 2_u32, late = true,
                    share = 0.5, nothing = f64::NAN, step = ?"a \"b\"\n", "a step is done"
                );
            })
        })
        .await;
    let line: Value = serde_json::from_str(lines.trim_end()).unwrap();
    let told: Vec<_> = line.as_object().unwrap().keys().cloned().collect();
    assert_eq!(line["level"], "INFO");
    assert_eq!(line["target"], "onsale_app");
    assert_eq!(line["function"], "holds");
    assert_eq!(line["message"], "a step is done");
    assert_eq!(line["request_id"], "req-7");
    assert_eq!(line["trace_id"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(
        (&line["order"], &line["tries"]),
        (&"ord_1".into(), &2.into())
    );
    assert_eq!((&line["late"], &line["share"]), (&true.into(), &0.5.into()));
    assert_eq!(line["nothing"], Value::Null);
    assert_eq!(line["step"], "\"a \\\"b\\\"\\n\"");
    assert!(
        line["timestamp"].as_str().unwrap().ends_with('Z'),
        "{told:?}"
    );
    assert_eq!(lines.matches('\n').count(), 1);
}
