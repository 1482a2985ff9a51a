//! E-mail addresses: something, an at sign, something. No dot is asked for, since addresses inside a network have none.

use std::ops::Range;

use super::glyphs::Glyphs;

/// Ways to write the at sign that hide an address from simple readers.
const AT: [&str; 6] = ["@", "%40", "&#64;", "(at)", "[at]", "{at}"];
const DOT: [&str; 3] = ["(dot)", "[dot]", "{dot}"];

/// Every address, in order.
pub(super) fn find(glyphs: &Glyphs) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < glyphs.len() {
        let Some(sign) = AT.iter().find(|sign| glyphs.starts(at, sign)) else {
            at += 1;
            continue;
        };
        let after = at + sign.len();
        let floor = found.last().map_or(0, |last| last.end);
        let is_spelled = sign.len() > 3;
        let start = local_start(glyphs, at, floor, is_spelled);
        let end = domain_end(glyphs, after, is_spelled);
        let continues = found
            .last()
            .is_some_and(|last| last.end == start && start == at);
        if end > after && continues {
            // `a@b@c` is no address, and hides none.
            if let Some(last) = found.last_mut() {
                last.end = end;
            }
        } else if end > after && start < at {
            found.push(start..end);
        }
        at = end.max(after);
    }
    found
}

/// An address as it is compared.
pub(super) fn value(glyphs: &Glyphs, place: &Range<usize>) -> String {
    let text: String = glyphs.slice(place).iter().filter(|c| **c != ' ').collect();
    let text = AT.iter().fold(text, |text, sign| text.replace(sign, "@"));
    let text = DOT.iter().fold(text, |text, dot| text.replace(dot, "."));
    crate::text::fold(&text)
}

fn local_start(glyphs: &Glyphs, at: usize, floor: usize, is_spelled: bool) -> usize {
    let mut end = at;
    if is_spelled && glyphs.before(end) == Some(' ') {
        end -= 1;
    }
    let mut start = end;
    while start > floor && glyphs.before(start).is_some_and(is_local) {
        start -= 1;
    }
    if start == end { at } else { start }
}

fn is_local(c: char) -> bool {
    !c.is_whitespace()
        && !c.is_control()
        && !matches!(
            c,
            '@' | '<'
                | '>'
                | '('
                | ')'
                | '['
                | ']'
                | '{'
                | '}'
                | '"'
                | ','
                | ';'
                | ':'
                | '\\'
                | '‹'
                | '›'
                | '«'
                | '»'
                | '“'
                | '”'
                | '⟦'
                | '⟧'
        )
}

fn domain_end(glyphs: &Glyphs, from: usize, is_spelled: bool) -> usize {
    let mut end = from;
    if is_spelled && glyphs.at(end) == Some(' ') {
        end += 1;
    }
    let start = end;
    loop {
        if glyphs.at(end).is_some_and(is_domain) {
            end += 1;
        } else if let Some(more) = spelled_dot(glyphs, end) {
            end = more;
        } else {
            break;
        }
    }
    while end > start && matches!(glyphs.before(end), Some('.' | '-' | '_')) {
        end -= 1;
    }
    if end == start { from } else { end }
}

/// Behind a dot that is spelled out, where one is and something follows.
fn spelled_dot(glyphs: &Glyphs, at: usize) -> Option<usize> {
    let at = at + usize::from(glyphs.at(at) == Some(' '));
    let dot = DOT.iter().find(|dot| glyphs.starts(at, dot))?;
    let after = at + dot.len();
    let after = after + usize::from(glyphs.at(after) == Some(' '));
    glyphs.at(after).is_some_and(is_domain).then_some(after)
}

fn is_domain(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '-' | '_')
}
