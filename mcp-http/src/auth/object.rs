//! JSON objects in which no name comes twice: two readers of a token must not see two values.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;

/// An object without repeated names.
#[derive(Debug)]
pub(super) struct UniqueObject(pub(super) BTreeMap<String, Value>);

impl UniqueObject {
    /// Reads the whole of `bytes`; nothing may follow the object.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }
}

impl<'de> Deserialize<'de> for UniqueObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Names;
        impl<'de> Visitor<'de> for Names {
            type Value = UniqueObject;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<UniqueObject, A::Error> {
                let mut object = BTreeMap::new();
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    if object.insert(name, value).is_some() {
                        return Err(A::Error::custom("a name comes twice"));
                    }
                }
                Ok(UniqueObject(object))
            }
        }
        deserializer.deserialize_map(Names)
    }
}
