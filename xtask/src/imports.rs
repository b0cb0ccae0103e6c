//! The import graph of the modules of a crate.
//!
//! The children of each module, with the imports between them and their descendants, form a graph.
//! Modules that import each other in a circle cannot be read, tested or moved one at a time, so
//! `tidy` refuses cycles. Imports between a module and its ancestors are not edges: a child may
//! use its parent's declarations. Re-exports are followed to the module that declares an item.
//! Imports in test code are ignored.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Path of a module or an item inside a crate, from its root on.
type ModulePath = Vec<String>;

/// Maximum number of re-exports that are followed for one item.
const MAX_REEXPORTS: usize = 16;

/// Declarations of a module, and the paths of its crate that it names.
#[derive(Debug, Default)]
struct Module {
    file: PathBuf,
    /// Names of declared items, including child modules.
    items: HashSet<String>,
    /// Imported or re-exported names, with their paths.
    imported: HashMap<String, ModulePath>,
    /// Modules that are imported with a glob.
    globs: Vec<ModulePath>,
    /// Every path that code outside of tests names, with its line.
    named: Vec<(ModulePath, usize)>,
}

/// An import from a child module to its sibling.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    /// File with the import.
    pub file: PathBuf,
    /// Line number, from 1 on.
    pub line: usize,
    /// Path of the item.
    pub item: String,
}

/// The imports between the children of one module.
#[derive(Debug, Default)]
pub struct Siblings {
    edges: BTreeMap<(String, String), BTreeSet<Import>>,
}

/// Children of a module that import each other in a circle.
#[derive(Debug)]
pub struct Cycle {
    /// Path of the parent module; empty for the crate's root.
    pub parent: String,
    /// Names of the children.
    pub members: Vec<String>,
    /// Imports between the members, by the names of both ends.
    pub edges: Vec<((String, String), Vec<Import>)>,
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.parent.is_empty() { "the crate's root" } else { &self.parent };
        writeln!(
            f,
            "{} modules of {place} import each other in a circle: {}",
            self.members.len(),
            self.members.join(", ")
        )?;
        let mut edges: Vec<_> = self.edges.iter().collect();
        edges.sort_by_key(|(_, imports)| imports.len());
        for ((from, to), imports) in edges {
            let first = &imports[0];
            writeln!(
                f,
                "  {from} -> {to}: {} imports, as {} ({}:{})",
                imports.len(),
                first.item,
                first.file.display(),
                first.line
            )?;
        }
        Ok(())
    }
}

/// Returns the cycles among the modules of the crate whose sources are in `sources`.
///
/// # Errors
/// A message if a file cannot be read or parsed.
pub fn cycles(sources: &Path) -> Result<Vec<Cycle>, String> {
    let modules = read_modules(sources)?;
    let mut by_parent: BTreeMap<ModulePath, Siblings> = BTreeMap::new();
    for (path, module) in &modules {
        for (named, line) in &module.named {
            let Some(target) = resolve(&modules, named) else { continue };
            let common = path.iter().zip(&target).take_while(|(own, other)| own == other).count();
            if common < path.len() && common < target.len() {
                let ends = (path[common].clone(), target[common].clone());
                let import = Import { file: module.file.clone(), line: *line, item: named.join("::") };
                by_parent.entry(path[..common].to_vec()).or_default().edges.entry(ends).or_default().insert(import);
            }
        }
    }
    let cycles = by_parent.iter().flat_map(|(parent, siblings)| siblings.cycles(&parent.join("::")));
    Ok(cycles.collect())
}

impl Siblings {
    fn cycles(&self, parent: &str) -> Vec<Cycle> {
        let nodes: BTreeSet<&String> = self.edges.keys().flat_map(|(from, to)| [from, to]).collect();
        let reached: BTreeMap<_, _> = nodes.iter().map(|&node| (node, self.reached_from(node))).collect();
        let mut seen = BTreeSet::new();
        let mut cycles = Vec::new();
        for &node in &nodes {
            let is_member = |other: &&String| reached[node].contains(*other) && reached[*other].contains(node);
            let members: Vec<String> = nodes.iter().copied().filter(is_member).cloned().collect();
            if members.is_empty() || !seen.insert(members.clone()) {
                continue;
            }
            let inside = |(from, to): &(String, String)| members.contains(from) && members.contains(to);
            let edges = self.edges.iter().filter(|(ends, _)| inside(ends));
            let edges = edges.map(|(ends, imports)| (ends.clone(), imports.iter().cloned().collect())).collect();
            cycles.push(Cycle { parent: parent.to_owned(), members, edges });
        }
        cycles
    }

    /// Returns the nodes that are reachable from a node, including the node itself if it is in a
    /// cycle.
    fn reached_from(&self, start: &str) -> BTreeSet<String> {
        let (mut reached, mut waiting) = (BTreeSet::new(), vec![start.to_owned()]);
        while let Some(node) = waiting.pop() {
            for (_, to) in self.edges.keys().filter(|(from, _)| *from == node) {
                if reached.insert(to.clone()) {
                    waiting.push(to.clone());
                }
            }
        }
        reached
    }
}

