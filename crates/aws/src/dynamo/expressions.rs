//! Conditions and updates as the expressions of DynamoDB. No other place makes any.
//!
//! Names and values are written as placeholders (`#n0`, `:v0`): no name can be a reserved word,
//! and a value that occurs several times, such as the cell of a claim, is sent once. Two rules
//! of DynamoDB shape the code: it refuses a placeholder that no expression uses, and a pair of
//! parentheses directly around another.

use std::collections::HashMap;

use onsale_table::{Action, Condition, Name, Update, Value};

use super::values::{Attributes, attribute, is_stored};

/// Holds when nothing is stored under the key.
pub(super) const IS_NEW: &str = "attribute_not_exists(pk)";
/// Holds when something is stored under the key.
const EXISTS: &str = "attribute_exists(pk)";
/// Holds for no item and for no missing item. DynamoDB has no literal for this.
const NEVER: &str = "attribute_exists(pk) AND attribute_not_exists(pk)";

/// The expressions of one write, and what their placeholders stand for. What is empty is `None`,
/// as DynamoDB wants it.
#[derive(Debug, Default)]
pub(super) struct Expressions {
    pub update: Option<String>,
    pub condition: Option<String>,
    pub names: Option<HashMap<String, String>>,
    pub values: Option<Attributes>,
}

impl Expressions {
    pub(super) fn of_update(update: &Update) -> Self {
        let mut placeholders = Placeholders::default();
        let text = update_text(&update.actions, &mut placeholders);
        let condition = condition_text(update.condition.as_ref(), &mut placeholders);
        placeholders.complete(text, condition)
    }

    pub(super) fn of_condition(condition: Option<&Condition>) -> Self {
        let mut placeholders = Placeholders::default();
        let condition = condition_text(condition, &mut placeholders);
        placeholders.complete(None, condition)
    }
}

/// The distinct names and values of the expressions of one request.
#[derive(Debug, Default)]
struct Placeholders {
    names: Vec<Name>,
    values: Vec<Value>,
}

impl Placeholders {
    fn name(&mut self, name: &Name) -> String {
        format!("#n{}", place(&mut self.names, name))
    }

    fn value(&mut self, value: &Value) -> String {
        format!(":v{}", place(&mut self.values, value))
    }

    fn complete(self, update: Option<String>, condition: Option<String>) -> Expressions {
        let names = self.names.into_iter().enumerate();
        let names: HashMap<_, _> = names
            .map(|(i, name)| (format!("#n{i}"), name.into_owned()))
            .collect();
        let values = self.values.into_iter().enumerate();
        let values: Attributes = values
            .map(|(i, value)| (format!(":v{i}"), attribute(value)))
            .collect();
        Expressions {
            update,
            condition,
            names: (!names.is_empty()).then_some(names),
            values: (!values.is_empty()).then_some(values),
        }
    }
}

/// The place of the entry in the list, to which it is added if it is not there.
fn place<T: Clone + PartialEq>(known: &mut Vec<T>, entry: &T) -> usize {
    match known.iter().position(|other| other == entry) {
        Some(place) => place,
        None => {
            known.push(entry.clone());
            known.len() - 1
        }
    }
}

/// `None`: there is nothing to do.
fn update_text(actions: &[(Name, Action)], placeholders: &mut Placeholders) -> Option<String> {
    let (mut set, mut remove, mut add) = (Vec::new(), Vec::new(), Vec::new());
    for (name, action) in actions {
        match action {
            // An empty set is not stored: the attribute is gone, stays as it is, or gets nothing.
            Action::Set(value) if !is_stored(value) => remove.push(placeholders.name(name)),
            Action::SetIfMissing(value) if !is_stored(value) => {}
            Action::Insert(elements) if elements.is_empty() => {}
            Action::Set(value) => {
                let (name, value) = (placeholders.name(name), placeholders.value(value));
                set.push(format!("{name} = {value}"));
            }
            Action::SetIfMissing(value) => {
                let (name, value) = (placeholders.name(name), placeholders.value(value));
                set.push(format!("{name} = if_not_exists({name}, {value})"));
            }
            Action::Add(change) => add.push(addition(name, &Value::from(*change), placeholders)),
            Action::Insert(elements) => {
                add.push(addition(
                    name,
                    &Value::Texts(elements.clone()),
                    placeholders,
                ));
            }
            Action::Remove => remove.push(placeholders.name(name)),
        }
    }
    let clauses = [("SET", set), ("REMOVE", remove), ("ADD", add)];
    let clauses: Vec<String> = clauses
        .iter()
        .filter(|(_, parts)| !parts.is_empty())
        .map(|(clause, parts)| format!("{clause} {}", parts.join(", ")))
        .collect();
    (!clauses.is_empty()).then(|| clauses.join(" "))
}

