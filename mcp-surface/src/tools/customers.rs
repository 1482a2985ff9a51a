//! Tools for customers.

use desk::{CustomerList, DeskError, InvalidArgument, Listing, valid};
use domain::{
    Action, Arguments as Values, Customer, CustomerFilter, CustomerId, CustomerOrder,
    CustomerPatch, CustomerStatus, EntityKind, GuardedWrite, NewCustomer, OpenWrite, Operation,
    Scope, Version, limits,
};
use futures::FutureExt as _;
use serde::Serialize;

use super::ticket_writes::assign;
use super::{Cursor, Email, Key, Name, PAGE, PageLimit, Query, REPLAYED, wording};
use crate::Toolset;
use crate::args::{Arguments, Clear, Label, Usual, arguments};
use crate::confirm::{Wanted, write};
use crate::listing::fitted;
use crate::reply::{Reply, json_len};
use crate::spec::{Call, Guard, Hints, Output, Policy, Step, ToolSpec, Type, done};
use crate::text::Sheet;
use crate::view::{CustomerView, PageInfo, contact, customer_facts, order_words};

const CUSTOMER: &[Output] = &[
    ("customer_id", Type::Text),
    ("name", Type::Object),
    ("email", Type::Text),
    ("phone", Type::Text),
    ("organisation", Type::Object),
    ("status", Type::Text),
    ("created_at", Type::Text),
    ("updated_at", Type::Text),
    ("version", Type::Whole),
];

pub(super) static TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "get_customer",
        title: "Get customer",
        toolset: Toolset::Customers,
        description: "One customer's record: name, email, phone, organisation, status. Without customers:pii email and phone are \
            stand-ins, the same for one value in every answer. Their tickets: list_tickets(customer_id). NOT_FOUND: find the id with \
            list_customers.",
        policy: Policy::read(Scope::DeskRead),
        hints: Hints::READS,
        args: GetCustomerArgs::ARGS,
        output: &[CUSTOMER],
        operations: &[],
        run: |call| done(get_customer(call)),
    },
    ToolSpec {
        name: "list_customers",
        title: "List customers",
        toolset: Toolset::Customers,
        description: "Customers that match all given filters; none given means everybody. Use it to find a \
            customer_id from a name or address. Returns rows, total and next_cursor.",
        policy: Policy::read(Scope::DeskRead),
        hints: Hints::READS,
        args: ListCustomersArgs::ARGS,
        output: &[&[("customers", Type::Objects)], PAGE],
        operations: &[],
        run: |call| done(list_customers(call)),
    },
    ToolSpec {
        name: "create_customer",
        title: "Create customer",
        toolset: Toolset::Customers,
        description: "Registers a customer. Does not file a ticket: create_ticket does. Returns the record with its \
            customer_id. DUPLICATE_EMAIL: the address is taken, use the customer that list_customers(email) finds.",
        policy: Policy::write(Scope::CustomersWrite),
        hints: Hints::ADDS,
        args: CreateCustomerArgs::ARGS,
        operations: &[Operation::CreateCustomer],
        output: &[CUSTOMER, REPLAYED],
        run: |call| create_customer(call).boxed(),
    },
    ToolSpec {
        name: "update_customer",
        title: "Update customer",
        toolset: Toolset::Customers,
        description: "Changes a customer's record; what is not named stays. Guarded: the first call returns \
            CONFIRMATION_REQUIRED with changes and a token, or asks the user; the call with the token makes exactly that \
            change. Returns the record. DUPLICATE_EMAIL: another customer has the address.",
        policy: Policy::guarded(Scope::CustomersWrite, Guard::Token),
        hints: Hints::OVERWRITES,
        operations: &[Operation::UpdateCustomer],
        args: UpdateCustomerArgs::ARGS,
        output: &[CUSTOMER],
        run: |call| update_customer(call).boxed(),
    },
    ToolSpec {
        name: "delete_customer",
        title: "Delete customer",
        toolset: Toolset::Customers,
        description: "Deletes a customer with their tickets and comments, for good; calls and the audit log stay. To stop \
            serving somebody set status inactive with update_customer. A person must approve: the first call asks them, \
            or returns HUMAN_APPROVAL_REQUIRED with approval_id, which is decided elsewhere; then call again with the token.",
        policy: Policy::guarded(Scope::DeskDelete, Guard::Person),
        hints: Hints::DELETES,
        operations: &[Operation::DeleteCustomer],
        args: DeleteCustomerArgs::ARGS,
        output: &[DELETED_CUSTOMER],
        run: |call| delete_customer(call).boxed(),
    },
];

