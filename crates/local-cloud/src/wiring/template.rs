//! Reading values out of a SAM template, with errors that name the resource and the property.
//! Understands the intrinsic functions the wiring needs: Ref, GetAtt, and defaults of parameters.

use serde_norway::Value;

use super::WiringError;

/// A place in the template: the value, and how to name it in an error.
#[derive(Clone)]
pub(super) struct Place<'a> {
    resource: &'a str,
    path: String,
    value: &'a Value,
    parameters: Option<&'a Value>,
}

impl<'a> Place<'a> {
    pub(super) fn top(template: &'a Value) -> Self {
        Self {
            resource: "the template",
            path: String::new(),
            value: template,
            parameters: template.get("Parameters"),
        }
    }

    /// The resources of the template, in order.
    pub(super) fn resources(&self) -> Result<Vec<(&'a str, Place<'a>)>, WiringError> {
        let mut resources = self.need("Resources")?.entries()?;
        for (name, place) in &mut resources {
            place.resource = name;
            place.path = String::new();
        }
        Ok(resources)
    }

    pub(super) fn resource(&self) -> &'a str {
        self.resource
    }

    /// The value at `key`, a dotted path; none when any part is missing.
    pub(super) fn get(&self, key: &str) -> Option<Place<'a>> {
        key.split('.').try_fold(self.clone(), |place, part| {
            let value = place.value.get(part)?;
            Some(place.child(part, value))
        })
    }

    pub(super) fn need(&self, key: &str) -> Result<Place<'a>, WiringError> {
        self.get(key)
            .ok_or_else(|| self.problem(format!("{} is missing", self.join(key))))
    }

    pub(super) fn entries(&self) -> Result<Vec<(&'a str, Place<'a>)>, WiringError> {
        let map = self
            .value
            .as_mapping()
            .ok_or_else(|| self.problem(format!("{} is not a mapping", self.path)))?;
        let named = map.iter().filter_map(|(k, v)| Some((k.as_str()?, v)));
        Ok(named.map(|(k, v)| (k, self.child(k, v))).collect())
    }

    pub(super) fn items(&self) -> Result<Vec<Place<'a>>, WiringError> {
        let items = self
            .value
            .as_sequence()
            .ok_or_else(|| self.problem(format!("{} is not a list", self.path)))?;
        let numbered = items.iter().enumerate();
        Ok(numbered
            .map(|(i, v)| self.child(&i.to_string(), v))
            .collect())
    }

    pub(super) fn text(&self) -> Result<String, WiringError> {
        match self.resolved() {
            Value::String(text) => Ok(text.clone()),
            Value::Number(number) => Ok(number.to_string()),
            Value::Bool(flag) => Ok(flag.to_string()),
            _ => Err(self.problem(format!("{} is not a plain value", self.path))),
        }
    }

    pub(super) fn number(&self) -> Result<u32, WiringError> {
        self.text()?
            .parse()
            .map_err(|_| self.problem(format!("{} is not a whole number", self.path)))
    }

    pub(super) fn need_text(&self, key: &str) -> Result<String, WiringError> {
        self.need(key)?.text()
    }

    pub(super) fn number_or(&self, key: &str, default: u32) -> Result<u32, WiringError> {
        self.get(key).map_or(Ok(default), |place| place.number())
    }

    /// The logical id that `!Ref X`, `!GetAtt X.Arn` or their long forms point to.
    pub(super) fn points_to(&self) -> Option<&'a str> {
        let (function, argument) = intrinsic(self.value)?;
        match (function, argument) {
            ("Ref", Value::String(name)) => Some(name),
            ("GetAtt", Value::String(path)) => path.split('.').next(),
            ("GetAtt", Value::Sequence(parts)) => parts.first()?.as_str(),
            _ => None,
        }
    }

    pub(super) fn need_pointer(&self) -> Result<&'a str, WiringError> {
        self.points_to().ok_or_else(|| {
            self.problem(format!(
                "{} must point to a resource of this template with !GetAtt or !Ref",
                self.path
            ))
        })
    }

    pub(super) fn problem(&self, problem: impl Into<String>) -> WiringError {
        WiringError::Resource {
            resource: self.resource.to_owned(),
            problem: problem.into(),
        }
    }

    /// A reference to a parameter stands for the parameter's default.
    fn resolved(&self) -> &'a Value {
        let default = || {
            let Some(("Ref", Value::String(name))) = intrinsic(self.value) else {
                return None;
            };
            self.parameters?.get(name.as_str())?.get("Default")
        };
        default().unwrap_or(self.value)
    }

    fn child(&self, key: &str, value: &'a Value) -> Place<'a> {
        Place {
            path: self.join(key),
            value,
            ..self.clone()
        }
    }

    fn join(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }
}

/// The short form is a YAML tag (`!Ref X`), the long one a mapping (`Ref: X`, `Fn::GetAtt: […]`).
fn intrinsic(value: &Value) -> Option<(&str, &Value)> {
    match value {
        Value::Tagged(tagged) if tagged.tag == "Ref" => Some(("Ref", &tagged.value)),
        Value::Tagged(tagged) if tagged.tag == "GetAtt" => Some(("GetAtt", &tagged.value)),
        Value::Mapping(map) if map.len() == 1 => {
            let (key, argument) = map.iter().next()?;
            match key.as_str()? {
                "Ref" => Some(("Ref", argument)),
                "Fn::GetAtt" => Some(("GetAtt", argument)),
                _ => None,
            }
        }
        _ => None,
    }
}
