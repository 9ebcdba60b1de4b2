//! The lines of what a show sold, the book that adds them up, and the figures of its room.

use async_trait::async_trait;
use onsale_domain::ids::ShowId;
use onsale_domain::sales::{RoomFigures, SaleLine, SalesBook};
use onsale_domain::time::Millis;

use super::{Page, Stored, Versioned};

#[async_trait]
pub trait SalesBooks: Send + Sync {
    /// Keeps a line for good; one that is there already stays as it is.
    async fn keep_sale_line(&self, show: ShowId, line: &SaleLine) -> Stored<()>;
    /// All lines of this time or later, by consistent reads, in any order.
    async fn sale_lines_from(&self, show: ShowId, from: Millis) -> Stored<Vec<SaleLine>>;
    /// A walk over all lines of a show, by consistent reads. Lines that are written behind
    /// the place where the walk is are not met.
    async fn walk_sale_lines(
        &self,
        show: ShowId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<SaleLine>>;

    /// Says that a line came late: it may not be in the book.
    async fn count_late_line(&self, show: ShowId) -> Stored<()>;
    /// The book, and how many lines have come late. The count is not newer than the book.
    async fn sales_book(&self, show: ShowId) -> Stored<(Option<Versioned<SalesBook>>, u64)>;
    /// Stores the book if it is at this version (0: not there yet); `false`: it is not.
    async fn put_sales_book(&self, book: &Versioned<SalesBook>) -> Stored<bool>;

    async fn room_figures(&self, show: ShowId) -> Stored<Option<RoomFigures>>;
    /// Stores the figures unless newer ones are there.
    async fn put_room_figures(&self, show: ShowId, figures: &RoomFigures) -> Stored<()>;
}
