//! A directory of compiled grammars.
//!
//! There is one file a grammar, named by a hash of its key, the vocabulary and the format. The file also
//! contains the key itself, which is compared, so two keys can never share an entry. Only regular files up to
//! a size are read: a pipe would have to be waited for, and a device may never end. A file is written under a
//! name of its own and renamed: other processes see all of it or nothing, and the last rename wins, with
//! equal content. Files that are damaged or foreign are overwritten like absent ones. The directory may be
//! deleted at any time.
//!
//! When the files outgrow the bound, those that were not used for longest go, by the times that the file system
//! keeps; a hit renews its file's. This module is the only one below the facade that touches files or a clock, and
//! does so only at the paths and in the calls of its user.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use xxhash_rust::xxh3::Xxh3;

use super::bytes::{FORMAT, StoreError};
use crate::base::error::CompileError;
use crate::compile::backend::BuildBackend;
use crate::compile::builder::CompilerBuilder;
use crate::compile::compiler::{Compiler, GrammarStore};
use crate::grammar::compiled::CompiledGrammar;

const GRAMMAR: &str = "grammar";
const POOL: &str = "masks";
const UNFINISHED: &str = "unfinished";

/// Bytes of the largest file that is written or read, whatever the directory may hold.
const MAX_FILE_BYTES: u64 = 512 << 20;

/// A directory that keeps compiled grammars between processes; any number of processes and threads may use one at
/// once.
///
/// It is a cache: a file that cannot be read is compiled anew, and one that cannot be written is not kept.
/// Both are counted ([`usage`](Self::usage)), and the last reason is kept ([`last_error`](Self::last_error)).
#[derive(Debug)]
pub struct StoreDirectory {
    path: PathBuf,
    max_bytes: u64,
    counts: DirectoryCounters,
    last_error: std::sync::Mutex<Option<String>>,
}

#[derive(Debug, Default)]
struct DirectoryCounters {
    hits: AtomicU64,
    misses: AtomicU64,
    unreadable: AtomicU64,
    unwritable: AtomicU64,
    evicted: AtomicU64,
}

/// Counters of a [`StoreDirectory`] since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct DirectoryStats {
    /// Grammars that were read.
    pub hits: u64,
    /// Grammars that were not there.
    pub misses: u64,
    /// Files that were there and of no use: damaged, foreign, of another version.
    pub unreadable: u64,
    /// Files that could not be written.
    pub unwritable: u64,
    /// Files that were deleted to keep the bound.
    pub evicted: u64,
}

