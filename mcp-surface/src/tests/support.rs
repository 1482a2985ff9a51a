//! A served desk with a client on the other end; every result that passes here is checked against the contract.

use std::collections::BTreeSet;
use std::sync::Arc;

use desk::guard::Wall;
use desk::{ConfirmationMode, Desk, ErrorCode, Guard, Policy};
use domain::{
    Act, Actor, Article, ArticleId, Audience, Block, CallOutcome, Channel, Clock, CustomerStatus,
    Origin, Priority, ScopeSet, Speaker, Status, Tier, Turn, Visibility,
};
use rmcp::model::{CallToolRequestParams, CallToolResult, ErrorData};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt as _, RequestContext, RunningService, ServiceError,
};
use rmcp::{RoleClient, RoleServer, ServiceExt as _};
use serde_json::{Value, json};
use storage::import::{
    ImportCall, ImportComment, ImportCsat, ImportCsatSubject, ImportCustomer, ImportRecord,
    ImportRow, ImportTicket, OnError,
};
use storage::{DatabaseUrl, ExpiryClock, Options, Storage};
use tempfile::TempDir;
use testkit::postgres::{self, TestDatabase};
use testkit::{CountingIds, START, SteppingClock, local_actor};

use crate::reply::json_len;
use crate::spec::ToolSpec;
use crate::{Identify, Settings, Surface, Unidentified, tool_specs};

/// What the store of one test is kept in: a file, or in the second run of these tests a database of a server.
enum Place {
    File(TempDir),
    Server(Box<TestDatabase>),
}

impl Place {
    fn chosen() -> Self {
        let migrate = |url: &str| {
            let guard =
                Guard::from_keys(testkit::KEY_FILE, Policy::new(ConfirmationMode::Standard));
            storage::migrate(&DatabaseUrl::parse(url).unwrap(), guard.unwrap().log_keys()).unwrap();
        };
        let server = postgres::is_chosen().then(|| TestDatabase::claim(migrate).unwrap());
        server.map_or_else(
            || Self::File(TempDir::new().unwrap()),
            |database| Self::Server(Box::new(database)),
        )
    }

    fn url(&self) -> DatabaseUrl {
        let address = match self {
            Self::File(folder) => format!("sqlite:{}", folder.path().join("desk.db").display()),
            Self::Server(database) => database.url().to_owned(),
        };
        DatabaseUrl::parse(&address).unwrap()
    }
}

/// The same caller for every request.
pub(super) struct Fixed(pub(super) Actor, pub(super) ScopeSet);

impl Identify for Fixed {
    fn caller(
        &self,
        _context: &RequestContext<RoleServer>,
    ) -> Result<(Actor, ScopeSet), Unidentified> {
        Ok((self.0.clone(), self.1))
    }
}

/// A served desk and its client.
pub(super) struct Bench {
    pub(super) client: RunningService<RoleClient, ()>,
    pub(super) surface: Surface,
    pub(super) store: Arc<dyn Storage>,
    settings: Settings,
    specs: Vec<&'static ToolSpec>,
    _place: Place,
}

/// A client of a surface, by the handshake of one revision of the protocol or the other.
pub(super) async fn connect(
    surface: &Surface,
    lifecycle: ClientLifecycleMode,
) -> RunningService<RoleClient, ()> {
    let (near, far) = tokio::io::duplex(1 << 16);
    let served = surface.clone();
    tokio::spawn(async move { served.serve(far).await.unwrap().waiting().await });
    ().serve_with_lifecycle(near, lifecycle).await.unwrap()
}

impl Bench {
    pub(super) async fn new() -> Self {
        Self::with(Settings::default(), ScopeSet::all()).await
    }

    pub(super) async fn with(settings: Settings, scopes: ScopeSet) -> Self {
        Self::with_tools(settings, scopes, tool_specs().collect()).await
    }

    pub(super) async fn with_tools(
        settings: Settings,
        scopes: ScopeSet,
        specs: Vec<&'static ToolSpec>,
    ) -> Self {
        let policy = Policy::new(ConfirmationMode::Standard);
        Self::with_policy(settings, scopes, specs, policy).await
    }

    pub(super) async fn with_policy(
        settings: Settings,
        scopes: ScopeSet,
        specs: Vec<&'static ToolSpec>,
        policy: Policy,
    ) -> Self {
        Self::behind(Wall::local(), settings, scopes, specs, policy).await
    }

    /// A desk with another classifier.
    pub(super) async fn with_wall(wall: Wall) -> Self {
        let policy = Policy::new(ConfirmationMode::Standard);
        let specs = tool_specs().collect();
        Self::behind(wall, Settings::default(), ScopeSet::all(), specs, policy).await
    }

