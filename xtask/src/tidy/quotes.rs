//! Code that a page shows is code that compiles: a fenced block below `<!-- file: PATH -->` equals the file.

use std::fs;

use anyhow::Result;

use super::finding::Finding;
use super::sources::Sources;

pub(super) fn check(sources: &Sources) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for path in sources.files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "md")) {
        let page = sources.relative(path);
        let text = fs::read_to_string(path)?;
        for (file, block) in quotes(&text) {
            match fs::read_to_string(sources.root.join(file)) {
                Err(_) => {
                    findings.push(Finding::new(&page, format!("quotes `{file}`, which cannot be read")))
                }
                Ok(content) if content != block => {
                    findings.push(Finding::new(&page, format!("does not quote `{file}` as it is")));
                }
                Ok(_) => {}
            }
        }
    }
    Ok(findings)
}

/// The quoted files, with the blocks below them.
fn quotes(text: &str) -> Vec<(&str, String)> {
    let mut quotes = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(file) = line.strip_prefix("<!-- file: ").and_then(|rest| rest.strip_suffix(" -->")) else {
            continue;
        };
        // The line after the comment opens the block.
        let block: Vec<&str> = lines.by_ref().skip(1).take_while(|line| *line != "```").collect();
        quotes.push((file, block.iter().flat_map(|line| [line, "\n"]).collect()));
    }
    quotes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_belongs_to_the_file_above_it() {
        let text = "x\n<!-- file: a.rs -->\n```rust\nfn main() {}\n\n```\ny\n```\nz\n```\n";
        assert_eq!(quotes(text), [("a.rs", "fn main() {}\n\n".to_owned())]);
    }
}
