//! What each operation needs before it is done: configuration with safe defaults (design section 6).

use domain::text_enum::fold_word;
use domain::{GuardedWrite, Operation, UnknownValue};
use writegate::ApprovalLevel;

/// What is asked of every operation, before single ones are set otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfirmationMode {
    /// What can't be taken back in one step needs a confirmation, and deletions need a person.
    Standard,
    /// Every write needs a confirmation.
    Strict,
}

impl ConfirmationMode {
    /// Every mode.
    pub const ALL: [Self; 2] = [Self::Standard, Self::Strict];

    /// Its word in configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Strict => "strict",
        }
    }

    /// Reads a word. An unknown one must stop the start: it is a safety setting (field report 41).
    pub fn parse(given: &str) -> Result<Self, UnknownValue> {
        let folded = fold_word(given);
        let found = Self::ALL.into_iter().find(|mode| mode.as_str() == folded);
        found.ok_or_else(|| UnknownValue {
            given: given.to_owned(),
            allowed: Self::ALL.map(Self::as_str).to_vec(),
        })
    }
}

/// What an operation needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    /// Nothing.
    Open,
    /// A preview and its token.
    Token,
    /// A person who is asked.
    Person,
}

impl Need {
    const ALL: [Self; 3] = [Self::Open, Self::Token, Self::Person];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Token => "token",
            Self::Person => "person",
        }
    }
}

/// A setting that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// There is no such operation.
    #[error("`{}` is not an operation; valid are: {}", .0.given, .0.allowed.join(", "))]
    Operation(UnknownValue),
    /// It sets nothing.
    #[error("`{0}` sets nothing; write OPERATION=token or OPERATION=person")]
    Form(String),
    /// An operation can't be set to that.
    #[error("`{operation}` cannot be `{given}`; valid are: {}", allowed.join(", "))]
    Need {
        /// Which operation.
        operation: Operation,
        /// What was given.
        given: String,
        /// What it can be set to.
        allowed: Vec<&'static str>,
    },
}

/// What every operation needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    mode: ConfirmationMode,
    set: Vec<(Operation, Need)>,
}

impl Policy {
    /// The defaults of a mode.
    pub const fn new(mode: ConfirmationMode) -> Self {
        Self {
            mode,
            set: Vec::new(),
        }
    }

    /// This policy with one operation set otherwise, by their words. What is guarded stays guarded whatever is set.
    pub fn with(mut self, operation: &str, need: &str) -> Result<Self, PolicyError> {
        let operation = Operation::parse(operation).map_err(PolicyError::Operation)?;
        let allowed = Need::ALL
            .into_iter()
            .filter(|need| *need != Need::Open || !operation.is_always_guarded());
        let folded = fold_word(need);
        let need = allowed
            .clone()
            .find(|known| known.as_str() == folded)
            .ok_or_else(|| PolicyError::Need {
                operation,
                given: need.to_owned(),
                allowed: allowed.map(Need::as_str).collect(),
            })?;
        self.set.retain(|(known, _)| *known != operation);
        self.set.push((operation, need));
        Ok(self)
    }

    /// The policy of a mode with single operations set otherwise: `operation=need`, with commas.
    pub fn parse(mode: ConfirmationMode, settings: &str) -> Result<Self, PolicyError> {
        let words = settings.split(',').map(str::trim);
        words
            .filter(|word| !word.is_empty())
            .try_fold(Self::new(mode), |policy, word| {
                let (operation, need) = word
                    .split_once('=')
                    .ok_or_else(|| PolicyError::Form(word.to_owned()))?;
                policy.with(operation, need)
            })
    }

    /// The mode that the others default to.
    pub const fn mode(&self) -> ConfirmationMode {
        self.mode
    }

    /// The operations that are set otherwise, as `operation=need`.
    pub fn settings(&self) -> Vec<String> {
        self.set
            .iter()
            .map(|(operation, need)| format!("{operation}={}", need.as_str()))
            .collect()
    }

