/** What the page on persistence names is there. Its screens are held by test/e2e/sessions-terminal.test.ts. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { FLAGS as OWN_FLAGS } from "../../cli/src/flags.ts";
import sessions from "../../extensions/sessions/src/index.ts";
import { createAgent } from "../../kernel/src/index.ts";

const ROOT = join(import.meta.dirname, "../..");
const [page = ""] = readFileSync(join(ROOT, "docs/persistence.md"), "utf8").split(
  "\n## Runs and sessions in PostgreSQL",
);
const code = [...page.matchAll(/`([^`\n]+)`|```sh\n([^]*?)```/g)].map(([, inline, block]) => inline ?? block ?? "");

async function registries() {
  const agent = createAgent({ extensions: [sessions] });
  onTestFinished(() => agent.dispose().then(() => {}));
  await agent.ready();
  return { commands: agent.registry("command"), flags: agent.registry("flag"), cli: agent.registry("cli") };
}

test("every command on the page is registered, and every one that is registered is on the page", async () => {
  const { commands } = await registries();
  const named = new Set(code.flatMap((text) => [...text.matchAll(/^\/([a-z]+)/g)].map(([, name]) => name!)));
  expect(named).toEqual(new Set(commands.keys()));
});

test("every flag on the page is one of the command's, of its sub-commands' or of the package's", async () => {
  const { flags } = await registries();
  const known = new Set([...flags.keys(), ...OWN_FLAGS.map(({ name }) => name), "all", "json", "summarize"]);
  const named = code.flatMap((text) => [...text.matchAll(/(?<![\w-])--([a-z][\w-]+)/g)].map(([, name]) => name!));
  expect(named.filter((name) => !known.has(name))).toEqual([]);
  for (const name of ["continue", "resume", "session", "fork", "session-dir", "no-session", "export"]) {
    expect(named).toContain(name);
  }
});

test("every setting on the page is read by the sources", () => {
  const paths = globSync("extensions/sessions/src/**/*.ts", { cwd: ROOT });
  const sources = paths.map((path) => readFileSync(join(ROOT, path), "utf8")).join("\n");
  for (const key of ["sessionDir", "session.store", "session.durability", "branchSummary.skipPrompt"]) {
    expect(page).toContain(key);
    expect(sources.includes(`"${key}"`), key).toBe(true);
  }
});
