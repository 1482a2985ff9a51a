//! Articles: Markdown with front matter, cut into blocks that each have an audience.
//!
//! Blocks are separated by blank lines; fenced code is one block whatever is in it. Blocks between `:::staff` and `:::` are
//! for staff only, and an article for staff has only such blocks. Line ends become LF, so that the same article is the
//! same on every checkout.

use domain::text::{label, prose};
use domain::text_enum::fold_word;
use domain::{Article, ArticleId, Audience, Block, Timestamp, limits};
use storage::import::RecordKind;

use super::fault::{Fault, cut};
use super::kind::{fields, names};

#[cfg(test)]
mod tests;

/// Reads an article. `now` is its time of change where the front matter names none.
pub(super) fn parse(text: &str, now: Timestamp) -> Result<Article, Fault> {
    let mut lines = (1..).zip(text.lines());
    let head = FrontMatter::parse(&mut lines)?;
    let blocks = Blocks::cut(lines, head.audience)?;
    if blocks.is_empty() {
        return Err(Fault::row("has no text after the front matter"));
    }
    Ok(Article {
        id: head.id,
        slug: head.slug,
        title: head.title,
        category: head.category,
        audience: head.audience,
        blocks,
        updated_at: head.updated_at.unwrap_or(now),
    })
}

struct FrontMatter {
    id: ArticleId,
    slug: String,
    title: String,
    category: String,
    audience: Audience,
    updated_at: Option<Timestamp>,
}

impl FrontMatter {
    fn parse<'a>(lines: &mut impl Iterator<Item = (u64, &'a str)>) -> Result<Self, Fault> {
        if lines.next().map(|(_, line)| line.trim_end()) != Some("---") {
            return Err(Fault::row(
                "must begin with front matter between two lines of `---`",
            ));
        }
        let mut given = Vec::new();
        loop {
            let Some((number, line)) = lines.next() else {
                return Err(Fault::row(
                    "has front matter that is not closed by a line of `---`",
                ));
            };
            if line.trim_end() == "---" {
                break;
            }
            if !line.trim().is_empty() {
                let (name, value) = entry(line).map_err(|fault| fault.at_line(number))?;
                if given.iter().any(|(known, _, _)| *known == name) {
                    return Err(Fault::field(name, "is given twice").at_line(number));
                }
                given.push((name, value, number));
            }
        }
        Self::check(&given)
    }

    fn check(given: &[(&'static str, &str, u64)]) -> Result<Self, Fault> {
        let find = |name: &'static str| {
            given
                .iter()
                .find(|(known, value, _)| *known == name && !value.is_empty())
                .map(|(_, value, number)| (*value, *number))
        };
        let need = |name: &'static str| find(name).ok_or_else(|| Fault::missing(name));
        let line = |name: &'static str, max: usize| {
            let (value, number) = need(name)?;
            match label(max)(value, &()) {
                Ok(()) => Ok(value.to_owned()),
                Err(error) => Err(Fault::field(name, error.message()).at_line(number)),
            }
        };
        let (id, id_line) = need("id")?;
        let (audience, audience_line) = need("audience")?;
        Ok(Self {
            id: ArticleId::parse(id).map_err(|error| {
                Fault::field("id", format!("is wrong: {error}")).at_line(id_line)
            })?,
            slug: line("slug", limits::SLUG_CHARS)?,
            title: line("title", limits::SUBJECT_CHARS)?,
            category: fold_word(&line("category", limits::SLUG_CHARS)?),
            audience: Audience::parse(audience)
                .map_err(|unknown| Fault::unknown("audience", &unknown).at_line(audience_line))?,
            updated_at: find("updated_at")
                .map(|(value, number)| {
                    Timestamp::parse(value).map_err(|error| {
                        Fault::field("updated_at", format!("is wrong: {error}")).at_line(number)
                    })
                })
                .transpose()?,
        })
    }
}

/// One line of front matter: a known name, a colon, a value that may stand in double quotes.
fn entry(line: &str) -> Result<(&'static str, &str), Fault> {
    let Some((name, value)) = line.split_once(':') else {
        return Err(Fault::row(format!(
            "has the front matter line `{}`, which is not `name: value`",
            cut(line)
        )));
    };
    let known = fields(RecordKind::Article);
    let Some(field) = known.iter().find(|field| field.name == name.trim()) else {
        let reason = format!("is not a field of an article; valid are: {}", names(known));
        return Err(Fault::field(cut(name.trim()), reason));
    };
    let value = value.trim();
    let bare = value
        .strip_prefix('"')
        .and_then(|value| value.strip_suffix('"'));
    Ok((field.name, bare.unwrap_or(value)))
}

