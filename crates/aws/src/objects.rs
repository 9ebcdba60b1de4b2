//! Objects on S3, by the five calls that they need.

use std::path::Path;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use aws_smithy_types::DateTime;
use aws_smithy_types::byte_stream::ByteStream;
use aws_smithy_types::date_time::Format;
use onsale_app::ports::{Fetched, Object, ObjectEntry, Objects, Page, StoreError, Stored, Tag};
use onsale_domain::time::Millis;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

use crate::signed::{
    Answer, Call, Failure, Pairs, Payload, Service, Signer, element, percent_encoded, trouble,
};

const NOT_MODIFIED: u16 = 304;
const NOT_FOUND: u16 = 404;
/// Another write was under way at the same time.
const CONFLICT: u16 = 409;
const PRECONDITION_FAILED: u16 = 412;
/// An answer of which nothing came for so long has broken off: a function that slept in
/// between may wait on a connection that the other side has closed.
const STALLED: Duration = Duration::from_secs(5);

#[derive(Debug, Clone)]
pub struct S3Objects {
    service: Service,
    /// Signs links. Embedded, browsers reach the objects at another address than we.
    links: Signer,
    /// What stands before a key, where the bucket is not part of the host name.
    prefix: String,
}

fn status(failure: &Failure) -> Option<u16> {
    failure.as_service_error().map(|refused| refused.status)
}

/// There is no such object. A bucket that is not there is another matter.
fn is_missing(failure: &Failure) -> bool {
    let refused = failure.as_service_error();
    refused.is_some_and(|r| r.status == NOT_FOUND && r.code != "NoSuchBucket")
}

fn unavailable(failure: Failure) -> StoreError {
    StoreError::Unavailable(format!("objects: {}", trouble(&failure)))
}

fn broke_off<E>(_: E) -> StoreError {
    StoreError::Unavailable("objects: the answer broke off".into())
}

fn file_failed(error: impl std::fmt::Display) -> StoreError {
    StoreError::Unavailable(format!("objects: a local file: {error}"))
}

impl S3Objects {
    pub(crate) fn new(service: Service, links: Signer, prefix: String) -> Self {
        Self {
            service,
            links,
            prefix,
        }
    }

    fn target(&self, key: &str) -> String {
        format!("{}/{}", self.prefix, percent_encoded(key, "/"))
    }

    async fn ask(&self, method: &'static str, target: String, headers: Pairs) -> Asked {
        self.send(method, target, headers, Payload::Bytes(Vec::new()))
            .await
    }

    async fn send(
        &self,
        method: &'static str,
        target: String,
        headers: Pairs,
        body: Payload,
    ) -> Asked {
        let call = Call {
            method,
            target,
            headers,
            body,
        };
        self.service.call(call).await
    }
}

type Asked = Result<Answer, Failure>;

#[async_trait]
impl Objects for S3Objects {
    async fn get(&self, key: &str, known: Option<&Tag>) -> Stored<Fetched> {
        let known = known.map(|tag| ("if-none-match", tag.0.clone()));
        let answer = match self
            .ask("GET", self.target(key), known.into_iter().collect())
            .await
        {
            Ok(answer) => answer,
            Err(failure) => {
                return match status(&failure) {
                    Some(NOT_MODIFIED) => Ok(Fetched::Unchanged),
                    _ if is_missing(&failure) => Ok(Fetched::Missing),
                    _ => Err(unavailable(failure)),
                };
            }
        };
        let body = ByteStream::new(answer.body).collect();
        let body = timeout(STALLED, body).await.map_err(broke_off)?;
        Ok(Fetched::Found(Object {
            body: body.map_err(broke_off)?.to_vec(),
            tag: Tag(answer.tag.unwrap_or_default()),
        }))
    }

    async fn replace(&self, key: &str, body: Vec<u8>, old: Option<&Tag>) -> Stored<Option<Tag>> {
        let condition = match old {
            Some(old) => ("if-match", old.0.clone()),
            None => ("if-none-match", "*".to_owned()),
        };
        let body = Payload::Bytes(body);
        match self
            .send("PUT", self.target(key), vec![condition], body)
            .await
        {
            Ok(answer) => Ok(Some(Tag(answer.tag.unwrap_or_default()))),
            Err(failure) => match status(&failure) {
                Some(PRECONDITION_FAILED | CONFLICT) => Ok(None),
                // With If-Match: the object that should be replaced is gone.
                _ if is_missing(&failure) => Ok(None),
                _ => Err(unavailable(failure)),
            },
        }
    }

