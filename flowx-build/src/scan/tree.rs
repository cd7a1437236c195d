//! Files and modules of one target.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use syn::Attribute;

use crate::cfg::{ActiveAttrs, Cfg3, CfgError, CfgSet};
use crate::codes;
use crate::files::{Files, Memory, display, normalise};
use crate::finding::{Finding, Findings};
use crate::scan::externs::Externs;
use crate::scan::names::Names;
use crate::scan::resolve::Resolver;

/// One module of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleId(pub(crate) u32);

/// One file of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub(crate) u32);

/// What a tree is built for.
pub struct TreeOptions<'a> {
    /// Where to read.
    pub files: &'a dyn Files,
    /// The package's folder; findings show paths relative to it.
    pub package: &'a Path,
    /// The target's root file.
    pub root: &'a Path,
    /// What is compiled.
    pub cfg: Rc<CfgSet>,
    /// Names of other crates.
    pub externs: Rc<Externs>,
}

/// The modules of one target.
pub struct Tree {
    pub(crate) package: PathBuf,
    pub(crate) cfg: Rc<CfgSet>,
    pub(crate) externs: Rc<Externs>,
    pub(crate) sources: Vec<SourceFile>,
    pub(crate) modules: Vec<Module>,
    /// Other files that were read on behalf of this tree.
    pub(crate) others: RefCell<BTreeSet<PathBuf>>,
    /// Files that were looked for and not there.
    pub(crate) absent: BTreeSet<PathBuf>,
}

/// One source file.
pub struct SourceFile {
    /// Where it is.
    pub path: PathBuf,
    /// How it is shown: relative to the package, with `/`.
    pub shown: String,
    /// What it says.
    pub text: String,
    pub(crate) ast: OnceCell<Result<syn::File, syn::Error>>,
}

/// One module.
pub struct Module {
    /// The module around it; none for the root.
    pub parent: Option<ModuleId>,
    /// Its name; `crate` for the root.
    pub name: String,
    /// Its path: `crate::a::b`.
    pub path: String,
    /// The file its items stand in.
    pub file: FileId,
    /// Whether it is compiled: its own `cfg`s and those of every module around it.
    pub cfg: Cfg3,
    /// Which inline modules of the file lead to it, each by its place among the `mod` items there.
    pub(crate) inline: Vec<usize>,
    /// Whether `pub` stands before it.
    pub(crate) public: bool,
    pub(crate) children: Vec<ModuleId>,
    pub(crate) names: OnceCell<Names>,
}

/// Where `mod x;` looks, in the terms of rustc: the folder, and the name that stands between it and the file when the
/// module around is `name.rs` and not `name/mod.rs`.
#[derive(Clone)]
struct Place {
    dir: PathBuf,
    relative: Option<String>,
}

/// A `mod` item as the outline of a file has it.
pub(crate) struct OutlineMod {
    pub(crate) name: String,
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) public: bool,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) body: Option<Vec<OutlineMod>>,
}

fn outline(items: &[syn::Item]) -> Vec<OutlineMod> {
    let mods = items.iter().filter_map(|item| match item {
        syn::Item::Mod(m) => Some(m),
        _ => None,
    });
    mods.map(|m| {
        let start = m.ident.span().start();
        OutlineMod {
            name: m.ident.to_string().trim_start_matches("r#").to_owned(),
            attrs: m.attrs.clone(),
            public: matches!(m.vis, syn::Visibility::Public(_)),
            line: start.line as u32,
            column: start.column as u32 + 1,
            body: m.content.as_ref().map(|(_, items)| outline(items)),
        }
    })
    .collect()
}

