use super::*;
use std::time::Duration;

/// The account, bucket and time of the examples in the documentation of S3.
fn example() -> (Signer, SystemTime) {
    let signer = Signer {
        kind: Kind::S3,
        base: "https://examplebucket.s3.amazonaws.com".to_owned(),
        region: "us-east-1".to_owned(),
        credentials: Credentials::new(
            "AKIAIOSFODNN7EXAMPLE",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            None,
            None,
            "example",
        ),
    };
    let midnight = SystemTime::UNIX_EPOCH + Duration::from_secs(1_369_353_600);
    (signer, midnight)
}

fn get(target: &str, header: Option<(&'static str, &str)>) -> Call {
    Call {
        method: "GET",
        target: target.to_owned(),
        headers: header.into_iter().map(|(n, v)| (n, v.to_owned())).collect(),
        body: Payload::Bytes(Vec::new()),
    }
}

#[test]
fn signatures_are_those_of_the_documentation() {
    let (signer, at) = example();
    for (call, signature) in [
        (
            get("/test.txt", Some(("range", "bytes=0-9"))),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
        ),
        (
            get("/?max-keys=2&prefix=J", None),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
        ),
    ] {
        let request = signer.request(call, at).unwrap();
        let said = request.headers().get("authorization").unwrap();
        assert!(said.ends_with(&format!("Signature={signature}")), "{said}");
    }
}

#[test]
fn links_are_those_of_the_documentation() {
    let (signer, at) = example();
    let link = signer
        .link("/test.txt", Duration::from_secs(86_400), at)
        .unwrap();
    let signature = "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404";
    assert!(
        link.contains(&format!("X-Amz-Signature={signature}")),
        "{link}"
    );
    assert!(link.contains("&X-Amz-Expires=86400&"), "{link}");
}

#[test]
fn a_body_is_signed_unless_it_is_a_stream() {
    let (signer, at) = example();
    let mut put = get("/a%20b", None);
    put.method = "PUT";
    put.body = Payload::Bytes(b"Welcome to Amazon S3.".to_vec());
    let request = signer.request(put, at).unwrap();
    let header = |name: &str| request.headers().get(name).unwrap();
    assert_eq!(
        header("x-amz-content-sha256"),
        "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"
    );
    assert_eq!(header("content-length"), "21");
    let mut put = get("/a", None);
    (put.method, put.body) = ("PUT", Payload::Stream(SdkBody::from("abc"), 3));
    let request = signer.request(put, at).unwrap();
    let said = request.headers().get("x-amz-content-sha256");
    assert_eq!(said, Some("UNSIGNED-PAYLOAD"));
}

#[test]
fn a_refusal_is_known_by_its_code_wherever_that_stands() {
    let refused = |body: &str, header: Option<&'static str>| {
        let status = 400.try_into().unwrap();
        let mut response = HttpResponse::new(status, SdkBody::from(body));
        if let Some(kind) = header {
            response.headers_mut().insert("x-amzn-errortype", kind);
        }
        code(&response)
    };
    let xml = "<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code></Error>";
    assert_eq!(refused(xml, None).as_deref(), Some("NoSuchKey"));
    let json = r#"{"__type": "com.amazonaws#MessageRejected", "message": "ana@example.org"}"#;
    assert_eq!(refused(json, None).as_deref(), Some("MessageRejected"));
    let header = Some("BadRequestException:http://internal.amazon.com/");
    assert_eq!(
        refused(json, header).as_deref(),
        Some("BadRequestException")
    );
    assert_eq!(refused("<html>", None), None);
}
