import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { lastResults } from "@pi-agent/testing";
import { expect, test } from "vitest";
import { openWorkbench, parseLines } from "./workbench.ts";

/** An extension whose tool answers what the expression is. */
function toolSource(name: string, { imports = "", answer }: { imports?: string; answer: string }): string {
  return `${imports}
export default (pi) => pi.registerTool({
  name: "${name}",
  description: "Tells.",
  parameters: { type: "object", properties: {} },
  execute: async () => ({ content: [{ type: "text", text: String(${answer}) }] }),
});
`;
}

const callOf = (name: string) => ({ name, arguments: {} });
const script = (...names: string[]) => [{ calls: names.map(callOf) }, { text: "Done." }];
const BOTH = 'import { Type } from "typebox";\nimport { Value } from "typebox/value";\n';

test("F001: a lent library and its parts are one copy for every extension, also where one has another version", async () => {
  await using bench = await openWorkbench(script("first", "second"), {
    agentFiles: {
      "extensions/first.ts": toolSource("first", {
        imports: `${BOTH}globalThis.lentToFirst = [Type, Value];`,
        answer: "Value.Check(Type.String(), 'x')",
      }),
      "extensions/second/index.ts": toolSource("second", {
        imports: BOTH,
        answer: "[Type, Value].every((each, index) => each === globalThis.lentToFirst[index])",
      }),
      "extensions/second/node_modules/typebox/package.json": '{"name":"typebox","version":"0.0.1","main":"own.js"}',
      "extensions/second/node_modules/typebox/own.js": "exports.Type = {};",
    },
  });
  const { code, stderr } = await bench.ask("Go.").done;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(lastResults(bench.server.requests[1]!.neutral!).map(({ text }) => text)).toEqual(["true", "true"]);
});

test("F001: a part that the lent library does not have is named with the file that asks for it", async () => {
  const source = toolSource("first", { imports: 'import { x } from "typebox/nothing";', answer: "x" });
  await using bench = await openWorkbench([{ text: "Done." }], { agentFiles: { "extensions/first.ts": source } });
  const { code, stdout, stderr } = await bench.ask("Go.").done;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Done.\n" });
  expect(stderr).toContain("first.ts:1:");
  expect(stderr).toContain("typebox/nothing");
});

/** Two tools and two commands of the same names, in the person's folder, in the project, and with -e. */
async function openClash() {
  const foo = (from: string) => `
export default (pi) => {
  pi.registerTool({ name: "foo", description: "From ${from}.", parameters: { type: "object", properties: {} },
    execute: async () => ({ content: [{ type: "text", text: "from ${from}" }] }) });
  pi.registerCommand("bar", { expand: () => "bar of ${from}" });
};`;
  const bench = await openWorkbench([...script("foo"), { text: "Done." }], {
    files: { ".pi/extensions/b.ts": foo("project") },
    agentFiles: { "extensions/a.ts": foo("user") },
  });
  await bench.write(join(bench.home, "c.ts"), foo("flag"));
  return bench;
}

test.for([
  ["print", "user", []],
  ["json", "user", ["--mode", "json"]],
  ["print, with -e", "flag", ["-e", "../home/c.ts"]],
] as const)(
  "F002: of two tools or commands of a name one wins by rank, and the others are told once with both paths: %s",
  async ([, winner, more]) => {
    await using bench = await openClash();
    const { code, stdout, stderr } = await bench.ask("Go.", "--approve", ...more).done;
    expect(code).toBe(0);
    expect(bench.server.requests[0]?.neutral?.tools.filter(({ name }) => name === "foo")).toHaveLength(1);
    expect(lastResults(bench.server.requests[1]!.neutral!).map(({ text }) => text)).toEqual([`from ${winner}`]);
    const told = stderr.split("\n").filter((line) => line.includes("foo") && line.includes("b.ts"));
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(winner === "flag" ? /[ac]\.ts/ : /a\.ts/);
    // Its events tell what a run does; what loading found wrong is told beside them.
    if (more.includes("json" as never)) parseLines(stdout);
    await bench.ask("/bar", "--approve", ...more).done;
    expect(bench.server.requests.at(-1)?.neutral?.messages.at(-1)?.text).toBe(`bar of ${winner}`);
  },
);

test("F004: two broken extensions are named with place and cause, and the third works", async () => {
  const files = {
    "a.ts": toolSource("fine", { answer: "'works'" }),
    "b.ts": "const a = 1;\n\nexport default const b;\n",
    "c.ts": toolSource("missing", { imports: 'import { gone } from "not-installed-here";', answer: "gone" }),
  };
  const agentFiles = Object.fromEntries(Object.entries(files).map(([name, text]) => [`extensions/${name}`, text]));
  await using bench = await openWorkbench(script("fine"), { agentFiles });
  const { code, stdout, stderr } = await bench.ask("Go.").done;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Done.\n" });
  expect(lastResults(bench.server.requests[1]!.neutral!).map(({ text }) => text)).toEqual(["works"]);
  expect(stderr).toMatch(/b\.ts:3:\d+: /);
  expect(stderr).toMatch(/c\.ts:1:\d+: cannot find not-installed-here/);
});

