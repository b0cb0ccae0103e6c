//! Tests of results: a function runs on every executor, before and after optimization.

use vitric_ir::{parse, passes};

use crate::file::File;
use crate::scene::Scene;

/// Runs a file's function and returns its effects.
pub fn test(file: &File) -> Vec<(String, String)> {
    assert_eq!(file.kind, "run", "{}", file.name());
    let function = parse(&file.head).unwrap_or_else(|problem| panic!("{}: {problem}", file.name()));
    let scene = Scene::new(&function, &file.directives);
    let effects = scene.run_everywhere(&function, &file.name());
    let mut optimized = function.clone();
    passes::optimize(&mut optimized, &mut |_, _| {});
    assert_eq!(scene.run_everywhere(&optimized, &file.name()), effects, "{}: optimization changes it", file.name());
    vec![("gives".into(), scene.print(&function, &effects))]
}
