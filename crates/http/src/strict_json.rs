//! Reads a request's JSON into its type, strictly: an object is an object and never a
//! list of its fields' values in order, which derived types take as well. Errors name
//! the place in the document and speak of JSON, not of Rust.

mod mistake;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, EnumAccess, Expected, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use serde_json::Value;

use self::mistake::{Mistake, step};

/// Reads `T` from a document, or says where and why it cannot.
pub(crate) fn read<'de, T: Deserialize<'de>>(document: &'de Value) -> Result<T, Mistake> {
    T::deserialize(Strict(document))
}

fn unexpected(value: &Value) -> Unexpected<'_> {
    match value {
        Value::Null => Unexpected::Unit,
        Value::Bool(value) => Unexpected::Bool(*value),
        Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(value), _, _) => Unexpected::Unsigned(value),
            (_, Some(value), _) => Unexpected::Signed(value),
            (_, _, value) => Unexpected::Float(value.unwrap_or(f64::NAN)),
        },
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    }
}

struct Strict<'de>(&'de Value);

impl<'de> Strict<'de> {
    fn wrong<T>(&self, expected: &dyn Expected) -> Result<T, Mistake> {
        Err(de::Error::invalid_type(unexpected(self.0), expected))
    }

    fn object<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.0 {
            Value::Object(map) => visitor.visit_map(Fields {
                rest: map.iter(),
                value: None,
            }),
            _ => self.wrong(&visitor),
        }
    }

    fn array<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.0 {
            Value::Array(items) => visitor.visit_seq(Items {
                rest: items.iter(),
                index: 0,
            }),
            _ => self.wrong(&visitor),
        }
    }
}

impl<'de> Deserializer<'de> for Strict<'de> {
    type Error = Mistake;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(value), _, _) => visitor.visit_u64(value),
                (_, Some(value), _) => visitor.visit_i64(value),
                (_, _, Some(value)) => visitor.visit_f64(value),
                _ => self.wrong(&visitor),
            },
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(_) => self.array(visitor),
            Value::Object(_) => self.object(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        self.object(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        self.object(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        match self.0 {
            Value::String(name) => visitor.visit_enum(Choice {
                name,
                content: None,
            }),
            Value::Object(map) if map.len() == 1 => match map.iter().next() {
                Some((name, content)) => visitor.visit_enum(Choice {
                    name,
                    content: Some(content),
                }),
                None => self.wrong(&visitor),
            },
            _ => self.wrong(&visitor),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes
        byte_buf unit unit_struct seq tuple tuple_struct identifier ignored_any
    }
}

struct Fields<'de> {
    rest: serde_json::map::Iter<'de>,
    value: Option<(&'de str, &'de Value)>,
}

impl<'de> MapAccess<'de> for Fields<'de> {
    type Error = Mistake;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Mistake> {
        let Some((name, value)) = self.rest.next() else {
            return Ok(None);
        };
        self.value = Some((name, value));
        let key = de::value::BorrowedStrDeserializer::<Mistake>::new(name);
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Mistake> {
        let Some((name, value)) = self.value.take() else {
            return Err(Mistake::new("is not a list of fields".to_owned()));
        };
        seed.deserialize(Strict(value))
            .map_err(|mistake| mistake.within(step(name)))
    }
}

struct Items<'de> {
    rest: std::slice::Iter<'de, Value>,
    index: usize,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Mistake;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Mistake> {
        let Some(value) = self.rest.next() else {
            return Ok(None);
        };
        let index = self.index;
        self.index += 1;
        seed.deserialize(Strict(value))
            .map(Some)
            .map_err(|mistake| mistake.within(index.to_string()))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

struct Choice<'de> {
    name: &'de str,
    content: Option<&'de Value>,
}

impl<'de> EnumAccess<'de> for Choice<'de> {
    type Error = Mistake;
    type Variant = Content<'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Content<'de>), Mistake> {
        let name = StrDeserializer::<Mistake>::new(self.name);
        Ok((
            seed.deserialize(name)?,
            Content {
                name: self.name,
                value: self.content,
            },
        ))
    }
}

struct Content<'de> {
    name: &'de str,
    value: Option<&'de Value>,
}

impl<'de> Content<'de> {
    fn read<T>(self, read: impl FnOnce(Strict<'de>) -> Result<T, Mistake>) -> Result<T, Mistake> {
        let Some(value) = self.value else {
            return Err(Mistake::new(format!(
                "must be an object with the field `{}`",
                step(self.name)
            )));
        };
        read(Strict(value)).map_err(|mistake| mistake.within(step(self.name)))
    }
}

impl<'de> VariantAccess<'de> for Content<'de> {
    type Error = Mistake;

    fn unit_variant(self) -> Result<(), Mistake> {
        match self.value {
            None => Ok(()),
            Some(_) => Err(Mistake::new(format!(
                "must be the text {:?} alone",
                self.name
            ))),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Mistake> {
        self.read(|strict| seed.deserialize(strict))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Mistake> {
        self.read(|strict| strict.array(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        self.read(|strict| strict.object(visitor))
    }
}
