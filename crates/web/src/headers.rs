//! The headers of everything that a browser shows or runs.

/// What a page may load: its own files, and nothing of others.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; worker-src 'self'; \
    style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; manifest-src 'self'; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Beside the policy.
pub const HEADERS: &[(&str, &str)] = &[
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    (
        "permissions-policy",
        "camera=(), geolocation=(), microphone=()",
    ),
    (
        "strict-transport-security",
        "max-age=63072000; includeSubDomains",
    ),
];

/// A file whose address has its version never changes.
pub const IMMUTABLE: &str = "public, max-age=31536000, immutable";