const DELETED_CUSTOMER: &[Output] = &[("customer_id", Type::Text), ("deleted", Type::Flag)];

arguments! {
    /// Arguments of `get_customer`.
    GetCustomerArgs {
        customer_id: CustomerId = wording::CUSTOMER_ID;
    }
}

arguments! {
    /// Arguments of `list_customers`.
    ListCustomersArgs {
        status: Option<CustomerStatus> = "Only with this status.";
        organisation: Option<Name> = "Only of this organisation, whole name.";
        email: Option<Email> = "Only with this address, whole; needs customers:pii.";
        query: Option<Query> = "Part of a name or organisation, with customers:pii also of an address.";
        order: Option<CustomerOrder> = "Default newest.";
        limit: Option<PageLimit> = wording::LIMIT;
        cursor: Option<Cursor> = wording::CURSOR;
    }
}

arguments! {
    /// Arguments of `create_customer`.
    CreateCustomerArgs {
        name: Usual<Name> = "Full name.";
        email: Usual<Email> = "Address; unique, any case.";
        phone: Option<Phone> = "Phone number.";
        organisation: Option<Name> = "Whom they work for.";
        idempotency_key: Option<Key> = wording::IDEMPOTENCY_KEY;
    }
}

arguments! {
    /// Arguments of `update_customer`.
    UpdateCustomerArgs {
        customer_id: Usual<CustomerId> = wording::CUSTOMER_ID;
        name: Option<Name> = "New name.";
        email: Option<Email> = "New address; unique.";
        phone: Option<Phone> = "New number.";
        organisation: Option<Name> = "New employer.";
        clear: Option<Clear> = "What to take away.";
        status: Option<CustomerStatus> = "New status.";
        if_version: Option<Version> = wording::IF_VERSION;
    }
}

arguments! {
    /// Arguments of `delete_customer`.
    DeleteCustomerArgs {
        customer_id: Usual<CustomerId> = wording::CUSTOMER_ID;
        if_version: Option<Version> = wording::IF_VERSION;
    }
}

/// A phone number.
type Phone = Label<{ limits::PHONE_CHARS }>;

#[derive(Serialize)]
struct CustomersAnswer<'a> {
    customers: Vec<CustomerView<'a>>,
    #[serde(flatten)]
    page: PageInfo,
}

/// A customer's record as a result.
pub(super) fn record(nonce: [u8; 16], heading: &str, customer: &Customer) -> Reply {
    let mut sheet = Sheet::new(nonce);
    sheet.say(format_args!("{heading} {}", customer_facts(customer)));
    sheet.quote("customer", &contact(customer));
    Reply::new(&CustomerView::of(customer), sheet.finish())
}

async fn get_customer(call: Call) -> Result<Reply, DeskError> {
    let args: GetCustomerArgs = call.arguments()?;
    let customer = call
        .desk
        .get_customer(&call.caller, args.customer_id)
        .await?;
    Ok(record(call.desk.next_nonce(), "Customer", &customer))
}

fn row(customer: &Customer) -> String {
    format!("{}, {}", customer_facts(customer), contact(customer))
}

