// Plain JavaScript: what it is held against is built, so it must not pay for stripping types.
/** The least that continuing a session takes: read the file, walk back from its end, post what was said, print the answer. */
import { readFileSync } from "node:fs";

const [url, file] = process.argv.slice(2);
const parameters = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const body = {
  model: "scripted",
  stream: true,
  messages: [{ role: "system", content: "You are a coding assistant. Read before you edit. ".repeat(60) }],
  tools: [{ type: "function", function: { name: "read", description: "Reads a file.", parameters } }],
};
for (const message of readMessages()) body.messages.push(toWire(message));
body.messages.push({ role: "user", content: "hello" });
const headers = { "content-type": "application/json", authorization: "Bearer test-key" };
const response = await fetch(`${url}/chat/completions`, { method: "POST", headers, body: JSON.stringify(body) });
const events = (await response.text()).split("\n\n");
const deltas = events.flatMap((event) => (event.startsWith("data: {") ? JSON.parse(event.slice(6)).choices : []));
process.stdout.write(`${deltas.map(({ delta }) => delta.content ?? "").join("")}\n`);
process.exit(response.ok ? 0 : 1);

function readMessages() {
  const byId = new Map();
  let leaf;
  for (const line of readFileSync(file, "utf8").split("\n")) {
    if (line === "") continue;
    const entry = JSON.parse(line);
    if (entry.type === "session") continue;
    byId.set(entry.id, entry);
    leaf = entry;
  }
  const messages = [];
  let lastKept;
  for (let entry = leaf; entry; entry = byId.get(entry.parentId)) {
    if (entry.type === "compaction") lastKept = entry.firstKeptEntryId;
    else messages.push(entry.message);
    if (entry.id === lastKept) break;
  }
  return messages.reverse();
}

function toWire({ role, content, toolCallId }) {
  const text = content.flatMap((block) => (block.type === "text" ? block.text : [])).join("");
  if (role === "toolResult") return { role: "tool", content: text, tool_call_id: toolCallId };
  const calls = content.filter((block) => block.type === "toolCall");
  const toCall = ({ id, name, arguments: given }) => {
    return { id, type: "function", function: { name, arguments: JSON.stringify(given) } };
  };
  return { role, content: text, ...(calls.length > 0 && { tool_calls: calls.map(toCall) }) };
}
