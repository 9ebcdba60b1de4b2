//! Passwords are kept as Argon2id hashes.
//!
//! A hash takes 19 MiB and some 20 ms of a core on purpose. Two run at a time, off the
//! async threads, and a bounded number waits: a storm of log-ins slows log-ins down,
//! not the sale.

use std::sync::Arc;

use argon2::password_hash::phc;
use argon2::{Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version};
use tokio::sync::Semaphore;

use crate::error::{Error, Result};
use crate::ports::{Entropy, PasswordHash};

const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
const LANES: u32 = 1;
const SALT_LEN: usize = 16;

const AT_ONCE: usize = 2;
/// 256 waiting hashes of about 20 ms, two at a time, are served within 3 s.
const AT_ONCE_AND_WAITING: usize = 256 + AT_ONCE;

static RUNNING: Semaphore = Semaphore::const_new(AT_ONCE);
static ADMITTED: Semaphore = Semaphore::const_new(AT_ONCE_AND_WAITING);

/// What is verified when there is no account: it costs what a real hash costs, and no
/// password is known to match it.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$b25zYWxlIG5vYm9keSAhIQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// The hash of an account that has no password yet.
pub fn nobodys() -> PasswordHash {
    PasswordHash(NOBODY.to_owned())
}

/// Whether an account with this hash has no password.
pub fn is_nobodys(stored: &PasswordHash) -> bool {
    stored.0 == NOBODY
}

/// Hashes a new password with a fresh salt.
pub async fn hash(password: &str, entropy: &Arc<dyn Entropy>) -> Result<PasswordHash> {
    let mut salt = [0u8; SALT_LEN];
    entropy.fill(&mut salt);
    let password = password.to_owned();
    off_thread(move || {
        let hash: phc::PasswordHash = argon2()?
            .hash_password_with_salt(password.as_bytes(), &salt)
            .map_err(|_| Error::Corrupt)?;
        Ok(PasswordHash(hash.to_string()))
    })
    .await
}

/// Whether the password belongs to the hash. Without one it takes as long and is
/// `false`, so that the time does not tell who has an account.
pub async fn verify(password: &str, stored: Option<&PasswordHash>) -> Result<bool> {
    let password = password.to_owned();
    let exists = stored.is_some();
    let hash = stored.map_or_else(|| NOBODY.to_owned(), |hash| hash.0.clone());
    off_thread(move || {
        let parsed = phc::PasswordHash::new(&hash).map_err(|_| {
            tracing::error!("a stored password hash cannot be read");
            Error::Corrupt
        })?;
        // The comparison inside takes the same time wherever two hashes differ.
        let matches = argon2()?
            .verify_password(password.as_bytes(), &parsed)
            .is_ok();
        Ok(matches && exists)
    })
    .await
}

fn argon2() -> Result<Argon2<'static>> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(|_| Error::Corrupt)?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let _admitted = ADMITTED.try_acquire().map_err(|_| Error::Unavailable)?;
    let running = RUNNING.acquire().await.map_err(|_| Error::Unavailable)?;
    // The permit moves along: a caller that goes away does not stop the thread.
    #[expect(
        clippy::disallowed_methods,
        reason = "Argon2 takes milliseconds; simulations bring no passwords"
    )]
    let done = tokio::task::spawn_blocking(move || {
        let _running = running;
        work()
    });
    done.await.map_err(|_| Error::Unavailable)?
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Sevens;

    impl Entropy for Sevens {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(7);
        }
    }

    #[tokio::test]
    async fn a_hash_belongs_to_one_password_and_names_its_cost() {
        let entropy: Arc<dyn Entropy> = Arc::new(Sevens);
        let stored = hash("correct horse 🐎", &entropy).await.unwrap();
        assert!(
            stored.0.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{}",
            stored.0
        );
        assert!(verify("correct horse 🐎", Some(&stored)).await.unwrap());
        assert!(!verify("correct horse", Some(&stored)).await.unwrap());
        assert!(!verify("", Some(&stored)).await.unwrap());
    }

    #[tokio::test]
    async fn nobody_has_a_readable_hash_of_the_same_cost() {
        let nobody = phc::PasswordHash::new(NOBODY).unwrap();
        let cost = Params::try_from(&nobody).unwrap();
        assert_eq!(
            (cost.m_cost(), cost.t_cost(), cost.p_cost()),
            (MEMORY_KIB, PASSES, LANES)
        );
        assert_eq!(nobody.salt.map(|salt| salt.len()), Some(SALT_LEN));
        assert_eq!(nobody.hash.map(|hash| hash.len()), Some(32));
        assert!(!verify("anything", None).await.unwrap());
    }

    #[tokio::test]
    async fn a_hash_that_cannot_be_read_is_our_fault_and_not_a_wrong_password() {
        let broken = PasswordHash("plain".to_owned());
        assert_eq!(verify("plain", Some(&broken)).await, Err(Error::Corrupt));
    }
}
