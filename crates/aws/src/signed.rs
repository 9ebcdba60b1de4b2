//! Services of which we need a call or two: signed, repeated and limited in time by the runtime
//! of the SDKs, without the code of a whole SDK.

use std::fmt;
use std::time::SystemTime;

use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials};
use aws_sigv4::http_request::{
    PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SignatureLocation,
    SigningSettings, UriPathNormalizationMode, sign,
};
use aws_sigv4::sign::v4;
use aws_smithy_runtime::client::orchestrator::operation::Operation;
use aws_smithy_runtime::client::retries::classifiers::{
    HttpStatusCodeClassifier, TransientErrorClassifier,
};
use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use aws_smithy_runtime_api::client::identity::Identity;
use aws_smithy_runtime_api::client::interceptors::context::{Error, Output};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse, OrchestratorError};
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_runtime_api::client::ser_de::DeserializeResponse;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::config_bag::ConfigBag;
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;

/// What a service wants to be signed, and under which name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    S3,
    Ses,
}

/// Where a service is, and who asks it.
#[derive(Debug, Clone)]
pub(crate) struct Signer {
    pub kind: Kind,
    /// Without a slash at its end.
    pub base: String,
    pub region: String,
    pub credentials: Credentials,
}

pub(crate) type Pairs = Vec<(&'static str, String)>;

/// Which call, with everything that is signed.
#[derive(Debug)]
pub(crate) struct Call {
    pub method: &'static str,
    /// Path and query, encoded.
    pub target: String,
    pub headers: Pairs,
    pub body: Payload,
}

#[derive(Debug)]
pub(crate) enum Payload {
    Bytes(Vec<u8>),
    /// Not signed, since that would read the file twice; TLS guards it on its way.
    Stream(SdkBody, u64),
}

/// A success; its body may still be on its way.
#[derive(Debug)]
pub(crate) struct Answer {
    pub tag: Option<String>,
    pub body: SdkBody,
}

/// An answer that is no success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    pub status: u16,
    /// The service's word for it. Its texts may name people, and are not kept.
    pub code: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.code, self.status)
    }
}

impl std::error::Error for Refused {}

pub(crate) type Failure = SdkError<Refused, HttpResponse>;

