// Uses every tool, resource, prompt and completion of a Deskgate server with the official TypeScript client.
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/client";
import { transportTo } from "./target.mjs";

const [target, callsFile, revision] = process.argv.slice(2);
const calls = JSON.parse(readFileSync(callsFile, "utf8"));

function expect(condition, message) {
  if (!condition) throw new Error(message);
}

function codeOf(result) {
  const answer = result.structuredContent;
  expect(answer && typeof answer === "object", `an answer is structured: ${JSON.stringify(result)}`);
  const text = result.content[0].text;
  expect(text && !text.trimStart().startsWith("{"), `the text block stands on its own: ${text.slice(0, 80)}`);
  return answer.ok ? "ok" : answer.error.code;
}

async function call(client, step, extra = {}) {
  const args = { ...step.arguments, ...extra };
  const result = await client.callTool({ name: step.tool, arguments: args });
  const code = codeOf(result);
  expect(code === step.expect, `${step.tool} ${JSON.stringify(args)}: ${code}, wanted ${step.expect}`);
  return result.structuredContent;
}

// A client that prints `unknown format ... ignored` has met a schema outside the common subset.
const warnings = [];
for (const name of ["warn", "error"]) console[name] = (...words) => warnings.push(words.join(" "));

const negotiation = revision === "2025-11-25" ? {} : { versionNegotiation: { mode: { pin: revision } } };
const client = new Client({ name: "interop", version: "0" }, { capabilities: {}, ...negotiation });
await client.connect(transportTo(target));

const { tools } = await client.listTools();
const used = new Set([...calls.tools, ...calls.new_ticket_walk].map((step) => step.tool));
const names = tools.map((tool) => tool.name);
expect(names.length === used.size && names.every((name) => used.has(name)), `every tool is called: ${names} / ${[...used]}`);
let ticket;
for (const step of calls.tools) {
  const answer = await call(client, step);
  if (step.tool === "create_ticket" && step.expect === "ok") ticket = answer.ticket_id;
}
for (const step of calls.new_ticket_walk) await call(client, step, { ticket_id: ticket });

const { resources } = await client.listResources();
expect(resources.length >= 11, "each category is a resource");
const { resourceTemplates } = await client.listResourceTemplates();
expect(resourceTemplates.length === 4, "four templates");
for (const uri of [...calls.resources, ...resources.map((resource) => resource.uri)]) {
  const { contents } = await client.readResource({ uri });
  expect(contents.length > 0 && contents[0].text, `${uri} has text`);
}
const { prompts } = await client.listPrompts();
expect(prompts.length === calls.prompts.length, `every prompt is got: ${prompts.map((prompt) => prompt.name)}`);
for (const prompt of calls.prompts) {
  const { messages } = await client.getPrompt({ name: prompt.name, arguments: prompt.arguments });
  expect(messages.length > 0, `${prompt.name} has messages`);
}
for (const completion of calls.completions) {
  const ref = completion.prompt
    ? { type: "ref/prompt", name: completion.prompt }
    : { type: "ref/resource", uri: completion.template };
  const argument = { name: completion.argument, value: completion.value };
  const { completion: { values } } = await client.complete({ ref, argument });
  expect(values.includes(completion.first), `${JSON.stringify(completion)}: ${values}`);
}
await client.close();
expect(warnings.length === 0, `the client warned: ${warnings.slice(0, 3).join("; ")}`);
console.log(`  ${tools.length} tools, ${resources.length} resources, ${prompts.length} prompts: as expected`);
