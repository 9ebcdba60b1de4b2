//! `write-exports`: writes the lists that organisers take away, one message at a time.

use onsale_app::App;
use onsale_app::ports::WriteExport;
use onsale_consume::{Delivery, each_message};

pub async fn handle(app: &App, batch: Vec<Delivery>) -> Vec<String> {
    each_message(batch, |message: WriteExport| async move {
        let written = app.write_export(message.export_id).await;
        written.map_err(|error| error.to_string())
    })
    .await
}
