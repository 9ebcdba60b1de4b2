//! Objects on S3.

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_s3::Client;
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::operation::put_object::builders::PutObjectFluentBuilder;
use aws_sdk_s3::presigning::PresigningConfig;
use aws_sdk_s3::primitives::ByteStream;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use onsale_app::ports::{Fetched, Object, ObjectEntry, Objects, Page, StoreError, Stored, Tag};
use onsale_domain::time::Millis;
use tokio::io::AsyncWriteExt;

const NOT_MODIFIED: u16 = 304;
const NOT_FOUND: u16 = 404;
/// Another write was under way at the same time.
const CONFLICT: u16 = 409;
const PRECONDITION_FAILED: u16 = 412;

#[derive(Debug, Clone)]
pub struct S3Objects {
    client: Client,
    /// Signs links. Embedded, browsers reach the objects at another address than we.
    links: Client,
    bucket: String,
}

fn status<E>(error: &SdkError<E, HttpResponse>) -> Option<u16> {
    error.raw_response().map(|raw| raw.status().as_u16())
}

/// There is no such object. A bucket that is not there is another matter.
fn is_missing<E: ProvideErrorMetadata>(error: &SdkError<E, HttpResponse>) -> bool {
    let code = error.as_service_error().and_then(|e| e.code());
    status(error) == Some(NOT_FOUND) && code != Some("NoSuchBucket")
}

fn unavailable<E: ProvideErrorMetadata>(error: SdkError<E, HttpResponse>) -> StoreError {
    let what = match &error {
        SdkError::ServiceError(service) => service.err().code().unwrap_or("error"),
        SdkError::TimeoutError(_) => "timeout",
        SdkError::ConstructionFailure(_) => "the request could not be built",
        _ => "no answer",
    };
    StoreError::Unavailable(format!("objects: {what}"))
}

fn file_failed(error: impl std::fmt::Display) -> StoreError {
    StoreError::Unavailable(format!("objects: a local file: {error}"))
}

impl S3Objects {
    pub fn new(client: Client, links: Client, bucket: impl Into<String>) -> Self {
        Self {
            client,
            links,
            bucket: bucket.into(),
        }
    }

    fn put(&self, key: &str) -> PutObjectFluentBuilder {
        self.client.put_object().bucket(&self.bucket).key(key)
    }
}

#[async_trait]
impl Objects for S3Objects {
    async fn get(&self, key: &str, known: Option<&Tag>) -> Stored<Fetched> {
        let get = self.client.get_object().bucket(&self.bucket).key(key);
        let get = get.set_if_none_match(known.map(|tag| tag.0.clone()));
        let answer = match get.send().await {
            Ok(answer) => answer,
            Err(error) => {
                return match status(&error) {
                    Some(NOT_MODIFIED) => Ok(Fetched::Unchanged),
                    _ if is_missing(&error) => Ok(Fetched::Missing),
                    _ => Err(unavailable(error)),
                };
            }
        };
        let tag = answer.e_tag().unwrap_or_default().to_owned();
        let body = answer.body.collect().await;
        let body =
            body.map_err(|_| StoreError::Unavailable("objects: the answer broke off".into()));
        Ok(Fetched::Found(Object {
            body: body?.to_vec(),
            tag: Tag(tag),
        }))
    }

    async fn replace(&self, key: &str, body: Vec<u8>, old: Option<&Tag>) -> Stored<Option<Tag>> {
        let put = self.put(key).body(ByteStream::from(body));
        let put = match old {
            Some(old) => put.if_match(&old.0),
            None => put.if_none_match("*"),
        };
        match put.send().await {
            Ok(answer) => Ok(Some(Tag(answer.e_tag().unwrap_or_default().to_owned()))),
            Err(error) => match status(&error) {
                // With If-Match: the object that should be replaced is gone.
                Some(PRECONDITION_FAILED | CONFLICT) => Ok(None),
                _ if is_missing(&error) => Ok(None),
                _ => Err(unavailable(error)),
            },
        }
    }

    async fn upload(&self, key: &str, file: &Path, content_type: &str) -> Stored<()> {
        let body = ByteStream::from_path(file).await.map_err(file_failed)?;
        let put = self.put(key).content_type(content_type).body(body);
        put.send().await.map(|_| ()).map_err(unavailable)
    }

    async fn download(&self, key: &str, file: &Path) -> Stored<bool> {
        let get = self.client.get_object().bucket(&self.bucket).key(key);
        let mut answer = match get.send().await {
            Ok(answer) => answer,
            Err(error) if is_missing(&error) => return Ok(false),
            Err(error) => return Err(unavailable(error)),
        };
        let file = tokio::fs::File::create(file).await.map_err(file_failed)?;
        let mut file = tokio::io::BufWriter::new(file);
        while let Some(part) = answer.body.next().await {
            let part = part.map_err(|_| StoreError::Unavailable("objects: broke off".into()))?;
            file.write_all(&part).await.map_err(file_failed)?;
        }
        file.flush().await.map_err(file_failed)?;
        Ok(true)
    }

    async fn list(&self, prefix: &str, after: Option<&str>) -> Stored<Page<ObjectEntry>> {
        let list = self.client.list_objects_v2().bucket(&self.bucket);
        let list = list
            .prefix(prefix)
            .set_start_after(after.map(str::to_owned));
        let answer = list.send().await.map_err(unavailable)?;
        let entry = |object: &aws_sdk_s3::types::Object| {
            let modified = object.last_modified().and_then(|at| at.to_millis().ok());
            Some(ObjectEntry {
                key: object.key()?.to_owned(),
                modified: Millis(modified.and_then(|ms| u64::try_from(ms).ok())?),
            })
        };
        let items: Vec<_> = answer.contents().iter().filter_map(entry).collect();
        let more = answer.is_truncated().unwrap_or(false);
        let next = items.last().filter(|_| more).map(|last| last.key.clone());
        Ok(Page { items, next })
    }

    async fn delete(&self, key: &str) -> Stored<()> {
        let delete = self.client.delete_object().bucket(&self.bucket).key(key);
        delete.send().await.map(|_| ()).map_err(unavailable)
    }

    async fn link(&self, key: &str, file_name: &str, valid: Duration) -> Stored<String> {
        let valid = PresigningConfig::expires_in(valid)
            .map_err(|e| StoreError::Unavailable(format!("objects: {e}")))?;
        // A quotation mark would end the name early.
        let name: String = file_name
            .chars()
            .filter(|c| *c != '"' && !c.is_control())
            .collect();
        let get = self.links.get_object().bucket(&self.bucket).key(key);
        let get = get.response_content_disposition(format!("attachment; filename=\"{name}\""));
        let signed = get.presigned(valid).await.map_err(unavailable)?;
        Ok(signed.uri().to_owned())
    }
}
