//! What a show sold: a line for each sale and each refund, and the book of them.
//!
//! Lines are spread over a few partitions by the id of their order and sorted by time
//! within each, so that a thousand sales a second find room, and whoever reads asks for
//! what came after a time however long ago that was.

use async_trait::async_trait;
use futures_util::future::try_join_all;
use onsale_app::ports::{Page, SalesBooks, StoreError, Stored, Versioned};
use onsale_domain::ids::ShowId;
use onsale_domain::sales::{RoomFigures, SaleLine, SalesBook, before};
use onsale_domain::time::Millis;

use crate::attributes::{Item, get_json, get_number, get_text, json, number, text};
use crate::conditions::{Change, FIGURES_ARE_OLDER};
use crate::documents::versioned;
use crate::errors::unavailable;
use crate::keys::{Key, PK, SALE_PARTS, SK, sale_lines, sale_part};
use crate::table::DynamoStore;

/// Far more than one answer of a megabyte holds.
const WHOLE_PAGE: usize = 10_000;
/// Room figures are for whoever looks at this moment.
const FIGURES_KEPT_MS: u64 = 7 * 24 * 3_600_000;

/// Where a walk over all lines goes on: the part, and the last place seen in it.
fn read_cursor(cursor: Option<&str>) -> Option<(u8, String)> {
    let Some(cursor) = cursor else {
        return Some((0, before(Millis(0))));
    };
    let (part, place) = cursor.split_once('@')?;
    let part = part.parse().ok().filter(|part| *part < SALE_PARTS)?;
    Some((part, place.to_owned()))
}

impl DynamoStore {
    /// Lines of one partition after a place, and the place where the next page begins.
    async fn sale_page(
        &self,
        partition: &str,
        after: &str,
        limit: usize,
    ) -> Stored<(Vec<SaleLine>, Option<String>)> {
        let query = self
            .client
            .query()
            .table_name(&self.table)
            .consistent_read(true)
            .key_condition_expression(format!("{PK} = :lines AND {SK} > :after"))
            .expression_attribute_values(":lines", text(partition))
            .expression_attribute_values(":after", text(after))
            .limit(i32::try_from(limit).unwrap_or(100));
        let answer = query.send().await.map_err(unavailable)?;
        let items = answer.items.unwrap_or_default();
        let lines = items.iter().map(|item| get_json(item, "doc"));
        let next = match (answer.last_evaluated_key, items.last()) {
            (Some(_), Some(last)) => Some(get_text(last, SK)?.to_owned()),
            _ => None,
        };
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
}

#[async_trait]
impl SalesBooks for DynamoStore {
    async fn keep_sale_line(&self, show: ShowId, line: &SaleLine) -> Stored<()> {
        let mut item = Item::from([("doc".to_owned(), json(line)?)]);
        item.insert(PK.to_owned(), text(sale_lines(show, sale_part(line.order))));
        item.insert(SK.to_owned(), text(line.place()));
        self.put_item_new(item).await.map(|_| ())
    }

    async fn sale_lines_from(&self, show: ShowId, from: Millis) -> Stored<Vec<SaleLine>> {
        let parts = (0..SALE_PARTS).map(|part| self.sale_part_from(show, part, from));
        Ok(try_join_all(parts).await?.into_iter().flatten().collect())
    }

    async fn walk_sale_lines(
        &self,
        show: ShowId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<SaleLine>> {
        let (mut part, mut place) = read_cursor(after)
            .ok_or_else(|| StoreError::Corrupt("a cursor of sale lines".to_owned()))?;
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

    async fn count_late_line(&self, show: ShowId) -> Stored<()> {
        let change = Change {
            update: "ADD n :one".to_owned(),
            condition: None,
            values: Item::from([(":one".to_owned(), number(1))]),
        };
        let key = Key::late_lines(show);
        Ok(self.update(&key, change).await?)
    }

    /// The count is read first: a line that comes late in between is counted next time.
    async fn sales_book(&self, show: ShowId) -> Stored<(Option<Versioned<SalesBook>>, u64)> {
        let late = match self.get(&Key::late_lines(show)).await? {
            Some(item) => get_number(&item, "n")?,
            None => 0,
        };
        let book = self.get(&Key::sales_book(show)).await?;
        Ok((book.as_ref().map(versioned).transpose()?, late))
    }

    async fn put_sales_book(&self, book: &Versioned<SalesBook>) -> Stored<bool> {
        let key = Key::sales_book(book.value.show_id);
        let doc = ("doc", json(&book.value)?);
        let found = self
            .write_versioned(&key, book.version, doc, Vec::new())
            .await?;
        Ok(found.is_none())
    }

    async fn room_figures(&self, show: ShowId) -> Stored<Option<RoomFigures>> {
        let item = self.get(&Key::room_figures(show)).await?;
        item.as_ref().map(|item| get_json(item, "doc")).transpose()
    }

    async fn put_room_figures(&self, show: ShowId, figures: &RoomFigures) -> Stored<()> {
        let change = Change {
            update: "SET doc = :doc, ver = :ver, forget_at = :forget_at".to_owned(),
            condition: Some(FIGURES_ARE_OLDER.to_owned()),
            values: Item::from([
                (":doc".to_owned(), json(figures)?),
                (":ver".to_owned(), number(figures.at.0)),
                (
                    ":forget_at".to_owned(),
                    crate::attributes::seconds(figures.at + FIGURES_KEPT_MS),
                ),
            ]),
        };
        let key = Key::room_figures(show);
        self.update_if(&key, change).await.map(|_| ())
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
