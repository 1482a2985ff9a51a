//! Contact fields: in clear only for callers with their own right (promises E).
//!
//! Masking happens here, below every tool, resource and prompt, so that none of them can forget it.

use domain::{Customer, Scope};

use crate::Caller;

/// A customer as this caller may see them.
pub(crate) fn shown(caller: &Caller, customer: Customer) -> Customer {
    if caller.scopes.contains(Scope::CustomersPii) {
        return customer;
    }
    Customer {
        email: masked_email(&customer.email),
        phone: customer.phone.as_deref().map(masked_phone),
        ..customer
    }
}

/// Keeps the first letter and the domain: enough to tell two customers apart, too little to write to one.
fn masked_email(email: &str) -> String {
    let (local, domain) = email.split_once('@').unwrap_or((email, ""));
    let first: String = local.chars().take(1).collect();
    format!("{first}***@{domain}")
}

/// Keeps the last two digits, by which a person on the line can be asked to confirm the rest.
fn masked_phone(phone: &str) -> String {
    let digits: Vec<char> = phone.chars().filter(char::is_ascii_digit).collect();
    let last: String = digits.iter().skip(digits.len().saturating_sub(2)).collect();
    format!("***{last}")
}

#[cfg(test)]
mod tests {
    //! What is left of a contact.

    use super::*;

    #[test]
    fn a_masked_contact_keeps_what_tells_it_apart_and_no_more() {
        assert_eq!(masked_email("ann.lee@acme.example"), "a***@acme.example");
        assert_eq!(masked_email("ümit@acme.example"), "ü***@acme.example");
        assert_eq!(masked_phone("+44 20 7946 0123"), "***23");
    }
}
