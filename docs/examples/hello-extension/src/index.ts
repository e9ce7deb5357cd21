import type { ExtensionAPI } from "@pi-agent/kernel";
import { Type } from "typebox";

/** Adds a tool that greets people, and counts how often it did. */
export default function hello(pi: ExtensionAPI): void {
  let greetings = 0;
  pi.registerTool({
    name: "greet",
    description: "Greets a person by name.",
    parameters: Type.Object({ name: Type.String({ description: "Whom to greet" }) }),
    effect: "read",
    async execute(_id, { name }) {
      greetings += 1;
      return { content: [{ type: "text", text: `Hello, ${name}! That makes ${greetings}.` }] };
    },
  });
}
