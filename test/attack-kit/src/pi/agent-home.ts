/** The files that agents of Pi's kind read: models, sessions, and an extension of the person's own that drives a running agent. */
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import type { Start } from "../adapter.ts";

/** The model of a start's provider, as a command line names it. */
export const MODEL = "attack-kit/scripted";

/** Writes models.json: one provider, one model. */
export function writeModels({ agentDir, provider }: Start): void {
  const model = {
    id: "scripted",
    name: "Scripted",
    reasoning: false,
    input: ["text"],
    contextWindow: 1_000_000,
    maxTokens: 32_000,
  };
  const { url, apiKey } = provider;
  const providers = { "attack-kit": { baseUrl: url, api: "openai-completions", apiKey, models: [model] } };
  put(join(agentDir, "models.json"), JSON.stringify({ providers }));
}

/** Writes a session that was held in `cwd`; answers its file. */
export function writeSession({ agentDir }: Start, cwd: string): string {
  const timestamp = new Date().toISOString();
  const header = { type: "session", version: 3, id: "01a2bb1f-2dd4-7c25-9f65-5d7b4ea0a001", timestamp, cwd };
  const message = { role: "user", content: [{ type: "text", text: "Hello." }], timestamp: Date.now() };
  const entry = { type: "message", id: "a1b2c3d4", parentId: null, timestamp, message };
  const path = join(agentDir, "kept-sessions", "session.jsonl");
  put(path, `${[header, entry].map((line) => JSON.stringify(line)).join("\n")}\n`);
  return path;
}

/** Writes an extension outside of the project that does nothing; answers its file. */
export function writeTyped({ elsewhere }: Start): string {
  const path = join(elsewhere, "typed.ts");
  put(path, "export default function () {}\n");
  return path;
}

/** Writes an extension of the person's own with commands that change the running agent. */
export function writeDriver({ agentDir }: Start, gate: string): void {
  put(
    join(agentDir, "extensions", "attack-kit-driver.ts"),
    `export default function (pi) {
  pi.registerCommand("kit-reload", { handler: async (_args, ctx) => { await fetch(${JSON.stringify(gate)}); await ctx.reload(); } });
  pi.registerCommand("kit-switch", { handler: async (args, ctx) => { await ctx.switchSession(args); } });
  pi.registerCommand("kit-fork", { handler: async (_args, ctx) => {
    await ctx.fork(ctx.transcript?.leafId ?? ctx.sessionManager.getLeafId(), { position: "at" });
  } });
}
`,
  );
}

/** Opens an address that answers when `work` is done. */
export async function openGate(work: () => Promise<void>): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((_request, response) => {
    work().then(
      () => response.end("done"),
      (thrown: unknown) => response.destroy(thrown instanceof Error ? thrown : new Error(String(thrown))),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function put(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
