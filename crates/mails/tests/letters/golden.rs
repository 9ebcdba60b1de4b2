//! What each mail says, kept beside the code. A change of a text shows here; raise
//! `letter::TEMPLATES` with it, so that stored letters name the texts they were sent with.
//! `ONSALE_WRITE_GOLDEN=1 cargo test -p onsale-mails golden` writes the files anew.

use std::fs;
use std::path::PathBuf;

use onsale_domain::language::Language;
use onsale_domain::letter::TEMPLATES;

use crate::{rendered, samples};

fn folder() -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join(format!("tests/golden/v{TEMPLATES}"))
}

#[test]
fn every_mail_says_what_was_agreed_on() {
    let writes = std::env::var_os("ONSALE_WRITE_GOLDEN").is_some();
    let folder = folder();
    if writes {
        fs::create_dir_all(&folder).unwrap();
    }
    let mut expected = 0;
    for (name, letter) in samples::all() {
        for language in Language::ALL {
            let mail = rendered(&letter, language);
            let text = format!("Subject: {}\n\n{}", mail.subject, mail.text);
            let mut files = vec![(format!("{name}.{language}.txt"), text)];
            // The HTML is set from the same page: one of it shows how.
            if name == "confirmation" {
                files.push((format!("{name}.{language}.html"), mail.html));
            }
            for (file, text) in files {
                let path = folder.join(&file);
                if writes {
                    fs::write(&path, &text).unwrap();
                }
                let golden = fs::read_to_string(&path).unwrap_or_default();
                assert_eq!(golden, text, "{file} has changed");
                expected += 1;
            }
        }
    }
    assert_eq!(fs::read_dir(folder).unwrap().count(), expected);
}