impl StoreDirectory {
    /// Opens a directory, making it where it is absent. The files in it may have at most `max_bytes` together,
    /// about: processes that write at the same time may each overstep it by a file. One file has at most 512 MiB.
    ///
    /// # Errors
    ///
    /// Fails if there is no such directory and none can be made, or if the path is empty.
    pub fn open(path: impl Into<PathBuf>, max_bytes: u64) -> io::Result<Self> {
        let path = path.into();
        if path.as_os_str().is_empty() {
            // The system would take it for the working directory.
            let message = "the path of the directory is empty; name one, `.` for the working directory";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        fs::create_dir_all(&path)?;
        Ok(Self {
            path,
            max_bytes,
            counts: DirectoryCounters::default(),
            last_error: std::sync::Mutex::default(),
        })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The grammar under a key, or the result of `compile`, which is then kept. A key spells everything on
    /// which the grammar depends: the syntax, the options and the source.
    ///
    /// Threads that ask for one key at the same time may each compile it; put a
    /// [`CompileCache`](crate::CompileCache) before it.
    ///
    /// # Errors
    ///
    /// Those of `compile`.
    pub fn get_or_compile<B: BuildBackend>(
        &self,
        compiler: &Compiler<B>,
        key: &str,
        compile: impl FnOnce() -> Result<CompiledGrammar<B>, CompileError>,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        self.get_or_try(compiler, key, compile)
    }

    /// As [`get_or_compile`](Self::get_or_compile), for a `compile` with errors of its own.
    ///
    /// # Errors
    ///
    /// Those of `compile`.
    pub fn get_or_try<B: BuildBackend, E>(
        &self,
        compiler: &Compiler<B>,
        key: &str,
        compile: impl FnOnce() -> Result<CompiledGrammar<B>, E>,
    ) -> Result<CompiledGrammar<B>, E> {
        let name = format!("{:032x}.{GRAMMAR}", name_of(compiler, key));
        if let Some(grammar) = self.read(&name, |bytes| compiler.load_with_source(bytes, key)) {
            count(&self.counts.hits);
            return Ok(grammar);
        }
        count(&self.counts.misses);
        let grammar = compile()?;
        // A backend that was made by hand has nothing that could be written. Warnings would be lost.
        if grammar.program().is_some() && grammar.warnings().is_empty() {
            self.write(&name, grammar.to_bytes_with_source(key));
        }
        Ok(grammar)
    }

    /// Adds the masks that were kept for the compiler's vocabulary to those that its grammars share. Returns how
    /// many they are; 0 where there are none, or none of use.
    pub fn load_pool<B: BuildBackend>(&self, compiler: &Compiler<B>) -> usize {
        self.read(&pool_name(compiler), |bytes| compiler.load_pool(bytes)).unwrap_or(0)
    }

    /// Keeps the masks that the grammars of a compiler share, instead of those from before.
    pub fn save_pool<B: BuildBackend>(&self, compiler: &Compiler<B>) {
        self.write(&pool_name(compiler), compiler.pool_to_bytes());
    }

    /// Counters of the directory since it was opened.
    pub fn usage(&self) -> DirectoryStats {
        let DirectoryCounters { hits, misses, unreadable, unwritable, evicted } = &self.counts;
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        DirectoryStats {
            hits: load(hits),
            misses: load(misses),
            unreadable: load(unreadable),
            unwritable: load(unwritable),
            evicted: load(evicted),
        }
    }

    /// Why a file could not be read or written last; it was done without.
    pub fn last_error(&self) -> Option<String> {
        self.last_error.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    fn read<T>(&self, name: &str, read: impl FnOnce(&[u8]) -> Result<T, StoreError>) -> Option<T> {
        let path = self.path.join(name);
        let (file, bytes) = match read_file(&path, self.max_file_bytes()) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                self.note(&self.counts.unreadable, &path, &error);
                return None;
            }
        };
        match read(&bytes) {
            Ok(found) => {
                // A time that cannot be renewed only changes which file is deleted first.
                // On the open file, not on its path: another process may have renamed a new file to it.
                let _ = file.set_modified(SystemTime::now());
                Some(found)
            }
            Err(error) => {
                self.note(&self.counts.unreadable, &path, &error);
                None
            }
        }
    }

    fn max_file_bytes(&self) -> u64 {
        self.max_bytes.min(MAX_FILE_BYTES)
    }

    fn write(&self, name: &str, bytes: Result<Vec<u8>, StoreError>) {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let path = self.path.join(name);
        let bytes = match bytes {
            Ok(bytes) if bytes.len() as u64 <= self.max_file_bytes() => bytes,
            // Too large for the directory. That is no failure: the grammar works, it is compiled anew next
            // time.
            Ok(_) => return,
            Err(error) => return self.note(&self.counts.unwritable, &path, &error),
        };
        // Two writers never share an unfinished file, because its name has the id of the process and a number
        // that counts in it.
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let unfinished = self.path.join(format!("{name}.{}-{number}.{UNFINISHED}", std::process::id()));
        let written = File::create_new(&unfinished)
            .and_then(|mut file| file.write_all(&bytes))
            // No reader sees half of a file. The file is not flushed to the disk first; after a crash a
            // damaged one fails its hash.
            .and_then(|()| fs::rename(&unfinished, &path));
        if let Err(error) = written {
            let _ = fs::remove_file(&unfinished);
            return self.note(&self.counts.unwritable, &path, &error);
        }
        if let Err(error) = self.shrink(&path) {
            self.note(&self.counts.unwritable, &self.path, &error);
        }
    }

    /// Deletes the files that were not used for longest, but not the one just written.
    fn shrink(&self, newest: &Path) -> io::Result<()> {
        let mut files = Vec::new();
        let mut total = 0;
        for entry in fs::read_dir(&self.path)? {
            let path = entry?.path();
            let is_ours = path.extension().is_some_and(|extension| {
                [GRAMMAR, POOL, UNFINISHED].iter().any(|ours| extension.as_encoded_bytes() == ours.as_bytes())
            });
            // Another process may have deleted it by now.
            let Ok(metadata) = fs::metadata(&path) else { continue };
            if is_ours && metadata.is_file() {
                // Unfinished files count, too. Those of a process that died are the oldest after a while, and
                // deleted like others.
                total += metadata.len();
                // The newest file is kept even if its time is wrong, as on a file system with a coarse clock.
                if path != newest {
                    files.push((metadata.modified()?, metadata.len(), path));
                }
            }
        }
        files.sort_unstable();
        for (_, length, path) in files {
            if total <= self.max_bytes {
                break;
            }
            match fs::remove_file(&path) {
                Ok(()) => count(&self.counts.evicted),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            // Deleted here or by another process: the bytes are gone.
            total -= length;
        }
        Ok(())
    }

    fn note(&self, counter: &AtomicU64, path: &Path, error: &dyn std::error::Error) {
        count(counter);
        let message = format!("`{}`: {error}", path.display());
        *self.last_error.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(message);
    }
}

impl<B: BuildBackend> GrammarStore<B> for StoreDirectory {
    fn get_or_compile(
        &self,
        compiler: &Compiler<B>,
        key: &str,
        compile: &mut dyn FnMut() -> Result<CompiledGrammar<B>, CompileError>,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        self.get_or_try(compiler, key, compile)
    }
}

impl<B: BuildBackend> CompilerBuilder<B> {
    /// Keeps what is compiled from a source (a schema, a grammar, a pattern, a structural tag) in a directory, and takes it
    /// from there in the next process. The masks that grammars share are kept by [`StoreDirectory::save_pool`].
    ///
    /// Calls whose options hold functions (a retriever of documents, an interrupt) compile anew. Faults of the directory
    /// are no errors of a compilation: it tells of them ([`StoreDirectory::last_error`]).
    #[must_use]
    pub fn store(self, directory: Arc<StoreDirectory>) -> Self {
        self.grammar_store(directory)
    }
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

fn name_of<B: BuildBackend>(compiler: &Compiler<B>, key: &str) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(&FORMAT.to_le_bytes());
    hash.update(&compiler.vocabulary().fingerprint().to_le_bytes());
    hash.update(key.as_bytes());
    hash.digest128()
}

/// Masks of backends of different kinds do not mix.
fn pool_name<B: BuildBackend>(compiler: &Compiler<B>) -> String {
    format!("{:032x}.{POOL}", name_of(compiler, std::any::type_name::<B>()))
}

/// A regular file of at most this number of bytes, and its content.
fn read_file(path: &Path, max_bytes: u64) -> io::Result<(File, Vec<u8>)> {
    let mut options = File::options();
    options.read(true);
    // To open a pipe would wait for a process that writes to it.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK | libc::O_NOCTTY);
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    let refused = |message: String| io::Error::new(io::ErrorKind::InvalidData, message);
    if !metadata.is_file() {
        return Err(refused("it is not a regular file; delete it".to_owned()));
    }
    let too_large = || refused(format!("the file has more than {max_bytes} bytes; delete it"));
    let length = usize::try_from(metadata.len()).ok().filter(|_| metadata.len() <= max_bytes);
    let mut bytes = Vec::with_capacity(length.ok_or_else(too_large)?);
    // It may have grown since.
    (&file).take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes { Err(too_large()) } else { Ok((file, bytes)) }
}
