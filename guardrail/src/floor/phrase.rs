//! The notation for words and phrases in the indicator table, expanded to the exact texts that the automaton looks for.
//!
//! `{my|our|}` is one of the choices, `+click` is a regular verb in all its forms, an apostrophe may be missing in the
//! text, and a hyphen may be a space or missing.

/// All texts that `phrase` stands for.
pub(super) fn expand(phrase: &str) -> Vec<String> {
    let mut texts = vec![String::new()];
    let mut rest = phrase;
    while !rest.is_empty() {
        let (choices, behind) = next_part(rest);
        texts = texts
            .iter()
            .flat_map(|text| choices.iter().map(move |choice| format!("{text}{choice}")))
            .collect();
        rest = behind;
    }
    for text in &mut texts {
        *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    texts.retain(|text| !text.is_empty());
    texts.sort();
    texts.dedup();
    texts
}

/// The choices for the first part of `rest`, and what follows it.
fn next_part(rest: &str) -> (Vec<String>, &str) {
    if let Some(inner) = rest.strip_prefix('{') {
        let (inner, behind) = inner.split_once('}').unwrap_or((inner, ""));
        return (inner.split('|').flat_map(variants).collect(), behind);
    }
    if let Some(verb) = rest.strip_prefix('+') {
        let end = verb
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(verb.len());
        let (verb, behind) = verb.split_at(end);
        return (inflections(verb).to_vec(), behind);
    }
    let end = rest.find(['{', '+']).unwrap_or(rest.len());
    let (plain, behind) = rest.split_at(end);
    (variants(plain), behind)
}

/// Apostrophes as people write or forget them, and hyphens as a gap between words or as nothing.
fn variants(text: &str) -> Vec<String> {
    let mut all = vec![text.replace('-', " ")];
    if text.contains('-') {
        all.push(text.replace('-', ""));
    }
    if text.contains('\'') {
        all.extend(all.clone().iter().map(|text| text.replace('\'', "")));
    }
    all
}

/// Base form, third person, past and progressive of a regular verb that doesn't double its last letter.
fn inflections(verb: &str) -> [String; 4] {
    let ends = |endings: &[&str]| endings.iter().any(|ending| verb.ends_with(ending));
    let consonant_y = verb.ends_with('y') && !ends(&["ay", "ey", "oy", "uy"]);
    let stem = verb.get(..verb.len().saturating_sub(1)).unwrap_or(verb);
    let third = if ends(&["s", "x", "z", "ch", "sh"]) {
        format!("{verb}es")
    } else if consonant_y {
        format!("{stem}ies")
    } else {
        format!("{verb}s")
    };
    let past = if verb.ends_with('e') {
        format!("{verb}d")
    } else if consonant_y {
        format!("{stem}ied")
    } else {
        format!("{verb}ed")
    };
    let progressive = if verb.ends_with('e') && !ends(&["ee", "oe", "ye"]) {
        format!("{stem}ing")
    } else {
        format!("{verb}ing")
    };
    [verb.to_owned(), third, past, progressive]
}
