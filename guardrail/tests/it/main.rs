//! The promises of the guardrail, tested through its public face.
#![expect(clippy::unwrap_used, reason = "test helpers outside of test functions")]

mod disguise;
mod environment;
mod languages;
mod linear;
mod mentions;
#[cfg(feature = "remote")]
mod remote;

use guardrail::{Refusal, Screened, Segment, Source, Ticket, classifier, screen_at_once};

/// What the floor alone says about a description.
fn floor(text: &str) -> Option<Refusal> {
    let ticket = Ticket::new(
        1,
        1,
        "general",
        vec![Segment::new(Source::Description, text)],
    );
    match screen_at_once(ticket, &*classifier::none()) {
        Screened::Refused(refusal) => Some(refusal),
        Screened::Cleared(_) => None,
    }
}

fn ids(refusal: &Refusal) -> Vec<&'static str> {
    refusal
        .indicators
        .iter()
        .map(|indicator| indicator.id)
        .collect()
}

/// Incidents in plain words, which every disguise is tried on.
const INCIDENTS: &[&str] = &[
    "All files on the shared drive were renamed overnight and there is a ransom note in every folder. Nobody can open a drawing.",
    "I clicked the link in a mail about a parcel and typed my password. The page looked fake and the address was wrong.",
    "My mouse moves by itself and opened my online banking while I was watching.",
    "I opened the attachment from an unknown sender and a black window flashed. Since then the computer is very slow.",
    "The home page of my browser changed by itself and every search redirects to ads.",
    "Customers received emails from my address with a link that I did not send. My sent items are full of them.",
    "Our supplier emailed that they have new bank details and asks us to update the account number before the next payment.",
    "I got a password reset code by text which I did not request. I was asleep at that time.",
    "A man from Microsoft called and I let him connect with TeamViewer. He installed a program and asked for my card.",
    "The director texted me from a new number to buy gift cards and send photos of the codes.",
];

/// Ordinary tickets in plain words.
const ORDINARY: &[&str] = &[
    "The printer on floor two leaves grey lines on each page. The toner is new and we cleaned the drum.",
    "Please give Tim and Noor access to the orders mailbox from Monday on. Their manager has approved it.",
    "My laptop takes ten minutes to start and the fan is loud. It is five years old. Could I get a new one?",
];
