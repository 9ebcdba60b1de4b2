//! What a show sold: a line for each sale and each refund, and the book of them.
//!
//! Lines are spread over a few partitions by the id of their order and sorted by time within
//! each, so that a thousand sales a second find room, and a reader can ask for what came after a
//! time however long ago that was.

use futures_util::future::try_join_all;
use onsale_domain::ids::ShowId;
use onsale_domain::sales::{RoomFigures, SaleLine, SalesBook, before};
use onsale_domain::time::Millis;
use onsale_table::{Cursor, Item, Key, Query, Reads, Update};

use crate::attributes::{DOC, FORGET_AT, get_json, get_number, json, seconds};
use crate::conditions::is_newer;
use crate::documents::{Document, Versioned, Written};
use crate::error::{Stored, corrupt};
use crate::keys::{self, SALE_PARTS, sale_lines, sale_part};
use crate::lists::Page;
use crate::store::Store;

/// Far more than one answer of a megabyte holds.
const WHOLE_PAGE: usize = 10_000;
/// Room figures are for those who look at this moment.
const FIGURES_KEPT_MS: u64 = 7 * 24 * 3_600_000;

impl Document for SalesBook {
    const KIND: &'static str = "SLB";
    type Id = ShowId;

    fn id(&self) -> ShowId {
        self.show_id
    }
}

/// Where a walk over all lines goes on: the part, and the last place seen in it.
fn read_cursor(cursor: Option<&str>) -> Option<(u8, String)> {
    let Some(cursor) = cursor else {
        return Some((0, before(Millis(0))));
    };
    let (part, place) = cursor.split_once('@')?;
    let part = part.parse().ok().filter(|part| *part < SALE_PARTS)?;
    Some((part, place.to_owned()))
}

impl Store {
    /// Lines of one partition after a place, and the place where the next page begins.
    async fn sale_page(
        &self,
        partition: &str,
        after: &str,
        limit: usize,
    ) -> Stored<(Vec<SaleLine>, Option<String>)> {
        let query = Query {
            index: None,
            partition,
            after: Some(Cursor::beyond(after)),
            descending: false,
            limit,
            reads: Reads::Consistent,
        };
        let page = self.query(&query).await?;
        let lines = page.rows.iter().map(|row| get_json(&row.item, DOC));
        let next = page.next.map(|cursor| cursor.place);
        Ok((lines.collect::<Stored<_>>()?, next))
    }

    async fn sale_part_from(&self, show: ShowId, part: u8, from: Millis) -> Stored<Vec<SaleLine>> {
        let partition = sale_lines(show, part);
        let (mut lines, mut after) = (Vec::new(), Some(before(from)));
        while let Some(place) = after {
            let (page, next) = self.sale_page(&partition, &place, WHOLE_PAGE).await?;
            lines.extend(page);
            after = next;
        }
        Ok(lines)
    }

    /// Keeps a line for good; one that is there already stays as it is.
    pub async fn keep_sale_line(&self, show: ShowId, line: &SaleLine) -> Stored<()> {
        let key = Key::new(sale_lines(show, sale_part(line.order)), line.place());
        let item = Item::new().with(DOC, json(line)?);
        self.put_new(&key, item).await.map(|_| ())
    }

    /// All lines of this time or later, by consistent reads, in any order.
    pub async fn sale_lines_from(&self, show: ShowId, from: Millis) -> Stored<Vec<SaleLine>> {
        let parts = (0..SALE_PARTS).map(|part| self.sale_part_from(show, part, from));
        Ok(try_join_all(parts).await?.into_iter().flatten().collect())
    }

    /// A walk over all lines of a show, by consistent reads. Lines that are written behind the
    /// place where the walk is are not met.
    pub async fn walk_sale_lines(
        &self,
        show: ShowId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<SaleLine>> {
        let (mut part, mut place) =
            read_cursor(after).ok_or_else(|| corrupt("a cursor of sale lines"))?;
        loop {
            let partition = sale_lines(show, part);
            let (items, next) = self.sale_page(&partition, &place, limit).await?;
            let next = match next {
                Some(place) => Some((part, place)),
                None => Some((part + 1, before(Millis(0)))).filter(|(part, _)| *part < SALE_PARTS),
            };
            match next {
                Some((next_part, next_place)) if items.is_empty() => {
                    (part, place) = (next_part, next_place);
                }
                next => {
                    let next = next.map(|(part, place)| format!("{part}@{place}"));
                    return Ok(Page { items, next });
                }
            }
        }
    }

    /// Says that a line came late: it may not be in the book.
    pub async fn count_late_line(&self, show: ShowId) -> Stored<()> {
        let update = Update::always().add("n", 1);
        let key = keys::late_lines(show);
        self.update_if(&key, &update).await.map(|_| ())
    }

    /// The book, and how many lines have come late. The count is not newer than the book: it is
    /// read first, and a line that comes late in between is counted next time.
    pub async fn sales_book(&self, show: ShowId) -> Stored<(Option<Versioned<SalesBook>>, u64)> {
        let late = match self.get(&keys::late_lines(show)).await? {
            Some(item) => get_number(&item, "n")?,
            None => 0,
        };
        Ok((self.read::<SalesBook>(show).await?, late))
    }

    /// Stores the book if it is at this version (0: not there yet); `false`: it is not.
    pub async fn put_sales_book(&self, book: &Versioned<SalesBook>) -> Stored<bool> {
        Ok(matches!(self.replace(book).await?, Written::Done(_)))
    }

    pub async fn room_figures(&self, show: ShowId) -> Stored<Option<RoomFigures>> {
        let item = self.get(&keys::room_figures(show)).await?;
        item.as_ref().map(|item| get_json(item, DOC)).transpose()
    }

    /// Stores the figures unless newer ones are there.
    pub async fn put_room_figures(&self, show: ShowId, figures: &RoomFigures) -> Stored<()> {
        let update = Update::when(is_newer("ver", figures.at.0))
            .set(DOC, json(figures)?)
            .set("ver", figures.at.0)
            .set(FORGET_AT, seconds(figures.at + FIGURES_KEPT_MS));
        let key = keys::room_figures(show);
        self.update_if(&key, &update).await.map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_names_its_part_and_place() {
        assert_eq!(read_cursor(None), Some((0, "000000000000000".to_owned())));
        assert_eq!(read_cursor(Some("3@x#y")), Some((3, "x#y".to_owned())));
        for wrong in ["", "3", "4@", "x@", "-1@"] {
            assert_eq!(read_cursor(Some(wrong)), None, "{wrong}");
        }
    }
}
