import { lastResults } from "@pi-agent/testing";
import { expect, test } from "vitest";
import { openWorkbench } from "./workbench.ts";

const HELLO = `import { Type } from "typebox";
import type { ExtensionAPI } from "@pi-agent/kernel";

interface Options { loud?: boolean }

/** Adds a tool that greets. */
export default function hello(pi: ExtensionAPI, options: Options = {}) {
  pi.registerTool({
    name: "greet",
    label: "Greet",
    description: "Greets somebody by name.",
    promptSnippet: "greet somebody by name",
    parameters: Type.Object({ name: Type.String({ description: "Whom to greet" }) }),
    async execute(_id, { name }) {
      const text: string = \`Hello, \${name}!\`;
      return { content: [{ type: "text", text: options.loud ? text.toUpperCase() : text }] };
    },
  });
}
`;
const GREETING = [{ calls: [{ name: "greet", arguments: { name: "Ada" } }] }, { text: "Greeted." }];

test("an extension of twenty lines adds a tool that the model calls", async () => {
  expect(HELLO.trimEnd().split("\n").length).toBeLessThanOrEqual(20);
  await using bench = await openWorkbench(GREETING, { agentFiles: { "extensions/hello.ts": HELLO } });
  const { code, stdout, stderr } = await bench.ask("Greet Ada.").done;
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "Greeted.\n", stderr: "" });
  expect(bench.server.requests[0]?.neutral?.tools.map((tool) => tool.name)).toContain("greet");
  expect(lastResults(bench.server.requests[1]!.neutral!).map((result) => result.text)).toEqual(["Hello, Ada!"]);
});

test.for([
  ["a syntax error", "const fine = 1;\n\nexport default const = fine;\n", "broken.ts:3"],
  ["an import that is not there", 'import { x } from "./missing.ts";\nexport default () => x;\n', "missing.ts"],
  ["a factory that throws", "\nexport default function () {\n  throw new Error('no luck');\n}\n", "broken.ts:3"],
  ["no default export", "export const nothing = 1;\n", "broken.ts"],
] as const)(
  "an extension with %s is named with its place, and the rest works (F004, E2)",
  async ([, source, place]) => {
    await using bench = await openWorkbench(GREETING, {
      agentFiles: { "extensions/broken.ts": source, "extensions/hello.ts": HELLO },
    });
    const { code, stdout, stderr } = await bench.ask("Greet Ada.").done;
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Greeted.\n" });
    expect(stderr).toContain("broken.ts");
    expect(stderr).toContain(place);
    expect(stderr).not.toContain("node_modules");
    expect(lastResults(bench.server.requests[1]!.neutral!).map((result) => result.text)).toEqual(["Hello, Ada!"]);
  },
);

test("an extension that was asked for with -e and fails ends the start with exit code 1 (E2)", async () => {
  await using bench = await openWorkbench([{ text: "never" }]);
  const path = await bench.write(`${bench.home}/broken.ts`, "export default const = 1;\n");
  const { code, stdout, stderr } = await bench.ask("Go.", "-e", path).done;
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain("broken.ts:1");
  expect(bench.server.requests).toEqual([]);
});

test("a handler that throws is named and does not change the run (K13)", async () => {
  const source = 'export default (pi) => pi.on("turn_start", () => { throw new Error("handler down"); });\n';
  await using bench = await openWorkbench([{ text: "Done." }], { agentFiles: { "extensions/faulty.ts": source } });
  const { code, stdout, stderr } = await bench.ask("Go.").done;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Done.\n" });
  expect(stderr).toContain("handler down");
  expect(stderr).toContain("faulty.ts");
});

test("a rejection that nobody awaits is told with its owner and does not end the run (K14, F011)", async () => {
  const source = 'export default (pi) => pi.on("turn_start", () => void Promise.reject(new Error("floating")));\n';
  await using bench = await openWorkbench([{ text: "Done." }], { agentFiles: { "extensions/floating.ts": source } });
  const { code, stdout, stderr } = await bench.ask("Go.").done;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Done.\n" });
  expect(stderr).toContain("floating");
  expect(stderr).toContain("floating.ts");
});
