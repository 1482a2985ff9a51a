//! A client that speaks the protocol's lines itself, so that it can also answer what no official client would.

use rmcp::ServiceExt as _;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf,
};

use crate::Surface;

/// A revision of the protocol, by how a server asks a person on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Revision {
    /// 2025-11-25: by a request of its own while the call is open.
    Within,
    /// 2026-07-28: by a result, and a second call.
    Between,
}

impl Revision {
    pub(super) const ALL: [Self; 2] = [Self::Within, Self::Between];
}

/// What a client answers when it is asked to ask a person.
#[derive(Clone, Debug)]
pub(super) enum Says {
    /// This result.
    Result(Value),
    /// That it failed.
    Error,
    /// Nothing, ever.
    Nothing,
}

/// The client's end of a connection.
pub(super) struct Wire {
    lines: BufReader<ReadHalf<DuplexStream>>,
    out: WriteHalf<DuplexStream>,
    revision: Revision,
    capabilities: Value,
    next: u64,
    /// The questions that were asked.
    pub(super) asked: Vec<Value>,
}

impl Wire {
    /// Opens a connection on which the client declares these capabilities.
    pub(super) async fn open(surface: &Surface, revision: Revision, capabilities: Value) -> Self {
        let (near, far) = tokio::io::duplex(1 << 16);
        let served = surface.clone();
        tokio::spawn(async move { served.serve(far).await.unwrap().waiting().await });
        let (read, out) = tokio::io::split(near);
        let mut wire = Self {
            lines: BufReader::new(read),
            out,
            revision,
            capabilities,
            next: 0,
            asked: Vec::new(),
        };
        if revision == Revision::Within {
            let hello = json!({
                "protocolVersion": "2025-11-25", "capabilities": wire.capabilities,
                "clientInfo": {"name": "wire", "version": "0"}
            });
            wire.request("initialize", hello, &Says::Nothing).await;
            wire.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
                .await;
        }
        wire
    }

    async fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.out.write_all(line.as_bytes()).await.unwrap();
    }

    /// Sends a request, answers what is asked meanwhile, and gives the whole answering message.
    pub(super) async fn request(
        &mut self,
        method: &str,
        mut parameters: Value,
        says: &Says,
    ) -> Value {
        self.next += 1;
        let id = self.next;
        if self.revision == Revision::Between {
            parameters["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "wire", "version": "0"},
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            });
        }
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}))
            .await;
        loop {
            let message = self.read().await;
            if message["method"].is_null() && message["id"] == id {
                return message;
            }
            if message["method"] != "elicitation/create" {
                continue;
            }
            self.asked.push(message["params"].clone());
            let answer = match says {
                Says::Result(result) => {
                    json!({"jsonrpc": "2.0", "id": message["id"], "result": result})
                }
                Says::Error => json!({
                    "jsonrpc": "2.0", "id": message["id"], "error": {"code": -32603, "message": "no screen"}
                }),
                Says::Nothing => continue,
            };
            self.send(&answer).await;
        }
    }

    /// Starts a call of a tool and reads until a person is to be asked; gives that question.
    pub(super) async fn begin(&mut self, tool: &str, arguments: &Value) -> Value {
        self.next += 1;
        let parameters = json!({"name": tool, "arguments": arguments});
        self.send(&json!({
            "jsonrpc": "2.0", "id": self.next, "method": "tools/call", "params": parameters
        }))
        .await;
        loop {
            let message = self.read().await;
            if message["method"] == "elicitation/create" {
                return message;
            }
            assert_ne!(message["id"], self.next, "nobody was asked: {message}");
        }
    }

    /// Answers the question of [`Wire::begin`], and gives the message that ends its call.
    pub(super) async fn finish(&mut self, question: &Value, answer: &Value) -> Value {
        let message = json!({"jsonrpc": "2.0", "id": question["id"], "result": answer});
        self.send(&message).await;
        loop {
            let message = self.read().await;
            if message["method"].is_null() && message["id"] == self.next {
                return message;
            }
        }
    }

    async fn read(&mut self) -> Value {
        let mut line = String::new();
        let read = self.lines.read_line(&mut line).await.unwrap();
        assert!(read > 0, "the server hung up");
        serde_json::from_str(&line).unwrap()
    }

    /// One call of a tool with what a second call brings; gives its result.
    pub(super) async fn call_once(
        &mut self,
        tool: &str,
        arguments: &Value,
        more: Value,
        says: &Says,
    ) -> Value {
        let mut parameters = more;
        parameters["name"] = json!(tool);
        parameters["arguments"] = arguments.clone();
        let message = self.request("tools/call", parameters, says).await;
        assert!(message["error"].is_null(), "{tool}: {message}");
        message["result"].clone()
    }

    /// A call of a tool to its end, with this answer to what is asked; gives the structured result.
    pub(super) async fn call(&mut self, tool: &str, arguments: &Value, says: &Says) -> Value {
        let first = self.call_once(tool, arguments, json!({}), says).await;
        if first["resultType"] != "input_required" {
            return first["structuredContent"].clone();
        }
        let (name, question) = only(&first["inputRequests"]);
        self.asked.push(question["params"].clone());
        let Says::Result(answer) = says else {
            return first;
        };
        let more = json!({
            "requestState": first["requestState"], "inputResponses": {name: answer}
        });
        let second = self.call_once(tool, arguments, more, says).await;
        second["structuredContent"].clone()
    }
}

/// The only entry of an object.
pub(super) fn only(object: &Value) -> (String, Value) {
    let mut entries = object.as_object().unwrap().iter();
    let (name, value) = entries.next().unwrap();
    assert!(entries.next().is_none(), "{object}");
    (name.clone(), value.clone())
}
