//! What must not leave with a public comment, whatever the ticket is about (promise I-5).

use domain::contact::{ContactKind, contacts};
use domain::{
    Act, Audience, CustomerFilter, CustomerId, CustomerOrder, GuardedWrite, PageRequest, TicketId,
};
use guardrail::outgoing::{Leak, leak};

use crate::{Desk, DeskError, InvalidArgument};

/// E-mail addresses that one text may name; each is looked up.
const ADDRESSES: usize = 20;

/// Why a public comment must not leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Leak(Leak),
    OtherCustomer,
    ManyAddresses,
}

impl Held {
    /// Its word in the audit row.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Leak(leak) => leak.as_str(),
            Self::OtherCustomer => "other_customer",
            Self::ManyAddresses => "many_addresses",
        }
    }

    /// What is wrong with `body`. The found text itself is not repeated.
    fn reason(self) -> String {
        match self {
            Self::Leak(Leak::CardNumber) => {
                "holds the number of a payment card, which may not be sent to anybody".to_owned()
            }
            Self::Leak(Leak::Secret) => {
                "holds a token or key, which may not be sent to anybody".to_owned()
            }
            Self::Leak(Leak::StaffText) => {
                "repeats a passage of the knowledge base that is for staff; say what the customer needs in words that are \
                 for customers"
                    .to_owned()
            }
            Self::OtherCustomer => {
                "holds the e-mail address of another customer, which may not be sent to this one"
                    .to_owned()
            }
            Self::ManyAddresses => format!("holds more than {ADDRESSES} e-mail addresses"),
        }
    }
}

impl Desk {
    /// Refuses a public comment that carries what its reader must not see, and puts that on record.
    pub(crate) async fn check_outgoing(
        &self,
        act: &Act,
        write: &GuardedWrite,
    ) -> Result<(), DeskError> {
        let GuardedWrite::PublishComment {
            ticket,
            publication,
        } = write
        else {
            return Ok(());
        };
        let Some(held) = self.held_back(*ticket, &publication.body).await? else {
            return Ok(());
        };
        let error = DeskError::from(InvalidArgument::new("body", held.reason()));
        let facts = vec![("outgoing", held.as_str().to_owned())];
        self.note_refusal(act, write.action(), *ticket, &error, facts)
            .await?;
        Err(error)
    }

    async fn held_back(&self, ticket: TicketId, body: &str) -> Result<Option<Held>, DeskError> {
        let index = self.shelf().await?;
        let articles = || index.articles();
        let open = articles().flat_map(|article| article.blocks_for(Audience::Customer));
        let staff = articles().flat_map(|article| {
            let is_open = matches!(article.audience, Audience::Customer);
            article
                .blocks
                .iter()
                .filter(move |block| !is_open || block.audience == Audience::Staff)
        });
        let found = leak(
            body,
            staff.map(|block| block.text.as_str()),
            open.map(|block| block.text.as_str()),
        );
        if let Some(leak) = found {
            return Ok(Some(Held::Leak(leak)));
        }
        let mut addresses: Vec<String> = contacts(body, &[])
            .into_iter()
            .filter(|found| found.kind == ContactKind::Email)
            .map(|found| found.value)
            .collect();
        addresses.sort();
        addresses.dedup();
        if addresses.len() > ADDRESSES {
            return Ok(Some(Held::ManyAddresses));
        }
        if addresses.is_empty() {
            return Ok(None);
        }
        let reader = self.store.get_ticket(ticket).await?.customer;
        for address in addresses {
            if self.is_of_another(address, reader).await? {
                return Ok(Some(Held::OtherCustomer));
            }
        }
        Ok(None)
    }

    async fn is_of_another(&self, email: String, reader: CustomerId) -> Result<bool, DeskError> {
        let filter = CustomerFilter {
            email: Some(email),
            ..CustomerFilter::default()
        };
        let page = PageRequest::new(1, None);
        let found = self
            .store
            .list_customers(filter, CustomerOrder::Newest, page)
            .await?;
        Ok(found.rows.iter().any(|customer| customer.id != reader))
    }
}

