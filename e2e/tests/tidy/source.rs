//! Source files as lines of code: without comments, and without the tests at their end.

use std::path::{Path, PathBuf};

/// A file of the project.
pub struct Source {
    /// From the project's root, with `/`.
    pub path: String,
    pub text: String,
}

/// Every Rust file under these folders.
pub fn sources(folders: &[&str]) -> Vec<Source> {
    text_files(folders, &["rs"])
}

/// Every file under these folders whose name ends so.
pub fn text_files(folders: &[&str], endings: &[&str]) -> Vec<Source> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let mut found = Vec::new();
    for folder in folders {
        walk(&root, &root.join(folder), endings, &mut found);
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn walk(root: &Path, folder: &Path, endings: &[&str], found: &mut Vec<Source>) {
    // A part of the project that is not there has nothing to be found.
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !["target", "node_modules", "dist"].contains(&name) {
                walk(root, &path, endings, found);
            }
        } else if endings.iter().any(|ending| name.ends_with(&format!(".{ending}"))) {
            let shown = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
            found.push(Source { path: shown, text: std::fs::read_to_string(&path).unwrap() });
        }
    }
}

impl Source {
    /// The file's name without its ending.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap().split('.').next().unwrap()
    }

    /// The top module it belongs to, seen from its root.
    pub fn module(&self, root: &str) -> String {
        let rest = self.path.strip_prefix(root).unwrap().trim_start_matches('/');
        rest.split('/').next().unwrap().trim_end_matches(".rs").to_owned()
    }

    /// All of it is tests.
    pub fn is_test(&self) -> bool {
        self.name() == "tests" || self.path.contains("/tests/")
    }

    /// Lines that are not comments, up to the tests, numbered from 1.
    pub fn code_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let until = if self.is_test() { 0 } else { usize::MAX };
        self.text
            .lines()
            .take_while(|line| !(line.trim() == "#[cfg(test)]" || line.trim() == "#[cfg(all(test, unix))]"))
            .enumerate()
            .take(until)
            .map(|(at, line)| (at + 1, line.split("//").next().unwrap_or_default()))
            .filter(|(_, line)| !line.trim().is_empty())
    }

    /// How long it is without the tests at its end.
    pub fn lines_of_code(&self) -> usize {
        self.text.lines().take_while(|line| line.trim() != "#[cfg(test)]").count()
    }

    /// Lines with this text.
    pub fn lines_with<'a>(&'a self, text: &'a str) -> impl Iterator<Item = usize> + 'a {
        self.code_lines().filter(move |(_, line)| line.contains(text)).map(|(at, _)| at)
    }

    /// Lines that use a path of this crate.
    pub fn lines_naming<'a>(&'a self, name: &'a str) -> impl Iterator<Item = usize> + 'a {
        let path = format!("{name}::");
        self.code_lines().filter(move |(_, line)| starts_of(line, &path).next().is_some()).map(|(at, _)| at)
    }

    /// The top modules of its own crate that it names, with the line.
    pub fn crate_modules(&self) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        for (at, line) in self.code_lines() {
            for start in starts_of(line, "crate::") {
                let rest = &line[start + "crate::".len()..];
                match rest.strip_prefix('{') {
                    // One level is enough: formatting puts a longer list on lines of its own, and then it is not written this way.
                    Some(list) => found.extend(top_names(list).map(|name| (at, name))),
                    None => found.push((at, word(rest))),
                }
            }
        }
        found
    }
}

/// Where a path begins with this text, not in the middle of a word.
fn starts_of<'a>(line: &'a str, text: &'a str) -> impl Iterator<Item = usize> + 'a {
    line.match_indices(text).map(|(at, _)| at).filter(|at| {
        let before = line[..*at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':')
    })
}

fn word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The first word of each entry of a list, without what is nested in it.
fn top_names(list: &str) -> impl Iterator<Item = String> {
    let mut names = vec![String::new()];
    let mut depth = 0_i32;
    for c in list.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(String::new()),
            _ if depth == 0 => names.last_mut().unwrap().push(c),
            _ => {}
        }
    }
    names.into_iter().map(|name| word(name.trim())).filter(|name| !name.is_empty())
}
