//! Reads `web/` and writes what is sent: files without comments and indentation, the words
//! that each page names, and what the HTML of each page has to mention.

mod catalogue;
mod merge;
mod modules;
mod names;
mod slim;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::Path;
use std::{env, fs};

use catalogue::{Catalogue, LANGUAGES, literals};
use modules::Modules;

const WEB: &str = "../../web";
/// Rust sources that render pages. A word that one of them names is compiled in.
const RENDERERS: &str = "../../edge-worker/src";
/// The entry modules, one for each page.
const PAGES: &[&str] = &[
    "home", "event", "show", "room", "seats", "checkout", "orders", "order", "ticket", "transfer",
    "waitlist", "account", "password", "link", "fairness",
];
/// Pages whose own modules are sent as one file, and the modules of all pages of which that file
/// has a copy inside. What one copy has learned the other does not know: what the seat page loads
/// later asks the page for the time.
const MERGED: &[(&str, &[&str])] = &[
    ("event", &["poster.js", "rendered.js"]),
    ("seats", &["api.js", "clock.js", "elements.js"]),
    ("show", &["countdown.js", "poster.js", "rendered.js"]),
];
/// Loaded when the reader says who they are, or reserves: what a page weighs is what it loads
/// before that, whatever state it is in.
const ON_REQUEST: &[&str] = &["session.js", "booking.js"];
/// Of two that never come together the smaller is not counted: what follows a mouse, on wide
/// pages, instead of the sheet; reminders and the calendar's file before a sale instead of the
/// waitlist after it.
const INSTEAD: &[&str] = &[
    "seats/pointing.js",
    "remind-form.js",
    "show/calendar-file.js",
];
const SENT: &[&str] = &["js", "css", "svg", "png", "webp", "webmanifest", "woff2"];

type Files = BTreeMap<String, Vec<u8>>;

fn main() {
    println!("cargo:rerun-if-changed=build");
    println!("cargo:rerun-if-changed={WEB}");
    println!("cargo:rerun-if-changed={RENDERERS}");
    let (mut files, templates) = read_web();
    let catalogue = Catalogue::read(|language| {
        let path = format!("{WEB}/words/{language}.js");
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    });
    for (page, copied) in MERGED {
        merge::merge(&mut files, page, copied, |path| {
            fs::read_to_string(format!("{WEB}/{path}")).expect("a module can be read")
        });
    }
    let short_words = shorten(&mut files, &catalogue);
    let mut generated = pages(&mut files, &short_words);
    generated += &rendered_words(&catalogue, &templates);
    for (name, text) in &templates {
        let name = name.to_uppercase().replace('-', "_");
        writeln!(
            generated,
            "/// `web/` has it under this name.\npub const {name}: &str = {text:?};"
        )
        .expect("a string can be written");
    }
    writeln!(
        generated,
        "pub const VERSION: &str = \"{:016x}\";",
        version(&files)
    )
    .expect("a string can be written");
    let out = env::var("OUT_DIR").expect("cargo names the folder");
    let out = Path::new(&out);
    fs::write(out.join("web.rs"), generated).expect("the table is written");
    fs::write(out.join("files.rs"), embedded(&files, out)).expect("the table is written");
}

/// Makes scripts short: names, space, the keys of words. Returns the words under these keys.
fn shorten(files: &mut Files, catalogue: &Catalogue) -> Catalogue {
    let is_script = |path: &String| path.ends_with(".js");
    let scripts = files.iter().filter(|(path, _)| is_script(path));
    let texts: Vec<String> = scripts
        .map(|(_, content)| String::from_utf8_lossy(content).into_owned())
        .collect();
    let literals: BTreeSet<&str> = texts.iter().flat_map(|text| literals(text)).collect();
    let (words, keys) = catalogue.abbreviated(|key| !literals.contains(key));
    for (_, content) in files.iter_mut().filter(|(path, _)| is_script(path)) {
        let mut read = tokens::read(&String::from_utf8_lossy(content));
        names::shorten(&mut read);
        tokens::join_declarations(&mut read);
        tokens::drop_spare_signs(&mut read);
        for token in &mut read {
            let key = token
                .text
                .strip_prefix('\'')
                .and_then(|it| it.strip_suffix('\''));
            if let Some(key) = key.and_then(|key| keys.get(key)) {
                token.text = format!("'{key}'");
            }
        }
        *content = tokens::write(&read).into_bytes();
    }
    words
}

/// What is sent, by its path, and the HTML templates, by their names.
fn read_web() -> (Files, BTreeMap<String, String>) {
    let mut files = Files::new();
    let mut templates = BTreeMap::new();
    let mut paths = Vec::new();
    collect(Path::new(WEB), &mut paths);
    for path in paths {
        println!("cargo:rerun-if-changed={WEB}/{path}");
        let (stem, kind) = path.rsplit_once('.').unwrap_or((&path, ""));
        let content = fs::read(format!("{WEB}/{path}")).expect("a web file can be read");
        let text =
            || String::from_utf8(content.clone()).unwrap_or_else(|_| panic!("{path} is not UTF-8"));
        if kind == "html" {
            templates.insert(stem.to_owned(), slim::html(&text()));
        } else if kind == "js" {
            files.insert(path.clone(), slim::script(&text()).into_bytes());
        } else if kind == "css" {
            files.insert(path.clone(), slim::style(&text()).into_bytes());
        } else {
            files.insert(path, content);
        }
    }
    (files, templates)
}

