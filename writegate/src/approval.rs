//! How strongly a change has to be approved, and how it was.

/// The least approval that an operation asks for (design section 6); ordered from weak to strong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ApprovalLevel {
    /// The token alone: it proves that this exact change was previewed, not that anybody read the preview.
    Token,
    /// A person has to be asked.
    Person,
}

impl ApprovalLevel {
    /// Every level, from weak to strong.
    pub const ALL: [Self; 2] = [Self::Token, Self::Person];

    /// The name in configuration and in stored rows.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Person => "person",
        }
    }

    /// The level of that exact name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }

    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Token => 1,
            Self::Person => 2,
        }
    }

    pub(crate) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.code() == code)
    }
}

/// How a change was approved, as results and audit rows state it: never more than what this server knows (promise G-16).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ApprovalMethod {
    /// Nobody was asked by this server.
    TokenOnly,
    /// The client says that a person accepted its form; a client can say so by itself.
    ElicitationForm,
    /// Somebody typed the id at a terminal of the machine.
    OperatorTerminal,
    /// A signed-in person approved on this server's own page.
    ApprovalPage,
}

impl ApprovalMethod {
    /// Every method.
    pub const ALL: [Self; 4] = [
        Self::TokenOnly,
        Self::ElicitationForm,
        Self::OperatorTerminal,
        Self::ApprovalPage,
    ];

    /// The name in results, audit rows and stored rows.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TokenOnly => "token_only",
            Self::ElicitationForm => "elicitation_form",
            Self::OperatorTerminal => "operator_terminal",
            Self::ApprovalPage => "approval_page",
        }
    }

    /// The method of that exact name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str() == name)
    }

    /// Whether this method is enough where `level` is asked for.
    pub fn satisfies(self, level: ApprovalLevel) -> bool {
        let reached = match self {
            Self::TokenOnly => ApprovalLevel::Token,
            Self::ElicitationForm | Self::OperatorTerminal | Self::ApprovalPage => {
                ApprovalLevel::Person
            }
        };
        reached >= level
    }
}
