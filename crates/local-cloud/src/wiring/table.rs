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
        let mut request = json!({
            "TableName": self.name,
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": attribute_definitions(self.attributes.iter()),
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

    /// The UpdateTable requests in DynamoDB's JSON that give a described table the indexes it
    /// lacks, one each as DynamoDB demands. An error says what no request can change.
    pub(crate) fn missing_indexes(&self, described: &Value) -> Result<Vec<Value>, String> {
        let table = &described["Table"];
        if table["KeySchema"] != key_schema(&self.keys) {
            return Err("its key schema is another".to_owned());
        }
        let found = table["GlobalSecondaryIndexes"].as_array();
        let found = found.map(Vec::as_slice).unwrap_or_default();
        let mut requests = Vec::new();
        for index in &self.indexes {
            let wanted = index_json(index);
            let Some(found) = found.iter().find(|f| f["IndexName"] == wanted["IndexName"]) else {
                requests.push(self.add_index_request(index));
                continue;
            };
            let kind = |index: &Value| index["Projection"]["ProjectionType"].clone();
            if found["KeySchema"] != wanted["KeySchema"] || kind(found) != kind(&wanted) {
                let name = &index.name;
                return Err(format!(
                    "its index {name} has other keys or another projection"
                ));
            }
        }
        Ok(requests)
    }

    fn add_index_request(&self, index: &TableIndex) -> Value {
        // The request declares the index's keys anew, even those the table already knows.
        let is_key = |name: &String| index.keys.iter().any(|(key, _)| key == name);
        let attributes = self.attributes.iter().filter(|(name, _)| is_key(name));
        json!({
            "TableName": self.name,
            "AttributeDefinitions": attribute_definitions(attributes),
            "GlobalSecondaryIndexUpdates": [{ "Create": index_json(index) }],
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

fn attribute_definitions<'a>(attributes: impl Iterator<Item = &'a (String, String)>) -> Value {
    attributes
        .map(|(name, kind)| json!({ "AttributeName": name, "AttributeType": kind }))
        .collect()
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
