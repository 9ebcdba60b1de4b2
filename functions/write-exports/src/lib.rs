//! `write-exports`: writes the lists that organisers take away, one message at a time.

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent};
use onsale_app::App;
use onsale_app::ports::WriteExport;

pub async fn handle(app: &App, event: SqsEvent) -> SqsBatchResponse {
    onsale_http::sqs::each_message(event, |message: WriteExport| async move {
        let written = app.write_export(message.export_id).await;
        written.map_err(|error| error.to_string())
    })
    .await
}
