//! Training is deterministic, its mathematics is right, and a model file carries what was learnt.

use super::*;
use crate::local::model::Model;

fn examples() -> Vec<Example> {
    let mut lines = String::new();
    for at in 0..20 {
        lines.push_str(&format!("incident|theft|p{at}|Bag|My laptop bag was stolen from car number {at} at night\n"));
        lines.push_str(&format!("lookalike|found|p{at}|Bag|My laptop bag was in car number {at} all the time\n"));
        lines.push_str(&format!("ordinary|printer|-|Printer|The printer in room {at} has no toner\n"));
    }
    let mut all = read("one", &lines).unwrap();
    all.extend(read("two", &lines.replace("car", "van")).unwrap());
    all
}

fn model(examples: &[Example]) -> Model {
    Model::read(Box::leak(train(examples).into_boxed_slice())).unwrap()
}

fn score_of(model: &Model, text: &str) -> f32 {
    model.score(&Features::of(Folded::of([text]).text()))
}

#[test]
fn training_twice_gives_the_same_bytes() {
    assert_eq!(train(&examples()), train(&examples()));
}

#[test]
fn a_model_tells_what_it_was_taught() {
    let model = model(&examples());
    let incident = score_of(&model, "The bag with my laptop was stolen at night");
    let lookalike = score_of(&model, "The bag with my laptop was in the van all the time");
    let ordinary = score_of(&model, "No toner in the printer");
    assert!(incident > lookalike && lookalike > ordinary, "{incident} {lookalike} {ordinary}");
}

#[test]
fn a_writer_is_scored_by_heads_that_did_not_see_him() {
    let mut all = examples();
    // What only the second writer says can't be learnt without him.
    let odd = read("three", "incident|theft|-|Zyx|qwv zyx qwv\nordinary|printer|-|Zyx|wvq xyz wvq\n").unwrap();
    all.extend(odd);
    let scores: Vec<f64> = held_out(&all)
        .iter()
        .filter(|held| held.example.writer == "three")
        .map(|held| held.score)
        .collect();
    assert!((scores[0] - scores[1]).abs() < 0.5, "{scores:?}");
}

#[test]
fn a_line_of_another_form_is_refused_with_its_number() {
    for line in ["incident|a|-|s", "accident|a|-|s|b", "incident|a|-|s|b|c"] {
        let text = format!("ordinary|a|-|s|b\n{line}\n");
        assert_eq!(
            read("w", &text).unwrap_err(),
            TrainError::BadLine {
                writer: "w".to_owned(),
                line: 2
            }
        );
    }
}

#[test]
fn our_mathematics_agrees_with_the_library() {
    for at in -400..400 {
        let x = f64::from(at) / 10.0;
        let relative = (maths::exp(x) - x.exp()).abs() / x.exp();
        assert!(relative < 1e-11, "exp {x}: {relative}");
        if x > 0.0 {
            assert!((maths::ln(x) - x.ln()).abs() < 1e-12, "ln {x}");
        }
        assert!((maths::softplus(x) - (1.0 + x.exp()).ln()).abs() < 1e-9, "softplus {x}");
        assert!((maths::sigmoid(x) - 1.0 / (1.0 + (-x).exp())).abs() < 1e-12, "sigmoid {x}");
    }
}

#[test]
fn the_model_of_this_build_is_what_the_training_texts_give() {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("training");
    let mut paths: Vec<_> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    paths.sort();
    let mut examples = Vec::new();
    for path in paths {
        let writer = path.file_stem().unwrap().to_string_lossy().into_owned();
        examples.extend(read(&writer, &std::fs::read_to_string(&path).unwrap()).unwrap());
    }
    assert!(examples.len() >= 2_500);
    assert!(train(&examples) == crate::local::MODEL, "run `cargo xtask train`");
    assert!(crate::local::MODEL.len() < 3 * 1024 * 1024);
}
