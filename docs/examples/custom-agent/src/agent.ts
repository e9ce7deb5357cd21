import anthropic from "@pi-agent/anthropic";
import { createAgent } from "@pi-agent/kernel";
import tools from "@pi-agent/tools";

const agent = createAgent({ extensions: [anthropic, tools], systemPrompt: "You mend failing tests." });
agent.on("tool_execution_start", ({ toolName }) => console.error(`· ${toolName}`));
const { answer, outcome } = await agent.run("Run the tests and mend what fails.");
console.log(answer);
await agent.dispose();
process.exitCode = outcome === "done" ? 0 : 1;