impl Tree {
    /// Reads the modules of a target. What cannot be read is reported, and left out.
    pub fn load(options: &TreeOptions<'_>, findings: &Findings) -> Tree {
        let mut loader = Loader {
            files: options.files,
            findings,
            tree: Tree {
                package: normalise(options.package),
                cfg: options.cfg.clone(),
                externs: options.externs.clone(),
                sources: Vec::new(),
                modules: Vec::new(),
                others: RefCell::default(),
                absent: BTreeSet::new(),
            },
            ids: BTreeMap::new(),
            stack: Vec::new(),
        };
        let root = normalise(options.root);
        let dir = root.parent().unwrap_or(Path::new("")).to_path_buf();
        match loader.open(&root) {
            Ok(file) => {
                let module =
                    loader.push(None, "crate".to_owned(), file, Cfg3::True, Vec::new(), true);
                loader.file(
                    module,
                    file,
                    Place {
                        dir,
                        relative: None,
                    },
                );
            }
            Err(error) => {
                let shown = display(&loader.tree.package, &root);
                findings.push(Finding::new(
                    codes::FILE_UNREADABLE,
                    shown,
                    format!("cannot read the root file: {error}"),
                ));
            }
        }
        loader.tree
    }

    /// The tree of one root file that stands alone, with FlowX as `flowx_runtime` and a plain Linux configuration.
    /// For tests.
    pub fn from_source(text: &str) -> Tree {
        Self::from_files([("src/lib.rs", text)])
    }

    /// The tree of `src/lib.rs` among the given files. For tests.
    pub fn from_files<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Tree {
        let files = Memory::new(files);
        let mut cfg = CfgSet::builtin();
        for on in [
            "unix",
            "target_os = \"linux\"",
            "target_family = \"unix\"",
            "target_pointer_width = \"64\"",
        ] {
            cfg.set(on, true);
        }
        cfg.set("feature = \"\"", false);
        Tree::load(
            &TreeOptions {
                files: &files,
                package: Path::new(""),
                root: Path::new("src/lib.rs"),
                cfg: Rc::new(cfg),
                externs: Rc::new(Externs::for_tests()),
            },
            &Findings::new(),
        )
    }

    /// The root module, when its file could be read.
    pub fn root(&self) -> Option<ModuleId> {
        (!self.modules.is_empty()).then_some(ModuleId(0))
    }

    /// Every module, the root first.
    pub fn modules(&self) -> impl Iterator<Item = ModuleId> + use<> {
        (0..self.modules.len() as u32).map(ModuleId)
    }

    /// One module.
    pub fn module(&self, id: ModuleId) -> &Module {
        &self.modules[id.0 as usize]
    }

    /// The file that a module's items stand in.
    pub fn source(&self, id: ModuleId) -> &SourceFile {
        &self.sources[self.module(id).file.0 as usize]
    }

    /// Every file, in the order read.
    pub fn sources(&self) -> &[SourceFile] {
        &self.sources
    }

    /// The items of a module, whether compiled or not; see [`Tree::cfg`]. Parses the file when that has not happened yet.
    /// Empty when the file cannot be parsed.
    pub fn items(&self, id: ModuleId) -> &[syn::Item] {
        let module = self.module(id);
        let Ok(file) = self.source(id).ast() else {
            return &[];
        };
        let mut items = &file.items[..];
        for place in &module.inline {
            let mods = items.iter().filter_map(|item| match item {
                syn::Item::Mod(m) => Some(m),
                _ => None,
            });
            match mods
                .into_iter()
                .nth(*place)
                .and_then(|m| m.content.as_ref())
            {
                Some((_, inner)) => items = inner,
                None => return &[],
            }
        }
        items
    }

