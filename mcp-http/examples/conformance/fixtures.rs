//! What the suite calls, before the desk's own surface, which answers everything else.

mod asking;

use std::time::Duration;

use mcp_surface::Surface;
use rmcp::RoleServer;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    CompletionInfo, ContentBlock, DiscoverResult, ErrorData, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, LoggingLevel, LoggingMessageNotificationParam,
    PaginatedRequestParams, ProgressNotificationParam, Prompt, PromptArgument, PromptMessage,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Reference, Resource,
    ResourceContents, ResourceTemplate, Role, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, Tool, UnsubscribeRequestParams,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

type Context = RequestContext<RoleServer>;

/// A red dot of one pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// A sound of no length.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
const PAUSE: Duration = Duration::from_millis(50);

const TOOLS: [&str; 12] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_tool_with_logging",
    "test_logging_tool",
    "test_error_handling",
    "test_tool_with_progress",
    "test_sampling",
    "test_elicitation",
    "test_missing_capability",
];

/// The desk's surface with fixtures before it.
#[derive(Clone)]
pub(crate) struct Fixtures {
    desk: Surface,
}

impl Fixtures {
    pub(crate) fn new(desk: Surface) -> Self {
        Self { desk }
    }
}

fn complete(content: Vec<ContentBlock>) -> CallToolResponse {
    CallToolResult::success(content).into()
}

pub(crate) fn said(text: impl Into<String>) -> CallToolResponse {
    complete(vec![ContentBlock::text(text.into())])
}

/// A value of a model type from the JSON that the suite asks for.
pub(crate) fn model<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn failed(error: impl std::fmt::Display) -> CallToolResponse {
    CallToolResult::error(vec![ContentBlock::text(error.to_string())]).into()
}

fn fixture_tools() -> impl Iterator<Item = Tool> {
    TOOLS.into_iter().chain(asking::TOOLS).map(|name| {
        let properties = match name {
            "test_sampling" => json!({"prompt": {"type": "string"}}),
            "test_elicitation" => json!({"message": {"type": "string"}}),
            _ => json!({}),
        };
        let schema = json!({"type": "object", "properties": properties});
        Tool::new(
            name,
            "A fixture of the conformance suite.",
            schema.as_object().cloned().unwrap_or_default(),
        )
    })
}

async fn call(
    request: CallToolRequestParams,
    context: &Context,
) -> Result<CallToolResponse, ErrorData> {
    let text = |name: &str| {
        let given = request
            .arguments
            .as_ref()
            .and_then(|arguments| arguments.get(name));
        given.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    Ok(match request.name.as_ref() {
        "test_simple_text" => said("This is a simple text response for testing."),
        "test_image_content" => complete(vec![ContentBlock::image(PNG, "image/png")]),
        "test_audio_content" => complete(vec![ContentBlock::audio(WAV, "audio/wav")]),
        "test_embedded_resource" => complete(vec![ContentBlock::embedded_text(
            "test://embedded-resource",
            "This is an embedded resource content.",
        )]),
        "test_multiple_content_types" => complete(vec![
            ContentBlock::text("Multiple content types test:"),
            ContentBlock::image(PNG, "image/png"),
            ContentBlock::resource(
                ResourceContents::text(
                    "{\"test\":\"data\",\"value\":123}",
                    "test://mixed-content-resource",
                )
                .with_mime_type("application/json"),
            ),
        ]),
        "test_error_handling" => failed("This tool intentionally returns an error for testing"),
        "test_logging_tool" => said("Nobody asked for a log."),
        "test_tool_with_logging" => log(context).await,
        "test_tool_with_progress" => progress(context).await,
        "test_sampling" => asking::sample(text("prompt"), context).await?,
        "test_elicitation" => asking::person(text("message"), context).await?,
        "test_missing_capability" => {
            let declared = context
                .client_capabilities()
                .is_some_and(|has| has.sampling.is_some());
            if !declared {
                let needed = model(json!({"sampling": {}}))?;
                return Err(ErrorData::missing_required_client_capability(needed));
            }
            said("The client can sample.")
        }
        _ => return asking::call(&request, context).await,
    })
}

async fn log(context: &Context) -> CallToolResponse {
    for line in [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ] {
        let line = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(line));
        if let Err(error) = context.peer.notify_logging_message(line).await {
            return failed(error);
        }
        tokio::time::sleep(PAUSE).await;
    }
    said("Logged.")
}