test("F004: one that was asked for with -e and is broken ends the start before any model is called", async () => {
  await using bench = await openWorkbench([{ text: "never" }]);
  const path = await bench.write(join(bench.home, "c.ts"), 'import "not-installed-here";\nexport default () => {};\n');
  const { code, stdout, stderr } = await bench.ask("Go.", "-e", path).done;
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/c\.ts:1:\d+: cannot find not-installed-here/);
  expect(bench.server.requests).toEqual([]);
});

test("F005: an extension behind a link into a store finds its siblings there, and is one however it is named", async () => {
  await using bench = await openWorkbench(script("linked"));
  const store = join(bench.home, "store/ext@1/node_modules");
  await bench.write(join(store, "ext/package.json"), '{"name":"ext","pi":{"extensions":["./index.ts"]}}');
  const imports = 'import { dep } from "dep";';
  await bench.write(join(store, "ext/index.ts"), toolSource("linked", { imports, answer: "dep" }));
  await bench.write(join(store, "dep/package.json"), '{"name":"dep","type":"module","exports":"./index.js"}');
  await bench.write(join(store, "dep/index.js"), 'export const dep = "sibling";');
  await mkdir(join(bench.home, "pkgs/node_modules"), { recursive: true });
  await symlink(join(store, "ext"), join(bench.home, "pkgs/node_modules/ext"));
  const link = join(bench.home, "pkgs/node_modules/ext");
  const { code, stderr } = await bench.ask("Go.", "-e", link, "-e", join(store, "ext")).done;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(lastResults(bench.server.requests[1]!.neutral!).map(({ text }) => text)).toEqual(["sibling"]);
});

test.for([
  ["an ES module", '{"name":"helper","type":"module","exports":"./index.js"}', 'export { Type } from "typebox";'],
  ["CommonJS", '{"name":"helper","main":"index.js"}', 'exports.Type = require("typebox").Type;'],
] as const)(
  "F007: a dependency that is %s gets the lent library too, and the same copy",
  async ([, manifest, source]) => {
    const imports = 'import { Type } from "typebox";\nimport { Type as theirs } from "helper";';
    await using bench = await openWorkbench(script("helped"), {
      agentFiles: {
        "extensions/helped/index.ts": toolSource("helped", { imports, answer: "Type === theirs" }),
        "extensions/helped/node_modules/helper/package.json": manifest,
        "extensions/helped/node_modules/helper/index.js": source,
      },
    });
    const { code, stderr } = await bench.ask("Go.").done;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(lastResults(bench.server.requests[1]!.neutral!).map(({ text }) => text)).toEqual(["true"]);
  },
);

test("F008: one line a turn, one disposal, and a timer that still calls does not hold or break the end", async () => {
  const source = `import { appendFileSync } from "node:fs";
export default (pi) => {
  const note = (line) => appendFileSync("notes", line + "\\n");
  pi.events.on("bus", () => note("bus"));
  pi.on("session_start", (_event, ctx) => void setInterval(() => { pi.setSessionName("x"); ctx.ui.notify("tick"); }, 1));
  pi.on("turn_end", () => { note("turn"); pi.events.emit("bus", 1); });
  pi.onDispose(async () => { await new Promise((done) => setTimeout(done, 50)); note("disposed"); });
};`;
  await using bench = await openWorkbench([{ text: "Done." }], { agentFiles: { "extensions/ticks.ts": source } });
  const { code, stdout } = await bench.ask("Go.").done;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Done.\n" });
  expect(await bench.read("notes")).toBe("turn\nbus\ndisposed\n");
});

test("F010: extensions load from folders with blanks, hashes, percent signs, letters beyond ASCII and question marks", async () => {
  const folders = ["a b", "x#1", "50%", "é", "q?", "%20", "quote'\""];
  await using bench = await openWorkbench(script(...folders.map((_, index) => `tool${index}`)));
  const paths = folders.map((folder, index) => {
    const part = `import { part } from "./part #%?.ts";`;
    const entry = join(bench.home, folder, "ext.ts");
    return bench
      .write(join(bench.home, folder, "part #%?.ts"), `export const part = ${index};`)
      .then(() => bench.write(entry, toolSource(`tool${index}`, { imports: part, answer: "part" })));
  });
  const flags = (await Promise.all(paths)).flatMap((path) => ["-e", path]);
  const { code, stderr } = await bench.ask("Go.", ...flags).done;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const texts = lastResults(bench.server.requests[1]!.neutral!).map(({ text }) => text);
  expect(texts).toEqual(folders.map((_, index) => String(index)));
});
