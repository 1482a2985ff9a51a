//! Promise G-16: what was approved and how is never stated higher than it was.

use writegate::{ApprovalLevel, ApprovalMethod, Binding, Presented, Refused, TokenId};

use crate::common::{NOW, binding, new_gate, presented};

#[test]
fn methods_and_levels_have_the_names_that_are_stored() {
    let methods: Vec<_> = ApprovalMethod::ALL.map(ApprovalMethod::as_str).into();
    assert_eq!(
        methods,
        [
            "token_only",
            "elicitation_form",
            "operator_terminal",
            "approval_page"
        ]
    );
    for method in ApprovalMethod::ALL {
        assert_eq!(ApprovalMethod::parse(method.as_str()), Some(method));
    }
    assert_eq!(
        ApprovalLevel::ALL.map(ApprovalLevel::as_str),
        ["token", "person"]
    );
    for level in ApprovalLevel::ALL {
        assert_eq!(ApprovalLevel::parse(level.as_str()), Some(level));
    }
    for unknown in ["", "Token", "token ", "human", "none"] {
        assert_eq!(ApprovalMethod::parse(unknown), None, "{unknown}");
        assert_eq!(ApprovalLevel::parse(unknown), None, "{unknown}");
    }
}

#[test]
fn a_token_alone_never_stands_for_a_person() {
    let table = [
        (ApprovalMethod::TokenOnly, [true, false]),
        (ApprovalMethod::ElicitationForm, [true, true]),
        (ApprovalMethod::OperatorTerminal, [true, true]),
        (ApprovalMethod::ApprovalPage, [true, true]),
    ];
    for (method, expected) in table {
        assert_eq!(
            ApprovalLevel::ALL.map(|level| method.satisfies(level)),
            expected,
            "{method:?}"
        );
    }
}

#[test]
fn the_higher_of_the_level_then_and_the_level_now_is_asked_for() {
    let gate = new_gate();
    for bound in ApprovalLevel::ALL {
        for now in ApprovalLevel::ALL {
            for method in ApprovalMethod::ALL {
                let original = Binding {
                    required: bound,
                    ..binding()
                };
                let token = gate.mint(&original, [1; 16]);
                let call = Presented {
                    required: now,
                    method,
                    ..presented(&original)
                };
                let result = gate
                    .redeem(&token, Some(&original.encode()), &call, Some(NOW))
                    .map(|grant| grant.method());
                let tokens_do = bound == ApprovalLevel::Token && now == ApprovalLevel::Token;
                let expected = if tokens_do || method != ApprovalMethod::TokenOnly {
                    Ok(method)
                } else {
                    Err(Refused::NeedsPerson)
                };
                assert_eq!(result, expected, "{bound:?} {now:?} {method:?}");
            }
        }
    }
}

#[test]
fn a_seal_is_good_for_one_token_record_and_method_and_for_nothing_else() {
    let gate = new_gate();
    let bound = binding();
    let record = bound.encode();
    let token = gate.mint(&binding(), [1; 16]);
    let other = gate.mint(&binding(), [2; 16]);
    let method = ApprovalMethod::OperatorTerminal;
    let seal = gate.seal_approval(token.id(), &record, method);
    assert!(gate.is_approval(&seal, token.id(), &record, method));
    for another in ApprovalMethod::ALL {
        let good = gate.is_approval(&seal, token.id(), &record, another);
        assert_eq!(good, another == method, "{another:?}");
    }
    assert!(!gate.is_approval(&seal, other.id(), &record, method));
    let longer = [record.as_slice(), &[0]].concat();
    assert!(!gate.is_approval(&seal, token.id(), &longer, method));
    // The token itself is no seal, and a seal is no token.
    assert!(!gate.is_approval(&token, token.id(), &record, method));
    let spent = gate.redeem(&seal, Some(&record), &presented(&bound), None);
    assert_eq!(spent.err(), Some(Refused::Invalid));
    // The id of a stored row is the token's, or none.
    assert_eq!(
        TokenId::from_stored(token.id().as_bytes()),
        Some(token.id())
    );
    assert_eq!(TokenId::from_stored(&[0; 15]), None);
    assert_eq!(TokenId::from_stored(&[0; 17]), None);
}
