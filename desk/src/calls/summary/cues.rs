//! Words that tell what a sentence is for, as `domain::terms` stems them.

use std::collections::HashSet;
use std::sync::LazyLock;

use domain::CallOutcome;
use domain::terms::terms;

/// A set of stemmed words.
pub(super) struct Cues(HashSet<String>);

/// What names trouble or a wish. `n't` is cut off its verb, which is what is listed.
const TROUBLE: &str = "not no cannot never nothing nobody wrong error fail failed broken problem issue trouble stopped stop slow \
    lost lose forgot forgotten locked lock missing invalid black blank crash crashed down stuck refuse refused complain \
    complaint doesn isn won couldn didn hasn haven wasn wouldn shouldn aren weren dead gone asks want wanted need needed \
    help cancel change order question wondering twice charged charge overcharged fee owe refund late waiting wait still \
    suspicious strange odd weird noise hot flickers disappeared vanished";

/// What names something that is done, or that the caller is asked to do.
const ACT: &str = "please open opened click press type choose pick sign restart restarted reboot unplug plug send sent reset change \
    changed add added remove removed enter entered pass passing passed forward forwarded escalate escalating escalated book \
    booked write wrote load loading check checked checking look looking fix fixed replace replaced call connect download \
    install installed update updated approve approved refund refunded credited cancel cancelled correct corrected unlock \
    unlocked switch switched put move moved turn hold try enable disable disabled create created raise raised note noted \
    scan export log push pushed clear cleared block blocked ship shipped arrange arranged give waive waived";

const RESOLVED: &str = "work works worked working done fixed solved green back again there see fine perfect brilliant \
    wonderful great thank thanks good quick easy new everything opens prints connects downloads arrived got";

const UNRESOLVED: &str = "still not no nothing never goodbye unhappy useless same again wrong else elsewhere complain complaint \
    manager leave cancel can cannot won don doesn isn disappointed useless give";

const FOLLOW_UP: &str = "will ll back call tomorrow today ticket pass passing passed urgent write send hour hours day days week monday \
    tuesday wednesday thursday friday team network security colleague engineer specialist second level line let know \
    escalate escalating escalated ring before after transfer transferring through wait waiting";

static SETS: LazyLock<[Cues; 5]> =
    LazyLock::new(|| [TROUBLE, ACT, RESOLVED, UNRESOLVED, FOLLOW_UP].map(Cues::made));

impl Cues {
    fn made(words: &str) -> Self {
        Self(terms(words).into_iter().collect())
    }

    pub(super) fn holds(&self, word: &str) -> bool {
        self.0.contains(word)
    }

    pub(super) fn trouble() -> &'static Self {
        let [trouble, ..] = &*SETS;
        trouble
    }

    pub(super) fn act() -> &'static Self {
        let [_, act, ..] = &*SETS;
        act
    }

    /// What fits an outcome.
    pub(super) fn of_outcome(outcome: CallOutcome) -> &'static Self {
        let [_, _, resolved, unresolved, follow_up] = &*SETS;
        match outcome {
            CallOutcome::Resolved => resolved,
            CallOutcome::Unresolved => unresolved,
            CallOutcome::Escalated | CallOutcome::Callback => follow_up,
        }
    }
}
