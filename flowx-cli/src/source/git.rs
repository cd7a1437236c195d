//! Sources at a git revision, read from the object database with plumbing commands. The working tree is never looked at
//! and never touched, so this works in bare repositories, worktrees and submodules alike.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use flowx_build::files::{Files, normalise};

/// Why git could not give what was asked of it.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The `git` executable is missing.
    #[error("git could not be started: {0}")]
    Missing(io::Error),
    /// Not inside of a repository, or one that git refuses to open.
    #[error("no git repository at {folder}: {message}")]
    NoRepository {
        /// Where it was looked for.
        folder: String,
        /// What git said.
        message: String,
    },
    /// No such commit, in a clone that has all of history.
    #[error("the revision {revision:?} names no commit in this repository{hint}")]
    NoRevision {
        /// What was asked for.
        revision: String,
        /// What may help; empty or beginning with a semicolon.
        hint: &'static str,
    },
    /// No such commit, in a clone that has a part of history only.
    #[error(
        "the revision {revision:?} is not in this shallow clone; fetch it first: `git fetch --unshallow`, or \
         `git fetch --depth=1 origin REV` and name FETCH_HEAD (in GitHub Actions: `fetch-depth: 0`)"
    )]
    Shallow {
        /// What was asked for.
        revision: String,
    },
    /// Two histories without a common commit.
    #[error("{revision:?} and HEAD have no common ancestor")]
    NoMergeBase {
        /// What was asked for.
        revision: String,
    },
    /// No such commit in common, in a clone that has a part of history only.
    #[error(
        "the merge base of {revision:?} and HEAD is not in this shallow clone; fetch more of history first: \
         `git fetch --unshallow` (in GitHub Actions: `fetch-depth: 0`)"
    )]
    ShallowMergeBase {
        /// What was asked for.
        revision: String,
    },
    /// No such file or folder at that revision.
    #[error("there is no {path:?} at {revision}")]
    NoPath {
        /// What was asked for.
        path: String,
        /// Where.
        revision: String,
    },
    /// git failed otherwise.
    #[error("git {command}: {message}")]
    Failed {
        /// The subcommand.
        command: String,
        /// What git said.
        message: String,
    },
}

/// A repository, by one of its folders.
pub struct Repository {
    folder: PathBuf,
    /// The folder relative to the top of the working tree, `""` or ending in `/`.
    prefix: String,
    bare: bool,
    /// One `git cat-file --batch` for all that is read.
    batch: Mutex<Option<Batch>>,
    /// Contents by object id: two revisions have most of their files in common.
    blobs: Mutex<HashMap<String, Arc<Vec<u8>>>>,
}

struct Batch {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Drop for Batch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Repository {
    /// The repository that the folder belongs to.
    ///
    /// # Errors
    /// Without git, or outside of a repository.
    pub fn discover(folder: &Path) -> Result<Repository, GitError> {
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        let mut repository = Repository {
            folder: folder.to_owned(),
            prefix: String::new(),
            bare: false,
            batch: Mutex::new(None),
            blobs: Mutex::new(HashMap::new()),
        };
        let answer = repository
            .git(&["rev-parse", "--is-inside-work-tree", "--show-prefix"])
            .map_err(|error| match error {
                GitError::Failed { message, .. } => GitError::NoRepository {
                    folder: folder.display().to_string(),
                    message,
                },
                error => error,
            })?;
        let mut lines = answer.lines();
        repository.bare = lines.next() != Some("true");
        repository.prefix = lines.next().unwrap_or_default().to_owned();
        Ok(repository)
    }

    /// The folder it was found by, relative to the top of the working tree: `""` or ending in `/`.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Whether there is no working tree here.
    pub fn is_bare(&self) -> bool {
        self.bare
    }

    /// The full id of the commit that a revision names.
    ///
    /// # Errors
    /// When it names none, with what helps in a shallow clone.
    pub fn commit(&self, revision: &str) -> Result<String, GitError> {
        let unknown = || GitError::NoRevision {
            revision: revision.to_owned(),
            hint: "",
        };
        // Refused by the grammar already; checked again here, because this is where it would do harm.
        if revision.starts_with('-') {
            return Err(unknown());
        }
        match self.git(&[
            "rev-parse",
            "--verify",
            "--quiet",
            &format!("{revision}^{{commit}}"),
        ]) {
            Ok(id) if is_object_id(id.trim()) => Ok(id.trim().to_owned()),
            Ok(_) => Err(unknown()),
            Err(GitError::Failed { .. }) if self.is_shallow() => Err(GitError::Shallow {
                revision: revision.to_owned(),
            }),
            Err(GitError::Failed { .. }) => {
                let remote = self
                    .git(&[
                        "rev-parse",
                        "--verify",
                        "--quiet",
                        &format!("origin/{revision}^{{commit}}"),
                    ])
                    .is_ok();
                let hint = if remote {
                    "; the remote has a branch of that name: write origin/BRANCH"
                } else {
                    ""
                };
                Err(GitError::NoRevision {
                    revision: revision.to_owned(),
                    hint,
                })
            }
            Err(error) => Err(error),
        }
    }