/// Returns the module that declares the item of a path, or the path itself if it is a module's.
fn resolve(modules: &BTreeMap<ModulePath, Module>, path: &[String]) -> Option<ModulePath> {
    let mut path = path.to_vec();
    for _ in 0..MAX_REEXPORTS {
        let length = (0..=path.len()).rev().find(|&length| modules.contains_key(&path[..length]))?;
        let (of, rest) = path.split_at(length);
        let Some((name, rest)) = rest.split_first() else { return Some(path) };
        let module = &modules[of];
        if module.items.contains(name) {
            return Some(of.to_vec());
        }
        let declares = |glob: &&ModulePath| {
            resolve(modules, glob).is_some_and(|of| modules.get(&of).is_some_and(|module| module.items.contains(name)))
        };
        let target = match module.imported.get(name) {
            Some(target) => target.clone(),
            None => {
                module.globs.iter().find(declares).map(|glob| [glob.as_slice(), std::slice::from_ref(name)].concat())?
            }
        };
        path = target.into_iter().chain(rest.iter().cloned()).collect();
    }
    None
}

/// Reads all modules of a crate, by their paths.
fn read_modules(sources: &Path) -> Result<BTreeMap<ModulePath, Module>, String> {
    let mut modules = BTreeMap::new();
    let root = ["lib.rs", "main.rs"].map(|name| sources.join(name)).into_iter().find(|file| file.exists());
    let root = root.ok_or_else(|| format!("{}: neither lib.rs nor main.rs", sources.display()))?;
    read_module(&root, sources, Vec::new(), &mut modules)?;
    Ok(modules)
}

/// Reads the module in `file` and its descendants, whose files are in `folder`.
fn read_module(
    file: &Path,
    folder: &Path,
    path: ModulePath,
    modules: &mut BTreeMap<ModulePath, Module>,
) -> Result<(), String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let parsed = syn::parse_file(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut reader = Reader {
        path: &path,
        module: Module { file: file.to_owned(), ..Module::default() },
        children: Vec::new(),
        inline: 0,
    };
    reader.visit_file(&parsed);
    let Reader { module, children, .. } = reader;
    modules.insert(path.clone(), module);
    for child in children {
        let (flat, nested) = (folder.join(format!("{child}.rs")), folder.join(&child).join("mod.rs"));
        let file = if flat.exists() { flat } else { nested };
        read_module(&file, &folder.join(&child), [path.as_slice(), &[child]].concat(), modules)?;
    }
    Ok(())
}

/// Visitor that collects the declarations and paths of a file.
struct Reader<'a> {
    path: &'a ModulePath,
    module: Module,
    /// Names of child modules that have their own file.
    children: Vec<String>,
    /// Number of enclosing inline modules. They count as parts of the file's module.
    inline: usize,
}

impl Reader<'_> {
    /// Returns the crate path of segments that begin with `crate`, `self`, `super` or a child
    /// module.
    fn absolute(&self, segments: &[String]) -> Option<ModulePath> {
        let (first, rest) = segments.split_first()?;
        let base = match first.as_str() {
            "crate" => Vec::new(),
            "self" => self.path.clone(),
            "super" => {
                let above = segments.iter().take_while(|segment| *segment == "super").count();
                let left = self.path.len().checked_sub(above.saturating_sub(self.inline))?;
                let base = self.path.get(..left)?.to_vec();
                return Some([base, segments[above..].to_vec()].concat());
            }
            child if self.children.iter().any(|known| known == child) => {
                return Some([self.path.as_slice(), segments].concat());
            }
            _ => return None,
        };
        Some([base, rest.to_vec()].concat())
    }

    fn name(&mut self, segments: &[String], line: usize) {
        if let Some(path) = self.absolute(segments) {
            self.module.named.push((path, line));
        }
    }

    fn import(&mut self, tree: &syn::UseTree, before: &mut ModulePath) {
        match tree {
            syn::UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.import(&path.tree, before);
                before.pop();
            }
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, before)),
            syn::UseTree::Glob(glob) => {
                self.name(before, glob.span().start().line);
                self.module.globs.extend(self.absolute(before));
            }
            syn::UseTree::Name(name) => self.import_as(before, &name.ident, &name.ident),
            syn::UseTree::Rename(rename) => self.import_as(before, &rename.ident, &rename.rename),
        }
    }

    fn import_as(&mut self, before: &[String], item: &syn::Ident, name: &syn::Ident) {
        let (line, own) = (item.span().start().line, item == "self");
        let segments = if own { before.to_vec() } else { [before, &[item.to_string()]].concat() };
        self.name(&segments, line);
        let known_as = if own && name == "self" { before.last().cloned() } else { Some(name.to_string()) };
        if let (Some(path), Some(known_as)) = (self.absolute(&segments), known_as) {
            self.module.imported.insert(known_as, path);
        }
    }

    /// Names the paths in a macro's tokens that begin with `crate` or `super`.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut segments: Vec<String> = Vec::new();
        let mut line = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) if segments.is_empty() || segments.last().is_some_and(String::is_empty) => {
                    if segments.is_empty() {
                        line = ident.span().start().line;
                    } else {
                        segments.pop();
                    }
                    segments.push(ident.to_string());
                    continue;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && !segments.is_empty() => {
                    // A path segment follows the second colon.
                    if punct.spacing() == proc_macro2::Spacing::Alone {
                        segments.push(String::new());
                    }
                    continue;
                }
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(ident) => {
                    self.name(&std::mem::take(&mut segments), line);
                    (line, segments) = (ident.span().start().line, vec![ident.to_string()]);
                    continue;
                }
                _ => {}
            }
            self.name(&std::mem::take(&mut segments), line);
        }
        self.name(&segments, line);
    }
}

