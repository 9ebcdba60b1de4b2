//! Reads: of one item, of a batch of keys, of a page of a list, of a page of everything.

use aws_sdk_dynamodb::types::{KeysAndAttributes, ReturnConsumedCapacity};
use onsale_table::{Batch, Cursor, Item, Key, Query, Reads, Row, Rows, TableError, check_batch};

use super::DynamoTable;
use super::errors::{incomplete, table_error};
use super::values::{self, Attributes, PK, SK, item, key_attributes, rows, take_text, text};

pub(super) async fn get(
    table: &DynamoTable,
    key: &Key,
    reads: Reads,
) -> Result<Option<Item>, TableError> {
    let get = table
        .client
        .get_item()
        .table_name(&table.name)
        .set_key(Some(key_attributes(key)))
        .consistent_read(reads == Reads::Consistent);
    let answer = get.send().await.map_err(table_error)?;
    answer.item.map(item).transpose()
}

pub(super) async fn get_many(
    table: &DynamoTable,
    keys: &[Key],
    reads: Reads,
) -> Result<Batch, TableError> {
    check_batch(keys)?;
    if keys.is_empty() {
        return Ok(Batch::default());
    }
    let wanted = KeysAndAttributes::builder()
        .set_keys(Some(keys.iter().map(key_attributes).collect()))
        .consistent_read(reads == Reads::Consistent)
        .build()
        .map_err(incomplete)?;
    let get = table
        .client
        .batch_get_item()
        .request_items(&table.name, wanted)
        .return_consumed_capacity(ReturnConsumedCapacity::Total);
    let answer = get.send().await.map_err(table_error)?;
    let found = answer.responses.and_then(|mut r| r.remove(&table.name));
    let left = answer
        .unprocessed_keys
        .and_then(|mut r| r.remove(&table.name));
    let left = left.map(|left| left.keys).unwrap_or_default();
    Ok(Batch {
        rows: rows(found)?,
        unprocessed: left
            .into_iter()
            .map(values::key)
            .collect::<Result<_, _>>()?,
    })
}

pub(super) async fn query(table: &DynamoTable, query: &Query<'_>) -> Result<Rows, TableError> {
    let limit = page_limit(query.limit)?;
    let (pk, sk) = query.index.map_or((PK, SK), |index| (index.pk, index.sk));
    let consistent = query.index.is_none() && query.reads == Reads::Consistent;
    let mut request = table
        .client
        .query()
        .table_name(&table.name)
        .set_index_name(query.index.map(|index| index.name.to_owned()))
        .key_condition_expression(key_condition(query))
        .expression_attribute_names("#pk", pk)
        .expression_attribute_values(":partition", text(query.partition))
        .set_exclusive_start_key(start_key(query))
        .scan_index_forward(!query.descending)
        .consistent_read(consistent)
        .limit(limit);
    if let Some(place) = place_beyond(query) {
        request = request
            .expression_attribute_names("#sk", sk)
            .expression_attribute_values(":place", text(place));
    }
    let answer = request.send().await.map_err(table_error)?;
    Ok(Rows {
        rows: rows(answer.items)?,
        next: answer
            .last_evaluated_key
            .map(|last| cursor(last, sk))
            .transpose()?,
    })
}

/// The place beyond which the page begins, when the cursor names no item there.
fn place_beyond<'q>(query: &'q Query<'_>) -> Option<&'q str> {
    let cursor = query.after.as_ref().filter(|after| after.key.is_none());
    cursor.map(|cursor| cursor.place.as_str())
}

