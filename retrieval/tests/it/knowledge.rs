//! Articles of the demonstration that customers ask for in their own words.

use std::path::PathBuf;

use domain::terms::query_terms;
use retrieval::{Index, Lexicon, rank};

use crate::support::{Figures, embedder, packed, read};

struct Article {
    id: String,
    /// Each block with the title above it, since a block alone often doesn't say what it is about.
    blocks: Vec<String>,
}

fn articles() -> Vec<Article> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../demo/articles");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files.iter().map(article).collect()
}

fn article(file: &PathBuf) -> Article {
    let text = std::fs::read_to_string(file).unwrap();
    let (head, body) = text
        .strip_prefix("---\n")
        .unwrap()
        .split_once("\n---\n")
        .unwrap();
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name));
    let title = field("title: ").unwrap();
    let block = |block: &str| {
        let block = block.trim_matches(['\n', ':', ' ']);
        let block = block.strip_prefix("staff\n").unwrap_or(block);
        (!block.is_empty() && !block.starts_with('#')).then(|| format!("{title}\n{block}"))
    };
    Article {
        id: field("id: ").unwrap().to_owned(),
        blocks: body.split("\n\n").filter_map(block).collect(),
    }
}

#[test]
fn knowledge_is_found_by_customers_words() {
    let Some(embedder) = embedder() else { return };
    let articles = articles();
    let blocks: Vec<(usize, &str)> = (0..)
        .zip(&articles)
        .flat_map(|(at, article)| article.blocks.iter().map(move |block| (at, block.as_str())))
        .collect();
    let texts: Vec<&str> = blocks.iter().map(|(_, block)| *block).collect();
    let lexicon = Lexicon::of(texts.iter().copied());
    let mut index = Index::new(1000);
    for (document, packed) in (0..).zip(packed(&*embedder, &texts)) {
        index.put(document, &[packed]).unwrap();
    }
    let [mut words, mut meaning, mut both] = [Figures::default(); 3];
    for line in read("corpora/held-out/kb-questions.txt").lines() {
        let (id, question) = line.split_once('|').unwrap();
        let right = articles
            .iter()
            .position(|article| article.id == id)
            .unwrap();
        let vector = embedder.embed(&[question]).unwrap().remove(0);
        let best = index.compare(&vector);
        let terms = query_terms(question);
        let mut scores = [(); 3].map(|()| vec![f64::MIN; articles.len()]);
        for (block, (article, _)) in blocks.iter().enumerate() {
            let said = rank::words(lexicon.score(block, &terms), terms.len());
            let cosine = best.of(i64::try_from(block).unwrap()).unwrap().cosine;
            let of = [said, f64::from(cosine), rank::blend(Some(cosine), said)];
            for (scores, score) in scores.iter_mut().zip(of) {
                scores[*article] = scores[*article].max(score);
            }
        }
        for (figures, scores) in [&mut words, &mut meaning, &mut both]
            .into_iter()
            .zip(&scores)
        {
            figures.add(scores, right);
        }
    }
    println!("knowledge\n  words    {words}\n  meaning  {meaning}\n  both     {both}");
    assert!(both.questions >= 60.0);
    assert!(both.third() >= 0.85, "{both}");
}