/// The state of cutting a body into blocks.
struct Blocks {
    audience: Audience,
    done: Vec<Block>,
    open: String,
    open_line: u64,
    fence: Option<(u64, char, usize)>,
    staff_since: Option<u64>,
}

impl Blocks {
    fn cut<'a>(
        lines: impl Iterator<Item = (u64, &'a str)>,
        audience: Audience,
    ) -> Result<Vec<Block>, Fault> {
        let mut blocks = Self {
            audience,
            done: Vec::new(),
            open: String::new(),
            open_line: 0,
            fence: None,
            staff_since: None,
        };
        for (number, line) in lines {
            blocks.take(number, line)?;
        }
        blocks.finish()
    }

    fn take(&mut self, number: u64, line: &str) -> Result<(), Fault> {
        let marks = fence(line);
        if let Some((_, mark, length)) = self.fence {
            self.append(number, line);
            if marks.is_some_and(|(m, n, info)| m == mark && n >= length && info.is_empty()) {
                self.fence = None;
                return self.close();
            }
            return Ok(());
        }
        if let Some((mark, length, _)) = marks {
            self.close()?;
            self.append(number, line);
            self.fence = Some((number, mark, length));
            return Ok(());
        }
        if let Some(name) = line.trim().strip_prefix(":::") {
            self.close()?;
            return self.turn(number, name.trim());
        }
        if line.trim().is_empty() {
            return self.close();
        }
        self.append(number, line);
        Ok(())
    }

    /// Enters or leaves a part for staff.
    fn turn(&mut self, number: u64, name: &str) -> Result<(), Fault> {
        self.staff_since = match (name, self.staff_since) {
            ("staff", None) => Some(number),
            ("", Some(_)) => None,
            ("staff", Some(since)) => {
                let reason =
                    format!("has `:::staff` inside the part for staff that began on line {since}");
                return Err(Fault::row(reason).at_line(number));
            }
            ("", None) => {
                let reason = "has `:::` where no part for staff is open";
                return Err(Fault::row(reason).at_line(number));
            }
            (other, _) => {
                let reason = format!(
                    "has `:::{}`; only `:::staff` and `:::` are known",
                    cut(other)
                );
                return Err(Fault::row(reason).at_line(number));
            }
        };
        Ok(())
    }

    fn append(&mut self, number: u64, line: &str) {
        if self.open.is_empty() {
            self.open_line = number;
        } else {
            self.open.push('\n');
        }
        self.open.push_str(line);
    }

    fn close(&mut self) -> Result<(), Fault> {
        let text = std::mem::take(&mut self.open);
        if text.is_empty() {
            return Ok(());
        }
        // A block is the unit that a result shows, so it has the measure of a comment.
        prose(limits::COMMENT_CHARS)(&text, &())
            .map_err(|error| Fault::field("block", error.message()).at_line(self.open_line))?;
        let audience = if self.staff_since.is_some() {
            Audience::Staff
        } else {
            self.audience
        };
        self.done.push(Block { audience, text });
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<Block>, Fault> {
        self.close()?;
        if let Some((line, _, _)) = self.fence {
            return Err(Fault::row("opens fenced code that is not closed").at_line(line));
        }
        if let Some(line) = self.staff_since {
            return Err(
                Fault::row("opens a part for staff that is not closed by `:::`").at_line(line),
            );
        }
        Ok(self.done)
    }
}

/// The fence that a line is, if it is one: its mark, its length and what follows it (`CommonMark` 0.31, section 4.5).
fn fence(line: &str) -> Option<(char, usize, &str)> {
    let text = line.trim_start_matches(' ');
    if line.len() - text.len() > 3 {
        return None;
    }
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = text.trim_start_matches(mark);
    let length = text.len() - rest.len();
    let info = rest.trim();
    let is_fence = length >= 3 && !(mark == '`' && info.contains('`'));
    is_fence.then_some((mark, length, info))
}