fn addition(name: &Name, value: &Value, placeholders: &mut Placeholders) -> String {
    let name = placeholders.name(name);
    format!("{name} {}", placeholders.value(value))
}

/// `None`: the condition always holds.
fn condition_text(
    condition: Option<&Condition>,
    placeholders: &mut Placeholders,
) -> Option<String> {
    let condition = condition.filter(|condition| !always_holds(condition))?;
    Some(placeholders.condition(condition, false))
}

/// Whether the condition holds whatever is stored. DynamoDB has no literal for this, so such
/// conditions are left out before anything of them is written.
fn always_holds(condition: &Condition) -> bool {
    match condition {
        Condition::All(all) => all.iter().all(always_holds),
        Condition::Any(any) => any.iter().any(always_holds),
        _ => false,
    }
}

impl Placeholders {
    /// A condition that does not always hold. `inner`: it stands beside others.
    fn condition(&mut self, condition: &Condition, inner: bool) -> String {
        match condition {
            Condition::New => IS_NEW.to_owned(),
            Condition::Exists => EXISTS.to_owned(),
            Condition::Has(name) => format!("attribute_exists({})", self.name(name)),
            Condition::Lacks(name) => format!("attribute_not_exists({})", self.name(name)),
            // No stored set is empty, and DynamoDB takes no empty set to compare with.
            Condition::Equal(_, value) if !is_stored(value) => enclosed(NEVER.to_owned(), inner),
            Condition::Equal(name, value) => self.comparison(name, "=", value),
            Condition::Below(name, value) => self.comparison(name, "<", value),
            Condition::AtMost(name, value) => self.comparison(name, "<=", value),
            Condition::Above(name, value) => self.comparison(name, ">", value),
            Condition::SmallerThan(name, limit) => {
                let (name, limit) = (self.name(name), self.value(&Value::from(*limit)));
                format!("size({name}) < {limit}")
            }
            // For a text DynamoDB looks for a part of it. The engines in one process never find
            // an element in a text, so a caller asks this of sets only.
            Condition::Contains(name, element) => {
                let (name, element) = (self.name(name), self.value(&Value::from(&**element)));
                format!("contains({name}, {element})")
            }
            Condition::All(all) => self.joined(all, " AND ", inner),
            Condition::Any(any) => self.joined(any, " OR ", inner),
        }
    }

    fn comparison(&mut self, name: &Name, operator: &str, value: &Value) -> String {
        let (name, value) = (self.name(name), self.value(value));
        format!("{name} {operator} {value}")
    }

    /// Parts of an `All` that always hold are left out. An `Any` that comes here has none of
    /// them; one without parts never holds.
    fn joined(&mut self, parts: &[Condition], operator: &str, inner: bool) -> String {
        let parts: Vec<_> = parts.iter().filter(|part| !always_holds(part)).collect();
        match parts.as_slice() {
            [] => enclosed(NEVER.to_owned(), inner),
            [one] => self.condition(one, inner),
            several => {
                let texts: Vec<_> = several.iter().map(|p| self.condition(p, true)).collect();
                enclosed(texts.join(operator), inner)
            }
        }
    }
}

fn enclosed(text: String, inner: bool) -> String {
    if inner { format!("({text})") } else { text }
}

#[cfg(test)]
#[path = "expressions_tests.rs"]
mod tests;
