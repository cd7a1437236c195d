//! Follows the modules of a target from its root file, as rustc does (`rustc_expand::module`).

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use syn::Attribute;
use syn::parse::Parser as _;

use crate::cfg::{ActiveAttrs, Cfg3};
use crate::codes::{self, Code};
use crate::files::{Files, display, normalise};
use crate::finding::{Finding, Findings, Severity};
use crate::flowx_names::WORDS;
use crate::scan::item_macros::{Arms, bodies, branches};
use crate::scan::outline::{
    Outline, OutlineCall, OutlineItem, OutlineMod, line_column, outline, outline_of,
};
use crate::scan::tree::{FileId, Module, ModuleId, SourceFile, Tree};

/// Where `mod x;` looks: the folder, and the name that stands between it and the file when the module around is `name.rs` and
/// not `name/mod.rs`.
#[derive(Clone)]
struct Place {
    dir: PathBuf,
    relative: Option<String>,
}

/// Where a list of items stands.
#[derive(Clone)]
struct Around {
    /// The module they belong to.
    module: ModuleId,
    /// The file with their text.
    file: FileId,
    /// The inline modules of that file around them.
    inline: Vec<usize>,
    place: Place,
    /// Whether they are there at all, beyond the cfg of the module: what a macro around them says.
    cfg: Cfg3,
}

pub(crate) struct Loader<'a> {
    pub(crate) files: &'a dyn Files,
    pub(crate) findings: &'a Findings,
    pub(crate) tree: Tree,
    ids: BTreeMap<PathBuf, FileId>,
    outlines: Vec<Outline>,
    stack: Vec<PathBuf>,
    /// Macros by example, and the file each stands in.
    macros: BTreeMap<String, Vec<(FileId, Arms)>>,
}

/// What FlowX's words are called in this tree, other names included.
struct Words(Vec<String>);

impl<'a> Loader<'a> {
    pub(crate) fn new(files: &'a dyn Files, findings: &'a Findings, tree: Tree) -> Self {
        Self {
            files,
            findings,
            tree,
            ids: BTreeMap::new(),
            outlines: Vec::new(),
            stack: Vec::new(),
            macros: BTreeMap::new(),
        }
    }

    /// The whole tree of a root file.
    pub(crate) fn root(mut self, root: &Path) -> Tree {
        let root = normalise(root);
        match self.open(&root) {
            Ok(file) => {
                let module =
                    self.push(None, "crate".to_owned(), file, Cfg3::True, Vec::new(), true);
                let place = Place {
                    dir: folder(&root),
                    relative: None,
                };
                self.file(module, file, place);
            }
            Err(error) => {
                let shown = display(&self.tree.package, &root);
                let message = format!("cannot read the root file: {error}");
                self.findings
                    .push(Finding::new(codes::FILE_UNREADABLE, shown, message));
            }
        }
        self.other_names();
        self.tree
    }

    /// `use flow as f` makes `#[f]` a declaration, wherever it is used: looks again at the files that seemed to declare nothing.
    fn other_names(&mut self) {
        let mut words = Words(WORDS.iter().map(|w| (*w).to_owned()).collect());
        let mut fresh: Vec<String> = self
            .outlines
            .iter()
            .flat_map(|o| o.renames.clone())
            .collect();
        fresh.retain(|name| !words.0.contains(name));
        while !fresh.is_empty() {
            words.0.append(&mut fresh);
            let all: Vec<&str> = words.0.iter().map(String::as_str).collect();
            for source in &self.tree.sources {
                let again = outline(&source.text, &all);
                source.declares.set(source.declares.get() || again.declares);
                fresh.extend(
                    again
                        .renames
                        .into_iter()
                        .filter(|name| !words.0.contains(name)),
                );
            }
            fresh.sort();
            fresh.dedup();
        }
    }

