//! Writes the web files into a folder as Cloudflare serves them: `assets/{version}/…`, and
//! `_headers` beside them.

use std::path::Path;
use std::{env, fs, io, process};

use onsale_web::{FILES, HEADERS, IMMUTABLE, POLICY, VERSION};

fn main() {
    let Some(folder) = env::args().nth(1) else {
        eprintln!("usage: write-assets FOLDER");
        process::exit(2);
    };
    if let Err(error) = write(Path::new(&folder)) {
        eprintln!("{folder}: {error}");
        process::exit(1);
    }
}

fn write(folder: &Path) -> io::Result<()> {
    let assets = folder.join("assets").join(VERSION);
    for file in FILES {
        let below = if file.is_service_worker() {
            folder
        } else {
            &assets
        };
        let path = below.join(file.path);
        fs::create_dir_all(path.parent().unwrap_or(&assets))?;
        fs::write(path, file.plain)?;
    }
    fs::write(folder.join("_headers"), headers())
}

/// <https://developers.cloudflare.com/workers/static-assets/headers/>
fn headers() -> String {
    let mut text =
        format!("/assets/*\n  cache-control: {IMMUTABLE}\n  content-security-policy: {POLICY}\n");
    for (name, value) in HEADERS {
        text += &format!("  {name}: {value}\n");
    }
    for file in FILES.iter().filter(|file| file.is_service_worker()) {
        text += &format!(
            "/{}\n  cache-control: no-cache\n  content-security-policy: {POLICY}\n",
            file.path
        );
    }
    text
}