    /// The commit where the revision and HEAD part.
    ///
    /// # Errors
    /// When one of them or a common ancestor is missing.
    pub fn merge_base(&self, revision: &str) -> Result<String, GitError> {
        let (a, b) = (self.commit(revision)?, self.commit("HEAD")?);
        match self.git(&["merge-base", &a, &b]) {
            Ok(id) if is_object_id(id.trim()) => Ok(id.trim().to_owned()),
            Ok(_) | Err(GitError::Failed { .. }) if self.is_shallow() => {
                Err(GitError::ShallowMergeBase {
                    revision: revision.to_owned(),
                })
            }
            Ok(_) | Err(GitError::Failed { .. }) => Err(GitError::NoMergeBase {
                revision: revision.to_owned(),
            }),
            Err(error) => Err(error),
        }
    }

    /// The tags that match a pattern of git's own kind (`v*`), oldest version first.
    ///
    /// # Errors
    /// When git fails.
    pub fn tags(&self, pattern: &str) -> Result<Vec<String>, GitError> {
        let pattern = format!("refs/tags/{pattern}");
        let names = self.git(&[
            "for-each-ref",
            "--sort=version:refname",
            "--format=%(refname)",
            &pattern,
        ])?;
        Ok(names
            .lines()
            .filter_map(|name| name.strip_prefix("refs/tags/"))
            .map(str::to_owned)
            .collect())
    }

    /// All files of a commit.
    ///
    /// # Errors
    /// When git fails.
    pub fn tree(self: &Arc<Self>, commit: &str) -> Result<GitTree, GitError> {
        let listing = self.git_bytes(&["ls-tree", "-r", "-z", "--full-tree", commit])?;
        let mut tree = GitTree {
            repository: Arc::clone(self),
            commit: commit.to_owned(),
            entries: BTreeMap::new(),
            folders: BTreeSet::from([PathBuf::new()]),
        };
        for line in listing.split(|&b| b == 0).filter(|line| !line.is_empty()) {
            let line = String::from_utf8_lossy(line);
            let Some((head, name)) = line.split_once('\t') else {
                continue;
            };
            let mut head = head.split(' ');
            let (Some(mode), Some(_), Some(id)) = (head.next(), head.next(), head.next()) else {
                continue;
            };
            let kind = match mode {
                "120000" => EntryKind::Link,
                "160000" => EntryKind::Submodule,
                _ => EntryKind::File,
            };
            let path = PathBuf::from(name);
            let mut parent = path.parent();
            while let Some(folder) = parent {
                if !tree.folders.insert(folder.to_owned()) {
                    break;
                }
                parent = folder.parent();
            }
            tree.entries.insert(
                path,
                Entry {
                    kind,
                    id: id.to_owned(),
                },
            );
        }
        Ok(tree)
    }

    fn is_shallow(&self) -> bool {
        self.git(&["rev-parse", "--is-shallow-repository"])
            .is_ok_and(|answer| answer.trim() == "true")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        // Nothing here needs the index, and a prompt would hang a CI job.
        command
            .arg("--no-optional-locks")
            .arg("-C")
            .arg(&self.folder)
            .args(args);
        command
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .stdin(Stdio::null());
        command
    }

    fn git_bytes(&self, args: &[&str]) -> Result<Vec<u8>, GitError> {
        let output = self.command(args).output().map_err(GitError::Missing)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(GitError::Failed {
            command: args.first().copied().unwrap_or_default().to_owned(),
            message,
        })
    }

    fn git(&self, args: &[&str]) -> Result<String, GitError> {
        self.git_bytes(args)
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    fn blob(&self, id: &str) -> io::Result<Arc<Vec<u8>>> {
        // A panic elsewhere while a lock is held leaves both maps usable.
        if let Some(blob) = self
            .blobs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(id)
        {
            return Ok(Arc::clone(blob));
        }
        let mut batch = self.batch.lock().unwrap_or_else(PoisonError::into_inner);
        if batch.is_none() {
            *batch = Some(self.start_batch()?);
        }
        let answer = batch.as_mut().map_or_else(
            || Err(io::ErrorKind::BrokenPipe.into()),
            |batch| batch.read(id),
        );
        if answer.is_err() {
            // What is still in the pipe belongs to another question.
            *batch = None;
        }
        let blob = Arc::new(answer?);
        self.blobs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id.to_owned(), Arc::clone(&blob));
        Ok(blob)
    }

