//! Files and modules of one target.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use syn::Attribute;

use crate::cfg::{ActiveAttrs, Cfg3, CfgError, CfgSet};
use crate::codes;
use crate::files::{Files, Memory, normalise};
use crate::finding::{Finding, Findings};
use crate::scan::externs::Externs;
use crate::scan::load::Loader;
use crate::scan::names::Names;
use crate::scan::outline::{OutlineItem, outline};
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
    /// Whether an attribute in it goes by one of FlowX's words.
    pub(crate) declares: Cell<bool>,
    /// Whether it is the tokens of a macro in a file, padded so that everything stands where it stood.
    pub(crate) fragment: bool,
    pub(crate) ast: OnceCell<Result<syn::File, syn::Error>>,
    /// Whether an `impl` stands among its items.
    pub(crate) impls: bool,
    /// Whether a `static` may stand among its items.
    pub(crate) statics: bool,
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

impl Tree {
    /// Reads the modules of a target. What cannot be read is reported, and left out.
    pub fn load(options: &TreeOptions<'_>, findings: &Findings) -> Tree {
        let tree = Tree {
            package: normalise(options.package),
            cfg: options.cfg.clone(),
            externs: options.externs.clone(),
            sources: Vec::new(),
            modules: Vec::new(),
            others: RefCell::default(),
            absent: BTreeSet::new(),
        };
        Loader::new(options.files, findings, tree).root(options.root)
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

    /// Whether a module may hold a FlowX attribute, or the root the call that includes the manifest.
    pub(crate) fn may_declare(&self, id: ModuleId) -> bool {
        let source = self.source(id);
        // What stands in the tokens of a macro is reported there.
        !source.fragment
            && (source.declares.get()
                || (id == ModuleId(0) && source.text.contains("include_manifest")))
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

    /// The names of its modules as the outline has them, those inside of inline modules in braces. For tests.
    #[doc(hidden)]
    pub fn outline_names(&self) -> String {
        fn shown(items: &[OutlineItem]) -> String {
            let mut out = String::new();
            for item in items {
                if let OutlineItem::Mod(m) = item {
                    out.push_str(&m.name);
                    if let Some(body) = &m.body {
                        out.push_str(&format!("{{{}}}", shown(body)));
                    }
                    out.push(' ');
                }
            }
            out
        }
        shown(&outline(&self.text, &[]).items)
    }
}
