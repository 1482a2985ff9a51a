use super::*;

#[test]
fn dev() {
    let floor = Floor::get().unwrap();
    let show = std::fs::read_to_string("/tmp/dev.show").unwrap_or_default();
    for path in std::fs::read_to_string("/tmp/dev.list").unwrap().lines() {
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let f: Vec<&str> = line.split('|').collect();
            let found = floor.examine(&[f[3], f[4]]);
            let t = [f[3], f[4]];
            let why = || found.iter().map(|f| format!("{} {:?}", f.id, f.evidence.iter().map(|r| &t[r.text][r.bytes.clone()]).collect::<Vec<_>>())).collect::<Vec<_>>().join(" ; ");
            if f[0] != "incident" && !found.is_empty() && show.contains("fp") { println!("FP {line}\n      {}", why()); }
            if f[0] == "incident" && found.is_empty() && show.contains("fn") { println!("FN {line}"); }
            if f[0] == "incident" && !found.is_empty() && show.contains("tp") { println!("TP {line}\n      {}", why()); }
        }
    }
}

#[test]
fn dump() {
    let floor = Floor::get().unwrap();
    let mut out = String::new();
    for w in ["0", "a", "b", "c", "d", "e"] {
        for line in std::fs::read_to_string(format!("/tmp/wt/guardrail/guardrail/training/writer-{w}.txt")).unwrap().lines() {
            let f: Vec<&str> = line.split('|').collect();
            let folded = Folded::of([f[3], f[4]]);
            let reading = Reading::of(folded.text(), &floor.lexicon, &floor.roles);
            let mut feats: std::collections::BTreeSet<String> = Default::default();
            for f in floor.examine(&[f[3], f[4]]) { feats.insert(format!("F:{}", f.id)); feats.insert("F:any".into()); }
            for f in rules::evaluate(&floor.indicators, floor.explained, &reading) { feats.insert(format!("L:{}", f.line)); }
            out += &feats.into_iter().collect::<Vec<_>>().join("\t");
            out.push('\n');
        }
    }
    std::fs::write("/tmp/lab/extra.txt", out).unwrap();
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
    for line in std::fs::read_to_string("/tmp/wt/guardrail/guardrail/training/writer-0.txt").unwrap().lines().filter(|l| !l.starts_with("incident")) {
        text.push_str(line.split('|').next_back().unwrap());
        text.push('\n');
    }
    let mut big = String::new();
    while big.len() < 1 << 20 { big.push_str(&text); }
    let floor = Floor::get().unwrap();
    for _ in 0..20 {
        let t = Instant::now();
        let folded = Folded::of([big.as_str()]);
        let tf = t.elapsed();
        let t = Instant::now();
        let reading = Reading::of(folded.text(), &floor.lexicon, &floor.roles);
        let tr = t.elapsed();
        let t = Instant::now();
        let h = disguise::hidden_in_folded(&folded, &reading, &floor.lexicon);
        let th = t.elapsed();
        let t = Instant::now();
        let e = encoded::hidden_in_original(&big, &floor.lexicon);
        let te = t.elapsed();
        let t = Instant::now();
        let f = rules::evaluate(&floor.indicators, floor.explained, &reading);
        println!("{} bytes fold {:?} read {:?} disguise {:?} {} encoded {:?} {} rules {:?} firings {}", big.len(), tf, tr, th, h.len(), te, e.len(), t.elapsed(), f.len());
    }
    let one = "Good morning, since yesterday my second screen stays black after lunch. I unplugged it and put it back, then it works for an hour. Is it the cable or the screen? The docking station was replaced last week by your colleague, and the laptop is the one from 2022. I have a meeting at ten and would be glad if somebody could look at it before. Kind regards, Heike from accounting, extension 214";
    let t = Instant::now();
    for _ in 0..1000 { std::hint::black_box(floor.examine(&["Second screen", one])); }
    println!("one ticket of {} words {:?}", one.split(' ').count(), t.elapsed() / 1000);
}
