//! The files that browsers load, in the binary.

#[derive(Debug)]
pub struct File {
    /// Below `/assets/{VERSION}/`.
    pub path: &'static str,
    pub plain: &'static [u8],
    /// Compressed, where that is shorter.
    pub gzip: Option<&'static [u8]>,
}

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The file at this path.
pub fn file(path: &str) -> Option<&'static File> {
    let found = FILES.binary_search_by(|file| file.path.cmp(path)).ok()?;
    FILES.get(found)
}

impl File {
    pub fn media_type(&self) -> &'static str {
        let kind = self.path.rsplit_once('.').map_or("", |(_, kind)| kind);
        match kind {
            "js" => "text/javascript; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            "svg" => "image/svg+xml",
            "png" => "image/png",
            "webp" => "image/webp",
            "woff2" => "font/woff2",
            "webmanifest" => "application/manifest+json",
            _ => "application/octet-stream",
        }
    }

    /// It is served at the root: from there it may answer for pages, and it finds a newer
    /// version of itself.
    pub fn is_service_worker(&self) -> bool {
        self.path == "tickets-offline.js"
    }
}
