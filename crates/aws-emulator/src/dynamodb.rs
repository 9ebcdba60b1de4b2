//! DynamoDB requests, answered by dynoxide.
//! Turns an operation name and a JSON body into a status and a JSON body; it knows no item.

use std::fmt;

use dynoxide::{Database, DynoxideError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::connector::Reply;
use crate::store_thread::StoreThread;

type Work = Box<dyn FnOnce(&Database) -> dynoxide::Result<String> + Send>;

pub(crate) struct Table {
    thread: StoreThread<Database>,
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Table")
    }
}

impl Table {
    pub(crate) fn start(database: Database) -> std::io::Result<Self> {
        Ok(Self {
            thread: StoreThread::start("emulated-table", database)?,
        })
    }

    pub(crate) async fn answer(&self, operation: &str, body: &[u8]) -> Reply {
        let work = match plan(operation, body) {
            Ok(work) => work,
            Err(reply) => return reply,
        };
        let result = match self.thread.run(move |database| work(database)).await {
            Ok(result) => result,
            Err(lost) => Err(DynoxideError::InternalServerError(lost.to_string())),
        };
        match result {
            Ok(body) => Reply::ok(body),
            Err(error) => Reply::new(error.status_code(), error.to_json()),
        }
    }
}

pub(crate) fn is_read(operation: &str) -> bool {
    matches!(
        operation,
        "GetItem" | "BatchGetItem" | "Query" | "Scan" | "TransactGetItems"
    ) || operation.starts_with("Describe")
        || operation.starts_with("List")
}

/// One line per operation: parse the request, and say which call answers it.
macro_rules! operations {
    ($operation:expr, $body:expr, { $($name:literal => $call:ident,)* }) => {
        match $operation {
            $($name => {
                let request = parse($body)?;
                Ok(Box::new(move |database: &Database| encode(&database.$call(request)?)))
            })*
            unknown => Err(Reply::error(
                400,
                "com.amazon.coral.service#UnknownOperationException",
                &format!("the emulator does not offer {unknown}"),
            )),
        }
    };
}

fn plan(operation: &str, body: &[u8]) -> Result<Work, Reply> {
    operations!(operation, body, {
        "CreateTable" => create_table,
        "DescribeTable" => describe_table,
        "UpdateTable" => update_table,
        "DeleteTable" => delete_table,
        "ListTables" => list_tables,
        "UpdateTimeToLive" => update_time_to_live,
        "DescribeTimeToLive" => describe_time_to_live,
        "GetItem" => get_item,
        "PutItem" => put_item,
        "UpdateItem" => update_item,
        "DeleteItem" => delete_item,
        "BatchGetItem" => batch_get_item,
        "BatchWriteItem" => batch_write_item,
        "Query" => query,
        "Scan" => scan,
        "TransactWriteItems" => transact_write_items,
        "TransactGetItems" => transact_get_items,
    })
}

/// dynoxide marks the class of a refused value at the start of its parse error. Its own server has
/// finer wording, which is private to it; the SDK only ever sends well-formed requests, so class
/// and text are enough here.
fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Reply> {
    serde_json::from_slice(body).map_err(|error| {
        let text = error.to_string();
        let (kind, message) = match text.split_once(':') {
            Some((marker, rest)) if marker.starts_with("VALIDATION") => {
                ("com.amazon.coral.validate#ValidationException", rest)
            }
            Some((marker, rest)) if marker.starts_with("SERIALIZATION") => {
                ("com.amazon.coral.service#SerializationException", rest)
            }
            _ => (
                "com.amazon.coral.service#SerializationException",
                text.as_str(),
            ),
        };
        Reply::error(400, kind, message)
    })
}

fn encode<T: Serialize>(response: &T) -> dynoxide::Result<String> {
    serde_json::to_string(response).map_err(|e| DynoxideError::InternalServerError(e.to_string()))
}
