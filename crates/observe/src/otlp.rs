//! Sends spans to a collector: OTLP as JSON over HTTP.
//!
//! The settings have the names that OpenTelemetry gives them. A collector that does not
//! answer costs the moment that an invocation waits for it, and after that nothing for half
//! a minute: its spans are lost, and the platform goes on.

use std::sync::Arc;
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Uri};
use onsale_outgoing::Outgoing;
use serde_json::{Value, json};

use crate::spans::{Attribute, Span, Spans};

/// How long a collector that did not answer is left alone.
const LEFT_ALONE: Duration = Duration::from_secs(30);

/// Which traces are collected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampler {
    /// Of those that begin here, from 0 to 1.
    share: f64,
    /// Whether others are collected if whoever began them does.
    follows: bool,
}

impl Sampler {
    /// `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`.
    fn configured(name: Option<&str>, argument: Option<&str>) -> Result<Self, String> {
        let name = name.unwrap_or("parentbased_always_on");
        let (follows, kind) = match name.strip_prefix("parentbased_") {
            Some(kind) => (true, kind),
            None => (false, name),
        };
        let share = match kind {
            "always_on" => 1.0,
            "always_off" => 0.0,
            "traceidratio" => {
                let share = argument.map_or(Ok(1.0), str::parse);
                let share = share.ok().filter(|share| (0.0..=1.0).contains(share));
                share.ok_or("OTEL_TRACES_SAMPLER_ARG is not a number from 0 to 1")?
            }
            _ => return Err(format!("OTEL_TRACES_SAMPLER: {name:?} is not known here")),
        };
        Ok(Self { share, follows })
    }

    /// The trace alone decides, so that everybody who sees it decides the same.
    pub(crate) fn samples(&self, trace: u128, before: Option<bool>) -> bool {
        match before {
            Some(sampled) if self.follows => sampled,
            _ => {
                (trace as u64 >> 11) as f64 / (1_u64 << 53) as f64 <= self.share && self.share > 0.0
            }
        }
    }
}

#[derive(Debug)]
pub struct Exporter {
    outgoing: Outgoing,
    url: Uri,
    headers: HeaderMap,
    resource: Value,
    spans: Arc<Spans>,
    /// Until when the collector is left alone.
    quiet_until: Mutex<Option<Instant>>,
}

