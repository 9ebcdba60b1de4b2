//! What was sold.

use async_trait::async_trait;
use onsale_app::ports::{Page, SalesBooks, Stored, Versioned};
use onsale_domain::ids::ShowId;
use onsale_domain::sales::{RoomFigures, SaleLine, SalesBook};
use onsale_domain::time::Millis;

use crate::MemoryStore;
use crate::orders::page;

#[async_trait]
impl SalesBooks for MemoryStore {
    async fn keep_sale_line(&self, show: ShowId, line: &SaleLine) -> Stored<()> {
        self.pass("keep_sale_line", async {
            let mut items = self.items();
            let lines = items.sale_lines.entry(show).or_default();
            lines.entry(line.place()).or_insert_with(|| line.clone());
            Ok(())
        })
        .await
    }

    async fn sale_lines_from(&self, show: ShowId, from: Millis) -> Stored<Vec<SaleLine>> {
        let items = self.items();
        let lines = items.sale_lines.get(&show).into_iter().flatten();
        let wanted = lines.filter(|(_, line)| line.at >= from);
        Ok(wanted.map(|(_, line)| line.clone()).collect())
    }

    async fn walk_sale_lines(
        &self,
        show: ShowId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<SaleLine>> {
        self.pass("walk_sale_lines", async {
            let items = self.items();
            let lines = items.sale_lines.get(&show).into_iter().flatten();
            let sorted = lines.map(|(place, line)| (place.clone(), line.clone()));
            Ok(page(sorted.collect(), after, limit))
        })
        .await
    }

    async fn count_late_line(&self, show: ShowId) -> Stored<()> {
        self.pass("count_late_line", async {
            *self.items().late_lines.entry(show).or_default() += 1;
            Ok(())
        })
        .await
    }

    async fn sales_book(&self, show: ShowId) -> Stored<(Option<Versioned<SalesBook>>, u64)> {
        let items = self.items();
        let late = items.late_lines.get(&show).copied().unwrap_or(0);
        Ok((items.sales_books.get(&show).cloned(), late))
    }

    async fn put_sales_book(&self, book: &Versioned<SalesBook>) -> Stored<bool> {
        self.pass("put_sales_book", async {
            let mut items = self.items();
            let show = book.value.show_id;
            let stored = items.sales_books.get(&show).map_or(0, |b| b.version);
            if stored != book.version {
                return Ok(false);
            }
            let next = Versioned {
                version: stored + 1,
                value: book.value.clone(),
            };
            items.sales_books.insert(show, next);
            Ok(true)
        })
        .await
    }

    async fn room_figures(&self, show: ShowId) -> Stored<Option<RoomFigures>> {
        Ok(self.items().room_figures.get(&show).copied())
    }

    async fn put_room_figures(&self, show: ShowId, figures: &RoomFigures) -> Stored<()> {
        self.pass("put_room_figures", async {
            let mut items = self.items();
            let stored = items.room_figures.entry(show).or_insert(*figures);
            if stored.at < figures.at {
                *stored = *figures;
            }
            Ok(())
        })
        .await
    }
}
