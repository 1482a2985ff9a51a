use super::*;

#[test]
fn dev() {
    let floor = Floor::get().unwrap();
    println!("memory {}", floor.lexicon.memory());
    let mut stats: std::collections::BTreeMap<(String, String), (usize, usize)> = Default::default();
    for path in std::fs::read_to_string("/tmp/dev.list").unwrap().lines() {
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let f: Vec<&str> = line.split('|').collect();
            let (label, kind, subject, body) = if f.len() == 5 {
                (f[0].to_owned(), f[1], f[3], f[4])
            } else {
                let label = if path.contains("/pos") { "incident" } else if f[0] == "ordinary" { "ordinary" } else { "lookalike" };
                (label.to_owned(), f[0], f[1], f[2])
            };
            let folded = Folded::of([subject, body]);
            let found = floor.scan(&folded);
            let s = stats.entry((label.clone(), kind.to_owned())).or_default();
            s.1 += 1;
            if !found.is_empty() {
                s.0 += 1;
            }
            let show = std::fs::read_to_string("/tmp/dev.show").unwrap_or_default();
            let why = || {
                found.iter().map(|f| format!("{}{:?} {:?}", f.id, f.lines, f.evidence.iter().map(|r| String::from_utf8_lossy(&folded.text()[r.start as usize..r.end as usize]).into_owned()).collect::<Vec<_>>())).collect::<Vec<_>>().join(" ; ")
            };
            if label != "incident" && !found.is_empty() && show.contains("fp") {
                println!("FP {kind}|{subject}|{body}\n      {}", why());
            }
            if label == "incident" && found.is_empty() && show.contains("fn") {
                println!("FN {kind}|{subject}|{body}");
            }
            if label == "incident" && !found.is_empty() && show.contains("tp") {
                println!("TP {kind}|{subject}|{body}\n      {}", why());
            }
        }
    }
    let mut total: std::collections::BTreeMap<String, (usize, usize)> = Default::default();
    for ((label, kind), (a, b)) in &stats {
        println!("{label:10} {kind:24} {a:4}/{b}");
        let t = total.entry(label.clone()).or_default();
        t.0 += a;
        t.1 += b;
    }
    println!("{total:?}");
}

#[test]
fn measure() {
    use std::time::Instant;
    let t = Instant::now();
    let table = Table::read(include_str!("../indicators.txt")).unwrap();
    println!("parse {:?} phrases {}", t.elapsed(), table.phrases.len());
    let t = Instant::now();
    let lex = Lexicon::build(&table).unwrap();
    println!("build {:?} {}", t.elapsed(), lex.memory());
    let mut text = String::new();
    for path in std::fs::read_to_string("/tmp/dev.list").unwrap().lines() {
        for line in std::fs::read_to_string(path).unwrap().lines().filter(|l| !path.contains("pos") && !l.starts_with("incident")) {
            text.push_str(line.split('|').next_back().unwrap());
            text.push('\n');
        }
    }
    let mut big = String::new();
    while big.len() < 1 << 20 { big.push_str(&text); }
    let floor = Floor::get().unwrap();
    for _ in 0..60 {
        let t = Instant::now();
        let folded = Folded::of([big.as_str()]);
        let tf = t.elapsed();
        let t = Instant::now();
        let reading = Reading::of(folded.text(), &floor.lexicon, &floor.roles);
        let tr = t.elapsed();
        let t = Instant::now();
        let f = rules::evaluate(&floor.indicators, floor.explained, &reading);
        println!("{} bytes fold {:?} read {:?} rules {:?} words {} firings {}", big.len(), tf, tr, t.elapsed(), reading.words.len(), f.len());
    }
}

#[test]
fn dump() {
    let text = include_str!("../indicators.txt");
    let table = Table::read(text).unwrap();
    let floor = Floor::get().unwrap();
    let mut names: Vec<(u16, String)> = table.names_for_dump();
    names.sort();
    let mut out = String::new();
    for w in ["0", "a", "b", "c", "d", "e"] {
        for line in std::fs::read_to_string(format!("/tmp/wt/guardrail/guardrail/training/writer-{w}.txt")).unwrap().lines() {
            let f: Vec<&str> = line.split('|').collect();
            let folded = Folded::of([f[3], f[4]]);
            let reading = Reading::of(folded.text(), &floor.lexicon, &floor.roles);
            let mut by_sentence: std::collections::BTreeMap<u32, std::collections::BTreeSet<String>> = Default::default();
            for (id, name) in &names {
                for hit in reading.hits(*id) {
                    let m = match reading.mood(hit) { reading::Mood::Real => "", reading::Mood::Negated => "!", reading::Mood::Unreal => "?" };
                    by_sentence.entry(reading.word(hit.word).sentence).or_default().insert(format!("{m}{id}"));
                    let _ = name;
                }
            }
            let mut feats: std::collections::BTreeSet<String> = Default::default();
            for set in by_sentence.values() {
                for a in set {
                    feats.insert(format!("1:{a}"));
                    for b in set {
                        if a < b { feats.insert(format!("2:{a}|{b}")); }
                    }
                }
            }
            for f in floor.scan(&folded) { feats.insert(format!("F:{}", f.id)); for l in f.lines { feats.insert(format!("L:{l}")); } feats.insert("F:any".into()); }
            out += &feats.into_iter().collect::<Vec<_>>().join("\t");
            out.push('\n');
        }
    }
    std::fs::write("/tmp/lab/extra.txt", out).unwrap();
}
