/** Logs to a stream that the test has broken, and reports on the other one what came of three runs. */
import { createAgent, type Host } from "@pi-agent/kernel";
import stepLog from "../src/index.ts";
import { scripted } from "./scripted.ts";

const target = process.argv[2] as "stdout" | "stderr";
const report = target === "stdout" ? process.stderr : process.stdout;
for await (const _ of process.stdin);

let told = 0;
const ui = {
  notify: (text: string) => void (text.includes("cannot be written") && told++),
} as Host["ui"];
const agent = createAgent({
  extensions: [stepLog, scripted()],
  host: { flags: new Map([["log", target]]), ui },
});
const answers: string[] = [];
for (let n = 0; n < 3; n++) {
  answers.push((await agent.run("go")).answer);
  // What a stream has to say of a write comes later.
  await new Promise((resolve) => setImmediate(resolve));
}
await agent.dispose();
report.write(`${JSON.stringify({ answers, told })}\n`);
