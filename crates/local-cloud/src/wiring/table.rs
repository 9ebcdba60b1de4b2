//! The table of the template, as far as keys, indexes and time to live go.
//! Capacity, backups and encryption are the cloud's business and mean nothing locally.

use serde_json::{Value, json};

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

/// Everything needed to create the table.
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

    /// The CreateTable request in DynamoDB's JSON.
    pub fn create_request(&self) -> Value {
        let attributes: Vec<_> = self
            .attributes
            .iter()
            .map(|(name, kind)| json!({ "AttributeName": name, "AttributeType": kind }))
            .collect();
        let mut request = json!({
            "TableName": self.name,
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": attributes,
            "KeySchema": key_schema(&self.keys),
        });
        // DynamoDB refuses an empty list of indexes.
        if !self.indexes.is_empty() {
            request["GlobalSecondaryIndexes"] = self.indexes.iter().map(index_json).collect();
        }
        request
    }

    /// The UpdateTimeToLive request in DynamoDB's JSON, when the table has a time to live.
    pub fn ttl_request(&self) -> Option<Value> {
        let attribute = self.ttl_attribute.as_ref()?;
        Some(json!({
            "TableName": self.name,
            "TimeToLiveSpecification": { "AttributeName": attribute, "Enabled": true },
        }))
    }

    /// Says in what way a described table differs from the template; none when it does not.
    pub(crate) fn difference(&self, described: &Value) -> Option<String> {
        let table = &described["Table"];
        if table["KeySchema"] != key_schema(&self.keys) {
            return Some("its key schema is another".to_owned());
        }
        let found = table["GlobalSecondaryIndexes"].as_array();
        let found = found.map(Vec::as_slice).unwrap_or_default();
        let missing = self.indexes.iter().find(|index| {
            !found.iter().any(|f| {
                f["IndexName"] == index.name.as_str() && f["KeySchema"] == key_schema(&index.keys)
            })
        });
        missing.map(|index| format!("it has no such index as {}", index.name))
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

fn key_schema(keys: &[(String, String)]) -> Value {
    keys.iter()
        .map(|(name, role)| json!({ "AttributeName": name, "KeyType": role }))
        .collect()
}

fn index_json(index: &TableIndex) -> Value {
    let mut projection = json!({ "ProjectionType": index.projection });
    if !index.included.is_empty() {
        projection["NonKeyAttributes"] = json!(index.included);
    }
    json!({
        "IndexName": index.name,
        "KeySchema": key_schema(&index.keys),
        "Projection": projection,
    })
}
