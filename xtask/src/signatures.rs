//! Rules of style for declarations: parameters of functions and names of public types.
//!
//! A function has at most [`MAX_ARGUMENTS`] arguments besides `self`, where the elements of a tuple
//! count one by one, and no signature contains a tuple of more than two. Functions with the
//! signature of a C function are excepted. No two types that a crate shares have the same name.
//! Test code is ignored.

use std::collections::BTreeMap;
use std::path::Path;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Maximum number of arguments of a function, except `self`, after tuples are taken apart.
const MAX_ARGUMENTS: usize = 5;

/// Maximum number of elements of a tuple in a signature.
const MAX_TUPLE: usize = 2;

/// Attributes of functions whose signature another interface prescribes.
const PRESCRIBED: &[&str] = &["entry", "proc_macro_attribute"];

/// Declarations of a crate that the rules cover.
#[derive(Debug, Default)]
pub struct Declarations {
    /// Files and lines of public types, by name.
    types: BTreeMap<String, Vec<String>>,
    problems: Vec<String>,
}

impl Declarations {
    /// Adds the declarations of a file. `name` is its path in messages.
    ///
    /// # Errors
    /// A message if the file is not Rust.
    pub fn read(&mut self, name: &str, text: &str) -> Result<(), String> {
        if Path::new(name).iter().any(|part| part == "tests" || part == "benches" || part == "tests.rs") {
            return Ok(());
        }
        let file = syn::parse_file(text).map_err(|error| format!("{name}: {error}"))?;
        Reader { name, declarations: self }.visit_file(&file);
        Ok(())
    }

    /// Returns all violations, one a line.
    pub fn problems(mut self) -> Vec<String> {
        for (name, places) in self.types.into_iter().filter(|(_, places)| places.len() > 1) {
            self.problems.push(format!(
                "{}: `{name}` is also the name of another public type ({}): give each its own name",
                places[0],
                places[1..].join(", ")
            ));
        }
        self.problems
    }
}

struct Reader<'a> {
    name: &'a str,
    declarations: &'a mut Declarations,
}

impl Reader<'_> {
    fn place(&self, spanned: impl Spanned) -> String {
        format!("{}:{}", self.name, spanned.span().start().line)
    }

    fn check_signature(&mut self, attributes: &[syn::Attribute], signature: &syn::Signature) {
        let is_prescribed =
            attributes.iter().any(|attribute| PRESCRIBED.iter().any(|name| attribute.path().is_ident(name)));
        if is_prescribed || signature.abi.is_some() {
            return;
        }
        let place = format!("{}: {}", self.place(&signature.ident), signature.ident);
        let typed = signature.inputs.iter().filter_map(|input| match input {
            syn::FnArg::Typed(typed) => Some(&*typed.ty),
            syn::FnArg::Receiver(_) => None,
        });
        let arguments: usize = typed.map(unpacked).sum();
        if arguments > MAX_ARGUMENTS {
            self.declarations.problems.push(format!(
                "{place}: {arguments} arguments, at most {MAX_ARGUMENTS}: make those that belong together a struct"
            ));
        }
        let mut longest = LongestTuple(0);
        longest.visit_signature(signature);
        if longest.0 > MAX_TUPLE {
            self.declarations.problems.push(format!(
                "{place}: a tuple of {} in its signature, at most {MAX_TUPLE}: make it a struct with named fields",
                longest.0
            ));
        }
    }

    fn note_type(&mut self, visibility: &syn::Visibility, ident: &syn::Ident) {
        let is_shared = match visibility {
            syn::Visibility::Public(_) => true,
            syn::Visibility::Restricted(restricted) => restricted.path.is_ident("crate"),
            syn::Visibility::Inherited => false,
        };
        if is_shared {
            let place = self.place(ident);
            self.declarations.types.entry(ident.to_string()).or_default().push(place);
        }
    }
}

/// Returns the number of values that an argument of this type passes.
fn unpacked(ty: &syn::Type) -> usize {
    match ty {
        syn::Type::Tuple(tuple) => tuple.elems.iter().map(unpacked).sum(),
        syn::Type::Reference(reference) => unpacked(&reference.elem),
        _ => 1,
    }
}

/// Maximum number of elements of the tuples in the syntax that is visited.
struct LongestTuple(usize);

impl<'ast> Visit<'ast> for LongestTuple {
    fn visit_type_tuple(&mut self, tuple: &'ast syn::TypeTuple) {
        self.0 = self.0.max(tuple.elems.len());
        visit::visit_type_tuple(self, tuple);
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let is_cfg_test = attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"));
        is_cfg_test || attribute.path().is_ident("test")
    })
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if !is_test(&function.attrs) {
            self.check_signature(&function.attrs, &function.sig);
            visit::visit_item_fn(self, function);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_test(&function.attrs) {
            self.check_signature(&function.attrs, &function.sig);
            visit::visit_impl_item_fn(self, function);
        }
    }

    /// Skips functions of traits of other crates, which prescribe the signature. A trait of the
    /// crate is checked where it is declared.
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if item.trait_.is_none() {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        self.check_signature(&function.attrs, &function.sig);
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.note_type(&item.vis, &item.ident);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.note_type(&item.vis, &item.ident);
    }

    fn visit_item_union(&mut self, item: &'ast syn::ItemUnion) {
        self.note_type(&item.vis, &item.ident);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.note_type(&item.vis, &item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.note_type(&item.vis, &item.ident);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        let mut declarations = Declarations::default();
        declarations.read("a.rs", text).unwrap();
        declarations.problems()
    }

    #[test]
    fn arguments_are_counted_after_tuples_are_taken_apart() {
        let five = "fn f(&self, a: (u8, u8), b: &(u8, u8), c: &[(u8, u8)]) {}";
        assert_eq!(problems(&format!("impl T {{ {five} }}")), [""; 0]);
        let six = "fn f(a: (u8, u8), b: &(u8, u8), c: u8, d: u8) {}";
        let expected = "a.rs:1: f: 6 arguments, at most 5: make those that belong together a struct";
        assert_eq!(problems(six), [expected]);
        assert_eq!(problems(&format!("#[entry(vkF)] {six}")), [""; 0]);
        assert_eq!(problems(&format!("#[cfg(test)] mod tests {{ {six} }}")), [""; 0]);
    }

    #[test]
    fn tuples_over_two_are_found_anywhere_in_a_signature() {
        let expected = "a.rs:1: f: a tuple of 3 in its signature, at most 2: make it a struct with named fields";
        assert_eq!(problems("fn f() -> Option<(u8, u8, u8)> { None }"), [expected]);
    }

    #[test]
    fn public_types_of_one_name_are_found() {
        let text = "pub struct A;\nmod m { pub(crate) enum A {} struct B; }\nstruct B;\n";
        let expected = "a.rs:1: `A` is also the name of another public type (a.rs:2): give each its own name";
        assert_eq!(problems(text), [expected]);
    }
}
