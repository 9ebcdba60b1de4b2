//! The platform as a process: started, killed, started again on the same data.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::Mutex;

/// Tests that load the machine and look at the clock take turns.
pub(crate) static LOAD: Mutex<()> = Mutex::const_new(());

/// A running platform. Dropping it kills the process.
pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
}

pub(crate) fn command(data: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_onsale"));
    command.arg("serve").arg("--data").arg(data).args(args);
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

impl Server {
    /// Starts on a free port, without rate limits and without the demo.
    pub(crate) async fn start(data: &Path) -> Self {
        Self::start_with(data, &["--empty", "--rate-limit", "off"]).await
    }

    pub(crate) async fn start_with(data: &Path, args: &[&str]) -> Self {
        let mut command = command(data, args);
        command.args(["--port", "0"]);
        Self::from_command(command).await.unwrap()
    }

    /// Waits for the line that says where it listens; what it said instead otherwise.
    pub(crate) async fn from_command(mut command: Command) -> Result<Self, String> {
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut stderr = child.stderr.take().unwrap();
        let ready = async {
            while let Some(line) = lines.next_line().await.unwrap() {
                if let Some(url) = line.strip_prefix("Onsale is ready at ") {
                    return Some(url.to_owned());
                }
            }
            None
        };
        let url = tokio::time::timeout(Duration::from_secs(30), ready)
            .await
            .unwrap();
        match url {
            Some(url) => {
                // Nobody reads on, and a full pipe would stop the process.
                tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
                tokio::spawn(async move {
                    let mut sink = Vec::new();
                    let _ = stderr.read_to_end(&mut sink).await;
                });
                Ok(Self { child, url })
            }
            None => {
                let mut said = String::new();
                stderr.read_to_string(&mut said).await.unwrap();
                let status = child.wait().await.unwrap();
                assert!(!status.success());
                Err(said)
            }
        }
    }

    /// The memory that the process has in RAM, where the system tells.
    pub(crate) fn resident_kib(&self) -> Option<u64> {
        let status = format!("/proc/{}/status", self.child.id().unwrap());
        let status = std::fs::read_to_string(status).ok()?;
        let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
        line.trim().strip_suffix(" kB")?.parse().ok()
    }

    /// `kill -9`.
    pub(crate) async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// A polite end; how it exited.
    pub(crate) async fn stop(mut self) -> std::process::ExitStatus {
        let id = self.child.id().unwrap().to_string();
        let sent = std::process::Command::new("kill")
            .args(["-TERM", &id])
            .status()
            .unwrap();
        assert!(sent.success());
        tokio::time::timeout(Duration::from_secs(20), self.child.wait())
            .await
            .unwrap()
            .unwrap()
    }
}
