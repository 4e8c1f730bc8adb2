//! Finds import cycles of files inside a crate, from the sources alone: see `.ci/cycles`.
//!
//! Arrows go from a file that names an item to the file that defines it, and, unless the path passes the crate's root, to
//! each that re-exports it on the way. A `mod` line, a re-export and code under `#[cfg(test)]` are no arrows. It leaves out
//! what only type inference knows (a method's file) and paths that a macro builds. Start at [`main`].

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Identifiers and punctuation; `::` is one token, a literal is `"`.
type Tokens = Vec<String>;

/// What a name in a module stands for.
enum Name {
    /// A module, by its index.
    Module(usize),
    /// An item defined in the module's own file.
    Item,
    /// An import: its path, and whether it is a re-export.
    Import(Vec<String>, bool),
}

/// A module: a file, or a block inside one.
struct Module {
    file: usize,
    parent: Option<usize>,
    names: BTreeMap<String, Vec<Name>>,
    globs: Vec<Vec<String>>,
    /// Every identifier outside of imports, and every path of two or more segments.
    idents: BTreeSet<String>,
    paths: BTreeSet<Vec<String>>,
}

/// What a path leads to.
#[derive(Clone, Copy)]
enum Target {
    Module(usize),
    File(usize),
}

#[derive(Default)]
struct Crate {
    files: Vec<PathBuf>,
    modules: Vec<Module>,
}

/// The modules through which the resolution of a path went, and the name that it looked up in each.
type Passed = BTreeSet<(usize, String)>;

/// For each file the files that it names, and by which items.
type Arrows = Vec<BTreeMap<usize, BTreeSet<String>>>;

fn main() -> ExitCode {
    let mut limit = 5;
    let mut crates = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--limit" {
            limit = arguments
                .next()
                .and_then(|number| number.parse().ok())
                .expect("--limit takes a number");
        } else {
            crates.push(argument);
        }
    }
    if crates.is_empty() {
        let manifest = fs::read_to_string("Cargo.toml").expect("the workspace has a manifest");
        let (_, members) = manifest
            .split_once("members = [")
            .expect("the workspace has members");
        let members = members.split(']').next().unwrap_or_default();
        crates = members
            .split('"')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect();
        crates.sort();
    }
    let mut found = String::new();
    println!(
        "{:<12} {:>5}  cycles of more than one file",
        "crate", "files"
    );
    for name in crates {
        let krate = Crate::read(&Path::new(&name).join("src"));
        let arrows = krate.arrows();
        let mut cycles = cycles(&arrows);
        cycles.sort_by_key(|cycle| std::cmp::Reverse(cycle.len()));
        let sizes: Vec<String> = cycles.iter().map(|cycle| cycle.len().to_string()).collect();
        println!("{name:<12} {:>5}  {}", krate.files.len(), sizes.join(" "));
        for cycle in cycles.iter().filter(|cycle| cycle.len() > limit) {
            found += &format!("\n{name}: a cycle of {} files\n", cycle.len());
            for &from in cycle {
                found += &format!("  {}\n", krate.files[from].display());
                for (&to, names) in arrows[from].iter().filter(|(to, _)| cycle.contains(to)) {
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    found += &format!(
                        "    -> {} ({})\n",
                        krate.files[to].display(),
                        names.join(", ")
                    );
                }
            }
        }
    }
    print!("{found}");
    if found.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

impl Crate {
    fn read(src: &Path) -> Self {
        let mut krate = Self::default();
        for root in ["lib.rs", "main.rs"] {
            if src.join(root).exists() {
                krate.read_file(src.join(root), src, None);
            }
        }
        krate
    }

    /// Reads a file and, below `folder`, those of its child modules; returns its module.
    fn read_file(&mut self, path: PathBuf, folder: &Path, parent: Option<usize>) -> usize {
        let text =
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        self.files.push(path);
        let module = self.module(self.files.len() - 1, parent);
        self.read_items(&tokens(&text), module, folder);
        module
    }

    fn module(&mut self, file: usize, parent: Option<usize>) -> usize {
        self.modules.push(Module {
            file,
            parent,
            names: BTreeMap::new(),
            globs: Vec::new(),
            idents: BTreeSet::new(),
            paths: BTreeSet::new(),
        });
        self.modules.len() - 1
    }

