// Plain JavaScript: what it is held against is built, so it must not pay for stripping types.
/**
 * The least that any agent has to do for one prompt: post a request of usual size with all that was said, read the
 * stream, read the files that the model asks for, and print the last text.
 */
const [url] = process.argv.slice(2);
const parameters = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const body = {
  model: "scripted",
  stream: true,
  messages: [
    { role: "system", content: "You are a coding assistant. Read before you edit. ".repeat(60) },
    { role: "user", content: "hello" },
  ],
  tools: [{ type: "function", function: { name: "read", description: "Reads a file.", parameters } }],
};
const headers = { "content-type": "application/json", authorization: "Bearer test-key" };

for (;;) {
  const { answer, calls } = await ask();
  if (calls.length === 0) {
    if (answer === "") process.exit(1);
    process.stdout.write(`${answer}\n`);
    process.exit(0);
  }
  body.messages.push({ role: "assistant", content: answer || null, tool_calls: calls });
  const { readFile } = await import("node:fs/promises");
  for (const { id, function: called } of calls) {
    const content = await readFile(JSON.parse(called.arguments).path, "utf8");
    body.messages.push({ role: "tool", tool_call_id: id, content });
  }
}

async function ask() {
  const response = await fetch(`${url}/chat/completions`, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) process.exit(1);
  let pending = "";
  let answer = "";
  const calls = [];
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    pending += decoder.decode(chunk, { stream: true });
    const events = pending.split("\n\n");
    pending = events.pop();
    for (const event of events) {
      const data = event.slice("data: ".length);
      if (data === "[DONE]") continue;
      const delta = JSON.parse(data).choices[0]?.delta;
      answer += delta?.content ?? "";
      for (const part of delta?.tool_calls ?? []) {
        const { name, arguments: more } = part.function;
        calls[part.index] ??= { id: part.id, type: "function", function: { name, arguments: "" } };
        calls[part.index].function.arguments += more ?? "";
      }
    }
  }
  return { answer, calls };
}
