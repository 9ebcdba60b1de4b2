//! The generator of operations.

use std::collections::BTreeSet;

use super::{List, Operation, SCHEMA};
use crate::condition::Condition;
use crate::faults::splitmix64;
use crate::item::{Item, Key, Name, Value};
use crate::table::{Cursor, Index, Reads};
use crate::update::{Action, Update};
use crate::write::Write;

const PARTITIONS: [&str; 3] = ["A#1", "A#2", "B"];
/// Among them neighbours that only a whole comparison of bytes tells apart.
const SORT_KEYS: [&str; 4] = ["a", "a\0", "b", "é"];
const INDEX_PARTITIONS: [&str; 2] = ["G#1", "G#2"];
/// Few, so that several items are at one place.
const PLACES: [&str; 3] = ["p", "p\0", "q"];

/// Attributes that are usually a number, a text, bytes and a set.
const NUMBER: &str = "n";
const TEXT: &str = "t";
const BYTES: &str = "b";
const SET: &str = "s";
const PLAIN: [&str; 4] = [NUMBER, TEXT, BYTES, SET];

const NUMBERS: [i128; 8] = [
    0,
    1,
    2,
    -1,
    100,
    i64::MAX as i128,
    i64::MIN as i128,
    u64::MAX as i128,
];
/// UTF-8 and UTF-16 order the last two differently.
const TEXTS: [&str; 6] = ["", "x", "xy", "é", "\u{ffff}", "\u{1d11e}"];
const BYTE_STRINGS: [&[u8]; 5] = [&[], &[0], &[0, 0], &[1], &[0xff, 0]];
const ELEMENTS: [&str; 3] = ["one", "two", "three"];

/// An endless list of operations, the same for the same seed.
#[derive(Debug, Clone)]
pub struct Script {
    state: u64,
}

impl Iterator for Script {
    type Item = Operation;

    fn next(&mut self) -> Option<Operation> {
        Some(self.operation())
    }
}

