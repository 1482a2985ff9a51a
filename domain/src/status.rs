//! The status graph. A [`Transition`] is proof that an edge exists: only the graph makes one.

use crate::text_enum::text_enum;

text_enum! {
    /// Where a ticket stands.
    Status {
        /// Nobody works on it yet.
        Open = "open",
        /// Somebody works on it.
        InProgress = "in_progress",
        /// Solved, and may still be reopened.
        Resolved = "resolved",
        /// Done for good: no edge leaves it.
        Closed = "closed",
    }
}

impl Status {
    /// Where this status may move to, in the order of the graph in the design (section 2).
    pub const fn next(self) -> &'static [Self] {
        match self {
            Self::Open => &[Self::InProgress, Self::Closed],
            Self::InProgress => &[Self::Resolved, Self::Open, Self::Closed],
            Self::Resolved => &[Self::Closed, Self::InProgress],
            Self::Closed => &[],
        }
    }
}

text_enum! {
    /// A status that a ticket can leave again. Closing is final, so it is a guarded write and not one of these.
    OpenStatus {
        /// Nobody works on it yet.
        Open = "open",
        /// Somebody works on it.
        InProgress = "in_progress",
        /// Solved, and may still be reopened.
        Resolved = "resolved",
    }
}

impl OpenStatus {
    /// Where the graph has it.
    pub const fn status(self) -> Status {
        match self {
            Self::Open => Status::Open,
            Self::InProgress => Status::InProgress,
            Self::Resolved => Status::Resolved,
        }
    }
}

/// An edge of the graph. Its fields are private, so a status cannot change past the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    from: Status,
    to: Status,
}

impl Transition {
    /// The edge between two statuses, where there is one.
    pub fn find(from: Status, to: Status) -> Result<Self, ForbiddenTransition> {
        if from.next().contains(&to) {
            Ok(Self { from, to })
        } else {
            Err(ForbiddenTransition { from, to })
        }
    }

    /// The status that must be found.
    pub const fn from(self) -> Status {
        self.from
    }

    /// The status that will hold.
    pub const fn to(self) -> Status {
        self.to
    }
}

/// A move that the graph does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a ticket that is `{from}` cannot become `{to}`; {}", self.allowed_text())]
pub struct ForbiddenTransition {
    /// The status that was found.
    pub from: Status,
    /// The status that was asked for.
    pub to: Status,
}

impl ForbiddenTransition {
    /// The code by which answers and audit rows name this refusal.
    pub const CODE: &'static str = "FORBIDDEN_TRANSITION";

    /// What would have been allowed.
    pub const fn allowed(self) -> &'static [Status] {
        self.from.next()
    }

    fn allowed_text(self) -> String {
        if self.from.next().is_empty() {
            return "it is final".to_owned();
        }
        let words: Vec<_> = self
            .from
            .next()
            .iter()
            .map(|status| format!("`{status}`"))
            .collect();
        format!("it can become {}", words.join(" or "))
    }
}

#[cfg(test)]
mod tests {
    //! All sixteen pairs, as the design draws them.

    use super::*;

    #[test]
    fn the_graph_is_the_one_of_the_design() {
        use Status::{Closed, InProgress, Open, Resolved};
        let edges = [
            (Open, InProgress),
            (Open, Closed),
            (InProgress, Resolved),
            (InProgress, Open),
            (InProgress, Closed),
            (Resolved, Closed),
            (Resolved, InProgress),
        ];
        for from in Status::ALL {
            for to in Status::ALL {
                assert_eq!(
                    Transition::find(*from, *to).is_ok(),
                    edges.contains(&(*from, *to)),
                    "{from} -> {to}"
                );
            }
        }
    }

    #[test]
    fn a_refusal_names_the_way_on() {
        let refused = Transition::find(Status::Open, Status::Resolved).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "a ticket that is `open` cannot become `resolved`; it can become `in_progress` or `closed`"
        );
        let refused = Transition::find(Status::Closed, Status::Open).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "a ticket that is `closed` cannot become `open`; it is final"
        );
    }
}