    fn read_items(&mut self, tokens: &[String], module: usize, folder: &Path) {
        let at = |index: usize| tokens.get(index).map_or("", String::as_str);
        let (mut index, mut depth, mut is_public) = (0, 0, false);
        while index < tokens.len() {
            let is_start = index == 0
                || matches!(
                    at(index - 1),
                    ";" | "}" | "{" | "]" | ")" | "pub" | "unsafe" | "const"
                );
            match at(index) {
                "#" if is_test_only(&tokens[index..]) => {
                    index = after_item(tokens, index);
                    continue;
                }
                "pub" => {
                    is_public = true;
                    index += 1;
                    if at(index) == "(" {
                        index = after_brackets(tokens, index);
                    }
                    continue;
                }
                "use" if is_start => {
                    let end = index
                        + tokens[index..]
                            .iter()
                            .position(|token| token == ";")
                            .unwrap_or(1);
                    self.read_use(&tokens[index + 1..end], &[], module, is_public);
                    index = end;
                }
                "mod" if is_start && depth == 0 && at(index + 2) == "{" => {
                    let name = at(index + 1).to_owned();
                    let end = after_brackets(tokens, index + 2);
                    let file = self.modules[module].file;
                    let child = self.module(file, Some(module));
                    self.read_items(&tokens[index + 3..end - 1], child, &folder.join(&name));
                    self.name(module, name, Name::Module(child));
                    index = end - 1;
                }
                "mod" if is_start && depth == 0 && at(index + 2) == ";" => {
                    let name = at(index + 1).to_owned();
                    // A feature may choose between two declarations of one file.
                    if self.modules[module].names.contains_key(&name) {
                        index += 3;
                        continue;
                    }
                    let flat = folder.join(format!("{name}.rs"));
                    let path = if flat.exists() {
                        flat
                    } else {
                        folder.join(&name).join("mod.rs")
                    };
                    let child = self.read_file(path, &folder.join(&name), Some(module));
                    self.name(module, name, Name::Module(child));
                    index += 2;
                }
                "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "union"
                    if depth == 0 && at(index.wrapping_sub(1)) != "'" =>
                {
                    let name = if at(index + 1) == "mut" {
                        at(index + 2)
                    } else {
                        at(index + 1)
                    };
                    if is_ident(name) && name != "fn" {
                        self.name(module, name.to_owned(), Name::Item);
                    }
                }
                "macro_rules" if at(index + 1) == "!" => {
                    self.name(module, at(index + 2).to_owned(), Name::Item)
                }
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth -= 1,
                ident if is_ident(ident) && !matches!(at(index.wrapping_sub(1)), "." | "'") => {
                    let mut path = vec![ident.to_owned()];
                    while at(index + 1) == "::" && is_ident(at(index + 2)) {
                        path.push(at(index + 2).to_owned());
                        index += 2;
                    }
                    self.modules[module].idents.insert(path[0].clone());
                    if path.len() > 1 {
                        self.modules[module].paths.insert(path);
                    }
                }
                _ => {}
            }
            is_public = false;
            index += 1;
        }
    }

    /// Reads one tree of an import, without `use` and `;`.
    fn read_use(&mut self, tree: &[String], prefix: &[String], module: usize, is_public: bool) {
        let mut path = prefix.to_vec();
        let mut rest = tree;
        while let [head, tail @ ..] = rest {
            match head.as_str() {
                "::" => {}
                "{" => {
                    for part in split(&tail[..tail.len() - 1]) {
                        self.read_use(part, &path, module, is_public);
                    }
                    return;
                }
                "*" => return self.modules[module].globs.push(path),
                "as" => {
                    let import = Name::Import(path, is_public);
                    return self.name(module, tail[0].clone(), import);
                }
                "self" if !path.is_empty() => {}
                segment => path.push(segment.to_owned()),
            }
            rest = tail;
        }
        if let Some(last) = path.last().cloned() {
            self.name(module, last, Name::Import(path, is_public));
        }
    }

    fn name(&mut self, module: usize, name: String, what: Name) {
        self.modules[module]
            .names
            .entry(name)
            .or_default()
            .push(what);
    }

