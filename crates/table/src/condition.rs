//! Conditions: what a write asks of the item that it finds.

use crate::item::{Item, Name, Value};

/// Judged on the stored item in the same moment in which the write takes place.
///
/// A comparison never holds for an attribute that is missing or of another kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// Nothing is stored under the key.
    New,
    /// Something is stored under the key.
    Exists,
    Has(Name),
    Lacks(Name),
    Equal(Name, Value),
    Below(Name, Value),
    AtMost(Name, Value),
    Above(Name, Value),
    /// The attribute has fewer elements (a set), or is shorter in bytes, than this.
    SmallerThan(Name, u64),
    /// The set has this element.
    Contains(Name, String),
    All(Vec<Self>),
    Any(Vec<Self>),
}

impl Condition {
    pub fn has(name: impl Into<Name>) -> Self {
        Self::Has(name.into())
    }

    pub fn lacks(name: impl Into<Name>) -> Self {
        Self::Lacks(name.into())
    }

    pub fn equal(name: impl Into<Name>, value: impl Into<Value>) -> Self {
        Self::Equal(name.into(), value.into())
    }

    pub fn below(name: impl Into<Name>, value: impl Into<Value>) -> Self {
        Self::Below(name.into(), value.into())
    }

    pub fn at_most(name: impl Into<Name>, value: impl Into<Value>) -> Self {
        Self::AtMost(name.into(), value.into())
    }

    pub fn above(name: impl Into<Name>, value: impl Into<Value>) -> Self {
        Self::Above(name.into(), value.into())
    }

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match self {
            Self::All(mut all) => {
                all.push(other);
                Self::All(all)
            }
            one => Self::All(vec![one, other]),
        }
    }

    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match self {
            Self::Any(mut any) => {
                any.push(other);
                Self::Any(any)
            }
            one => Self::Any(vec![one, other]),
        }
    }

    /// Whether the condition holds for what is stored; `None`: nothing is.
    pub fn holds(&self, stored: Option<&Item>) -> bool {
        let value = |name: &Name| stored.and_then(|item| item.get(name));
        match self {
            Self::New => stored.is_none(),
            Self::Exists => stored.is_some(),
            Self::Has(name) => value(name).is_some(),
            Self::Lacks(name) => value(name).is_none(),
            Self::Equal(name, wanted) => value(name) == Some(wanted),
            Self::Below(name, limit) => is_below(value(name), Some(limit)),
            Self::AtMost(name, limit) => is_at_most(value(name), limit),
            Self::Above(name, limit) => is_below(Some(limit), value(name)),
            Self::SmallerThan(name, limit) => {
                value(name).and_then(size).is_some_and(|size| size < *limit)
            }
            Self::Contains(name, element) => {
                matches!(value(name), Some(Value::Texts(set)) if set.contains(element))
            }
            Self::All(all) => all.iter().all(|condition| condition.holds(stored)),
            Self::Any(any) => any.iter().any(|condition| condition.holds(stored)),
        }
    }
}

fn is_below(one: Option<&Value>, other: Option<&Value>) -> bool {
    match (one, other) {
        (Some(Value::Text(one)), Some(Value::Text(other))) => one < other,
        (Some(Value::Number(one)), Some(Value::Number(other))) => one < other,
        (Some(Value::Bytes(one)), Some(Value::Bytes(other))) => one < other,
        _ => false,
    }
}

/// Sets have no order.
fn is_at_most(one: Option<&Value>, limit: &Value) -> bool {
    let is_set = matches!(limit, Value::Texts(_));
    !is_set && (one == Some(limit) || is_below(one, Some(limit)))
}

/// Numbers have no size.
fn size(value: &Value) -> Option<u64> {
    match value {
        Value::Text(text) => Some(text.len() as u64),
        Value::Bytes(bytes) => Some(bytes.len() as u64),
        Value::Texts(set) => Some(set.len() as u64),
        Value::Number(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_attribute_is_not_below_anything() {
        let item = Item::new().with("n", 3u64);
        assert!(Condition::below("n", 4u64).holds(Some(&item)));
        assert!(!Condition::below("m", 4u64).holds(Some(&item)));
        assert!(!Condition::below("n", 4u64).holds(None));
    }

    #[test]
    fn values_of_two_kinds_do_not_compare() {
        let item = Item::new().with("n", "3");
        for condition in [
            Condition::below("n", 4u64),
            Condition::above("n", 2u64),
            Condition::at_most("n", 3u64),
            Condition::equal("n", 3u64),
        ] {
            assert!(!condition.holds(Some(&item)), "{condition:?}");
        }
    }

    #[test]
    fn bytes_compare_from_the_left_and_a_prefix_is_smaller() {
        let item = Item::new().with("c", vec![1u8, 2]);
        assert!(Condition::below("c", vec![1u8, 2, 0]).holds(Some(&item)));
        assert!(Condition::below("c", vec![2u8]).holds(Some(&item)));
        assert!(!Condition::below("c", vec![1u8]).holds(Some(&item)));
    }
}
