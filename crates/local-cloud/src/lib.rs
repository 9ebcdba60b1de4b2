//! Everything a deployment gets from a cloud, in one process and one folder.
//!
//! A [`LocalCloud`] has a table, queues, a bus, a mailbox and objects, and offers them as the
//! ports of the application. Table, queues and mails share one SQLite file (`onsale.db`), so
//! what is written together is flushed together; objects are files. [`Wiring`] reads which
//! function consumes which queue and which runs on a schedule from the `template.yaml` that
//! deploys the platform, and [`Runner`] invokes those functions as Lambda would. Nothing here
//! knows an AWS SDK.

mod bus;
mod clock;
mod cloud;
mod links;
mod mailbox;
mod object_store;
mod objects;
mod percent;
mod queues;
mod runner;
pub mod testing;
mod wiring;
mod work_queues;

pub use bus::{Bus, Event, Field, Matcher, Rule};
pub use clock::{Clock, SystemClock};
pub use cloud::{CloudError, LocalCloud};
pub use links::{LinkError, Links};
pub use mailbox::{LocalMailer, Mailbox, MailboxError, SentMail};
pub use object_store::{Incoming, ObjectStore, Precondition, Put, StoredObject};
pub use objects::{Download, LocalObjects};
pub use onsale_table::sqlite::Durability;
pub use percent::percent_decoded;
pub use queues::{
    Attributes, BATCH_MAX, BODY_BYTES_MAX, DELAY_S_MAX, Outgoing, QueueCounts, QueueError,
    QueueSettings, Queues, Received, Redrive,
};
pub use runner::{Handler, Runner, RunnerError, ScheduleHandler};
pub use wiring::{Consumer, Schedule, TableIndex, TableWiring, Wiring, WiringError};
pub use work_queues::WorkQueues;