    fn need(&self, operation: Operation) -> Need {
        let set = self.set.iter().find(|(known, _)| *known == operation);
        match (set, self.mode) {
            // Strict mode guards what a setting leaves open.
            (Some((_, need)), ConfirmationMode::Strict) => (*need).max(Need::Token),
            (Some((_, need)), ConfirmationMode::Standard) => *need,
            (None, mode) => default_need(operation, mode),
        }
    }

    /// Whether an operation needs a confirmation.
    pub fn is_guarded(&self, operation: Operation) -> bool {
        self.need(operation) != Need::Open
    }

    /// The least approval of a write: the highest of everything that it does. `None` where it needs none.
    pub fn required(&self, write: &GuardedWrite) -> Option<ApprovalLevel> {
        let highest = write
            .operations()
            .map(|operation| self.need(operation))
            .max();
        match highest.unwrap_or(Need::Person) {
            Need::Open => None,
            Need::Token => Some(ApprovalLevel::Token),
            Need::Person => Some(ApprovalLevel::Person),
        }
    }
}

/// The defaults of design section 6, which win over those in the promises.
const fn default_need(operation: Operation, mode: ConfirmationMode) -> Need {
    match operation {
        Operation::DeleteTicket | Operation::DeleteCustomer | Operation::RecordSecurityReview => {
            Need::Person
        }
        Operation::UpdateTicket
        | Operation::PublishComment
        | Operation::CloseTicket
        | Operation::UpdateCustomer
        | Operation::RecordPaymentVerification => Need::Token,
        Operation::CreateCustomer
        | Operation::CreateTicket
        | Operation::AssignTicket
        | Operation::AddComment
        | Operation::MoveTicket
        | Operation::ResolveTicket => match mode {
            ConfirmationMode::Standard => Need::Open,
            ConfirmationMode::Strict => Need::Token,
        },
    }
}

#[cfg(test)]
mod tests {
    //! Defaults, and what can be set.

    use domain::{CustomerId, OpenStatus, OpenWrite, Status, TicketId, TicketPatch};

    use super::*;

    fn moving() -> GuardedWrite {
        GuardedWrite::Open(OpenWrite::MoveTicket {
            ticket: TicketId::new(1),
            to: OpenStatus::Open,
        })
    }

    #[test]
    fn nothing_that_is_guarded_can_be_set_open() {
        for mode in ConfirmationMode::ALL {
            for operation in Operation::ALL {
                let set = Policy::new(mode).with(operation.as_str(), "open");
                assert_eq!(set.is_err(), operation.is_always_guarded(), "{operation}");
            }
        }
        let error = Policy::new(ConfirmationMode::Standard)
            .with("delete_ticket", "open")
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "`delete_ticket` cannot be `open`; valid are: token, person"
        );
        assert!(
            Policy::new(ConfirmationMode::Standard)
                .with("deleteticket", "token")
                .is_err()
        );
    }

    #[test]
    fn strict_mode_guards_every_write() {
        let strict = Policy::new(ConfirmationMode::Strict).with("move_ticket", "open");
        assert_eq!(
            strict.unwrap().required(&moving()),
            Some(ApprovalLevel::Token)
        );
        let standard = Policy::new(ConfirmationMode::Standard);
        assert_eq!(standard.required(&moving()), None);
        let raised = standard.with("Move Ticket", "Person").unwrap();
        assert_eq!(raised.required(&moving()), Some(ApprovalLevel::Person));
        assert_eq!(raised.settings(), ["move_ticket=person"]);
    }

    #[test]
    fn deletions_need_a_person_and_a_write_needs_the_most_of_what_it_does() {
        let standard = Policy::new(ConfirmationMode::Standard);
        let deletion = GuardedWrite::DeleteCustomer {
            customer: CustomerId::new(1),
        };
        assert_eq!(standard.required(&deletion), Some(ApprovalLevel::Person));
        let closing = GuardedWrite::UpdateTicket {
            ticket: TicketId::new(1),
            patch: TicketPatch {
                status: Some(Status::Closed),
                ..TicketPatch::default()
            },
        };
        assert_eq!(standard.required(&closing), Some(ApprovalLevel::Token));
        let careful = standard.with("close_ticket", "person").unwrap();
        assert_eq!(careful.required(&closing), Some(ApprovalLevel::Person));
    }
}