fn key_condition(query: &Query<'_>) -> &'static str {
    match (place_beyond(query), query.descending) {
        (None, _) => "#pk = :partition",
        (Some(_), false) => "#pk = :partition AND #sk > :place",
        (Some(_), true) => "#pk = :partition AND #sk < :place",
    }
}

/// The item after which the page begins, when the cursor names one: its key, and for an index
/// also the partition and the place that it has there.
fn start_key(query: &Query<'_>) -> Option<Attributes> {
    let after = query.after.as_ref()?;
    let mut start = key_attributes(after.key.as_ref()?);
    if let Some(index) = query.index {
        start.insert(index.pk.to_owned(), text(query.partition));
        start.insert(index.sk.to_owned(), text(&after.place));
    }
    Some(start)
}

/// Where the list goes on after this item. `sk` is the sort key of the list.
fn cursor(last: Attributes, sk: &str) -> Result<Cursor, TableError> {
    let place = take_text(&mut last.clone(), sk)?;
    let key = Some(values::key(last)?);
    Ok(Cursor { place, key })
}

/// A page of a scan may be empty although items follow it. The caller goes on from the last key
/// it got, so an empty page has to mean the end: this reads on until there is an item.
pub(super) async fn scan(
    table: &DynamoTable,
    after: Option<&Key>,
    limit: usize,
) -> Result<Vec<Row>, TableError> {
    let limit = page_limit(limit)?;
    let mut start = after.map(key_attributes);
    loop {
        let scan = table
            .client
            .scan()
            .table_name(&table.name)
            .set_exclusive_start_key(start)
            .limit(limit);
        let answer = scan.send().await.map_err(table_error)?;
        let found = rows(answer.items)?;
        if !found.is_empty() || answer.last_evaluated_key.is_none() {
            return Ok(found);
        }
        start = answer.last_evaluated_key;
    }
}

/// More items than an `i32` counts are in no page: a megabyte ends it before.
fn page_limit(limit: usize) -> Result<i32, TableError> {
    if limit == 0 {
        return Err(TableError::Invalid("a page of no items".to_owned()));
    }
    Ok(i32::try_from(limit).unwrap_or(i32::MAX))
}

#[cfg(test)]
mod tests {
    use onsale_table::{Index, Projection};

    use super::*;

    const BY_STATE: Index = Index {
        name: "by-state",
        pk: "st",
        sk: "at",
        projection: Projection::Keys,
    };

    fn page(index: Option<Index>, after: Option<Cursor>, descending: bool) -> Query<'static> {
        Query {
            index,
            partition: "open",
            after,
            descending,
            limit: 10,
            reads: Reads::Eventual,
        }
    }

    #[test]
    fn a_page_of_an_index_goes_on_after_the_last_item_of_the_page_before() {
        let key = Key::new("ORD#1", "ORD");
        let after = Cursor {
            place: "0007".to_owned(),
            key: Some(key.clone()),
        };
        let query = page(Some(BY_STATE), Some(after.clone()), false);
        let start = start_key(&query).unwrap();
        let mut wanted = key_attributes(&key);
        wanted.insert("st".to_owned(), text("open"));
        wanted.insert("at".to_owned(), text("0007"));
        assert_eq!(start, wanted);
        assert_eq!(key_condition(&query), "#pk = :partition");
        assert_eq!(cursor(start, "at"), Ok(after));
    }

    #[test]
    fn the_cursor_of_the_table_itself_has_the_sort_key_as_its_place() {
        let key = Key::new("ORD#1", "ORD");
        let next = cursor(key_attributes(&key), SK).unwrap();
        assert_eq!(
            (next.place.as_str(), &next.key),
            ("ORD", &Some(key.clone()))
        );
        let start = start_key(&page(None, Some(next), false));
        assert_eq!(start, Some(key_attributes(&key)));
    }

    #[test]
    fn a_cursor_without_a_key_goes_on_beyond_its_place() {
        let after = || Some(Cursor::beyond("0007"));
        let (up, down) = (page(None, after(), false), page(None, after(), true));
        assert_eq!(key_condition(&up), "#pk = :partition AND #sk > :place");
        assert_eq!(key_condition(&down), "#pk = :partition AND #sk < :place");
        assert_eq!(start_key(&up), None);
        assert_eq!(place_beyond(&up), Some("0007"));
    }

    #[test]
    fn a_page_has_at_least_one_item() {
        assert!(page_limit(0).is_err());
        assert_eq!(page_limit(25), Ok(25));
        assert_eq!(page_limit(usize::MAX), Ok(i32::MAX));
    }
}
