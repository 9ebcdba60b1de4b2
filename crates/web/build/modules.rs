//! Which modules a page loads: those that its entry imports, and what they import.

use std::collections::{BTreeMap, BTreeSet};

use crate::Files;

/// Every module, by its path.
pub struct Modules(BTreeMap<String, String>);

#[derive(Default)]
pub struct Reached {
    /// The entry and what it imports statically, in the order of discovery.
    pub at_once: Vec<String>,
    /// The texts of these, and of their parts that are loaded later. Modules at the top of
    /// `web/` that are loaded later bring their own words.
    pub texts: Vec<String>,
}

impl Modules {
    pub fn read(files: &Files) -> Self {
        let scripts = files.iter().filter(|(path, _)| path.ends_with(".js"));
        Self(
            scripts
                .map(|(path, content)| (path.clone(), String::from_utf8_lossy(content).into()))
                .collect(),
        )
    }

    /// The modules at the top of `web/`.
    pub fn entries(&self) -> Vec<String> {
        let at_top = self.0.keys().filter(|path| !path.contains('/'));
        at_top.cloned().collect()
    }

    pub fn reached(&self, entry: &str) -> Reached {
        let mut at_once = vec![entry.to_owned()];
        let mut next = 0;
        while next < at_once.len() {
            self.add(&mut at_once, next, imported);
            next += 1;
        }
        let mut all = at_once.clone();
        next = 0;
        while next < all.len() {
            self.add(&mut all, next, imported);
            self.add(&mut all, next, loaded_later);
            next += 1;
        }
        let texts: Vec<String> = all.iter().map(|path| self.0[path].clone()).collect();
        Reached { at_once, texts }
    }

    /// Every module that a page loads in any of its states, but for those that are `left_out`;
    /// and the modules whose words are learned on the way.
    pub fn ever(&self, entry: &str, left_out: &[&str]) -> (Vec<String>, Vec<String>) {
        let mut all = vec![entry.to_owned()];
        let mut next = 0;
        while next < all.len() {
            self.add(&mut all, next, imported);
            self.add(&mut all, next, |text| relative(text, LATER));
            all.retain(|path| !left_out.contains(&path.as_str()));
            next += 1;
        }
        // A module at the top of `web/` that is loaded later brings its words.
        let later = all.iter().flat_map(|from| {
            relative(&self.0[from], LATER)
                .into_iter()
                .map(|name| resolved(from, name))
        });
        let mut learned: Vec<String> = later
            .filter(|path| !path.contains('/') && all.contains(path))
            .collect();
        learned.push(entry.to_owned());
        learned.sort();
        learned.dedup();
        (all, learned)
    }

    fn add(&self, paths: &mut Vec<String>, of: usize, named: fn(&str) -> Vec<&str>) {
        let from = paths[of].clone();
        let mut known: BTreeSet<String> = paths.iter().cloned().collect();
        for name in named(&self.0[&from]) {
            let path = resolved(&from, name);
            assert!(
                self.0.contains_key(&path),
                "web/{from} imports {name}, and there is no web/{path}"
            );
            if known.insert(path.clone()) {
                paths.push(path);
            }
        }
    }
}

/// Before the path of a module or a worker that is loaded while the page runs.
const LATER: &[&str] = &["import(", "new URL("];

/// What a module imports before it runs.
fn imported(text: &str) -> Vec<&str> {
    relative(text, &["from", "import"])
}

/// What it may load while it runs, as a module or as a worker.
fn loaded_later(text: &str) -> Vec<&str> {
    let mut found = relative(text, LATER);
    found.retain(|path| path.matches('/').count() > 1 && !path.starts_with("../"));
    found
}

/// The relative paths that are quoted right after one of these.
fn relative<'a>(text: &'a str, before: &[&str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    for before in before {
        for rest in text.split(before).skip(1).map(str::trim_start) {
            let quote = rest.chars().next().filter(|quote| "'\"`".contains(*quote));
            let Some(quote) = quote else { continue };
            let path = rest[1..].split(quote).next().unwrap_or("");
            let is_module = path.starts_with("./") || path.starts_with("../");
            if is_module && path.ends_with(".js") {
                found.push(path);
            }
        }
    }
    found
}

/// The path that a module means by a relative one.
pub fn resolved(from: &str, name: &str) -> String {
    let mut folders: Vec<&str> = from.split('/').collect();
    folders.pop();
    for part in name.split('/') {
        match part {
            "." => {}
            ".." => {
                folders.pop();
            }
            part => folders.push(part),
        }
    }
    folders.join("/")
}