    fn open(&mut self, path: &Path) -> std::io::Result<FileId> {
        if let Some(id) = self.ids.get(path) {
            return Ok(*id);
        }
        let bytes = self.files.read(path)?;
        let text = String::from_utf8(bytes)
            .map_err(|_| std::io::Error::new(std::io::ErrorKind::InvalidData, "it is not UTF-8"))?;
        // A checkout with other line ends is the same source.
        let text = if text.contains('\r') {
            text.replace("\r\n", "\n")
        } else {
            text
        };
        let read = outline(&text, WORDS);
        let shown = display(&self.tree.package, path);
        let declares = Cell::new(read.declares);
        let ast = OnceCell::new();
        let id = self.add(
            SourceFile {
                path: path.to_path_buf(),
                shown,
                text,
                declares,
                fragment: false,
                ast,
                impls: read.impls,
                statics: read.statics,
            },
            read,
        );
        self.ids.insert(path.to_path_buf(), id);
        Ok(id)
    }

    fn add(&mut self, source: SourceFile, read: Outline) -> FileId {
        let id = FileId(self.tree.sources.len() as u32);
        for (name, range) in &read.macros {
            let arms = Arms::read(&source.text, range.clone());
            self.macros
                .entry(name.clone())
                .or_default()
                .push((id, arms));
        }
        self.tree.sources.push(source);
        self.outlines.push(read);
        id
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
        let (children, names) = (Vec::new(), OnceCell::new());
        self.tree.modules.push(Module {
            parent,
            name,
            path,
            file,
            cfg,
            inline,
            public,
            children,
            names,
        });
        if let Some(p) = parent {
            self.tree.modules[p.0 as usize].children.push(id);
        }
        id
    }

    fn file(&mut self, module: ModuleId, file: FileId, place: Place) {
        self.stack
            .push(self.tree.sources[file.0 as usize].path.clone());
        let items = self.outlines[file.0 as usize].items.clone();
        let around = Around {
            module,
            file,
            inline: Vec::new(),
            place,
            cfg: Cfg3::True,
        };
        self.items(&around, &items);
        self.stack.pop();
    }

    fn items(&mut self, around: &Around, items: &[OutlineItem]) {
        for item in items {
            match item {
                OutlineItem::Mod(item) => self.module(around, item),
                OutlineItem::Call(call) => self.call(around, call),
                OutlineItem::InBlock(item) => {
                    // Nobody outside of the function can name it, and what the function hangs on has not been read.
                    let cfg = Cfg3::Unknown("the function around it".to_owned());
                    let around = Around {
                        cfg: around.cfg.clone().and(cfg),
                        ..around.clone()
                    };
                    self.module(
                        &around,
                        &OutlineMod {
                            name: format!("{{{}}}", item.name),
                            ..item.clone()
                        },
                    );
                }
            }
        }
    }

    fn report(&self, around: &Around, code: Code, at: usize, message: String) {
        let source = &self.tree.sources[around.file.0 as usize];
        let (line, column) = line_column(&source.text, at);
        self.findings
            .push(Finding::new(code, source.shown.clone(), message).at_line(line, column));
    }

    /// The `cfg`s and `path`s among attributes, evaluated. `None` when rustc would refuse them, which has been reported.
    fn active(&self, around: &Around, attrs: &[Range<usize>], at: usize) -> Option<ActiveAttrs> {
        let text = &self.tree.sources[around.file.0 as usize].text;
        let mut parsed: Vec<Attribute> = Vec::new();
        for range in attrs {
            let written = &text[range.clone()];
            let inside = written.trim_start_matches(['#', '!', ' ', '[', '\n', '\t']);
            // No other attribute has a say in where a module is and whether it is compiled.
            if !(inside.starts_with("cfg") || inside.starts_with("path")) {
                continue;
            }
            let outer = written.replacen("#!", "#", 1);
            match Attribute::parse_outer.parse_str(&outer) {
                Ok(attrs) => parsed.extend(attrs),
                Err(error) => {
                    self.report(around, codes::CFG_MALFORMED, range.start, error.to_string());
                    return None;
                }
            }
        }
        match self.tree.cfg.active(&parsed) {
            Ok(active) => Some(active),
            Err(error) => {
                self.report(around, codes::CFG_MALFORMED, at, error.to_string());
                None
            }
        }
    }

