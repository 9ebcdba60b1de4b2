//! Updates: what becomes of the attributes of one item.

use std::collections::BTreeSet;

use crate::condition::Condition;
use crate::item::{Item, Name, Value};

/// What becomes of one attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    Set(Value),
    /// Sets it unless the item has it.
    SetIfMissing(Value),
    /// Adds to a number; a missing one counts as zero.
    Add(i64),
    /// Adds elements to a set; a missing set counts as empty.
    Insert(BTreeSet<String>),
    Remove,
}

/// A change of one item, which is created where there is none. Each attribute is named at most
/// once: DynamoDB refuses an update that names one twice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Update {
    pub actions: Vec<(Name, Action)>,
    /// Without one the update always takes place.
    pub condition: Option<Condition>,
}

impl Update {
    /// An update that takes place only if the condition holds.
    pub fn when(condition: Condition) -> Self {
        Self {
            actions: Vec::new(),
            condition: Some(condition),
        }
    }

    /// An update that always takes place.
    pub fn always() -> Self {
        Self::default()
    }

    fn then(mut self, name: impl Into<Name>, action: Action) -> Self {
        self.actions.push((name.into(), action));
        self
    }

    #[must_use]
    pub fn set(self, name: impl Into<Name>, value: impl Into<Value>) -> Self {
        self.then(name, Action::Set(value.into()))
    }

    #[must_use]
    pub fn set_if_missing(self, name: impl Into<Name>, value: impl Into<Value>) -> Self {
        self.then(name, Action::SetIfMissing(value.into()))
    }

    #[must_use]
    pub fn add(self, name: impl Into<Name>, change: i64) -> Self {
        self.then(name, Action::Add(change))
    }

    #[must_use]
    pub fn insert(self, name: impl Into<Name>, element: impl Into<String>) -> Self {
        self.then(name, Action::Insert(BTreeSet::from([element.into()])))
    }

    #[must_use]
    pub fn remove(self, name: impl Into<Name>) -> Self {
        self.then(name, Action::Remove)
    }

    /// The item that the update makes of what is stored. An error says which attribute is of a
    /// kind that its action cannot change.
    pub fn apply(&self, stored: Option<&Item>) -> Result<Item, String> {
        let mut item = stored.cloned().unwrap_or_default();
        for (name, action) in &self.actions {
            let found = item.get(name);
            let value = match action {
                Action::Set(value) => Some(value.clone()),
                Action::SetIfMissing(value) => Some(found.unwrap_or(value).clone()),
                Action::Add(change) => match found {
                    None => Some(Value::from(*change)),
                    Some(Value::Number(n)) => Some(Value::Number(n + i128::from(*change))),
                    Some(_) => return Err(format!("{name} is no number")),
                },
                Action::Insert(elements) => match found {
                    None => Some(Value::Texts(elements.clone())),
                    Some(Value::Texts(set)) => {
                        Some(Value::Texts(set.union(elements).cloned().collect()))
                    }
                    Some(_) => return Err(format!("{name} is no set")),
                },
                Action::Remove => None,
            };
            match value {
                Some(value) => item.set(name.clone(), value),
                None => {
                    item.remove(name);
                }
            }
        }
        Ok(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_creates_what_is_not_there() {
        let update = Update::always()
            .set("a", "x")
            .add("n", 2)
            .insert("s", "one");
        let item = update.apply(None).unwrap();
        assert_eq!(item.text("a"), Some("x"));
        assert_eq!(item.number("n"), Some(2));
        assert_eq!(item.texts("s"), Some(&BTreeSet::from(["one".to_owned()])));
    }

    #[test]
    fn what_is_set_if_missing_stays_as_it_was() {
        let stored = Item::new().with("a", 1u64).with("gone", "x");
        let update = Update::always().set_if_missing("a", 2u64).remove("gone");
        let item = update.apply(Some(&stored)).unwrap();
        assert_eq!(item, Item::new().with("a", 1u64));
    }

    #[test]
    fn only_numbers_can_be_added_to() {
        let stored = Item::new().with("n", "three");
        assert!(Update::always().add("n", 1).apply(Some(&stored)).is_err());
    }
}
