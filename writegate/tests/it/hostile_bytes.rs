//! What must hold for any bytes at all; run by a property here, and by the fuzz target in `fuzz/` for as long as one likes.

use writegate::{
    ApprovalLevel, ApprovalMethod, Binding, ChangeDigest, Gate, Key, KeyRing, Kid, Presented,
    ScreeningDigest, Token, gate,
};

/// Panics if `bytes`, as a token, as a record, as both, or as a key file, do anything but parse to what they spell or be refused.
pub(crate) fn check_hostile_bytes(bytes: &[u8]) {
    let decoded = Binding::decode(bytes);
    if let Ok(binding) = &decoded {
        assert_eq!(binding.encode(), bytes, "a second encoding");
    }
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    if let Ok(ring) = KeyRing::parse(text) {
        let rendered = ring.render();
        assert!(KeyRing::parse(&rendered).is_ok_and(|again| again.render() == rendered));
    }
    // The first line as a token for the rest as its record.
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    if let Ok(token) = Token::parse(first) {
        assert_eq!(token.text(), first.trim(), "a second spelling");
        let accepted = [None, Some(rest.as_bytes())].into_iter().any(|record| {
            fixed_gate()
                .redeem(&token, record, &anything(), None)
                .is_ok()
        });
        assert!(!accepted, "a forged token");
    }
}

fn fixed_gate() -> std::sync::Arc<dyn Gate> {
    let secret: [u8; 32] = std::array::from_fn(|i| (i * i * 7 + i * 29 + 113).to_le_bytes()[0]);
    let key = Kid::parse("k7qx").and_then(|kid| Key::new(kid, &secret));
    gate(KeyRing::new(key.unwrap()))
}

fn anything() -> Presented<'static> {
    Presented {
        deployment: "",
        channel: "",
        actor: "",
        client: "",
        tool: "",
        entity_kind: "",
        entity_id: 0,
        version: 0,
        change: ChangeDigest::from_bytes([0; 32]),
        screening: ScreeningDigest::from_bytes([0; 32]),
        required: ApprovalLevel::Token,
        method: ApprovalMethod::ApprovalPage,
    }
}