    fn module(&mut self, around: &Around, item: &OutlineMod) {
        let Some(active) = self.active(around, &item.attrs, item.at) else {
            return;
        };
        let outside = self
            .tree
            .module(around.module)
            .cfg
            .clone()
            .and(around.cfg.clone());
        let cfg = outside.and(active.cfg.clone());
        if cfg.is_false() {
            return;
        }
        let certain = active.attrs.iter().find_map(path_value);
        let mut paths: Vec<(Option<String>, Cfg3)> = Vec::new();
        // Where the file is may hang on what nobody has told: then each place is looked at, and none is certain.
        for (attr, why) in &active.unknown {
            paths.extend(path_value(attr).map(|path| (Some(path), Cfg3::Unknown(why.clone()))));
        }
        let otherwise = paths.first().map_or(Cfg3::True, |(_, why)| why.clone());
        paths.push((certain, otherwise));
        for (path, sure) in paths {
            let cfg = cfg.clone().and(sure);
            match &item.body {
                Some(body) => self.inline(around, item, body, cfg, path),
                None => self.outlined(around, item, cfg, path),
            }
        }
    }

    fn inline(
        &mut self,
        around: &Around,
        item: &OutlineMod,
        body: &[OutlineItem],
        cfg: Cfg3,
        path: Option<String>,
    ) {
        let place = match path {
            // Here, for reasons of history, the path is the folder itself.
            Some(path) => Place {
                dir: normalise(&around.place.dir.join(path)),
                relative: None,
            },
            None => {
                let mut dir = around.place.dir.clone();
                dir.extend(&around.place.relative);
                dir.push(&item.name);
                Place {
                    dir,
                    relative: None,
                }
            }
        };
        let mut inline = around.inline.clone();
        inline.push(item.ordinal);
        let module = self.push(
            Some(around.module),
            item.name.clone(),
            around.file,
            cfg,
            inline.clone(),
            item.public,
        );
        let inside = Around {
            module,
            file: around.file,
            inline,
            place,
            cfg: Cfg3::True,
        };
        self.items(&inside, body);
    }

    fn outlined(&mut self, around: &Around, item: &OutlineMod, cfg: Cfg3, path: Option<String>) {
        let name = &item.name;
        let candidates = match path {
            Some(path) => {
                let path = normalise(&around.place.dir.join(path));
                // A file that `#[path]` names counts as a `mod.rs`.
                let place = Place {
                    dir: folder(&path),
                    relative: None,
                };
                vec![(path, place)]
            }
            None => {
                let mut dir = around.place.dir.clone();
                dir.extend(&around.place.relative);
                let plain = dir.join(format!("{name}.rs"));
                let nested = dir.join(name);
                vec![
                    (
                        plain,
                        Place {
                            dir: dir.clone(),
                            relative: Some(name.clone()),
                        },
                    ),
                    (
                        nested.join("mod.rs"),
                        Place {
                            dir: nested,
                            relative: None,
                        },
                    ),
                ]
            }
        };
        let tried: Vec<String> = candidates
            .iter()
            .map(|(p, _)| display(&self.tree.package, p))
            .collect();
        let (mut found, missing): (Vec<_>, Vec<_>) = candidates
            .into_iter()
            .partition(|(p, _)| self.files.is_file(p));
        self.tree.absent.extend(missing.into_iter().map(|(p, _)| p));
        if found.len() > 1 {
            let message = format!("module `{name}` is both {} and {}", tried[0], tried[1]);
            return self.report(around, codes::FILE_TWICE, item.at, message);
        }
        let Some((path, place)) = found.pop() else {
            // Where it is not certain that the module is there, rustc may well do without its file.
            if cfg.is_true() {
                let message = format!(
                    "module `{name}` has no file: {} is not there",
                    tried.join(" nor ")
                );
                self.report(around, codes::FILE_MISSING, item.at, message);
            }
            return;
        };
        if self.stack.contains(&path) {
            return self.report(
                around,
                codes::MODULE_CYCLE,
                item.at,
                format!("module `{name}` contains itself"),
            );
        }
        let file = match self.open(&path) {
            Ok(file) => file,
            Err(error) => {
                let message = format!(
                    "cannot read {}: {error}",
                    display(&self.tree.package, &path)
                );
                return self.report(around, codes::FILE_UNREADABLE, item.at, message);
            }
        };
        // `#![cfg(…)]` at the top of the file says the same as `#[cfg(…)]` on the module.
        let inner = self.outlines[file.0 as usize].inner.clone();
        let at_top = Around {
            file,
            ..around.clone()
        };
        let Some(active) = self.active(&at_top, &inner, 0) else {
            return;
        };
        let cfg = cfg.and(active.cfg);
        if cfg.is_false() {
            return;
        }
        let module = self.push(
            Some(around.module),
            name.clone(),
            file,
            cfg,
            Vec::new(),
            item.public,
        );
        self.file(module, file, place);
    }