#[cfg(test)]
mod tests {
    //! What a talked-into model would send out, over the demonstration desk.

    use domain::{Origin, Publication, Visibility};

    use super::*;
    use crate::guard::tests::file_on;
    use crate::ops::demo::seed;
    use crate::ops::tests::{TestDesk, run};
    use crate::tickets::TicketList;
    use crate::{AuditList, ErrorCode, Proposal, valid};

    fn seeded() -> TestDesk {
        let test = TestDesk::new();
        run(seed(&test.desk, &test.caller)).unwrap();
        test
    }

    fn publish(test: &TestDesk, ticket: TicketId, body: &str) -> Result<(), DeskError> {
        let write = GuardedWrite::PublishComment {
            ticket,
            publication: Publication {
                body: body.to_owned(),
            },
        };
        let proposal = Proposal {
            write: valid(write).unwrap(),
            if_version: None,
            key: None,
            asks_person: false,
        };
        run(test.desk.propose(&test.caller, proposal)).map(drop)
    }

    #[test]
    fn canaries_stay_in_and_the_log_says_which_kind_without_the_text() {
        let test = seeded();
        let filed = file_on(
            &test.desk,
            &test.caller,
            "printer",
            "The printer is offline.",
        );
        let own = run(test.desk.get_customer(&test.caller, filed.customer)).unwrap();
        let all = run(test
            .desk
            .list_customers(&test.caller, crate::CustomerList::default()))
        .unwrap();
        let other = all.rows.iter().find(|row| row.id != own.id).unwrap();
        let shelf = run(test.desk.shelf()).unwrap();
        let staff = shelf
            .articles()
            .find(|article| article.audience == Audience::Staff)
            .unwrap();
        let passage = staff.blocks.iter().map(|block| block.text.as_str());
        let passage = passage.max_by_key(|text| text.len()).unwrap();
        let mail = format!("Please write to {} instead.", other.email.to_uppercase());
        for (body, kind) in [
            ("Your card 4111 1111 1111 1111 was charged.", "card_number"),
            (
                "Use dgt_0123456789abcdef0123456789abcdef to sign in.",
                "secret",
            ),
            (passage, "staff_text"),
            (mail.as_str(), "other_customer"),
        ] {
            let refused = publish(&test, filed.id, body).unwrap_err();
            assert_eq!(refused.code(), ErrorCode::InvalidArgument, "{body}");
            assert!(refused.to_string().starts_with("`body` "), "{refused}");
            assert!(
                !refused.to_string().contains(&other.email)
                    && !refused.to_string().contains("4111")
            );
            let log = run(test
                .desk
                .list_audit_entries(&test.caller, AuditList::default()))
            .unwrap();
            let facts = &log.rows[0].facts;
            assert_eq!(facts.as_slice(), [("outgoing".to_owned(), kind.to_owned())]);
        }
        publish(
            &test,
            filed.id,
            &format!("We have written to {}.", own.email),
        )
        .unwrap();
    }

    #[test]
    fn nothing_that_the_desk_has_said_to_its_customers_would_have_been_held_back() {
        let test = seeded();
        let list = TicketList {
            limit: Some(100),
            ..TicketList::default()
        };
        let mut said = 0;
        for ticket in run(test.desk.list_tickets(&test.caller, list))
            .unwrap()
            .rows
        {
            let texts = run(test.desk.store.get_ticket_texts(ticket.id)).unwrap();
            for comment in &texts.comments {
                if comment.origin == Origin::Team && comment.visibility == Visibility::Public {
                    said += 1;
                    let held = run(test.desk.held_back(ticket.id, &comment.body)).unwrap();
                    assert_eq!(held, None, "{}", comment.body);
                }
            }
        }
        assert!(said >= 40, "{said}");
    }
}
