// Confirms guarded changes with the official TypeScript client, with and without the ability to ask a person.
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/client";
import { transportTo } from "./target.mjs";

const [target, answersFile, revision] = process.argv.slice(2);
const answers = readFileSync(answersFile, "utf8");

const CHANGES = {
  update_ticket: { kind: "update", change: { priority: "urgent" }, unasked: "CONFIRMATION_REQUIRED" },
  delete_ticket: { kind: "deletion", change: {}, unasked: "HUMAN_APPROVAL_REQUIRED" },
};

function expect(condition, message) {
  if (!condition) throw new Error(message);
}

async function call(client, tool, args) {
  return (await client.callTool({ name: tool, arguments: args })).structuredContent;
}

async function newTicket(client) {
  const args = { customer_id: "C-1", subject: "Asked", description: "The lamp in the hall is dim." };
  return (await call(client, "create_ticket", args)).ticket_id;
}

async function isMade(client, tool, ticket) {
  const found = await call(client, "get_ticket", { ticket_id: ticket });
  return tool === "update_ticket" ? found.priority === "urgent" : !found.ok;
}

async function recorded(client, ticket) {
  const { entries } = await call(client, "list_audit_entries", { ticket_id: ticket, limit: 1 });
  return { method: entries[0].facts.confirmation_method, code: entries[0].code };
}

async function connect(capabilities) {
  const negotiation = revision === "2025-11-25" ? {} : { versionNegotiation: { mode: { pin: revision } } };
  const client = new Client({ name: "interop", version: "0" }, { capabilities, ...negotiation });
  return client;
}

const transport = () => transportTo(target);

let script;
const asking = await connect({ elicitation: { form: {} } });
asking.setRequestHandler("elicitation/create", (request) => {
  script.asked += 1;
  const fields = Object.values(request.params.requestedSchema.properties);
  expect(fields.every((field) => !("default" in field)), "no default");
  if (script.answer === null) throw new Error("no screen");
  return script.answer;
});
await asking.connect(transport());
const cases = JSON.parse(answers);
for (const [tool, { kind, change, unasked }] of Object.entries(CHANGES)) {
  for (const { name, expect: wanted, ...filled } of cases) {
    const at = `${tool}, ${name}`;
    const ticket = await newTicket(asking);
    script = { asked: 0, answer: JSON.parse(JSON.stringify(filled[kind]).replaceAll('"ID"', JSON.stringify(ticket))) };
    let answer;
    try {
      answer = await call(asking, tool, { ticket_id: ticket, ...change });
    } catch (error) {
      // On the newest revision the client itself fails, before a second call.
      answer = { ok: false, error: { code: unasked }, failed: String(error) };
    }
    expect(script.asked === 1, `${at}: asked ${script.asked} times`);
    const yes = wanted === "elicitation_form";
    expect((await isMade(asking, tool, ticket)) === yes, `${at}: ${JSON.stringify(answer)}`);
    const { method, code } = await recorded(asking, ticket);
    if (yes) {
      expect(answer.confirmation_method === "elicitation_form" && method === "elicitation_form", `${at}: ${JSON.stringify(answer)}`);
    } else {
      // This client checks what a person filled in against the form, and fails where it does not fit.
      const codes = wanted === "failed" ? [unasked] : name === "wrong type" || name === "nothing filled in" ? [wanted, unasked] : [wanted];
      expect(codes.includes(answer.error.code) && answer.error.code === code, `${at}: ${JSON.stringify(answer)}, ${code}`);
      expect(method === undefined, `${at}: ${method}`);
    }
  }
}
await asking.close();

const silent = await connect({});
await silent.connect(transport());
for (const [tool, { change, unasked }] of Object.entries(CHANGES)) {
  const ticket = await newTicket(silent);
  const preview = await call(silent, tool, { ticket_id: ticket, ...change });
  expect(preview.error.code === unasked, `${tool}: ${JSON.stringify(preview)}`);
  expect(!(await isMade(silent, tool, ticket)), `${tool}: a preview changed something`);
  const token = { ticket_id: ticket, confirmation_token: preview.confirmation_token };
  const answer = await call(silent, tool, token);
  if (tool === "delete_ticket") {
    expect(answer.error.code === "APPROVAL_PENDING", `${tool}: ${JSON.stringify(answer)}`);
    expect(!(await isMade(silent, tool, ticket)), `${tool}: gone without a person`);
    continue;
  }
  expect(answer.confirmation_method === "token_only" && !answer.replayed, `${tool}: ${JSON.stringify(answer)}`);
  expect((await recorded(silent, ticket)).method === "token_only", `${tool}: audit row`);
  expect((await call(silent, tool, token)).replayed === true, `${tool}: not replayed`);
}
await silent.close();
console.log(`  ${cases.length} answers of a person to each of ${Object.keys(CHANGES).length} changes, and none: as expected`);
