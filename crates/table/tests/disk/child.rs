//! The child process: what it does on the shim, and how the parent starts it.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use onsale_table::sqlite::{Durability, Options, SqliteFile, SqliteTable};
use onsale_table::{Item, Reads, Table, Update, Write};
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::cuts::{COUNTER, Cut, SCHEMA, key};

/// What a child does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Cuts the power after each answer.
    Cuts,
    CutsWithoutFlushes,
    Writes,
    FailedFlushWithHook,
    FullDisk,
}

const ROLES: [Role; 5] = [
    Role::Cuts,
    Role::CutsWithoutFlushes,
    Role::Writes,
    Role::FailedFlushWithHook,
    Role::FullDisk,
];

/// A child that ended.
pub struct Child {
    folder: TempDir,
    pub output: Output,
}

impl Child {
    /// `None`: there is no C compiler for the shim.
    pub fn run(role: Role, settings: &[(&str, &str)]) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let shim = compile_shim(folder.path())?;
        fs::create_dir(folder.path().join("cuts")).unwrap();
        let output = Command::new(std::env::current_exe().unwrap())
            .args([
                "child::does_its_part",
                "--exact",
                "--ignored",
                "--nocapture",
            ])
            .env("DISK_ROLE", format!("{role:?}"))
            .env("LD_PRELOAD", shim)
            .env("SHIM_FILE", folder.path().join("onsale.db"))
            .env("SHIM_CUTS", folder.path().join("cuts"))
            .envs(settings.iter().copied())
            .output()
            .unwrap();
        Some(Self { folder, output })
    }

    /// The file that the child wrote.
    pub fn file(&self) -> PathBuf {
        self.folder.path().join("onsale.db")
    }

    /// All cuts that the child made.
    pub fn cuts(&self) -> Vec<Cut> {
        let names = fs::read_dir(self.folder.path().join("cuts")).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names
            .filter_map(|name| Some(self.cut(name.strip_suffix(".answered")?)))
            .collect()
    }

    pub fn cut(&self, name: &str) -> Cut {
        let folder = self.folder.path().join("cuts");
        let answered = fs::read_to_string(folder.join(format!("{name}.answered"))).unwrap();
        Cut {
            folder,
            name: name.to_owned(),
            answered: answered.lines().map(str::to_owned).collect(),
        }
    }
}

fn compile_shim(folder: &Path) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/disk/flush_shim.c");
    let shim = folder.join("flush_shim.so");
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&shim)
        .arg(source)
        .arg("-ldl")
        .status();
    match compiled {
        Err(_) => None,
        Ok(status) => {
            assert!(status.success(), "the shim does not compile");
            Some(shim)
        }
    }
}

/// Not a test: the child process.
#[test]
#[ignore = "started by the other tests"]
fn does_its_part() {
    let Ok(wanted) = std::env::var("DISK_ROLE") else {
        return;
    };
    let role = ROLES.into_iter().find(|role| format!("{role:?}") == wanted);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    runtime.block_on(async {
        match role.unwrap() {
            Role::Cuts => cut_after_each_answer(Durability::PowerCut).await,
            Role::CutsWithoutFlushes => cut_after_each_answer(Durability::ProcessDeath).await,
            Role::Writes => write_until_the_end().await,
            Role::FailedFlushWithHook => go_on_after_a_failed_flush().await,
            Role::FullDisk => go_on_after_a_full_disk().await,
        }
    });
}

fn path_in(variable: &str) -> PathBuf {
    std::env::var_os(variable).unwrap().into()
}

async fn open(options: Options) -> (Arc<SqliteFile>, Arc<SqliteTable>) {
    let file = SqliteFile::open_with(path_in("SHIM_FILE"), options).unwrap();
    let table = SqliteTable::open(file.clone(), SCHEMA).await.unwrap();
    (file, Arc::new(table))
}

/// Few pages, so that the log is moved into the file and starts over many times.
fn often_moved(durability: Durability) -> Options {
    Options {
        durability,
        checkpoint_pages: 12,
        ..Options::default()
    }
}

/// What was answered so far.
#[derive(Default)]
struct Answers {
    lines: Vec<String>,
    cuts: usize,
}

impl Answers {
    fn add(&mut self, name: &str, least: i128) {
        self.lines.push(format!("{name} {least}"));
    }

    fn save(&self, name: &str) {
        let path = path_in("SHIM_CUTS").join(format!("{name}.answered"));
        fs::write(path, self.lines.join("\n")).unwrap();
    }

