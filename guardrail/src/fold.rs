//! Folding: text as the floor reads it, with a map back to the exact original bytes.
//!
//! Folded text is lower case and mostly ASCII. Width, look-alike letters, small capitals, accents and invisible
//! characters are gone, quotes and dashes are plain, white space is one space, and a blank line or a list item is a `\n`,
//! which ends a sentence. It is for matching only and is never shown or stored: folding turns ordinary Russian into noise.
//! Where letters were hidden is noted in [`Folded::traces`] (promise I-6).

mod lookalikes;
mod table;
#[cfg(test)]
mod tests;

use table::Cell;

/// A stretch of text in folded coordinates, as byte offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Range {
    /// First byte.
    pub(crate) start: u32,
    /// One past the last byte.
    pub(crate) end: u32,
}

impl Range {
    /// The same stretch, counted from `by` bytes further on.
    pub(crate) fn moved(self, by: usize) -> Self {
        let by = offset(by);
        Self {
            start: self.start + by,
            end: self.end + by,
        }
    }
}

/// How letters were hidden at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trace {
    /// A character that shows nothing between two Latin letters.
    Invisible,
    /// A letter of another script that was read as a Latin one.
    Foreign,
    /// Text in tag characters outside a flag, or a long run of characters that show nothing: a hidden message.
    Hidden,
    /// Forced text direction.
    Override,
}

/// A point from which folded and original text advance byte by byte together.
#[derive(Clone, Copy, Debug)]
struct Run {
    folded: u32,
    original: u32,
}

/// Several texts folded into one buffer, each its own paragraph.
#[derive(Debug, Default)]
pub(crate) struct Folded {
    text: Vec<u8>,
    runs: Vec<Run>,
    /// Where each text starts in `text`.
    starts: Vec<u32>,
    traces: Vec<(u32, Trace)>,
}

impl Folded {
    /// Folds `texts` one after another. Their total length must be below 4 GiB, which the input bound ensures.
    pub(crate) fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut folded = Self::default();
        for text in texts {
            folded.break_sentence();
            folded.starts.push(folded.here());
            Folder {
                out: &mut folded,
                source: text,
                override_open: false,
                last_regional: false,
            }
            .run();
        }
        folded
    }

    /// The folded text.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Places where letters were hidden, in order.
    pub(crate) fn traces(&self) -> &[(u32, Trace)] {
        &self.traces
    }

    /// Which text a folded offset lies in.
    pub(crate) fn segment_of(&self, at: u32) -> usize {
        self.starts
            .partition_point(|&start| start <= at)
            .saturating_sub(1)
    }

    /// Where the folded form of a text ends.
    pub(crate) fn segment_end(&self, text: usize) -> u32 {
        self.starts.get(text + 1).map_or(self.here(), |&next| next)
    }

    /// The original bytes of `range`, whose text is `source`. Marks and invisible characters that follow the last letter
    /// belong to it, so that a quotation is never cut inside a visible character.
    pub(crate) fn original(&self, range: Range, source: &str) -> std::ops::Range<usize> {
        let start = self.original_at(range.start);
        let last = source
            .floor_char_boundary(self.original_at(range.end.saturating_sub(1).max(range.start)));
        let mut rest = source.get(last..).unwrap_or_default().chars();
        let mut end = last + rest.next().map_or(0, char::len_utf8);
        for c in rest {
            if !c.is_ascii() && matches!(table::cell(c), Cell::Mark | Cell::Invisible) {
                end += c.len_utf8();
            } else {
                break;
            }
        }
        start..end
    }

    fn original_at(&self, at: u32) -> usize {
        let run = self
            .runs
            .partition_point(|run| run.folded <= at)
            .saturating_sub(1);
        self.runs
            .get(run)
            .map_or(0, |run| (run.original + (at - run.folded)) as usize)
    }

    fn here(&self) -> u32 {
        offset(self.text.len())
    }

    fn break_sentence(&mut self) {
        if self.text.last().is_some_and(|&last| last != b'\n') {
            self.text.push(b'\n');
        }
    }
}

/// Offsets are 32 bits wide: the map has an entry per character of a text in another script.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

const BLACK_FLAG: char = '\u{1f3f4}';

/// Bytes looked at together in the path for ordinary text.
const CHUNK: usize = 32;

struct Folder<'a> {
    out: &'a mut Folded,
    source: &'a str,
    override_open: bool,
    last_regional: bool,
}

