//! The table of the template, as far as keys, indexes and time to live go.
//! Capacity, backups and encryption are the cloud's business and mean nothing locally.

use super::WiringError;
use super::template::Place;

/// One global secondary index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableIndex {
    pub name: String,
    /// Attribute and role (`HASH` or `RANGE`), in order.
    pub keys: Vec<(String, String)>,
    /// `ALL`, `KEYS_ONLY` or `INCLUDE`.
    pub projection: String,
    /// The attributes of an `INCLUDE` projection.
    pub included: Vec<String>,
}

/// The shape of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableWiring {
    /// The logical id, which is the table's name in the local cloud.
    pub name: String,
    /// Attribute and type (`S`, `N` or `B`).
    pub attributes: Vec<(String, String)>,
    pub keys: Vec<(String, String)>,
    pub indexes: Vec<TableIndex>,
    pub ttl_attribute: Option<String>,
}

impl TableWiring {
    pub(super) fn read(resource: &Place<'_>) -> Result<Self, WiringError> {
        let properties = resource.need("Properties")?;
        let mut attributes = Vec::new();
        for attribute in properties.need("AttributeDefinitions")?.items()? {
            attributes.push((
                attribute.need_text("AttributeName")?,
                attribute.need_text("AttributeType")?,
            ));
        }
        let mut indexes = Vec::new();
        if let Some(list) = properties.get("GlobalSecondaryIndexes") {
            for index in list.items()? {
                indexes.push(read_index(&index)?);
            }
        }
        let ttl = properties.get("TimeToLiveSpecification");
        let ttl = ttl.filter(|ttl| {
            let enabled = ttl.get("Enabled").and_then(|place| place.text().ok());
            enabled.as_deref() == Some("true")
        });
        Ok(Self {
            name: resource.resource().to_owned(),
            attributes,
            keys: read_keys(&properties)?,
            indexes,
            ttl_attribute: ttl.map(|ttl| ttl.need_text("AttributeName")).transpose()?,
        })
    }
}

fn read_keys(place: &Place<'_>) -> Result<Vec<(String, String)>, WiringError> {
    let keys = place.need("KeySchema")?.items()?;
    keys.iter()
        .map(|key| Ok((key.need_text("AttributeName")?, key.need_text("KeyType")?)))
        .collect()
}

fn read_index(index: &Place<'_>) -> Result<TableIndex, WiringError> {
    let mut included = Vec::new();
    if let Some(list) = index.get("Projection.NonKeyAttributes") {
        for attribute in list.items()? {
            included.push(attribute.text()?);
        }
    }
    Ok(TableIndex {
        name: index.need_text("IndexName")?,
        keys: read_keys(index)?,
        projection: index.need_text("Projection.ProjectionType")?,
        included,
    })
}
