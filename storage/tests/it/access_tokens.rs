//! Personal access tokens: found by their hash alone, ended for good, on record.

use domain::{Action, EntityKind, NewAccessToken, Role, ScopeSet};
use storage::StoreError;

use crate::support::{Place, act, at, audit_rows, err, ok};

on_every_engine!(
    a_token_is_found_by_its_hash_as_it_was_made,
    an_ended_token_stays_ended_and_is_on_record_once,
    the_last_use_is_kept_to_within_an_hour,
    a_hash_is_stored_once,
);

fn token(digest: u8, scopes: ScopeSet) -> NewAccessToken {
    NewAccessToken {
        digest: [digest; 32],
        subject: "anna".to_owned(),
        label: "her laptop".to_owned(),
        scopes,
        expires_at: at(3600),
    }
}

fn a_token_is_found_by_its_hash_as_it_was_made(place: &Place) {
    let store = place.open();
    for (n, role) in Role::ALL.iter().enumerate() {
        let digest = u8::try_from(n).unwrap();
        let made = ok(store.create_access_token(act(1), token(digest, role.scopes())));
        assert_eq!(made.scopes, role.scopes());
        assert_eq!((made.created_at, made.expires_at), (at(1), at(3600)));
        assert_eq!((made.revoked_at, made.last_used_at), (None, None));
        assert_eq!(ok(store.find_access_token([digest; 32])), Some(made));
    }
    assert_eq!(ok(store.find_access_token([99; 32])), None);
    let ids: Vec<_> = ok(store.list_access_tokens())
        .iter()
        .map(|token| token.id)
        .collect();
    assert_eq!(ids, [1, 2, 3, 4, 5]);
    let log = audit_rows(&store);
    assert_eq!(log.len(), 5);
    let newest = &log[4];
    assert_eq!(newest.action, Action::CreateAccessToken);
    assert_eq!(
        (newest.entity, newest.entity_id),
        (EntityKind::AccessToken, Some(5))
    );
    assert!(
        newest
            .facts
            .contains(&("subject".to_owned(), "anna".to_owned()))
    );
}

fn an_ended_token_stays_ended_and_is_on_record_once(place: &Place) {
    let store = place.open();
    let made = ok(store.create_access_token(act(1), token(1, Role::Viewer.scopes())));
    let ended = ok(store.revoke_access_token(act(5), made.id));
    assert_eq!(ended.revoked_at, Some(at(5)));
    assert_eq!(ok(store.revoke_access_token(act(9), made.id)), ended);
    assert_eq!(ok(store.find_access_token([1; 32])), Some(ended));
    let actions: Vec<_> = audit_rows(&store).iter().map(|row| row.action).collect();
    assert_eq!(
        actions,
        [Action::CreateAccessToken, Action::RevokeAccessToken]
    );
    assert!(matches!(
        err(store.revoke_access_token(act(9), 77)),
        StoreError::NotFound {
            entity: EntityKind::AccessToken,
            id: 77
        }
    ));
}

fn the_last_use_is_kept_to_within_an_hour(place: &Place) {
    let store = place.open();
    let made = ok(store.create_access_token(act(1), token(1, Role::Viewer.scopes())));
    let used = |second| {
        ok(store.note_access_token_use(act(second), made.id));
        ok(store.list_access_tokens())[0].last_used_at
    };
    assert_eq!(used(10), Some(at(10)));
    assert_eq!(used(3609), Some(at(10)));
    assert_eq!(used(3610), Some(at(3610)));
    assert_eq!(audit_rows(&store).len(), 3);
    ok(store.note_access_token_use(act(9), 77));
}

fn a_hash_is_stored_once(place: &Place) {
    let store = place.open();
    ok(store.create_access_token(act(1), token(1, Role::Viewer.scopes())));
    let again = err(store.create_access_token(act(2), token(1, Role::Lead.scopes())));
    assert!(matches!(again, StoreError::Internal(_)));
    assert_eq!(audit_rows(&store).len(), 1);
}