/// Every file below a folder that is sent or is a template. The whole catalogues are not
/// sent, and neither is what only tools read.
fn collect(folder: &Path, found: &mut Vec<String>) {
    println!("cargo:rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder).expect("web can be read") {
        let path = entry.expect("web can be read").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') || name == "node_modules" || name == "words" {
            continue;
        }
        if path.is_dir() {
            collect(&path, found);
            continue;
        }
        let kind = name.rsplit_once('.').map_or("", |(_, kind)| kind);
        let for_tools = name.ends_with(".test.js") || name.ends_with(".config.js");
        if (SENT.contains(&kind) || kind == "html") && !for_tools {
            let below = path.strip_prefix(WEB).expect("it is below web");
            found.push(below.to_string_lossy().replace('\\', "/"));
        }
    }
}

/// Adds the words of every module at the top of `web/` to the files, and tells what the HTML
/// of each page mentions.
fn pages(files: &mut Files, catalogue: &Catalogue) -> String {
    let modules = Modules::read(files);
    let mut longest_words = BTreeMap::new();
    for module in modules.entries() {
        let keys = catalogue.named_by(&modules.reached(&module).texts);
        if keys.is_empty() {
            continue;
        }
        let name = module.trim_end_matches(".js");
        for (index, language) in LANGUAGES.iter().enumerate() {
            let words = catalogue.module(&keys, index).into_bytes();
            let longest = longest_words.entry(module.clone()).or_insert(0);
            *longest = gzipped(&words).len().max(*longest);
            files.insert(format!("words/{name}.{language}.js"), words);
        }
    }
    let mut table = String::from("pub static PAGES: &[Page] = &[\n");
    for name in PAGES {
        table += &page(name, files, &modules, &longest_words);
    }
    table + "];\n"
}

fn page(
    name: &str,
    files: &Files,
    modules: &Modules,
    longest_words: &BTreeMap<String, usize>,
) -> String {
    let module = format!("{name}.js");
    assert!(files.contains_key(&module), "there is no web/{module}");
    let imports = modules.reached(&module).at_once;
    let (ever, learned) = modules.ever(&module, &[ON_REQUEST, INSTEAD].concat());
    let script_bytes: usize = ever.iter().map(|path| gzipped(&files[path]).len()).sum();
    let word_bytes: usize = learned.iter().filter_map(|it| longest_words.get(it)).sum();
    let styles: Vec<String> = ["tokens", "page", name]
        .into_iter()
        .map(|style| format!("{style}.css"))
        .filter(|path| files.contains_key(path))
        .collect();
    format!(
        "    Page {{ name: {name:?}, module: {module:?}, styles: &{styles:?}, imports: &{:?}, \
         has_words: {}, script_bytes: {} }},\n",
        imports.iter().skip(1).collect::<Vec<_>>(),
        longest_words.contains_key(&module),
        script_bytes + word_bytes,
    )
}

/// The words that Rust puts into pages, in every language.
fn rendered_words(catalogue: &Catalogue, templates: &BTreeMap<String, String>) -> String {
    let mut sources = Vec::new();
    read_sources(Path::new(RENDERERS), &mut sources);
    // A placeholder of a template names a word as a literal does.
    let placeholders = |text: &String| text.replace("{{", "'").replace("}}", "'");
    sources.extend(templates.values().map(placeholders));
    let mut table = String::from("pub static WORDS: &[(&str, [&str; 4])] = &[\n");
    for key in catalogue.named_by(&sources) {
        writeln!(table, "    ({key:?}, {:?}),", catalogue.texts(key))
            .expect("a string can be written");
    }
    table + "];\n"
}

fn read_sources(folder: &Path, sources: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("the edge can be read") {
        let path = entry.expect("the edge can be read").path();
        if path.is_dir() {
            read_sources(&path, sources);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            sources.push(fs::read_to_string(&path).expect("a source can be read"));
        }
    }
}

/// Changes with any of the files.
fn version(files: &Files) -> u64 {
    let mut hash = DefaultHasher::new();
    files.hash(&mut hash);
    hash.finish()
}

/// Writes the files, plain and compressed where that saves something, and the table that
/// includes them.
fn embedded(files: &Files, out: &Path) -> String {
    let mut table = String::from("pub static FILES: &[File] = &[\n");
    for (number, (path, content)) in files.iter().enumerate() {
        let plain = out.join(format!("{number}.plain"));
        fs::write(&plain, content).expect("a file is written");
        let compressed = gzipped(content);
        let gzip = if compressed.len() < content.len() {
            let gzip = out.join(format!("{number}.gzip"));
            fs::write(&gzip, compressed).expect("a file is written");
            format!("Some(include_bytes!({gzip:?}))")
        } else {
            "None".to_owned()
        };
        writeln!(
            table,
            "    File {{ path: {path:?}, plain: include_bytes!({plain:?}), gzip: {gzip} }},"
        )
        .expect("a string can be written");
    }
    table + "];\n"
}

fn gzipped(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(content).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}
