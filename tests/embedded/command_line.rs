//! The commands that an operator types, and what they print.

use std::path::Path;

use tokio::process::Command;

/// What a command said, and how it ended.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

pub(crate) async fn onsale(args: &[&str]) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_onsale"));
    let output = command
        .args(args)
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    Said {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The same about a data folder.
pub(crate) async fn onsale_at(data: &Path, args: &[&str]) -> Said {
    let folder = data.to_str().unwrap();
    onsale(&[args, &["--data", folder]].concat()).await
}

/// What `onsale reconcile` counted, having found that everything agrees.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Books {
    pub(crate) open_orders: u64,
    pub(crate) free: u64,
    pub(crate) held: u64,
    pub(crate) sold: u64,
    pub(crate) capacity: u64,
    pub(crate) payments: u64,
    pub(crate) captured: u64,
    pub(crate) refunded: u64,
    pub(crate) orphans: u64,
    pub(crate) repairs: Vec<String>,
}

pub(crate) async fn reconcile(data: &Path) -> Books {
    let said = onsale_at(data, &["reconcile"]).await;
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(
        said.out.lines().last(),
        Some("everything agrees"),
        "{said:?}"
    );
    // The number after these words.
    let number = |words: &str| -> u64 {
        let rest = said.out.split_once(words).unwrap().1.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap();
        rest[..end].parse().unwrap()
    };
    let repairs = said.out.lines().filter(|line| line.starts_with("repaired"));
    Books {
        open_orders: number("open orders"),
        free: number("free"),
        held: number("held"),
        sold: number("sold"),
        capacity: number(" of"),
        payments: number("payments"),
        captured: number("captured"),
        refunded: number("refunded"),
        orphans: number("orphans"),
        repairs: repairs.map(str::to_owned).collect(),
    }
}
