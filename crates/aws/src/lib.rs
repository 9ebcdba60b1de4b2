//! The table on DynamoDB, queues on SQS, the bus on EventBridge, mail on SES and objects on S3.
//!
//! What is stored, and under which keys and conditions, is `onsale-store`'s; here it becomes
//! requests.

mod bus;
mod deliveries;
mod dynamo;
mod host;
mod objects;
mod pause;
mod queue;
mod ses;
mod signed;

pub use bus::EventBridgeBus;
pub use deliveries::{deliveries, queue_name, response, run_consumer};
pub use dynamo::DynamoTable;
pub use host::{AwsConfig, Wires, app_from_env, ports_from_env};
pub use lambda_runtime::Error as LambdaError;
pub use objects::S3Objects;
pub use queue::{SqsExpiryQueue, SqsExportQueue, SqsNotifyQueue, SqsSagaQueue, SqsWaitlistQueue};
pub use ses::SesMailer;