    fn arrows(&self) -> Arrows {
        let mut arrows: Arrows = vec![BTreeMap::new(); self.files.len()];
        for (index, module) in self.modules.iter().enumerate() {
            let mut add = |target: Option<Target>, passed: &Passed, name: &str| {
                let Some(Target::File(file)) = target else {
                    return;
                };
                for to in self.re_exporters(passed).into_iter().chain([file]) {
                    if to != module.file {
                        let names = arrows[module.file].entry(to).or_default();
                        names.insert(name.to_owned());
                    }
                }
            };
            for (name, meanings) in &module.names {
                for meaning in meanings {
                    if let Name::Import(path, is_public) = meaning
                        && (!is_public || module.idents.contains(name))
                    {
                        let mut passed = Passed::new();
                        add(self.resolve(index, path, &mut passed), &passed, name);
                    }
                }
            }
            for path in &module.paths {
                let mut passed = Passed::new();
                let target = self.resolve(index, path, &mut passed);
                add(target, &passed, &path.join("::"));
            }
            for glob in &module.globs {
                let Some(Target::Module(from)) = self.resolve(index, glob, &mut Passed::new())
                else {
                    continue;
                };
                for ident in module
                    .idents
                    .iter()
                    .filter(|ident| !module.names.contains_key(*ident))
                {
                    let mut passed = Passed::new();
                    add(self.lookup(from, ident, true, &mut passed), &passed, ident);
                }
            }
        }
        arrows
    }

    /// The files that re-export one of these names; none of a path that passes the crate's root, which names none of them.
    fn re_exporters(&self, passed: &Passed) -> Vec<usize> {
        let mut files = Vec::new();
        for (module, name) in passed {
            let module = &self.modules[*module];
            let meanings = module.names.get(name).map_or(&[][..], Vec::as_slice);
            if meanings
                .iter()
                .any(|meaning| matches!(meaning, Name::Import(_, true)))
            {
                if module.parent.is_none() {
                    return Vec::new();
                }
                files.push(module.file);
            }
        }
        files
    }

    /// What a path leads to, seen from a module: nothing if it leaves the crate.
    fn resolve(&self, from: usize, path: &[String], passed: &mut Passed) -> Option<Target> {
        let mut module = from;
        let mut is_ours = false;
        for (index, segment) in path.iter().enumerate() {
            match segment.as_str() {
                "crate" => {
                    while let Some(parent) = self.modules[module].parent {
                        module = parent;
                    }
                }
                "self" => {}
                "super" => module = self.modules[module].parent?,
                name => match self.lookup(module, name, index + 1 == path.len(), passed) {
                    Some(Target::Module(child)) => module = child,
                    Some(file) => return Some(file),
                    None => return is_ours.then_some(Target::File(self.modules[module].file)),
                },
            }
            is_ours = true;
        }
        Some(Target::Module(module))
    }

    /// What a name in a module stands for; an item before a module of the same name if the path ends with it.
    fn lookup(
        &self,
        module: usize,
        name: &str,
        is_last: bool,
        passed: &mut Passed,
    ) -> Option<Target> {
        if !passed.insert((module, name.to_owned())) {
            return None;
        }
        let here = &self.modules[module];
        let meanings = here.names.get(name).map_or(&[][..], Vec::as_slice);
        let mut targets: Vec<Target> = meanings
            .iter()
            .filter_map(|meaning| match meaning {
                Name::Module(child) => Some(Target::Module(*child)),
                Name::Item => Some(Target::File(here.file)),
                Name::Import(path, _) => self.resolve(module, path, passed),
            })
            .collect();
        if targets.is_empty() {
            targets.extend(here.globs.iter().find_map(|glob| {
                let Some(Target::Module(from)) = self.resolve(module, glob, passed) else {
                    return None;
                };
                self.lookup(from, name, is_last, passed)
            }));
        }
        targets.sort_by_key(|target| matches!(target, Target::Module(_)) == is_last);
        targets.first().copied()
    }
}

