//! The storage of one object, as the objects know storage.

use futures_util::future::try_join_all;
use worker::js_sys::{Array, Object, Promise, Reflect, Uint8Array};
use worker::wasm_bindgen::JsValue;
use worker::wasm_bindgen_futures::JsFuture;
use worker::{ListOptions, State};

use crate::host::{Storage, Told, Trouble};

/// As many values as are read at once, so that they need not fit into memory twice.
const PAGE: usize = 1_000;
/// The runtime takes no more values in one call.
const MAX_VALUES: usize = 128;

#[derive(Debug)]
pub struct ObjectStorage(worker::Storage);

impl ObjectStorage {
    pub fn new(state: &State) -> Self {
        Self(state.storage())
    }

    fn write(&self, changes: &[(String, Option<Vec<u8>>)]) -> Result<Vec<Promise>, JsValue> {
        let raw = self.0.as_raw();
        let mut writes = Vec::new();
        for some in changes.chunks(MAX_VALUES) {
            let values = Object::new();
            let mut removed = Vec::new();
            for (name, value) in some {
                match value {
                    Some(bytes) => {
                        let bytes = Uint8Array::from(bytes.as_slice());
                        Reflect::set(&values, &name.as_str().into(), &bytes)?;
                    }
                    None => removed.push(JsValue::from(name.as_str())),
                }
            }
            if removed.len() < some.len() {
                writes.push(raw.put_multiple(values.into())?);
            }
            if !removed.is_empty() {
                writes.push(raw.delete_multiple(removed)?);
            }
        }
        Ok(writes)
    }
}

impl Storage for ObjectStorage {
    async fn load(&self) -> Told<Vec<(String, Vec<u8>)>> {
        let mut loaded: Vec<(String, Vec<u8>)> = Vec::new();
        loop {
            // The least name after the last one.
            let start = loaded.last().map(|(name, _)| format!("{name}\0"));
            let options = ListOptions::new().limit(PAGE);
            let options = match &start {
                Some(start) => options.start(start),
                None => options,
            };
            let page = self.0.list_with_options(options).await;
            let page = page.map_err(Trouble::new)?;
            for entry in page.entries().into_iter().flatten() {
                let entry = Array::from(&entry);
                let name = entry.get(0).as_string();
                let name = name.ok_or_else(|| Trouble::new("a stored name is no text"))?;
                loaded.push((name, Uint8Array::new(&entry.get(1)).to_vec()));
            }
            if (page.size() as usize) < PAGE {
                return Ok(loaded);
            }
        }
    }

    /// Writes that are begun without waiting in between happen together or not at all;
    /// and the runtime lets nothing leave the object, no answer and no call, before they
    /// are on disk. Should that fail, it starts the object anew.
    async fn store(&self, changes: Vec<(String, Option<Vec<u8>>)>) -> Told<()> {
        let trouble = |error: JsValue| Trouble(format!("nothing was stored: {error:?}"));
        let writes = self.write(&changes).map_err(trouble)?;
        let writes = writes.into_iter().map(JsFuture::from);
        try_join_all(writes).await.map_err(trouble)?;
        Ok(())
    }

    async fn clear(&self) -> Told<()> {
        self.0.delete_all().await.map_err(Trouble::new)
    }
}