    /// The names in this tree.
    pub fn resolver(&self) -> Resolver<'_> {
        Resolver::new(self)
    }

    /// The names of other crates.
    pub fn externs(&self) -> &Externs {
        &self.externs
    }

    /// Whether a thing with these attributes is compiled, as far as its own attributes say.
    ///
    /// # Errors
    /// When a `cfg` cannot be parsed; rustc refuses it too.
    pub fn cfg(&self, attrs: &[Attribute]) -> Result<Cfg3, CfgError> {
        self.cfg.of_attributes(attrs)
    }

    /// The attributes with every `cfg_attr` expanded.
    ///
    /// # Errors
    /// When a `cfg` or `cfg_attr` cannot be parsed; rustc refuses it too.
    pub fn active(&self, attrs: &[Attribute]) -> Result<ActiveAttrs, CfgError> {
        self.cfg.active(attrs)
    }

    /// Whether every module on the way to one is `pub`.
    pub(crate) fn is_public(&self, id: ModuleId) -> bool {
        let module = self.module(id);
        module.public && module.parent.is_none_or(|p| self.is_public(p))
    }

    /// Whether a module may hold a FlowX attribute.
    pub(crate) fn may_declare(&self, id: ModuleId) -> bool {
        let text = &self.source(id).text;
        crate::flowx_names::WORDS.iter().any(|w| text.contains(w)) || id == ModuleId(0)
    }

    /// Notes that a file was read, so that the build looks again when it changes.
    pub(crate) fn note_read(&self, path: &Path) {
        self.others.borrow_mut().insert(path.to_path_buf());
    }

    /// A finding at a span in a module's file.
    pub fn finding(
        &self,
        code: codes::Code,
        module: ModuleId,
        span: proc_macro2::Span,
        message: impl Into<String>,
    ) -> Finding {
        Finding::new(code, self.source(module).shown.clone(), message).at(span)
    }
}

impl SourceFile {
    /// The file parsed; once.
    pub fn ast(&self) -> Result<&syn::File, &syn::Error> {
        self.ast
            .get_or_init(|| syn::parse_file(&self.text))
            .as_ref()
    }
}

struct Loader<'a> {
    files: &'a dyn Files,
    findings: &'a Findings,
    tree: Tree,
    ids: BTreeMap<PathBuf, FileId>,
    stack: Vec<PathBuf>,
}