    /// Cuts the power now. Everything that was added must be found afterwards.
    fn cut(&mut self) {
        let name = self.cuts.to_string();
        self.cuts += 1;
        self.save(&name);
        cut_power(&name);
    }
}

/// The shim takes this path for a command.
fn cut_power(name: &str) {
    assert!(File::open(format!("/power-cut/{name}")).is_err());
}

fn item(n: u64) -> Item {
    Item::new().with("n", n).with("filling", vec![7u8; 1500])
}

async fn cut_after_each_answer(durability: Durability) {
    let (_file, table) = open(often_moved(durability)).await;
    let answers = Arc::new(Mutex::new(Answers::default()));
    let is_over = Arc::new(AtomicBool::new(false));
    let mut reader = JoinSet::new();
    reader.spawn(watch_counter(
        table.clone(),
        answers.clone(),
        is_over.clone(),
    ));
    let mut writers = JoinSet::new();
    for writer in 0..4 {
        writers.spawn(write_and_cut(writer, table.clone(), answers.clone()));
    }
    writers.join_all().await;
    is_over.store(true, Ordering::Relaxed);
    reader.join_all().await;
}

async fn write_and_cut(writer: u64, table: Arc<SqliteTable>, answers: Arc<Mutex<Answers>>) {
    for n in 0..12 {
        let name = format!("{writer}-{n}");
        let count = Update::always().add("n", 1);
        let writes = [
            Write::PutNew(key(&name), item(n)),
            Write::Update(key(COUNTER), count),
        ];
        table.in_order(&writes).await.unwrap();
        let mut answers = answers.lock().unwrap();
        answers.add(&name, n.into());
        answers.cut();
    }
}

/// What a read returned must survive as well.
async fn watch_counter(
    table: Arc<SqliteTable>,
    answers: Arc<Mutex<Answers>>,
    is_over: Arc<AtomicBool>,
) {
    let mut seen = 0;
    while !is_over.load(Ordering::Relaxed) {
        let counter = table.get(&key(COUNTER), Reads::Consistent).await.unwrap();
        let number = counter.and_then(|item| item.number("n")).unwrap_or(0);
        if number > seen {
            seen = number;
            let mut answers = answers.lock().unwrap();
            answers.add(COUNTER, number);
            answers.cut();
        }
        tokio::task::yield_now().await;
    }
}

/// Writes from several tasks until the process ends, and notes each answer at once.
async fn write_until_the_end() {
    let (_file, table) = open(often_moved(Durability::PowerCut)).await;
    let notes = path_in("SHIM_CUTS").join("failed.answered");
    let notes = File::options().create(true).append(true).open(notes);
    let notes = Arc::new(notes.unwrap());
    let mut writers = JoinSet::new();
    for writer in 0..4 {
        let (table, notes) = (table.clone(), notes.clone());
        writers.spawn(async move {
            for n in 0..1000 {
                let name = format!("{writer}-{n}");
                table.put_new(&key(&name), item(n)).await.unwrap();
                let line = format!("{name} {n}\n");
                (&*notes).write_all(line.as_bytes()).unwrap();
            }
        });
    }
    writers.join_all().await;
}

async fn go_on_after_a_failed_flush() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let telling = told.clone();
    let options = Options {
        on_failed_flush: Arc::new(move |error| telling.lock().unwrap().push(error.to_owned())),
        ..Options::default()
    };
    let (_file, table) = open(options).await;
    let mut answers = Answers::default();
    let mut n = 0;
    while table.put_new(&key(&n.to_string()), item(n)).await.is_ok() {
        answers.add(&n.to_string(), n.into());
        n += 1;
        assert!(n < 100, "no flush failed");
    }
    assert_eq!(told.lock().unwrap().len(), 1);
    assert!(table.trouble().is_some());
    assert!(table.put_new(&key("later"), item(0)).await.is_err());
    assert!(table.get(&key("0"), Reads::Consistent).await.is_err());
    assert_eq!(told.lock().unwrap().len(), 1);
}

async fn go_on_after_a_full_disk() {
    let (_file, table) = open(Options::default()).await;
    let mut answers = Answers::default();
    let mut failures = 0;
    for n in 0..30 {
        let name = n.to_string();
        match table.put_new(&key(&name), item(n)).await {
            Ok(()) => {
                assert_eq!(table.trouble(), None);
                answers.add(&name, n.into());
            }
            Err(_) => {
                failures += 1;
                assert!(table.trouble().is_some());
            }
        }
    }
    assert_eq!((failures, answers.lines.len()), (1, 29));
    answers.save("end");
    cut_power("end");
}
