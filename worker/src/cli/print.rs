//! Writing to standard output. What comes from outside is cleaned of control characters
//! before it reaches a terminal; JSON escapes them by itself.

use std::io::{self, ErrorKind, Write};

use anyhow::Context;
use serde::Serialize;

/// Writes `text`. A reader that has gone (`| head`) is no failure.
pub(super) fn text(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("standard output can't be written"),
    }
}

/// Writes `value` as JSON for people and programs.
pub(super) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    let json = serde_json::to_string_pretty(value).context("has no form in JSON")?;
    text(&format!("{json}\n"))
}

/// Rows under their heads, each column as wide as it needs.
pub(super) fn table<const N: usize>(heads: [&str; N], rows: &[[String; N]]) -> String {
    let mut lines = vec![heads.map(str::to_owned)];
    lines.extend(
        rows.iter()
            .map(|row| row.each_ref().map(|cell| clean(cell))),
    );
    let mut widths = [0; N];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().zip(widths);
        let padded: Vec<_> = cells
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        text.push_str(padded.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Without anything that a terminal would obey.
pub(super) fn clean(text: &str) -> String {
    cleaned(text, |_| false)
}

/// The same, but lines stay lines.
pub(super) fn clean_lines(text: &str) -> String {
    cleaned(text, |c| matches!(c, '\n' | '\t'))
}

fn cleaned(text: &str, keep: impl Fn(char) -> bool) -> String {
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() && !keep(c) {
            clean.extend(c.escape_default());
        } else {
            clean.push(c);
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_aligned_and_obeys_nobody() {
        let rows = [
            ["evt_1".to_owned(), "é".to_owned()],
            ["\u{1b}[2J".to_owned(), "two\nlines".to_owned()],
        ];
        let expected = "ID         WHY\nevt_1      é\n\\u{1b}[2J  two\\nlines\n";
        assert_eq!(table(["ID", "WHY"], &rows), expected);
    }
}