impl Loader<'_> {
    fn open(&mut self, path: &Path) -> std::io::Result<FileId> {
        if let Some(id) = self.ids.get(path) {
            return Ok(*id);
        }
        let bytes = self.files.read(path)?;
        let text = String::from_utf8(bytes)
            .map_err(|_| std::io::Error::new(std::io::ErrorKind::InvalidData, "it is not UTF-8"))?;
        let text = if text.contains('\r') {
            text.replace("\r\n", "\n")
        } else {
            text
        };
        let id = FileId(self.tree.sources.len() as u32);
        let shown = display(&self.tree.package, path);
        self.tree.sources.push(SourceFile {
            path: path.to_path_buf(),
            shown,
            text,
            ast: OnceCell::new(),
        });
        self.ids.insert(path.to_path_buf(), id);
        Ok(id)
    }

    fn push(
        &mut self,
        parent: Option<ModuleId>,
        name: String,
        file: FileId,
        cfg: Cfg3,
        inline: Vec<usize>,
        public: bool,
    ) -> ModuleId {
        let id = ModuleId(self.tree.modules.len() as u32);
        let path = match parent {
            Some(p) => format!("{}::{name}", self.tree.module(p).path),
            None => name.clone(),
        };
        let names = OnceCell::new();
        self.tree.modules.push(Module {
            parent,
            name,
            path,
            file,
            cfg,
            inline,
            public,
            children: Vec::new(),
            names,
        });
        if let Some(p) = parent {
            self.tree.modules[p.0 as usize].children.push(id);
        }
        id
    }

    fn file(&mut self, module: ModuleId, file: FileId, place: Place) {
        let source = &self.tree.sources[file.0 as usize];
        self.stack.push(source.path.clone());
        match source.ast() {
            Ok(ast) => {
                let mods = outline(&ast.items);
                self.mods(module, file, &place, mods);
            }
            Err(error) => {
                let finding =
                    Finding::new(codes::NOT_RUST, source.shown.clone(), error.to_string())
                        .at(error.span());
                self.findings.push(finding);
            }
        }
        self.stack.pop();
    }

    fn mods(&mut self, parent: ModuleId, file: FileId, place: &Place, mods: Vec<OutlineMod>) {
        for (ordinal, item) in mods.into_iter().enumerate() {
            let shown = self.tree.sources[file.0 as usize].shown.clone();
            let finding = |code, message: String| {
                Finding::new(code, shown.clone(), message).at_line(item.line, item.column)
            };
            let active = match self.tree.cfg.active(&item.attrs) {
                Ok(active) => active,
                Err(error) => {
                    self.findings
                        .push(finding(codes::CFG_MALFORMED, error.to_string()));
                    continue;
                }
            };
            let cfg = self.tree.module(parent).cfg.clone().and(active.cfg);
            if cfg.is_false() {
                continue;
            }
            let path = active.attrs.iter().find_map(path_value);
            if let Some((attr, why)) = active
                .unknown
                .iter()
                .find(|(a, _)| a.path().is_ident("path"))
            {
                let _ = attr;
                self.findings.push(finding(
                    codes::CFG_UNKNOWN,
                    format!("where module `{}` is found hangs on cfg({why})", item.name),
                ));
                continue;
            }
            match item.body {
                Some(body) => {
                    let place = match path {
                        Some(path) => Place {
                            dir: normalise(&place.dir.join(path)),
                            relative: None,
                        },
                        None => {
                            let mut dir = place.dir.clone();
                            dir.extend(&place.relative);
                            dir.push(&item.name);
                            Place {
                                dir,
                                relative: None,
                            }
                        }
                    };
                    let mut inline = self.tree.module(parent).inline.clone();
                    inline.push(ordinal);
                    let module = self.push(Some(parent), item.name, file, cfg, inline, item.public);
                    self.mods(module, file, &place, body);
                }
                None => {
                    let found = match path {
                        Some(path) => {
                            let path = normalise(&place.dir.join(path));
                            let dir = path.parent().unwrap_or(Path::new("")).to_path_buf();
                            vec![(
                                path,
                                Place {
                                    dir,
                                    relative: None,
                                },
                            )]
                        }
                        None => {
                            let mut dir = place.dir.clone();
                            dir.extend(&place.relative);
                            let plain = dir.join(format!("{}.rs", item.name));
                            let nested = dir.join(&item.name).join("mod.rs");
                            vec![
                                (
                                    plain,
                                    Place {
                                        dir: dir.clone(),
                                        relative: Some(item.name.clone()),
                                    },
                                ),
                                (
                                    nested,
                                    Place {
                                        dir: dir.join(&item.name),
                                        relative: None,
                                    },
                                ),
                            ]
                        }
                    };
                    let tried: Vec<String> = found
                        .iter()
                        .map(|(p, _)| display(&self.tree.package, p))
                        .collect();
                    let (mut found, missing): (Vec<_>, Vec<_>) =
                        found.into_iter().partition(|(p, _)| self.files.is_file(p));
                    self.tree.absent.extend(missing.into_iter().map(|(p, _)| p));
                    if found.len() > 1 {
                        self.findings.push(finding(
                            codes::FILE_TWICE,
                            format!(
                                "module `{}` is both {} and {}",
                                item.name, tried[0], tried[1]
                            ),
                        ));
                        continue;
                    }
                    let Some((path, place)) = found.pop() else {
                        if cfg.is_true() {
                            self.findings.push(finding(
                                codes::FILE_MISSING,
                                format!(
                                    "module `{}` has no file: neither {}",
                                    item.name,
                                    tried.join(" nor ")
                                ),
                            ));
                        }
                        continue;
                    };
                    if self.stack.contains(&path) {
                        self.findings.push(finding(
                            codes::MODULE_CYCLE,
                            format!("module `{}` contains itself", item.name),
                        ));
                        continue;
                    }
                    match self.open(&path) {
                        Ok(file) => {
                            let module = self.push(
                                Some(parent),
                                item.name,
                                file,
                                cfg,
                                Vec::new(),
                                item.public,
                            );
                            self.file(module, file, place);
                        }
                        Err(error) => self.findings.push(finding(
                            codes::FILE_UNREADABLE,
                            format!(
                                "cannot read {}: {error}",
                                display(&self.tree.package, &path)
                            ),
                        )),
                    }
                }
            }
        }
    }
}

/// The value of `#[path = "…"]`.
fn path_value(attr: &Attribute) -> Option<String> {
    match &attr.meta {
        syn::Meta::NameValue(nv) if nv.path.is_ident("path") => match &nv.value {
            syn::Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Str(s),
                ..
            }) => Some(s.value()),
            _ => None,
        },
        _ => None,
    }
}
