//! The tables as Diesel sees them; the migrations define them.

diesel::table! {
    categories (slug) {
        slug -> Text,
        label -> Text,
        for_tickets -> Bool,
        for_articles -> Bool,
        for_calls -> Bool,
    }
}

diesel::table! {
    customers (id) {
        id -> BigInt,
        name -> Text,
        name_folded -> Text,
        email -> Text,
        email_folded -> Text,
        phone -> Nullable<Text>,
        organisation -> Nullable<Text>,
        organisation_folded -> Nullable<Text>,
        status -> Text,
        created_at -> BigInt,
        updated_at -> BigInt,
        version -> BigInt,
    }
}

diesel::table! {
    teams (folded) {
        folded -> Text,
        shown -> Text,
    }
}

diesel::table! {
    tickets (id) {
        id -> BigInt,
        customer_id -> BigInt,
        channel -> Text,
        subject -> Text,
        description -> Text,
        category -> Text,
        priority -> Text,
        status -> Text,
        tier -> SmallInt,
        assigned_team -> Nullable<Text>,
        team_folded -> Nullable<Text>,
        assignee -> Nullable<Text>,
        assignee_folded -> Nullable<Text>,
        organisation_folded -> Nullable<Text>,
        security_flag -> Text,
        last_comment_by -> Text,
        created_at -> BigInt,
        updated_at -> BigInt,
        version -> BigInt,
    }
}

diesel::table! {
    comments (id) {
        id -> BigInt,
        ticket_id -> BigInt,
        author -> Text,
        origin -> Text,
        visibility -> Text,
        body -> Text,
        created_at -> BigInt,
    }
}

diesel::table! {
    ticket_terms (rowid) {
        rowid -> BigInt,
        subject -> Text,
        body -> Text,
        comments -> Text,
        /// The hidden column by which SQLite's full-text tables are queried.
        #[sql_name = "ticket_terms"]
        everything -> Text,
    }
}

diesel::table! {
    articles (id) {
        id -> BigInt,
        slug -> Text,
        title -> Text,
        category -> Text,
        audience -> Text,
        updated_at -> BigInt,
        version -> BigInt,
    }
}

diesel::table! {
    article_blocks (article_id, position) {
        article_id -> BigInt,
        position -> BigInt,
        audience -> Text,
        body -> Text,
    }
}

diesel::table! {
    calls (id) {
        id -> BigInt,
        customer_id -> Nullable<BigInt>,
        ticket_id -> Nullable<BigInt>,
        started_at -> BigInt,
        duration_seconds -> BigInt,
        agent -> Text,
        agent_folded -> Text,
        category -> Text,
        outcome -> Text,
        turns -> Text,
    }
}

diesel::table! {
    call_terms (rowid) {
        rowid -> BigInt,
        caller -> Text,
        agent -> Text,
        /// The hidden column by which SQLite's full-text tables are queried.
        #[sql_name = "call_terms"]
        everything -> Text,
    }
}

diesel::table! {
    calls_to_index (call_id) {
        call_id -> BigInt,
    }
}

diesel::table! {
    csat_responses (id) {
        id -> BigInt,
        call_id -> Nullable<BigInt>,
        ticket_id -> Nullable<BigInt>,
        score -> SmallInt,
        comment -> Nullable<Text>,
        category -> Text,
        submitted_at -> BigInt,
        week -> BigInt,
    }
}

diesel::table! {
    external_ids (kind, external_id) {
        kind -> Text,
        external_id -> Text,
        entity_id -> BigInt,
    }
}

diesel::table! {
    access_tokens (id) {
        id -> BigInt,
        digest -> Binary,
        subject -> Text,
        label -> Text,
        scopes -> Text,
        created_at -> BigInt,
        expires_at -> BigInt,
        revoked_at -> Nullable<BigInt>,
        last_used_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    audit_event (chain, seq) {
        chain -> SmallInt,
        seq -> BigInt,
        event_id -> Binary,
        payload -> Binary,
        prev -> Nullable<Binary>,
        hash -> Nullable<Binary>,
        mac -> Nullable<Binary>,
        mac_kid -> Nullable<Text>,
        at_us -> BigInt,
        actor -> Text,
        action -> Text,
        entity -> Text,
        entity_id -> Nullable<BigInt>,
        outcome -> Text,
        code -> Nullable<Text>,
    }
}

diesel::table! {
    audit_head (chain) {
        chain -> SmallInt,
        seq -> BigInt,
        hash -> Nullable<Binary>,
    }
}

diesel::table! {
    audit_checkpoint (id) {
        id -> BigInt,
        chain -> SmallInt,
        seq -> BigInt,
        at_us -> BigInt,
        note -> Text,
    }
}

diesel::table! {
    deployment (only) {
        only -> BigInt,
        id -> Text,
    }
}

diesel::table! {
    pending_changes (number) {
        number -> BigInt,
        token_id -> Binary,
        record -> Binary,
        operation -> Text,
        entity_id -> BigInt,
        arguments -> Text,
        shown -> Text,
        idempotency_key -> Nullable<Text>,
        actor -> Text,
        client -> Text,
        channel -> Text,
        required -> Text,
        state -> Text,
        closed_as -> Nullable<Text>,
        method -> Nullable<Text>,
        seal -> Nullable<Text>,
        approver -> Nullable<Text>,
        created_at -> BigInt,
        expires_at -> BigInt,
        decided_at -> Nullable<BigInt>,
        spent_at -> Nullable<BigInt>,
        answer -> Nullable<Text>,
        keep_until -> BigInt,
    }
}

diesel::table! {
    idempotency_keys (actor, tool, key) {
        actor -> Text,
        tool -> Text,
        key -> Text,
        digest -> Binary,
        answer -> Text,
        created_at -> BigInt,
    }
}

diesel::table! {
    payment_verifications (id) {
        id -> BigInt,
        ticket_id -> BigInt,
        channel_on_file -> Text,
        confirmer -> Text,
        approver -> Text,
        entered_by -> Text,
        entered_at -> BigInt,
    }
}

diesel::table! {
    ticket_originals (id) {
        id -> BigInt,
        ticket_id -> BigInt,
        subject -> Text,
        description -> Text,
        replaced_at -> BigInt,
    }
}

diesel::table! {
    security_reviews (id) {
        id -> BigInt,
        ticket_id -> BigInt,
        lifted -> Text,
        reviewer -> Text,
        reviewed_at -> BigInt,
        void -> Bool,
    }
}

diesel::table! {
    article_vectors (article_id) {
        article_id -> BigInt,
        version -> BigInt,
        model -> Text,
        windows -> Binary,
    }
}

diesel::table! {
    call_vectors (call_id) {
        call_id -> BigInt,
        model -> Text,
        windows -> Binary,
    }
}

diesel::joinable!(ticket_terms -> tickets (rowid));
diesel::allow_tables_to_appear_in_same_query!(tickets, ticket_terms);
diesel::joinable!(call_terms -> calls (rowid));
diesel::joinable!(csat_responses -> calls (call_id));
diesel::joinable!(csat_responses -> tickets (ticket_id));
diesel::allow_tables_to_appear_in_same_query!(calls, call_terms, csat_responses, tickets);
diesel::joinable!(article_vectors -> articles (article_id));
diesel::joinable!(call_vectors -> calls (call_id));
diesel::allow_tables_to_appear_in_same_query!(article_vectors, articles);
diesel::allow_tables_to_appear_in_same_query!(call_vectors, calls);