impl Script {
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn below(&mut self, limit: usize) -> usize {
        (splitmix64(&mut self.state) % limit as u64) as usize
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn operation(&mut self) -> Operation {
        match self.below(32) {
            0..3 => Operation::Get(self.key(), self.reads()),
            3..5 => self.get_many(),
            5..8 => Operation::PutNew(self.key(), self.item()),
            8..14 => Operation::Update(self.key(), self.update()),
            14..17 => Operation::UpdateReturning(self.key(), self.update()),
            17..19 => Operation::Delete(self.key()),
            19..23 => Operation::Transact(self.parts()),
            23..25 => {
                let many = self.below(5);
                Operation::InOrder((0..many).map(|_| self.write()).collect())
            }
            25..28 => Operation::Page(self.list()),
            28..31 => {
                let between = self.one_in(2).then(|| self.write());
                Operation::Walk(self.list(), between)
            }
            _ => Operation::Scan(self.below(20)),
        }
    }

    fn key(&mut self) -> Key {
        Key::new(self.pick(&PARTITIONS), self.pick(&SORT_KEYS))
    }

    fn reads(&mut self) -> Reads {
        self.pick(&[Reads::Consistent, Reads::Eventual])
    }

    fn get_many(&mut self) -> Operation {
        let mut keys: Vec<Key> = (0..self.below(8)).map(|_| self.key()).collect();
        if !self.one_in(10) {
            keys.sort();
            keys.dedup();
        }
        Operation::GetMany(keys, self.reads())
    }

    fn index(&mut self) -> Index {
        self.pick(SCHEMA.indexes)
    }

    /// Usually of the kind that others expect under this name.
    fn value(&mut self, name: &str) -> Value {
        let kind = if self.one_in(10) {
            self.pick(&PLAIN)
        } else {
            name
        };
        match kind {
            NUMBER => Value::Number(self.pick(&NUMBERS)),
            BYTES => Value::Bytes(self.pick(&BYTE_STRINGS).to_vec()),
            SET => Value::Texts(self.elements()),
            _ => Value::from(self.pick(&TEXTS)),
        }
    }

    /// A value that is below or above others: DynamoDB takes no set there.
    fn ordered(&mut self, name: &str) -> Value {
        match self.value(name) {
            Value::Texts(_) => Value::from(self.pick(&TEXTS)),
            value => value,
        }
    }

    /// At least one: DynamoDB takes no empty set as an operand.
    fn elements(&mut self) -> BTreeSet<String> {
        let many = 1 + self.below(3);
        (0..many).map(|_| self.pick(&ELEMENTS).to_owned()).collect()
    }

    fn item(&mut self) -> Item {
        let mut item = Item::new();
        for name in PLAIN {
            if self.one_in(2) {
                let value = self.value(name);
                item.set(name, value);
            }
        }
        if self.one_in(20) {
            item.set(SET, Value::Texts(BTreeSet::new()));
        }
        for index in SCHEMA.indexes {
            if !self.one_in(4) {
                item.set(index.pk, self.pick(&INDEX_PARTITIONS));
            }
            if !self.one_in(4) {
                item.set(index.sk, self.pick(&PLACES));
            }
        }
        item
    }

    fn update(&mut self) -> Update {
        let mut update = Update::always();
        if !self.one_in(3) {
            update.condition = Some(self.condition(2));
        }
        for name in PLAIN {
            if self.one_in(3) {
                update.actions.push((name.into(), self.action(name)));
            }
        }
        for index in SCHEMA.indexes {
            if self.one_in(3) {
                let partition = self.pick(&INDEX_PARTITIONS);
                update.actions.push(self.moved(index.pk, partition));
            }
            if self.one_in(3) {
                let place = self.pick(&PLACES);
                update.actions.push(self.moved(index.sk, place));
            }
        }
        // Engines may find these mistakes before or after they judge a condition.
        if update.condition.is_none() && self.one_in(12) {
            let mistake = self.mistake();
            update.actions.push(mistake);
        }
        update
    }

    fn action(&mut self, name: &str) -> Action {
        match self.below(6) {
            0 | 1 => Action::Set(self.value(name)),
            2 => Action::SetIfMissing(self.value(name)),
            3 => Action::Remove,
            _ if name == SET || self.one_in(10) => Action::Insert(self.elements()),
            _ if name == NUMBER || self.one_in(10) => Action::Add(self.pick(&[1, -1, 0, 250])),
            _ => Action::Set(self.value(name)),
        }
    }

    /// An item enters, leaves, or changes its place in an index.
    fn moved(&mut self, name: &'static str, to: &str) -> (Name, Action) {
        let action = match self.below(4) {
            0 => Action::Remove,
            1 => Action::SetIfMissing(to.into()),
            _ => Action::Set(to.into()),
        };
        (name.into(), action)
    }

    /// An action that may name an attribute twice, or that no index takes.
    fn mistake(&mut self) -> (Name, Action) {
        let index = self.index();
        let name = self.pick(&[NUMBER, TEXT, index.pk, index.sk]);
        let value = self.pick(&["", "x"]);
        let action = match self.below(4) {
            0 => Action::Add(1),
            1 => Action::Set(Value::Number(7)),
            _ => Action::Set(value.into()),
        };
        (name.into(), action)
    }

    fn condition(&mut self, depth: usize) -> Condition {
        let name = self.pick(&PLAIN);
        let attribute = Name::from(name);
        match self.below(if depth > 0 { 14 } else { 10 }) {
            0 => Condition::New,
            1 => Condition::Exists,
            2 => Condition::Has(attribute),
            3 => Condition::Lacks(attribute),
            4 => Condition::Equal(attribute, self.value(name)),
            5 => Condition::Below(attribute, self.ordered(name)),
            6 => Condition::AtMost(attribute, self.ordered(name)),
            7 => Condition::Above(attribute, self.ordered(name)),
            // Limits for which it does not matter whether letters or bytes are counted.
            8 => Condition::SmallerThan(attribute, self.pick(&[0, 1, 5])),
            9 => Condition::Contains(SET.into(), self.pick(&ELEMENTS).to_owned()),
            10 | 11 => Condition::All(self.conditions(depth)),
            _ => Condition::Any(self.conditions(depth)),
        }
    }

    fn conditions(&mut self, depth: usize) -> Vec<Condition> {
        let many = 1 + self.below(3);
        (0..many).map(|_| self.condition(depth - 1)).collect()
    }

    fn write(&mut self) -> Write {
        let key = self.key();
        self.write_to(key)
    }

    fn write_to(&mut self, key: Key) -> Write {
        match self.below(8) {
            0 | 1 => Write::PutNew(key, self.item()),
            2 => Write::Delete(key, None),
            3 => Write::Delete(key, Some(self.condition(1))),
            _ => Write::Update(key, self.update()),
        }
    }

    /// Parts of a transaction, seldom two on one key.
    fn parts(&mut self) -> Vec<Write> {
        let many = 1 + self.below(5);
        let mut keys: Vec<Key> = (0..many).map(|_| self.key()).collect();
        if !self.one_in(20) {
            keys.sort();
            keys.dedup();
        }
        keys.into_iter().map(|key| self.write_to(key)).collect()
    }

    fn list(&mut self) -> List {
        let index = self.one_in(2).then(|| self.index());
        let (partition, places): (_, &[&str]) = match index {
            Some(_) => (self.pick(&INDEX_PARTITIONS), &PLACES),
            None => (self.pick(&PARTITIONS), &SORT_KEYS),
        };
        let place = self.pick(places);
        let key = match index {
            Some(_) => self.key(),
            None => Key::new(partition, place),
        };
        // Every cursor that a page can end with, whether or not its item is still there.
        let after = self.one_in(2).then(|| Cursor {
            place: place.to_owned(),
            key: (!self.one_in(3)).then_some(key),
        });
        List {
            index,
            partition: partition.to_owned(),
            after,
            descending: self.one_in(2),
            limit: self.below(6),
            reads: self.reads(),
        }
    }
}
