// Plain JavaScript: what it is held against is built, so it must not pay for stripping types.
/** The least that any agent has to do for one answer: post a request of usual size, read the stream, print the text. */
const [url] = process.argv.slice(2);
const body = {
  model: "scripted",
  stream: true,
  messages: [
    { role: "system", content: "You are a coding assistant. Read before you edit. ".repeat(60) },
    { role: "user", content: "hello" },
  ],
};
const response = await fetch(`${url}/chat/completions`, {
  method: "POST",
  headers: { "content-type": "application/json", authorization: "Bearer test-key" },
  body: JSON.stringify(body),
});
let pending = "";
let answer = "";
const decoder = new TextDecoder();
for await (const chunk of response.body) {
  pending += decoder.decode(chunk, { stream: true });
  const events = pending.split("\n\n");
  pending = events.pop();
  for (const event of events) {
    const data = event.slice("data: ".length);
    if (data !== "[DONE]") answer += JSON.parse(data).choices[0]?.delta.content ?? "";
  }
}
if (!response.ok || answer === "") process.exit(1);
process.stdout.write(`${answer}\n`);
process.exit(0);