    async fn behind(
        wall: Wall,
        settings: Settings,
        scopes: ScopeSet,
        specs: Vec<&'static ToolSpec>,
        policy: Policy,
    ) -> Self {
        super::log::keep();
        let place = Place::chosen();
        let url = place.url();
        let options = Options {
            create: true,
            // These tests move a clock of their own.
            expiry_clock: ExpiryClock::Caller,
            ..Options::default()
        };
        let guard = Guard::from_keys(testkit::KEY_FILE, policy).unwrap();
        let store = wall.open(&url, guard.log_keys(), options).unwrap();
        let desk = Arc::new(Desk::new(
            store.clone(),
            Arc::new(SteppingClock::new()),
            Arc::new(CountingIds::default()),
            guard,
        ));
        let identity = Arc::new(Fixed(local_actor("ann"), scopes));
        let surface = Surface::with_tools(
            Arc::clone(&desk),
            identity,
            settings.clone(),
            specs.iter().copied(),
        );
        let client = connect(&surface, ClientLifecycleMode::Initialize).await;
        Self {
            client,
            surface,
            store: Arc::clone(store.storage()),
            settings,
            specs,
            _place: place,
        }
    }

    /// Calls a tool and checks what every result must hold.
    pub(super) async fn call(&self, tool: &str, arguments: Value) -> CallToolResult {
        let request = CallToolRequestParams::new(tool.to_owned())
            .with_arguments(arguments.as_object().cloned().unwrap());
        let result = self.client.call_tool(request).await.unwrap();
        let spec = self.specs.iter().find(|spec| spec.name == tool).unwrap();
        self.check(spec, &arguments, &result);
        result
    }

    fn check(&self, spec: &ToolSpec, arguments: &Value, result: &CallToolResult) {
        let seen = format!("{} {arguments:.300} gave {result:?}", spec.name);
        let structured = result.structured_content.clone().unwrap();
        let listed = spec.listed(self.surface.guards(spec));
        let schema = Value::Object((*listed.output_schema.unwrap()).clone());
        let validator = jsonschema::validator_for(&schema).unwrap();
        assert!(validator.is_valid(&structured), "{seen}");
        let declared: BTreeSet<&String> =
            schema["properties"].as_object().unwrap().keys().collect();
        let given: BTreeSet<&String> = structured.as_object().unwrap().keys().collect();
        assert!(given.is_subset(&declared), "undeclared fields: {seen}");
        let size = json_len(&result);
        assert!(
            size <= self.settings.result_bytes,
            "{size} bytes: {seen:.500}"
        );
        let [block] = result.content.as_slice() else {
            panic!("not one text block: {seen}");
        };
        let text = &block.as_text().unwrap().text;
        assert!(!text.trim().is_empty() && !text.starts_with('{'), "{seen}");
        if structured["ok"] == json!(true) {
            assert_eq!(result.is_error, Some(false), "{seen}");
            return;
        }
        let error = &structured["error"];
        let code = ErrorCode::ALL
            .iter()
            .find(|code| error["code"] == json!(code.as_str()))
            .unwrap();
        assert_eq!(result.is_error, Some(code.is_error()), "{seen}");
        assert_eq!(error["retry"], json!(code.retry().as_str()), "{seen}");
        assert_eq!(error["hint"], json!(code.hint()), "{seen}");
        assert!(text.starts_with(code.as_str()), "{seen}");
        super::refusals::check_names_no_way_round(*code, error["message"].as_str().unwrap());
        super::refusals::check_names_no_way_round(*code, &outside_markers(text));
        for leak in ["SELECT", "INSERT", "sqlite", ".rs:", "/tmp"] {
            assert!(!text.contains(leak), "{leak}: {seen}");
        }
    }

    /// The fields of a call that succeeds.
    #[track_caller]
    pub(super) fn ok(&self, tool: &str, arguments: Value) -> impl Future<Output = Value> {
        let at = std::panic::Location::caller();
        async move {
            let structured = self.call(tool, arguments).await.structured_content.unwrap();
            assert_eq!(structured["ok"], json!(true), "{at}: {structured}");
            structured
        }
    }

    /// The error of a call that does not succeed.
    #[track_caller]
    pub(super) fn error(&self, tool: &str, arguments: Value) -> impl Future<Output = Value> {
        let at = std::panic::Location::caller();
        async move {
            let structured = self.call(tool, arguments).await.structured_content.unwrap();
            assert_eq!(structured["ok"], json!(false), "{at}: {structured}");
            structured["error"].clone()
        }
    }

    /// The text block of a call.
    pub(super) async fn text(&self, tool: &str, arguments: Value) -> String {
        text_of(&self.call(tool, arguments).await)
    }

    /// A customer, by a word that makes the address unique.
    pub(super) async fn customer(&self, word: &str) -> String {
        let arguments =
            json!({"name": format!("Name {word}"), "email": format!("{word}@company.example")});
        id(&self.ok("create_customer", arguments).await, "customer_id")
    }

    /// A ticket of a customer.
    pub(super) async fn ticket(&self, customer: &str, subject: &str) -> String {
        let arguments = json!({"customer_id": customer, "subject": subject, "description": "It does not work."});
        id(&self.ok("create_ticket", arguments).await, "ticket_id")
    }