    fn call(&mut self, around: &Around, call: &OutlineCall) {
        let text = &self.tree.sources[around.file.0 as usize].text;
        let tokens = &text[call.tokens.clone()];
        if call.name == "include" {
            return self.include(around, call);
        }
        if tokens.trim().is_empty() {
            let Some(active) = self.active(around, &call.attrs, call.at) else {
                return;
            };
            let around = Around {
                cfg: around.cfg.clone().and(active.cfg),
                ..around.clone()
            };
            return self.written(&around, &call.name);
        }
        // Nothing else in a macro has a say in the modules.
        if !tokens.contains("mod ") && !tokens.contains("include") {
            return;
        }
        let Some(active) = self.active(around, &call.attrs, call.at) else {
            return;
        };
        let around = Around {
            cfg: around.cfg.clone().and(active.cfg),
            ..around.clone()
        };
        if around.cfg.is_false() {
            return;
        }
        if call.name == "cfg_if" || call.name == "cfg_select" {
            let mut before = Cfg3::False;
            for branch in branches(text, call.tokens.clone()) {
                let taken = match &branch.cfg {
                    None => Cfg3::True,
                    Some(predicate) => {
                        match predicate.parse().map(|tokens| self.tree.cfg.eval(tokens)) {
                            Ok(Ok(value)) => value,
                            _ => {
                                return self.report(
                                    &around,
                                    codes::CFG_MALFORMED,
                                    call.at,
                                    format!("cfg({predicate})"),
                                );
                            }
                        }
                    }
                };
                let cfg = before.clone().not().and(taken.clone());
                before = before.or(taken);
                self.fragment(&around, branch.body, cfg);
            }
            return;
        }
        let unknown = Cfg3::Unknown(format!("what `{}!` makes of it", call.name));
        let known = match self.macros.get(&call.name).map(Vec::as_slice) {
            Some([(_, arms)]) => arms.passes_items(),
            _ => None,
        };
        let cfg = match known.map(|attrs| Attribute::parse_outer.parse_str(attrs)) {
            Some(Ok(attrs)) => self.tree.cfg.of_attributes(&attrs).unwrap_or(unknown),
            _ => unknown,
        };
        if known.is_some() {
            return self.fragment(&around, call.tokens.clone(), cfg);
        }
        // Whatever stands in its brackets, at any depth, may or may not come out of it.
        let text = self.tree.sources[around.file.0 as usize].text.clone();
        self.fragment(&around, call.tokens.clone(), cfg.clone());
        for body in bodies(&text, call.tokens.clone()) {
            self.fragment(&around, body, cfg.clone());
        }
    }

    /// The items that a macro without parameters writes.
    fn written(&mut self, around: &Around, name: &str) {
        let all = self.macros.get(name).cloned().unwrap_or_default();
        // Of several macros of one name, which one is meant depends on more than has been read.
        let cfg = match all.len() {
            1 => Cfg3::True,
            _ => Cfg3::Unknown(format!("which `{name}!` is meant")),
        };
        for (file, arms) in all {
            if let Some(body) = arms.writes() {
                let there = Around {
                    file,
                    ..around.clone()
                };
                self.fragment(&there, body, cfg.clone());
            }
        }
    }