/// Why there is no answer to go by.
pub(crate) fn trouble(failure: &Failure) -> &str {
    match failure {
        SdkError::ServiceError(service) => &service.err().code,
        SdkError::TimeoutError(_) => "timeout",
        SdkError::ConstructionFailure(_) => "the request could not be built",
        _ => "no answer",
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Service {
    calls: Operation<Call, Answer, Refused>,
}

impl Service {
    pub(crate) fn new(
        signer: Signer,
        http: SharedHttpClient,
        retries: &RetryConfig,
        timeouts: TimeoutConfig,
    ) -> Self {
        let name = signer.name();
        let calls = Operation::builder()
            .service_name(name)
            .operation_name(name)
            .behavior_version(BehaviorVersion::latest())
            .http_client(http)
            .endpoint_url(&signer.base)
            .no_auth()
            .standard_retry(retries)
            .retry_classifier(TransientErrorClassifier::<Refused>::new())
            .retry_classifier(HttpStatusCodeClassifier::default())
            .timeout_config(timeouts)
            // Once for all attempts: a signature is good for a quarter of an hour.
            .serializer(move |call: Call| signer.request(call, SystemTime::now()))
            .deserializer_impl(Reading)
            .build();
        Self { calls }
    }

    pub(crate) async fn call(&self, call: Call) -> Result<Answer, Failure> {
        self.calls.invoke(call).await
    }
}

impl Signer {
    fn name(&self) -> &'static str {
        match self.kind {
            Kind::S3 => "s3",
            Kind::Ses => "ses",
        }
    }

    fn settings(&self) -> SigningSettings {
        let mut settings = SigningSettings::default();
        if self.kind == Kind::S3 {
            // A key is a key: `a//b` and `a/../b` are names like others.
            settings.percent_encoding_mode = PercentEncodingMode::Single;
            settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
            settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
        }
        settings
    }

    fn request(&self, call: Call, at: SystemTime) -> Result<HttpRequest, BoxError> {
        let (body, length) = match &call.body {
            Payload::Bytes(bytes) => (SignableBody::Bytes(bytes), bytes.len() as u64),
            Payload::Stream(_, length) => (SignableBody::UnsignedPayload, *length),
        };
        let headers = call.headers.iter().map(|(name, value)| (*name, &**value));
        let url = format!("{}{}", self.base, call.target);
        let what = SignableRequest::new(call.method, url, headers, body)?;
        let (added, _) = self.sign(what, self.settings(), at)?;
        let mut request = HttpRequest::new(match call.body {
            Payload::Bytes(bytes) => SdkBody::from(bytes),
            Payload::Stream(body, _) => body,
        });
        request.set_method(call.method)?;
        request.set_uri(call.target)?;
        let to = request.headers_mut();
        for (name, value) in call.headers.into_iter().chain(added) {
            to.try_insert(name, value)?;
        }
        if call.method != "GET" {
            to.try_insert("content-length", length.to_string())?;
        }
        Ok(request)
    }

    /// A link by which anybody gets what is there, for some time.
    pub(crate) fn link(
        &self,
        target: &str,
        valid: std::time::Duration,
        at: SystemTime,
    ) -> Result<String, BoxError> {
        let mut settings = self.settings();
        settings.signature_location = SignatureLocation::QueryParams;
        settings.expires_in = Some(valid);
        settings.payload_checksum_kind = PayloadChecksumKind::NoHeader;
        let url = format!("{}{target}", self.base);
        let no_headers = std::iter::empty();
        let what = SignableRequest::new("GET", &*url, no_headers, SignableBody::UnsignedPayload)?;
        let (_, added) = self.sign(what, settings, at)?;
        let added: Vec<_> = added
            .iter()
            .map(|(name, value)| format!("{name}={}", percent_encoded(value, "")))
            .collect();
        let and = if target.contains('?') { '&' } else { '?' };
        Ok(format!("{url}{and}{}", added.join("&")))
    }

    /// The headers, and the parts of the query, that have to be added.
    fn sign(
        &self,
        what: SignableRequest<'_>,
        settings: SigningSettings,
        at: SystemTime,
    ) -> Result<(Pairs, Pairs), BoxError> {
        let identity = Identity::from(self.credentials.clone());
        let params = v4::SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name(self.name())
            .time(at)
            .settings(settings)
            .build()?;
        let signed = sign(what, &params.into())?;
        let (headers, query) = signed.into_parts().0.into_parts();
        let headers = headers.iter().map(|h| (h.name(), h.value().to_owned()));
        let query = query.into_iter().map(|(n, v)| (n, v.into_owned()));
        Ok((headers.collect(), query.collect()))
    }
}

/// Every byte but letters, digits, `-_.~` and those in `kept`.
pub(crate) fn percent_encoded(text: &str, kept: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        let plain = byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
        if plain || kept.as_bytes().contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded += &format!("%{byte:02X}");
        }
    }
    encoded
}

#[derive(Debug)]
struct Reading;

impl DeserializeResponse for Reading {
    fn deserialize_streaming_with_config(
        &self,
        response: &mut HttpResponse,
        _: &ConfigBag,
    ) -> Option<Result<Output, OrchestratorError<Error>>> {
        if !response.status().is_success() {
            return None;
        }
        let tag = response.headers().get("etag").map(str::to_owned);
        let body = std::mem::replace(response.body_mut(), SdkBody::taken());
        Some(Ok(Output::erase(Answer { tag, body })))
    }

    fn deserialize_nonstreaming_with_config(
        &self,
        response: &HttpResponse,
        _: &ConfigBag,
    ) -> Result<Output, OrchestratorError<Error>> {
        let refused = Refused {
            status: response.status().as_u16(),
            code: code(response).unwrap_or_else(|| "error".to_owned()),
        };
        Err(OrchestratorError::operation(Error::erase(refused)))
    }
}

/// SES names it in a header or as JSON, S3 as XML.
fn code(response: &HttpResponse) -> Option<String> {
    if let Some(kind) = response.headers().get("x-amzn-errortype") {
        return kind.split(':').next().map(str::to_owned);
    }
    let body = std::str::from_utf8(response.body().bytes()?).ok()?;
    if let Ok(json) = serde_json::from_str::<serde_json::Value>(body) {
        let kind = json.get("__type")?.as_str()?;
        return kind.rsplit('#').next().map(str::to_owned);
    }
    element(body, "Code").map(str::to_owned)
}

/// The text of the first element of this name, as it stands there.
pub(crate) fn element<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(text, _)| text)
}

#[cfg(test)]
#[path = "signed_tests.rs"]
mod tests;