async fn progress(context: &Context) -> CallToolResponse {
    if let Some(token) = context.meta.get_progress_token() {
        for step in [0.0, 50.0, 100.0] {
            let step = ProgressNotificationParam::new(token.clone(), step).with_total(100.0);
            if let Err(error) = context.peer.notify_progress(step).await {
                return failed(error);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
    said("Done.")
}

fn prompts() -> Vec<Prompt> {
    let of = |name: &str, arguments: &[&str]| {
        let arguments: Vec<_> = arguments
            .iter()
            .map(|name| PromptArgument::new(*name).with_required(true))
            .collect();
        Prompt::new(
            name,
            Some("A fixture."),
            (!arguments.is_empty()).then_some(arguments),
        )
    };
    vec![
        of("test_simple_prompt", &[]),
        of("test_prompt_with_arguments", &["arg1", "arg2"]),
        of("test_prompt_with_embedded_resource", &["resourceUri"]),
        of("test_prompt_with_image", &[]),
        of("test_input_required_result_prompt", &[]),
    ]
}

fn prompt(request: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    let text = |name: &str| {
        let given = request
            .arguments
            .as_ref()
            .and_then(|arguments| arguments.get(name));
        given.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let messages = match request.name.as_str() {
        "test_simple_prompt" => vec![PromptMessage::new_text(
            Role::User,
            "This is a simple prompt for testing.",
        )],
        "test_prompt_with_arguments" => vec![PromptMessage::new_text(
            Role::User,
            format!(
                "Prompt with arguments: arg1='{}', arg2='{}'",
                text("arg1"),
                text("arg2")
            ),
        )],
        "test_prompt_with_embedded_resource" => vec![
            PromptMessage::new(
                Role::User,
                ContentBlock::embedded_text(
                    text("resourceUri"),
                    "Embedded resource content for testing.",
                ),
            ),
            PromptMessage::new_text(Role::User, "Please process the embedded resource above."),
        ],
        "test_prompt_with_image" => vec![
            PromptMessage::new(Role::User, ContentBlock::image(PNG, "image/png")),
            PromptMessage::new_text(Role::User, "Please analyze the image above."),
        ],
        _ => return asking::prompt(request),
    };
    Ok(GetPromptResult::new(messages).into())
}

fn read(uri: &str) -> Option<ResourceContents> {
    let json = |text: String| ResourceContents::text(text, uri).with_mime_type("application/json");
    Some(match uri {
        "test://static-text" => {
            ResourceContents::text("This is the content of the static text resource.", uri)
        }
        "test://static-binary" => ResourceContents::blob(PNG, uri).with_mime_type("image/png"),
        "test://watched-resource" => ResourceContents::text("Watched.", uri),
        _ => {
            let id = uri
                .strip_prefix("test://template/")?
                .strip_suffix("/data")?;
            json(
                json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")})
                    .to_string(),
            )
        }
    })
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.desk.get_info();
        info.capabilities.logging = Some(serde_json::Map::new());
        if let Some(resources) = &mut info.capabilities.resources {
            resources.subscribe = Some(true);
        }
        info
    }

    async fn discover(&self, context: Context) -> Result<DiscoverResult, ErrorData> {
        self.desk.discover(context).await
    }

    async fn set_level(
        &self,
        _request: SetLevelRequestParams,
        _context: Context,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut listed = self.desk.list_tools(request, context).await?;
        listed.tools.extend(fixture_tools());
        Ok(listed)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let fixture = fixture_tools().find(|tool| tool.name == name);
        fixture.or_else(|| self.desk.get_tool(name))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name.starts_with("test_") {
            return call(request, &context).await;
        }
        self.desk.call_tool(request, context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut listed = self.desk.list_resources(request, context).await?;
        for name in ["static-text", "static-binary", "watched-resource"] {
            listed
                .resources
                .push(Resource::new(format!("test://{name}"), name));
        }
        Ok(listed)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut listed = self.desk.list_resource_templates(request, context).await?;
        let template = ResourceTemplate::new("test://template/{id}/data", "template");
        listed.resource_templates.push(template);
        Ok(listed)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match read(&request.uri) {
            Some(contents) => Ok(ReadResourceResult::new(vec![contents])
                .with_ttl_ms(1_000)
                .with_cache_scope(rmcp::model::CacheScope::Private)
                .into()),
            None => self.desk.read_resource(request, context).await,
        }
    }

    async fn subscribe(
        &self,
        _request: SubscribeRequestParams,
        _context: Context,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _request: UnsubscribeRequestParams,
        _context: Context,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut listed = self.desk.list_prompts(request, context).await?;
        listed.prompts.extend(prompts());
        Ok(listed)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name.starts_with("test_") {
            return prompt(&request);
        }
        self.desk.get_prompt(request, context).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        if matches!(&request.r#ref, Reference::Prompt(prompt) if prompt.name.starts_with("test_")) {
            let info = CompletionInfo::new(vec!["paris".to_owned()])
                .map_err(|error| ErrorData::internal_error(error, None))?;
            return Ok(CompleteResult::new(info));
        }
        self.desk.complete(request, context).await
    }
}