fn is_ident(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// `#[cfg(test)]` or `#[cfg(all(test, …))]`, or the same for a whole file.
fn is_test_only(tokens: &[String]) -> bool {
    let start = if tokens.get(1).is_some_and(|token| token == "!") {
        2
    } else {
        1
    };
    if tokens.get(start).is_none_or(|token| token != "[")
        || tokens.get(start + 1).is_none_or(|token| token != "cfg")
    {
        return false;
    }
    let inside = &tokens[start..after_brackets(tokens, start)];
    let has = |word: &str| inside.iter().any(|token| token == word);
    has("test") && !has("not") && !has("any")
}

/// The index after an item with its attributes; after everything for an attribute of the file.
fn after_item(tokens: &[String], mut index: usize) -> usize {
    while tokens.get(index).is_some_and(|token| token == "#") {
        if tokens[index + 1] == "!" {
            return tokens.len();
        }
        index = after_brackets(tokens, index + 1);
    }
    let is_import = tokens[index..]
        .iter()
        .take_while(|token| *token != ";" && *token != "{")
        .any(|token| token == "use");
    while let Some(token) = tokens.get(index) {
        match token.as_str() {
            ";" | "," => return index + 1,
            "{" if !is_import => return after_brackets(tokens, index),
            "(" | "[" => index = after_brackets(tokens, index),
            _ => index += 1,
        }
    }
    index
}

/// The index after the bracket that closes the one at `index`.
fn after_brackets(tokens: &[String], mut index: usize) -> usize {
    let mut depth = 0;
    while index < tokens.len() {
        match tokens[index].as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        index += 1;
        if depth == 0 {
            break;
        }
    }
    index
}

/// The parts between commas that stand in no inner brackets.
fn split(tokens: &[String]) -> Vec<&[String]> {
    let mut depth = 0;
    tokens
        .split(|token| {
            depth += i32::from(token == "{") - i32::from(token == "}");
            depth == 0 && token == ","
        })
        .filter(|part| !part.is_empty())
        .collect()
}

fn tokens(text: &str) -> Tokens {
    let chars: Vec<char> = text.chars().collect();
    let at = |index: usize| chars.get(index).copied().unwrap_or('\0');
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut tokens = Tokens::new();
    let mut index = 0;
    while index < chars.len() {
        let start = index;
        match at(index) {
            '/' if at(index + 1) == '/' => {
                while index < chars.len() && at(index) != '\n' {
                    index += 1;
                }
            }
            '/' if at(index + 1) == '*' => {
                while index < chars.len() && !(at(index) == '*' && at(index + 1) == '/') {
                    index += 1;
                }
                index += 2;
            }
            '"' => {
                index += 1;
                while index < chars.len() && at(index) != '"' {
                    index += if at(index) == '\\' { 2 } else { 1 };
                }
                index += 1;
                tokens.push("\"".to_owned());
            }
            '\'' if at(index + 1) == '\\' || (at(index + 2) == '\'' && at(index + 1) != '\'') => {
                index += if at(index + 1) == '\\' { 3 } else { 2 };
                while at(index) != '\'' {
                    index += 1;
                }
                index += 1;
                tokens.push("\"".to_owned());
            }
            ':' if at(index + 1) == ':' => {
                index += 2;
                tokens.push("::".to_owned());
            }
            letter if is_word(letter) => {
                while is_word(at(index)) {
                    index += 1;
                }
                let word: String = chars[start..index].iter().collect();
                let hashes = chars[index..]
                    .iter()
                    .take_while(|letter| **letter == '#')
                    .count();
                if matches!(word.as_str(), "r" | "br") && at(index + hashes) == '"' {
                    let end: String = std::iter::once('"')
                        .chain(std::iter::repeat_n('#', hashes))
                        .collect();
                    let rest: String = chars[index + hashes + 1..].iter().collect();
                    let length = rest
                        .find(&end)
                        .map_or(0, |bytes| rest[..bytes].chars().count());
                    index += hashes + 1 + length + end.len();
                    tokens.push("\"".to_owned());
                } else {
                    tokens.push(word);
                }
            }
            letter => {
                index += 1;
                if !letter.is_whitespace() {
                    tokens.push(letter.to_string());
                }
            }
        }
    }
    tokens
}

/// Strongly connected components of more than one file (Tarjan).
fn cycles(arrows: &Arrows) -> Vec<Vec<usize>> {
    struct Search<'a> {
        arrows: &'a Arrows,
        order: Vec<Option<usize>>,
        low: Vec<usize>,
        stack: Vec<usize>,
        visited: usize,
        found: Vec<Vec<usize>>,
    }
    impl Search<'_> {
        fn visit(&mut self, file: usize) {
            self.order[file] = Some(self.visited);
            self.low[file] = self.visited;
            self.visited += 1;
            self.stack.push(file);
            for &to in self.arrows[file].keys() {
                match self.order[to] {
                    None => {
                        self.visit(to);
                        self.low[file] = self.low[file].min(self.low[to]);
                    }
                    Some(order) if self.stack.contains(&to) => {
                        self.low[file] = self.low[file].min(order)
                    }
                    Some(_) => {}
                }
            }
            if self.order[file] == Some(self.low[file]) {
                let start = self
                    .stack
                    .iter()
                    .position(|other| *other == file)
                    .expect("a visited file is on the stack");
                let mut cycle = self.stack.split_off(start);
                cycle.sort_unstable();
                self.found.extend((cycle.len() > 1).then_some(cycle));
            }
        }
    }
    let count = arrows.len();
    let mut search = Search {
        arrows,
        order: vec![None; count],
        low: vec![0; count],
        stack: Vec::new(),
        visited: 0,
        found: Vec::new(),
    };
    for file in 0..count {
        if search.order[file].is_none() {
            search.visit(file);
        }
    }
    search.found
}
