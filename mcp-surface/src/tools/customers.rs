//! Tools for customers.

use desk::{CustomerList, DeskError, Listing, valid};
use domain::{
    Customer, CustomerFilter, CustomerId, CustomerOrder, CustomerStatus, NewCustomer, Scope, limits,
};
use serde::Serialize;

use super::{Cursor, Email, Name, PAGE, PageLimit, Query, wording};
use crate::Toolset;
use crate::args::{Arguments, Label, arguments};
use crate::listing::fitted;
use crate::reply::{Reply, json_len};
use crate::spec::{Call, Hints, Output, Policy, ToolSpec, Type};
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
        description: "One customer's record: name, email, phone, organisation, status. Email and phone are masked \
            unless you hold customers:pii. Their tickets: list_tickets(customer_id). NOT_FOUND: find the id with \
            list_customers.",
        policy: Policy::read(Scope::DeskRead),
        hints: Hints::READS,
        args: GetCustomerArgs::ARGS,
        output: &[CUSTOMER],
        run: |call| Box::pin(get_customer(call)),
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
        run: |call| Box::pin(list_customers(call)),
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
        output: &[CUSTOMER],
        run: |call| Box::pin(create_customer(call)),
    },
];

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
        email: Option<Email> = "Only with this address, whole.";
        query: Option<Query> = "Part of a name, address or organisation.";
        order: Option<CustomerOrder> = "Default newest.";
        limit: Option<PageLimit> = wording::LIMIT;
        cursor: Option<Cursor> = wording::CURSOR;
    }
}

arguments! {
    /// Arguments of `create_customer`.
    CreateCustomerArgs {
        name: Name = "Full name.";
        email: Email = "Address; unique, any case.";
        phone: Option<Label<{ limits::PHONE_CHARS }>> = "Phone number.";
        organisation: Option<Name> = "Whom they work for.";
    }
}

#[derive(Serialize)]
struct CustomersAnswer<'a> {
    customers: Vec<CustomerView<'a>>,
    #[serde(flatten)]
    page: PageInfo,
}

fn record(call: &Call, heading: &str, customer: &Customer) -> Reply {
    let mut sheet = Sheet::new(call.desk.next_nonce());
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
    Ok(record(&call, "Customer", &customer))
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

async fn create_customer(call: Call) -> Result<Reply, DeskError> {
    let args: CreateCustomerArgs = call.arguments()?;
    let new = valid(NewCustomer {
        name: args.name.0,
        email: args.email.0,
        phone: args.phone.map(|phone| phone.0),
        organisation: args.organisation.map(|name| name.0),
    })?;
    let customer = call.desk.create_customer(&call.caller, new).await?;
    Ok(record(&call, "Registered customer", &customer))
}