impl Folder<'_> {
    fn run(mut self) {
        let mut at = 0;
        while at < self.source.len() {
            at += self.copy_plain(at);
            let Some(c) = self.source.get(at..).and_then(|rest| rest.chars().next()) else {
                break;
            };
            at = self.put(c, at);
        }
        self.close_override();
    }

    /// Copies ASCII text in lower case until something needs a closer look. Returns the number of bytes done.
    fn copy_plain(&mut self, at: usize) -> usize {
        let bytes = self.source.as_bytes();
        let Some(&first) = bytes.get(at).filter(|&&byte| is_plain(byte)) else {
            return 0;
        };
        if std::mem::take(&mut self.last_regional) && first.is_ascii_alphanumeric() {
            self.start_run(at);
            self.out.text.push(b' ');
        }
        let mut done = at;
        let mut before = self.out.text.last().copied().unwrap_or(b' ');
        self.start_run(at);
        while let Some(chunk) = bytes.get(done..done + CHUNK) {
            if !is_plain_chunk(chunk, before) {
                break;
            }
            self.out.text.extend(chunk.iter().map(|&byte| lower(byte)));
            before = chunk.last().copied().unwrap_or(before);
            done += CHUNK;
        }
        for &byte in bytes.get(done..).unwrap_or_default().iter().take(CHUNK) {
            if !is_plain(byte) || (is_space(byte) && is_space(before)) {
                break;
            }
            self.out.text.push(lower(byte));
            before = byte;
            done += 1;
        }
        done - at
    }

    /// Notes that the next folded byte comes from `original`.
    fn start_run(&mut self, original: usize) {
        let (folded, original) = (self.out.here(), offset(original));
        let first = self.out.starts.last().copied().unwrap_or(0);
        let goes_on = self.out.runs.last().is_some_and(|run| {
            run.folded >= first
                && run.original.wrapping_add(folded.wrapping_sub(run.folded)) == original
        });
        if !goes_on {
            self.out.runs.push(Run { folded, original });
        }
    }

    /// Folds the character `c` at `at` and returns the offset behind what was read.
    fn put(&mut self, c: char, at: usize) -> usize {
        let next = at + c.len_utf8();
        let regional_before = std::mem::take(&mut self.last_regional);
        match table::cell(c) {
            Cell::Blank | Cell::Newline => return self.white_space(at),
            Cell::Text {
                bytes,
                len,
                foreign,
            } => {
                if foreign {
                    self.trace(Trace::Foreign);
                }
                for &byte in bytes.iter().take(usize::from(len)) {
                    self.out.runs.push(Run {
                        folded: self.out.here(),
                        original: offset(at),
                    });
                    self.out.text.push(byte);
                }
            }
            Cell::Keep => {
                self.start_run(at);
                let kept = self.source.get(at..next).unwrap_or_default();
                self.out.text.extend_from_slice(kept.as_bytes());
            }
            Cell::Invisible => return self.invisible(at),
            Cell::SoftHyphen | Cell::Mark | Cell::TagEnd => {}
            Cell::Tag(ascii) => {
                self.trace(Trace::Hidden);
                self.start_run(at);
                self.out.text.push(ascii.to_ascii_lowercase());
            }
            Cell::Regional(letter) => {
                if !regional_before && self.out.text.last().is_some_and(u8::is_ascii_alphanumeric) {
                    self.start_run(at);
                    self.out.text.push(b' ');
                }
                self.start_run(at);
                self.out.text.push(letter);
                self.last_regional = true;
            }
            Cell::Override => {
                self.close_override();
                self.trace(Trace::Override);
                self.override_open = true;
            }
            Cell::OverrideEnd => self.close_override(),
        }
        next
    }

    /// Reads a whole run of white space and symbols, and writes one space, or a line feed where a paragraph or a list
    /// item starts. A single line break is a space: mail programs wrap lines.
    fn white_space(&mut self, at: usize) -> usize {
        let mut end = at;
        let mut breaks = 0;
        let mut unseen = 0;
        // Tag characters still allowed: a flag is a black flag, at most six of them and the end tag.
        let mut flag_tags = 0;
        let mut before = '\0';
        for c in self.source.get(at..).unwrap_or_default().chars() {
            match table::cell(c) {
                Cell::Newline => breaks += usize::from(c != '\n' || before != '\r'),
                Cell::Blank | Cell::Mark => {}
                Cell::Tag(_) | Cell::TagEnd if flag_tags > 0 => {}
                Cell::Invisible => unseen += 1,
                Cell::Text { .. }
                | Cell::Keep
                | Cell::SoftHyphen
                | Cell::Tag(_)
                | Cell::TagEnd
                | Cell::Regional(_)
                | Cell::Override
                | Cell::OverrideEnd => break,
            }
            if !matches!(table::cell(c), Cell::Invisible) {
                self.note_unseen(std::mem::take(&mut unseen));
            }
            flag_tags = if c == BLACK_FLAG {
                7_usize
            } else {
                flag_tags.saturating_sub(1)
            };
            before = c;
            end += c.len_utf8();
        }
        self.note_unseen(unseen);
        if breaks > 0 {
            self.close_override();
        }
        let starts_item = breaks == 1 && is_list_item(self.source.get(end..).unwrap_or_default());
        let byte = if breaks > 1 || starts_item {
            b'\n'
        } else {
            b' '
        };
        if self.out.text.last().is_some_and(|&last| is_space(last)) {
            if byte == b'\n' {
                self.out.text.pop();
                self.out.text.push(byte);
            }
        } else if !self.out.text.is_empty() {
            self.start_run(at);
            self.out.text.push(byte);
        }
        end
    }

    /// Reads a run of characters that show nothing, and notes it if it stands between two Latin letters.
    fn invisible(&mut self, at: usize) -> usize {
        let mut end = at;
        let mut unseen = 0;
        let mut follower = None;
        for c in self.source.get(at..).unwrap_or_default().chars() {
            let cell = table::cell(c);
            if cell == Cell::Invisible {
                unseen += 1;
            } else if cell != Cell::Mark {
                follower = Some(cell);
                break;
            }
            end += c.len_utf8();
        }
        let letter_before = self.out.text.last().is_some_and(u8::is_ascii_alphabetic);
        let letter_behind = matches!(
            follower,
            Some(Cell::Text { bytes, .. }) if bytes.first().is_some_and(u8::is_ascii_alphabetic)
        );
        if letter_before && letter_behind {
            self.trace(Trace::Invisible);
        }
        self.note_unseen(unseen);
        end
    }

    /// A long run of characters that show nothing carries a message: variation selectors can spell out any bytes.
    fn note_unseen(&mut self, unseen: usize) {
        if unseen >= 8 {
            self.trace(Trace::Hidden);
        }
    }

    fn trace(&mut self, trace: Trace) {
        self.out.traces.push((self.out.here(), trace));
    }

    /// An override that shows no Latin letters hides nothing that the floor reads.
    fn close_override(&mut self) {
        if !std::mem::take(&mut self.override_open) {
            return;
        }
        let opened = self
            .out
            .traces
            .iter()
            .rposition(|&(_, trace)| trace == Trace::Override);
        let Some(opened) = opened else { return };
        let from = self
            .out
            .traces
            .get(opened)
            .map_or(0, |&(at, _)| at as usize);
        let shown = self.out.text.get(from..).unwrap_or_default();
        if shown
            .iter()
            .filter(|byte| byte.is_ascii_alphabetic())
            .count()
            < 2
        {
            self.out.traces.remove(opened);
        }
    }
}

fn is_list_item(rest: &str) -> bool {
    let mut chars = rest.chars();
    match chars.next() {
        Some('-' | '*' | '•' | '>' | '#') => true,
        Some(digit) if digit.is_ascii_digit() => {
            matches!(chars.find(|c| !c.is_ascii_digit()), Some('.' | ')'))
        }
        _ => false,
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n')
}

fn is_plain(byte: u8) -> bool {
    (0x20..0x7f).contains(&byte)
}

/// Whether every byte is printable ASCII and no space follows a space. Written so that the compiler can use vectors.
fn is_plain_chunk(chunk: &[u8], before: u8) -> bool {
    let odd = chunk
        .iter()
        .fold(0, |odd, &byte| odd | u8::from(!is_plain(byte)));
    let doubled = chunk
        .iter()
        .zip(chunk.iter().skip(1))
        .fold(0, |doubled, (&one, &two)| {
            doubled | u8::from(one == b' ' && two == b' ')
        });
    odd == 0 && doubled == 0 && !(is_space(before) && chunk.first() == Some(&b' '))
}

fn lower(byte: u8) -> u8 {
    match byte {
        b'`' => b'\'',
        _ => byte.to_ascii_lowercase(),
    }
}
