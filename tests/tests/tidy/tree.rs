//! The repository's text files, as the rules see them.

use std::fs;
use std::path::{Path, PathBuf};

/// One text file.
#[derive(Debug)]
pub(crate) struct File {
    /// From the repository's root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    pub(crate) fn is_markdown(&self) -> bool {
        self.path.ends_with(".md")
    }

    /// Whether it is compiled for tests only.
    pub(crate) fn is_test(&self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }

    /// Everything before the tests at its foot.
    pub(crate) fn without_tests(&self) -> &str {
        without_tests(&self.text)
    }
}

fn without_tests(text: &str) -> &str {
    let mark = "\n#[cfg(test)]\nmod tests {\n";
    text.find(mark).map_or(text, |foot| &text[..foot])
}

pub(crate) fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    root.canonicalize().unwrap()
}

/// All of them, in order. What begins with a dot is a tool's, but for our own two folders.
pub(crate) fn files() -> Vec<File> {
    let (root, mut found) = (root(), Vec::new());
    gather(&root, &root, &mut found);
    assert!(found.len() > 100, "this is not the repository");
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn gather(root: &Path, folder: &Path, found: &mut Vec<File>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let tools = name.starts_with('.') && ![".ci", ".cargo"].contains(&name);
        if tools || name == "target" {
            continue;
        }
        if path.is_dir() {
            gather(root, &path, found);
        } else if let Ok(text) = fs::read_to_string(&path) {
            let path = path.strip_prefix(root).unwrap().to_str().unwrap();
            found.push(File {
                path: path.replace('\\', "/"),
                text,
            });
        }
    }
}

#[test]
fn tests_at_the_foot_are_told_from_the_code() {
    let code = "fn a() {}\n";
    let foot = format!("{code}\n#[cfg(test)]\nmod tests {{\n    fn b() {{}}\n}}\n");
    assert_eq!(without_tests(&foot), code);
    assert_eq!(without_tests(code), code);
    let elsewhere = "#[cfg(test)]\nmod tests;\n\nfn a() {}\n";
    assert_eq!(without_tests(elsewhere), elsewhere);
}