impl Exporter {
    /// `None`: no collector is named.
    pub fn configured(
        setting: impl Fn(&str) -> Option<String>,
        function: &str,
        spans: Arc<Spans>,
    ) -> Result<Option<(Self, Sampler)>, String> {
        let endpoint = match setting("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") {
            Some(url) => Some(url),
            None => setting("OTEL_EXPORTER_OTLP_ENDPOINT")
                .map(|url| format!("{}/v1/traces", url.trim_end_matches('/'))),
        };
        let Some(endpoint) = endpoint else {
            return Ok(None);
        };
        if setting("OTEL_SDK_DISABLED").is_some_and(|text| text == "true") {
            return Ok(None);
        }
        let url: Uri = endpoint
            .parse()
            .map_err(|_| "the address of the collector is not a URL".to_owned())?;
        let sampler = Sampler::configured(
            setting("OTEL_TRACES_SAMPLER").as_deref(),
            setting("OTEL_TRACES_SAMPLER_ARG").as_deref(),
        )?;
        let service = setting("OTEL_SERVICE_NAME").unwrap_or_else(|| function.to_owned());
        let mut about = vec![attribute("service.name", &Attribute::Text(service))];
        for (name, value) in pairs(setting("OTEL_RESOURCE_ATTRIBUTES")) {
            if name != "service.name" {
                about.push(attribute(&name, &Attribute::Text(value)));
            }
        }
        let mut headers = HeaderMap::new();
        let wanted = setting("OTEL_EXPORTER_OTLP_TRACES_HEADERS")
            .or_else(|| setting("OTEL_EXPORTER_OTLP_HEADERS"));
        for (name, value) in pairs(wanted) {
            // What they hold may be secret, so no word of it.
            let fit = "OTEL_EXPORTER_OTLP_HEADERS has a header that cannot be sent";
            let name = HeaderName::try_from(name).map_err(|_| fit)?;
            let value = HeaderValue::try_from(value).map_err(|_| fit)?;
            headers.insert(name, value);
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let exporter = Self {
            outgoing: outgoing_to(&url)?,
            url,
            headers,
            resource: json!({ "attributes": about }),
            spans,
            quiet_until: Mutex::default(),
        };
        Ok(Some((exporter, sampler)))
    }

    /// Sends what was collected, within `limit`.
    pub async fn flush(&self, limit: Duration) {
        let spans = self.spans.take();
        if spans.is_empty() || self.is_quiet() {
            return;
        }
        let sent = tokio::time::timeout(limit, self.send(&spans)).await;
        let trouble = match sent {
            Ok(Ok(())) => return,
            Ok(Err(trouble)) => trouble,
            Err(_) => "no answer in time".to_owned(),
        };
        self.quiet(Instant::now() + LEFT_ALONE);
        tracing::warn!(spans = spans.len(), why = trouble, "spans are lost");
    }

    async fn send(&self, spans: &[Span]) -> Result<(), String> {
        let body = request_body(&self.resource, spans).to_string();
        let mut request = Request::post(self.url.clone())
            .body(body.into_bytes())
            .map_err(|error| error.to_string())?;
        *request.headers_mut() = self.headers.clone();
        let status = self.outgoing.tell(request).await;
        let status = status.map_err(|error| error.to_string())?;
        match status.is_success() {
            true => Ok(()),
            false => Err(format!("the collector says {status}")),
        }
    }

    fn is_quiet(&self) -> bool {
        let until = self.quiet_until.lock().map(|until| *until).ok().flatten();
        until.is_some_and(|until| Instant::now() < until)
    }

    fn quiet(&self, until: Instant) {
        if let Ok(mut known) = self.quiet_until.lock() {
            *known = Some(until);
        }
    }
}

/// The certificates of the system are read only for a collector that needs them.
fn outgoing_to(url: &Uri) -> Result<Outgoing, String> {
    match url.scheme_str() {
        Some("https") => Outgoing::new(),
        Some("http") => Outgoing::in_the_clear(),
        _ => Err("the address of the collector is neither http nor https".to_owned()),
    }
}

/// `a=1,b=2`, with values that may be percent-encoded.
fn pairs(text: Option<String>) -> Vec<(String, String)> {
    let text = text.unwrap_or_default();
    let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(name, value)| (name.trim().to_owned(), decoded(value.trim())))
        .collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = match (first, after) {
            (b'%', [high, low, ..]) => std::str::from_utf8(&[*high, *low])
                .ok()
                .and_then(|pair| u8::from_str_radix(pair, 16).ok()),
            _ => None,
        };
        bytes.push(hex.unwrap_or(*first));
        rest = match hex {
            Some(_) => &after[2..],
            None => after,
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn request_body(resource: &Value, spans: &[Span]) -> Value {
    let spans: Vec<_> = spans.iter().map(span_json).collect();
    json!({
        "resourceSpans": [{
            "resource": resource,
            "scopeSpans": [{ "scope": { "name": "onsale" }, "spans": spans }],
        }],
    })
}

fn span_json(span: &Span) -> Value {
    let mut told = json!({
        "traceId": format!("{:032x}", span.place.trace),
        "spanId": format!("{:016x}", span.place.span),
        "name": span.name,
        "kind": match span.kind {
            "server" => 2,
            "client" => 3,
            "producer" => 4,
            "consumer" => 5,
            _ => 1,
        },
        "startTimeUnixNano": nanoseconds(span.start),
        "endTimeUnixNano": nanoseconds(span.end),
        "attributes": span
            .attributes
            .iter()
            .map(|(name, value)| attribute(name, value))
            .collect::<Vec<_>>(),
    });
    if span.parent != 0 {
        told["parentSpanId"] = format!("{:016x}", span.parent).into();
    }
    if span.failed {
        told["status"] = json!({ "code": 2 });
    }
    told
}

fn attribute(name: &str, value: &Attribute) -> Value {
    let value = match value {
        Attribute::Text(text) => json!({ "stringValue": text }),
        // Sixty-four bits are texts in JSON.
        Attribute::Number(number) => json!({ "intValue": number.to_string() }),
        Attribute::Flag(flag) => json!({ "boolValue": flag }),
    };
    json!({ "key": name, "value": value })
}

fn nanoseconds(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_nanos().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_traces_is_collected_and_those_that_others_collect() {
        let of = |name, argument| Sampler::configured(Some(name), argument).unwrap();
        let traces: Vec<u128> = (0..1_000)
            .map(|n| u128::from((n as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)))
            .collect();
        let count = |sampler: Sampler, before| {
            let kept = traces.iter().filter(|t| sampler.samples(**t, before));
            kept.count()
        };
        assert_eq!(count(of("always_on", None), None), 1_000);
        assert_eq!(count(of("always_off", None), Some(true)), 0);
        let tenth = count(of("traceidratio", Some("0.1")), Some(true));
        assert!((80..120).contains(&tenth), "{tenth}");
        assert_eq!(
            count(of("parentbased_traceidratio", Some("0")), Some(true)),
            1_000
        );
        assert_eq!(count(of("parentbased_always_on", None), Some(false)), 0);
        assert_eq!(count(Sampler::configured(None, None).unwrap(), None), 1_000);
        for (name, argument) in [("traceidratio", Some("2")), ("sometimes", None)] {
            assert!(Sampler::configured(Some(name), argument).is_err());
        }
    }

    #[test]
    fn headers_come_as_pairs_and_decoded() {
        let text = Some("authorization=Basic%20abc=, x-a = 1,broken".to_owned());
        let read = pairs(text);
        let read: Vec<_> = read.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(read, [("authorization", "Basic abc="), ("x-a", "1")]);
        assert_eq!(decoded("100%"), "100%");
        assert_eq!(decoded("%zz%41"), "%zzA");
    }
}