    /// Brings in rows as another system had them.
    pub(super) async fn import(&self, records: Vec<ImportRecord>) {
        let act = Act {
            actor: local_actor("import"),
            at: SteppingClock::new().now(),
            request_id: 1,
            tool: "import",
        };
        let count = u64::try_from(records.len()).unwrap();
        let rows = records
            .into_iter()
            .zip(0..)
            .map(|(record, place)| ImportRow { place, record });
        let rows: Vec<ImportRow> = rows.collect();
        let report = self
            .store
            .import(act, Box::new(rows.into_iter()), OnError::Abort)
            .await
            .unwrap();
        assert_eq!(report.created, count, "{report:?}");
    }
}

/// Somebody at a terminal of the machine.
pub(super) fn operator() -> desk::Caller {
    desk::Caller {
        actor: local_actor("operator"),
        scopes: ScopeSet::all(),
        request_id: 7,
    }
}

/// The protocol error of a request.
#[track_caller]
pub(super) fn protocol_error<T: std::fmt::Debug>(result: Result<T, ServiceError>) -> ErrorData {
    match result {
        Err(ServiceError::McpError(error)) => error,
        other => panic!("no protocol error: {other:?}"),
    }
}

pub(super) fn text_of(result: &CallToolResult) -> String {
    result.content[0].as_text().unwrap().text.clone()
}

pub(super) fn id(fields: &Value, name: &str) -> String {
    fields[name].as_str().unwrap().to_owned()
}

/// The values of a field in a list of objects.
pub(super) fn each(rows: &Value, field: &str) -> Vec<String> {
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| row[field].as_str().unwrap().to_owned())
        .collect()
}

/// A text block without what stands between its markers.
pub(super) fn outside_markers(block: &str) -> String {
    let Some(at) = block.find("‹… ") else {
        return block.to_owned();
    };
    let marker: String = block[at + "‹… ".len()..].chars().take(32).collect();
    assert!(marker.chars().all(|c| c.is_ascii_hexdigit()), "{marker}");
    let close = format!("‹/{marker}›");
    let mut rest = block;
    let mut outside = String::new();
    // The announcement names both markers itself.
    let announced = rest.find(&close).unwrap() + close.len();
    outside.push_str(&rest[..announced]);
    rest = &rest[announced..];
    let open = format!(" {marker}›\n");
    while let Some(from) = rest.find(&open) {
        outside.push_str(&rest[..from]);
        let inside = &rest[from..];
        let to = inside.find(&close).unwrap() + close.len();
        rest = &inside[to..];
    }
    outside.push_str(rest);
    outside
}

pub(super) fn import_customer(word: &str) -> ImportCustomer {
    ImportCustomer {
        external_id: Some(word.to_owned()),
        name: format!("Name {word}"),
        email: format!("{word}@company.example"),
        phone: None,
        organisation: None,
        status: CustomerStatus::Active,
        created_at: START,
        updated_at: START,
    }
}

pub(super) fn import_ticket(word: &str, customer: &str, status: Status) -> ImportTicket {
    ImportTicket {
        external_id: word.to_owned(),
        customer: customer.to_owned(),
        channel: Channel::Email,
        subject: format!("Subject {word}"),
        description: format!("Description {word}"),
        category: "general".to_owned(),
        priority: Priority::Medium,
        status,
        tier: Tier::FIRST,
        assigned_team: None,
        assignee: None,
        created_at: START,
        updated_at: START,
    }
}

pub(super) fn import_comment(word: &str, ticket: &str, body: &str) -> ImportComment {
    ImportComment {
        external_id: word.to_owned(),
        ticket: ticket.to_owned(),
        author: format!("Author {word}"),
        origin: Origin::Customer,
        visibility: Visibility::Public,
        body: body.to_owned(),
        created_at: START,
    }
}

pub(super) fn import_call(word: &str) -> ImportCall {
    ImportCall {
        external_id: word.to_owned(),
        customer: None,
        ticket: None,
        started_at: START,
        duration_seconds: 90,
        agent: format!("Agent {word}"),
        category: "general".to_owned(),
        outcome: CallOutcome::Resolved,
        turns: vec![
            Turn {
                speaker: Speaker::Agent,
                at_seconds: 0,
                text: "Hello".to_owned(),
            },
            Turn {
                speaker: Speaker::Caller,
                at_seconds: 61,
                text: format!("Turn {word}"),
            },
        ],
    }
}

/// A score of a call.
pub(super) fn import_csat(word: &str, call: &str, score: u8) -> ImportCsat {
    ImportCsat {
        external_id: word.to_owned(),
        subject: ImportCsatSubject::Call(call.to_owned()),
        score,
        comment: Some(format!("Comment {word}")),
        category: "general".to_owned(),
        submitted_at: START,
    }
}

pub(super) fn article(number: i64, category: &str, blocks: &[(Audience, &str)]) -> Article {
    let staff_only = blocks
        .iter()
        .all(|(audience, _)| *audience == Audience::Staff);
    Article {
        id: ArticleId::new(number),
        slug: format!("article-{number}"),
        title: format!("Article number {number}"),
        category: category.to_owned(),
        audience: if staff_only {
            Audience::Staff
        } else {
            Audience::Customer
        },
        blocks: blocks
            .iter()
            .map(|(audience, text)| Block {
                audience: *audience,
                text: (*text).to_owned(),
            })
            .collect(),
        updated_at: START,
    }
}
