//! Joins the modules of a page's own folder into its entry. Many small files compress badly and
//! are many requests; in the sources each has its subject.
//!
//! It knows the forms that the formatter writes: `import { a, b } from './c.js';` and `export`
//! before a declaration. What is loaded later stays a file, and may import nothing that was
//! joined: the build fails where it does.

use std::collections::{BTreeMap, BTreeSet};

use crate::Files;
use crate::modules::resolved;

struct Merge<'a> {
    files: &'a Files,
    copied: &'a [&'a str],
    folder: String,
    seen: BTreeSet<String>,
    /// The names that are imported from elsewhere, by module.
    imports: BTreeMap<String, BTreeSet<String>>,
    /// Other names of what is copied, as `alias=name`.
    aliases: BTreeSet<String>,
    joined: String,
}

/// Replaces the entry of a page by one file with everything that it imports from its folder, and
/// with copies of modules that other pages have too. `source` reads a module as it stands in
/// `web/`.
pub fn merge(files: &mut Files, page: &str, copied: &[&str], source: impl Fn(&str) -> String) {
    let entry = format!("{page}.js");
    if !files.contains_key(&entry) {
        return;
    }
    let mut merge = Merge {
        files,
        copied,
        folder: format!("{page}/"),
        seen: BTreeSet::new(),
        imports: BTreeMap::new(),
        aliases: BTreeSet::new(),
        joined: String::new(),
    };
    merge.add(&entry);
    refuse_twins(&merge.seen, source);
    let imports = merge.imports.iter().map(|(path, names)| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        format!("import {{{}}} from './{path}';\n", names.join(","))
    });
    let aliases = merge.aliases.iter().map(|it| format!("const {it};\n"));
    let mut text = imports.chain(aliases).collect::<String>() + &merge.joined;
    for path in copied {
        drop_unused(&mut text, &String::from_utf8_lossy(&files[*path]));
    }
    let seen = merge.seen;
    files.retain(|path, _| !seen.contains(path) || copied.contains(&path.as_str()));
    files.insert(entry, text.into_bytes());
}

impl Merge<'_> {
    /// Adds a module after those that it imports.
    fn add(&mut self, path: &str) {
        if !self.seen.insert(path.to_owned()) {
            return;
        }
        let text = String::from_utf8_lossy(&self.files[path]).into_owned();
        let mut own = String::new();
        let mut rest = text.as_str();
        while let Some(after) = rest.strip_prefix("import {") {
            let (names, after) = after.split_once("} from '").expect("named imports");
            let (from, after) = after.split_once("';\n").expect("a quoted module");
            self.import(&resolved(path, from), names, path);
            rest = after;
        }
        for line in rest.lines() {
            assert!(
                !line.starts_with("import {"),
                "web/{path}: imports stand at the top"
            );
            own += line.strip_prefix("export ").unwrap_or(line);
            own.push('\n');
        }
        self.joined += &own;
    }

    fn import(&mut self, from: &str, names: &str, path: &str) {
        let names = names
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty());
        if from.starts_with(&self.folder) {
            assert!(
                names.clone().all(|name| !name.contains(" as ")),
                "web/{path} renames what it imports from {from}, which becomes one file with it"
            );
            self.add(from);
        } else if self.copied.contains(&from) {
            let renamed = names.filter_map(|name| name.split_once(" as "));
            self.aliases
                .extend(renamed.map(|(name, alias)| format!("{alias} = {name}")));
            self.add(from);
        } else {
            let known = self.imports.entry(from.to_owned()).or_default();
            known.extend(names.map(str::to_owned));
        }
    }
}

/// Drops from the joined text what a copied module exports and nothing of the page uses.
fn drop_unused(text: &mut String, module: &str) {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    for line in module.lines() {
        let Some((name, _)) = line
            .strip_prefix("export const ")
            .and_then(|it| it.split_once(" ="))
        else {
            continue;
        };
        if text.split(|c| !is_part(c)).filter(|it| *it == name).count() > 1 {
            continue;
        }
        let Some(start) = text.find(&format!("const {name} =")) else {
            continue;
        };
        let mut depth = 0;
        let end = text[start..].find(|c| {
            depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
            c == ';' && depth == 0
        });
        text.replace_range(start..=start + end.expect("a statement ends"), "");
    }
}

/// In one file every name at the top of a module is there for all of them.
fn refuse_twins(paths: &BTreeSet<String>, source: impl Fn(&str) -> String) {
    let mut known: BTreeMap<String, &str> = BTreeMap::new();
    for path in paths {
        for name in names_at_the_top(&source(path)) {
            if let Some(other) = known.insert(name.clone(), path) {
                panic!(
                    "web/{other} and web/{path} both name `{name}`, and they become one file: \
                     rename one"
                );
            }
        }
    }
}

fn names_at_the_top(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for line in text.lines() {
        let line = line.strip_prefix("export ").unwrap_or(line);
        let line = line.strip_prefix("async ").unwrap_or(line);
        for kind in ["const ", "let ", "function ", "function* ", "class "] {
            if let Some(rest) = line.strip_prefix(kind) {
                let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
                let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                names.extend((end > 0).then(|| rest[..end].to_owned()));
            }
        }
    }
    names
}