async fn list_customers(call: Call) -> Result<Reply, DeskError> {
    let args: ListCustomersArgs = call.arguments()?;
    let order = args.order.unwrap_or(CustomerOrder::Newest);
    let list = CustomerList {
        filter: CustomerFilter {
            status: args.status,
            organisation: args.organisation.map(|name| name.folded()),
            email: args.email.map(|email| email.folded()),
            query: args.query.map(|query| query.folded()),
            // The desk decides that.
            names_only: false,
        },
        order: Some(order),
        limit: args.limit.map(|limit| limit.0),
        cursor: args.cursor.map(|cursor| cursor.0),
    };
    let page: Listing<Customer> = fitted(
        call.budget,
        list.limit,
        |limit| {
            let list = CustomerList {
                limit,
                ..list.clone()
            };
            Box::pin(call.desk.list_customers(&call.caller, list))
        },
        |page| &page.rows,
        |customer| json_len(&CustomerView::of(customer)) + json_len(&row(customer)),
    )
    .await?;
    let info = PageInfo::of(&page);
    let mut sheet = Sheet::new(call.desk.next_nonce());
    sheet.say(info.words("customers", order_words(order)));
    if !page.rows.is_empty() {
        let rows: Vec<String> = page.rows.iter().map(row).collect();
        sheet.quote("customers", &rows.join("\n"));
    }
    let answer = CustomersAnswer {
        customers: page.rows.iter().map(CustomerView::of).collect(),
        page: info,
    };
    Ok(Reply::new(&answer, sheet.finish()))
}

async fn create_customer(call: Call) -> Result<Step, DeskError> {
    let args: CreateCustomerArgs = call.arguments()?;
    let wanted = Wanted {
        action: Action::CreateCustomer,
        entity: None,
        arguments: Values::default()
            .text("name", args.name.0.as_ref().map(|name| name.0.as_str()))
            .text("email", args.email.0.as_ref().map(|email| email.0.as_str()))
            .text("phone", args.phone.as_ref().map(|phone| phone.0.as_str()))
            .text(
                "organisation",
                args.organisation.as_ref().map(|name| name.0.as_str()),
            ),
        if_version: None,
        key: args.idempotency_key.map(|key| key.0),
    };
    write(&call, wanted, || {
        let new = NewCustomer {
            name: args.name.needed("name")?.0,
            email: args.email.needed("email")?.0,
            phone: args.phone.map(|phone| phone.0),
            organisation: args.organisation.map(|name| name.0),
        };
        Ok(GuardedWrite::Open(OpenWrite::CreateCustomer {
            new: valid(new)?.into_inner(),
        }))
    })
    .await
}

fn customer_entity(id: &Usual<CustomerId>) -> Option<(EntityKind, i64)> {
    id.0.map(|id| (EntityKind::Customer, id.number()))
}

async fn update_customer(call: Call) -> Result<Step, DeskError> {
    let args: UpdateCustomerArgs = call.arguments()?;
    let clears = |this| matches!(args.clear, Some(given) if given == this || given == Clear::Both);
    let patch = CustomerPatch {
        name: args.name.map(|name| name.0),
        email: args.email.map(|email| email.0),
        phone: assign("phone", args.phone, clears(Clear::Phone))?,
        organisation: assign(
            "organisation",
            args.organisation,
            clears(Clear::Organisation),
        )?,
        status: args.status,
    };
    let wanted = Wanted {
        action: Action::UpdateCustomer,
        entity: customer_entity(&args.customer_id),
        arguments: patch.arguments(),
        if_version: args.if_version,
        key: None,
    };
    write(&call, wanted, || {
        let customer = args.customer_id.needed("customer_id")?;
        if patch == CustomerPatch::default() {
            let reason = "or another field is needed: there is nothing to change";
            return Err(InvalidArgument::new("name", reason).into());
        }
        Ok(GuardedWrite::UpdateCustomer {
            customer,
            patch: valid(patch)?.into_inner(),
        })
    })
    .await
}

async fn delete_customer(call: Call) -> Result<Step, DeskError> {
    let args: DeleteCustomerArgs = call.arguments()?;
    let wanted = Wanted {
        action: Action::DeleteCustomer,
        entity: customer_entity(&args.customer_id),
        arguments: Values::default(),
        if_version: args.if_version,
        key: None,
    };
    write(&call, wanted, || {
        Ok(GuardedWrite::DeleteCustomer {
            customer: args.customer_id.needed("customer_id")?,
        })
    })
    .await
}