/// Returns true if an item is compiled for tests only.
fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let mut is_test = false;
        if attribute.path().is_ident("cfg") {
            let _ = attribute.parse_nested_meta(|meta| {
                is_test |= meta.path.is_ident("test");
                // Other operands of `all` and `any` do not matter here.
                if meta.input.peek(syn::token::Paren) {
                    let content;
                    syn::parenthesized!(content in meta.input);
                    is_test |= content.parse::<TokenStream>()?.to_string() == "test";
                }
                Ok(())
            });
        }
        is_test
    })
}

/// Returns the attributes of an item, and its name if it has one.
fn declared(item: &syn::Item) -> (&[syn::Attribute], Option<&syn::Ident>) {
    match item {
        syn::Item::Const(item) => (&item.attrs, Some(&item.ident)),
        syn::Item::Enum(item) => (&item.attrs, Some(&item.ident)),
        syn::Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
        syn::Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
        syn::Item::Mod(item) => (&item.attrs, Some(&item.ident)),
        syn::Item::Static(item) => (&item.attrs, Some(&item.ident)),
        syn::Item::Struct(item) => (&item.attrs, Some(&item.ident)),
        syn::Item::Trait(item) => (&item.attrs, Some(&item.ident)),
        syn::Item::Type(item) => (&item.attrs, Some(&item.ident)),
        syn::Item::Union(item) => (&item.attrs, Some(&item.ident)),
        syn::Item::Impl(item) => (&item.attrs, None),
        syn::Item::Use(item) => (&item.attrs, None),
        _ => (&[], None),
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_file(&mut self, file: &'ast syn::File) {
        // The children must be known before paths that begin with them are visited.
        for item in &file.items {
            let (attributes, name) = declared(item);
            if is_test(attributes) {
                continue;
            }
            self.module.items.extend(name.map(ToString::to_string));
            if let syn::Item::Mod(child) = item
                && child.content.is_none()
            {
                self.children.push(child.ident.to_string());
            }
        }
        visit::visit_file(self, file);
    }

    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_test(declared(item).0) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.inline += 1;
        visit::visit_item_mod(self, item);
        self.inline -= 1;
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.import(&item.tree, &mut Vec::new());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if path.leading_colon.is_none() && segments.len() > 1 {
            self.name(&segments, path.span().start().line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        self.tokens(call.tokens.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the files of a crate and returns its cycles as `parent: members`.
    fn cycles_of(name: &str, files: &[(&str, &str)]) -> Vec<String> {
        let sources = std::env::temp_dir().join(format!("vitric-imports-{}-{name}", std::process::id()));
        for (file, text) in files {
            let file = sources.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let found = cycles(&sources).unwrap();
        fs::remove_dir_all(&sources).unwrap();
        found.iter().map(|cycle| format!("{}: {}", cycle.parent, cycle.members.join(" "))).collect()
    }

    #[test]
    fn siblings_that_import_each_other_are_a_cycle() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::B; pub struct A;"),
            ("b.rs", "pub struct B; fn f() { let _ = super::c::f(); }"),
            ("c.rs", "pub fn f() { println!(\"{}\", crate::a::A); }"),
        ];
        assert_eq!(cycles_of("circle", &files), [": a b c"]);
        let files = [("lib.rs", "mod a; mod b;"), ("a.rs", "use crate::b::B;"), ("b.rs", "pub struct B;")];
        assert!(cycles_of("line", &files).is_empty());
    }

    #[test]
    fn reexports_lead_to_the_module_that_declares() {
        let files = [
            ("lib.rs", "mod room; mod other;"),
            ("other.rs", "pub struct Other;"),
            ("room/mod.rs", "mod a; mod b; pub use a::A; pub use b::*; pub use crate::other::Other;"),
            ("room/a.rs", "use crate::room::B; use super::Other; pub struct A;"),
            ("room/b.rs", "use super::A; pub struct B;"),
        ];
        assert_eq!(cycles_of("reexports", &files), ["room: a b"]);
    }

    #[test]
    fn parents_and_tests_are_no_edges() {
        let files = [
            ("lib.rs", "mod a; mod b; pub struct Root;"),
            ("a.rs", "mod inner; use crate::Root; use inner::X; use crate::b::B; pub struct A;"),
            ("a/inner.rs", "use super::A; pub struct X;"),
            ("b.rs", "pub struct B; #[cfg(test)] mod tests { use crate::a::A; } #[cfg(all(test))] use crate::a::A;"),
        ];
        assert!(cycles_of("parents", &files).is_empty());
    }
}