    fn start_batch(&self) -> io::Result<Batch> {
        let mut command = self.command(&["cat-file", "--batch"]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(requests), Some(answers)) => Ok(Batch {
                child,
                requests,
                answers: BufReader::new(answers),
            }),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl Batch {
    fn read(&mut self, id: &str) -> io::Result<Vec<u8>> {
        self.requests.write_all(format!("{id}\n").as_bytes())?;
        self.requests.flush()?;
        let mut head = String::new();
        self.answers.read_line(&mut head)?;
        // `<id> blob <size>`, or `<id> missing`.
        let mut words = head.split_whitespace().skip(1);
        let (kind, size) = (
            words.next(),
            words.next().and_then(|size| size.parse::<usize>().ok()),
        );
        let (Some("blob"), Some(size)) = (kind, size) else {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                format!("git has no object {id} (a partial clone?)"),
            ));
        };
        let mut content = vec![0; size + 1];
        self.answers.read_exact(&mut content)?;
        content.truncate(size);
        Ok(content)
    }
}

fn is_object_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// The files of one commit. Paths are relative to the repository's top.
pub struct GitTree {
    repository: Arc<Repository>,
    commit: String,
    entries: BTreeMap<PathBuf, Entry>,
    folders: BTreeSet<PathBuf>,
}

struct Entry {
    kind: EntryKind,
    id: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    File,
    Link,
    Submodule,
}

/// As the kernel has it: more links than this on one path are a circle.
const MAX_LINKS: usize = 40;

impl GitTree {
    /// The commit's full id.
    pub fn commit(&self) -> &str {
        &self.commit
    }

    /// Every path that ends in that name, in order.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Path> {
        self.entries
            .keys()
            .filter(move |path| path.file_name().is_some_and(|n| n == name))
            .map(PathBuf::as_path)
    }

    /// The path with every symbolic link followed, inside of the tree only.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        let mut rest: Vec<_> = normalise(path)
            .components()
            .map(|c| c.as_os_str().to_owned())
            .collect();
        rest.reverse();
        let mut at = PathBuf::new();
        let mut links = 0;
        while let Some(part) = rest.pop() {
            at.push(&part);
            let Some(entry) = self.entries.get(&at) else {
                continue;
            };
            match entry.kind {
                EntryKind::File => {}
                EntryKind::Link => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(io::Error::other("a circle of symbolic links"));
                    }
                    let target = self.repository.blob(&entry.id)?;
                    let target = PathBuf::from(String::from_utf8_lossy(&target).into_owned());
                    at.pop();
                    let joined = normalise(&at.join(target));
                    if joined
                        .components()
                        .next()
                        .is_some_and(|c| !matches!(c, Component::Normal(_)))
                    {
                        return Err(io::Error::other(
                            "a symbolic link that leads out of the repository",
                        ));
                    }
                    at = PathBuf::new();
                    rest.extend(joined.components().rev().map(|c| c.as_os_str().to_owned()));
                }
                EntryKind::Submodule => {
                    return Err(io::Error::other(format!(
                        "{} is a submodule, whose files are in another repository",
                        at.display()
                    )));
                }
            }
        }
        Ok(at)
    }
}

impl Files for GitTree {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let path = self.resolve(path)?;
        match self.entries.get(&path) {
            Some(entry) if entry.kind == EntryKind::File => {
                self.repository.blob(&entry.id).map(|blob| blob.to_vec())
            }
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// A link that leads nowhere counts as a file: reading it then fails and is reported, where a file that is not there
    /// would be passed over in silence.
    fn is_file(&self, path: &Path) -> bool {
        let is_file = |path: &Path| {
            self.entries
                .get(path)
                .is_some_and(|e| e.kind == EntryKind::File)
        };
        self.resolve(path).map_or(true, |path| is_file(&path))
    }

    fn is_dir(&self, path: &Path) -> bool {
        self.resolve(path)
            .is_ok_and(|path| self.folders.contains(&path))
    }

    fn list(&self, dir: &Path) -> Vec<String> {
        let Ok(dir) = self.resolve(dir) else {
            return Vec::new();
        };
        let names: BTreeSet<String> = self
            .entries
            .range(dir.clone()..)
            .map(|(path, _)| path)
            .take_while(|path| path.starts_with(&dir))
            .filter_map(|path| {
                path.strip_prefix(&dir)
                    .ok()?
                    .components()
                    .next()?
                    .as_os_str()
                    .to_str()
                    .map(str::to_owned)
            })
            .collect();
        names.into_iter().collect()
    }
}