    /// The items among the tokens of a macro.
    fn fragment(&mut self, around: &Around, range: Range<usize>, cfg: Cfg3) {
        let cfg = around.cfg.clone().and(cfg);
        if cfg.is_false() {
            return;
        }
        let source = &self.tree.sources[around.file.0 as usize];
        let read = outline_of(&source.text, range.clone(), WORDS);
        if read.items.is_empty() {
            return;
        }
        let has_body =
            |item: &OutlineItem| matches!(item, OutlineItem::Mod(OutlineMod { body: Some(_), .. }));
        let items = read.items.clone();
        let file = if items.iter().any(has_body) {
            // A text of its own, in which everything stands where it stood.
            let mut text: String = source.text[..range.start]
                .chars()
                .map(|c| if c == '\n' { '\n' } else { ' ' })
                .collect();
            // Columns count characters, offsets count bytes.
            let padding = range.start - text.len();
            let line = text.rfind('\n').map_or(0, |n| n + 1);
            text.insert_str(line.saturating_sub(1), &" ".repeat(padding));
            text.push_str(&source.text[range]);
            let fragment = SourceFile {
                path: source.path.clone(),
                shown: source.shown.clone(),
                text,
                declares: Cell::new(false),
                fragment: true,
                ast: OnceCell::new(),
                impls: read.impls,
                statics: read.statics,
            };
            self.add(fragment, read)
        } else {
            around.file
        };
        let inside = Around {
            file,
            inline: Vec::new(),
            cfg,
            ..around.clone()
        };
        self.items(&inside, &items);
    }

    fn include(&mut self, around: &Around, call: &OutlineCall) {
        let source = &self.tree.sources[around.file.0 as usize];
        let argument = source.text[call.tokens.clone()]
            .trim()
            .trim_end_matches(',');
        let Some(active) = self.active(around, &call.attrs, call.at) else {
            return;
        };
        let cfg = around.cfg.clone().and(active.cfg);
        if cfg.is_false() || self.tree.module(around.module).cfg.is_false() {
            return;
        }
        let Ok(path) = syn::parse_str::<syn::LitStr>(argument) else {
            let message = format!("what `include!({argument})` brings in the scan does not read");
            return self.report(around, codes::INCLUDE, call.at, message);
        };
        let path = normalise(&folder(&source.path).join(path.value()));
        let shown = display(&self.tree.package, &path);
        if self.stack.contains(&path) {
            return self.report(
                around,
                codes::MODULE_CYCLE,
                call.at,
                format!("{shown} includes itself"),
            );
        }
        match self.open(&path) {
            Ok(file) => {
                if self.tree.sources[file.0 as usize].declares.get() {
                    let source = &self.tree.sources[around.file.0 as usize];
                    let (line, column) = line_column(&source.text, call.at);
                    let message = format!(
                        "{shown} declares something, and what is included the scan cannot tell from its place"
                    );
                    let finding = Finding::new(codes::INCLUDE, source.shown.clone(), message)
                        .at_line(line, column);
                    self.findings.push(
                        finding
                            .severity(Severity::Error)
                            .help("make it a module: mod name;"),
                    );
                }
                let items = self.outlines[file.0 as usize].items.clone();
                let place = Place {
                    dir: folder(&path),
                    relative: None,
                };
                let inside = Around {
                    module: around.module,
                    file,
                    inline: Vec::new(),
                    place,
                    cfg,
                };
                self.stack.push(path);
                self.items(&inside, &items);
                self.stack.pop();
            }
            Err(error) if cfg.is_true() && self.tree.module(around.module).cfg.is_true() => {
                self.report(
                    around,
                    codes::FILE_UNREADABLE,
                    call.at,
                    format!("cannot read {shown}: {error}"),
                );
            }
            Err(_) => {}
        }
    }
}

fn folder(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).to_path_buf()
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