    async fn upload(&self, key: &str, file: &Path, content_type: &str) -> Stored<()> {
        let length = tokio::fs::metadata(file).await.map_err(file_failed)?.len();
        let body = ByteStream::from_path(file).await.map_err(file_failed)?;
        let body = Payload::Stream(body.into_inner(), length);
        let headers = vec![("content-type", content_type.to_owned())];
        let sent = self.send("PUT", self.target(key), headers, body).await;
        sent.map(|_| ()).map_err(unavailable)
    }

    async fn download(&self, key: &str, file: &Path) -> Stored<bool> {
        let answer = match self.ask("GET", self.target(key), Vec::new()).await {
            Ok(answer) => answer,
            Err(failure) if is_missing(&failure) => return Ok(false),
            Err(failure) => return Err(unavailable(failure)),
        };
        let mut body = ByteStream::new(answer.body);
        let file = tokio::fs::File::create(file).await.map_err(file_failed)?;
        let mut file = tokio::io::BufWriter::new(file);
        while let Some(part) = timeout(STALLED, body.next()).await.map_err(broke_off)? {
            let part = part.map_err(broke_off)?;
            file.write_all(&part).await.map_err(file_failed)?;
        }
        file.flush().await.map_err(file_failed)?;
        Ok(true)
    }

    async fn list(&self, prefix: &str, after: Option<&str>) -> Stored<Page<ObjectEntry>> {
        let mut target = format!(
            "{}/?list-type=2&prefix={}",
            self.prefix,
            percent_encoded(prefix, "")
        );
        if let Some(after) = after {
            target += &format!("&start-after={}", percent_encoded(after, ""));
        }
        let answer = self.ask("GET", target, Vec::new()).await;
        let body = ByteStream::new(answer.map_err(unavailable)?.body);
        let body = body.collect().await.map_err(broke_off)?.to_vec();
        page(&String::from_utf8(body).map_err(broke_off)?)
    }

    async fn delete(&self, key: &str) -> Stored<()> {
        let sent = self.ask("DELETE", self.target(key), Vec::new()).await;
        sent.map(|_| ()).map_err(unavailable)
    }

    async fn link(&self, key: &str, file_name: &str, valid: Duration) -> Stored<String> {
        // A quotation mark would end the name early.
        let name: String = file_name
            .chars()
            .filter(|c| *c != '"' && !c.is_control())
            .collect();
        let disposition = format!("attachment; filename=\"{name}\"");
        let target = format!(
            "{}?response-content-disposition={}",
            self.target(key),
            percent_encoded(&disposition, "")
        );
        let link = self.links.link(&target, valid, SystemTime::now());
        link.map_err(|e| StoreError::Unavailable(format!("objects: {e}")))
    }
}

/// What S3 answers to a list. An answer that is cut short has no end, and is no list.
fn page(xml: &str) -> Stored<Page<ObjectEntry>> {
    let not_whole = || broke_off(());
    let more = element(xml, "IsTruncated").ok_or_else(not_whole)? == "true";
    if !xml.trim_end().ends_with("</ListBucketResult>") {
        return Err(not_whole());
    }
    let entries = xml.split("<Contents>").skip(1).map(|entry| {
        let modified = element(entry, "LastModified")?;
        let modified = DateTime::from_str(modified, Format::DateTime).ok()?;
        Some(ObjectEntry {
            key: unescaped(element(entry, "Key")?),
            modified: Millis(u64::try_from(modified.to_millis().ok()?).ok()?),
        })
    });
    let items = entries.collect::<Option<Vec<_>>>().ok_or_else(not_whole)?;
    let next = items.last().filter(|_| more).map(|last| last.key.clone());
    Ok(Page { items, next })
}

/// The five names that XML has for letters of its own; the one for `&` last.
fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_whole_or_not_at_all() {
        let whole = "<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"x\"><Name>b</Name>\
            <IsTruncated>true</IsTruncated><Contents><Key>a&amp;lt;.csv</Key>\
            <LastModified>2009-10-12T17:50:30.000Z</LastModified></Contents>\
            <Contents><Key>b</Key><LastModified>2009-10-12T17:50:31.500Z</LastModified>\
            </Contents></ListBucketResult>";
        let read = page(whole).unwrap();
        assert_eq!(read.items[0].key, "a&lt;.csv");
        assert_eq!(read.items[1].modified, Millis(1_255_369_831_500));
        assert_eq!(read.next.as_deref(), Some("b"));
        for end in (0..whole.len()).filter(|end| whole.is_char_boundary(*end)) {
            assert!(page(&whole[..end]).is_err(), "{}", &whole[..end]);
        }
    }
}
