//! The template as JSON, with the short forms of functions (`!Ref X`) written out (`{"Ref": "X"}`).

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

const TEMPLATE: &str = include_str!("../../../../template.yaml");

#[derive(Debug, Clone)]
pub struct Template(pub Value);

pub fn template() -> Template {
    static READ: LazyLock<Template> =
        LazyLock::new(|| Template(written_out(serde_norway::from_str(TEMPLATE).unwrap())));
    READ.clone()
}

fn written_out(value: serde_norway::Value) -> Value {
    use serde_norway::Value as Yaml;
    match value {
        Yaml::Null => Value::Null,
        Yaml::Bool(flag) => flag.into(),
        Yaml::Number(number) => serde_json::to_value(number).unwrap(),
        Yaml::String(text) => text.into(),
        Yaml::Sequence(items) => items.into_iter().map(written_out).collect(),
        Yaml::Mapping(map) => {
            let entry = |(key, value): (Yaml, Yaml)| (key.as_str().unwrap().to_owned(), value);
            let written = map.into_iter().map(entry);
            Value::Object(written.map(|(k, v)| (k, written_out(v))).collect())
        }
        Yaml::Tagged(tagged) => {
            let tag = tagged.tag.to_string();
            let name = match tag.trim_start_matches('!') {
                name @ ("Ref" | "Condition") => name.to_owned(),
                name => format!("Fn::{name}"),
            };
            json!({ name: written_out(tagged.value) })
        }
    }
}

/// A resource, its logical id and its properties.
#[derive(Debug, Clone, Copy)]
pub struct Resource<'a> {
    pub id: &'a str,
    pub whole: &'a Value,
}

impl<'a> Resource<'a> {
    pub fn at(&self, pointer: &str) -> &'a Value {
        at(&self.whole["Properties"], pointer)
    }
}

/// The value at a dotted path; null when there is none.
pub fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(value, |value, part| &value[part])
}

impl Template {
    pub fn of_type(&self, kind: &str) -> Vec<Resource<'_>> {
        let all = self.resources();
        all.filter(|r| r.whole["Type"] == kind).collect()
    }

    pub fn resources(&self) -> impl Iterator<Item = Resource<'_>> {
        let resources = self.0["Resources"].as_object().unwrap();
        resources.iter().map(|(id, whole)| Resource { id, whole })
    }

    pub fn resource(&self, id: &str) -> Resource<'_> {
        let (id, whole) = self.0["Resources"]
            .as_object()
            .and_then(|resources| resources.get_key_value(id))
            .unwrap_or_else(|| panic!("the template has no {id}"));
        Resource { id, whole }
    }

    pub fn functions(&self) -> Vec<Resource<'_>> {
        self.of_type("AWS::Serverless::Function")
    }

    /// Seconds that a function may take.
    pub fn timeout(&self, function: Resource<'_>) -> u64 {
        let own = function.at("Timeout").as_u64();
        own.or_else(|| at(&self.0, "Globals.Function.Timeout").as_u64())
            .unwrap_or(3)
    }

    /// Function and queue of every event that a queue causes, with its settings.
    pub fn consumers(&self) -> Vec<(Resource<'_>, String, &Value)> {
        let mut consumers = Vec::new();
        for function in self.functions() {
            for event in function
                .at("Events")
                .as_object()
                .into_iter()
                .flat_map(Map::values)
            {
                if event["Type"] == "SQS" {
                    let settings = &event["Properties"];
                    let queue = points_to(&settings["Queue"]).unwrap_or_default();
                    consumers.push((function, queue, settings));
                }
            }
        }
        consumers
    }

    /// To set a property of a resource to something else.
    pub fn set(&mut self, id: &str, path: &str, value: Value) {
        let place = self.place(id, path);
        assert_ne!(*place, value, "{id}.{path} would not change");
        *place = value;
    }

    /// To take a property of a resource away.
    pub fn remove(&mut self, id: &str, path: &str) {
        let (parent, last) = path.rsplit_once('.').unwrap();
        let removed = self.place(id, parent).as_object_mut().unwrap().remove(last);
        assert!(removed.is_some(), "{id} has no {path}");
    }

    pub fn place(&mut self, id: &str, path: &str) -> &mut Value {
        let resource = &mut self.0["Resources"][id];
        path.split('.')
            .fold(resource, |value, part| match part.parse::<usize>() {
                Ok(index) => &mut value[index],
                Err(_) => &mut value[part],
            })
    }
}

/// The logical id that `Ref` or `Fn::GetAtt` names.
pub fn points_to(value: &Value) -> Option<String> {
    if let Some(id) = value["Ref"].as_str() {
        return Some(id.to_owned());
    }
    let attribute = match &value["Fn::GetAtt"] {
        Value::Array(parts) => parts.first()?.as_str()?,
        other => other.as_str()?.split('.').next()?,
    };
    Some(attribute.to_owned())
}

/// Every text in a value, however deep, that of functions included.
pub fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(map) => map.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

/// One value as it is, or each of a list.
pub fn each(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) => items,
        Value::Null => &[],
        single => std::slice::from_ref(single),
    }
}
