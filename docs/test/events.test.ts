import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { HookTable } from "../../kernel/src/hooks.ts";
import { createAgent, type Extension, type HookName, type Model } from "../../kernel/src/index.ts";
import { streamTurn } from "../../test/kit/src/scripted-stream.ts";
import { readHookPoints } from "./hook-points.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const PAGE = `${read("docs/events.md")}\n## `;
const SHARED = {
  run: ["runId"],
  turn: ["runId", "turnIndex"],
  call: ["runId", "turnIndex", "toolCallId", "toolName"],
};

interface Section {
  name: string;
  group: string;
  way: string;
  isWire: boolean;
  event: string[];
  answer: string[];
}

/** Groups whose points a run does not fire in an order of its own. */
const APART = ["## Starting", "## At any time", "## Compaction", "## Leaving a session"];

const sections = [...PAGE.matchAll(/^### `(\w+)` · (\w+)( · wire)?\n([^]*?)(?=^##)/gm)].map((match): Section => {
  const [, name = "", way = "", wire, body = ""] = match;
  const group = PAGE.slice(0, match.index)
    .match(/^## .*$/gm)!
    .at(-1)!;
  return {
    name,
    group,
    way,
    isWire: wire !== undefined,
    event: fieldsIn(body, "Event"),
    answer: fieldsIn(body, "Answer"),
  };
});

/** The names in backticks of a list item; what stands in brackets explains them. */
function fieldsIn(body: string, label: string): string[] {
  const item = new RegExp(`^- ${label}: ([^]*?)(?=^- |^$(?![^]))`, "m").exec(`${body.trimEnd()}\n`)?.[1] ?? "";
  const text = item.replace(/\([^)]*\)/g, "");
  const shared = SHARED[/^(run|turn|call)\b/.exec(text)?.[1] as keyof typeof SHARED] ?? [];
  const named = [...text.matchAll(/`(\w+)`/g)].map(([, field]) => field!).filter((field) => field !== "undefined");
  return [...new Set([...shared, ...named])].toSorted();
}

/** The points that packages declare at run time, each with its way and its place on the wire. */
const DECLARED_BY_PACKAGES = new Map(
  globSync("{loader,cli,extensions/*}/src/**/*.ts", { cwd: ROOT }).flatMap((path) =>
    [...read(path).matchAll(/declareHook\("(\w+)", \{ way: "(\w+)"(, wire: true)?/g)].map(
      ([, name, way, wire]) => [name!, { way: way!, wire: wire !== undefined }] as const,
    ),
  ),
);

test("the page has every point of the table and of the types, and no other", () => {
  const table = new HookTable(() => {});
  const declared = Object.values(table.at).filter((point) => point.declared);
  const points = readHookPoints();
  const names = [...declared.map(({ name }) => name), ...DECLARED_BY_PACKAGES.keys()];
  expect(names.toSorted()).toEqual([...points.keys()].toSorted());
  expect(sections.map(({ name }) => name).toSorted()).toEqual([...points.keys()].toSorted());
});

test("its way, its place on the wire, the fields of its event and of an answer are those of the code", () => {
  const table = new HookTable(() => {});
  const points = readHookPoints();
  const told = sections.map(({ name, way, isWire, event, answer }) => ({ name, way, isWire, event, answer }));
  const real = sections.map(({ name }) => {
    const { way, event, answer } = points.get(name) ?? { way: "", event: [], answer: [] };
    const isWire = table.at[name]?.wire ?? DECLARED_BY_PACKAGES.get(name)?.wire ?? false;
    return { name, way, isWire, event: event.toSorted(), answer: answer.toSorted() };
  });
  expect(told).toEqual(real);
  for (const { name, way } of sections)
    expect(table.at[name]?.way ?? DECLARED_BY_PACKAGES.get(name)?.way, name).toBe(way);
});

test("its deadlines are those of the code", () => {
  const kernel = globSync("kernel/src/*.ts", { cwd: ROOT }).map(read).join("\n");
  const [, code = ""] = /DEADLINE_MS: [^{]*\{([^}]*)\}/.exec(kernel) ?? [];
  const limits = Object.fromEntries([...code.matchAll(/(\w+): ([\w._]+),/g)].map(([, way, ms]) => [way, ms]));
  const rows = [...PAGE.matchAll(/^\| (\w+) +\|.*\| ([^|]+?) +\|$/gm)].filter(([, way]) => way !== "Way");
  const told = Object.fromEntries(
    rows.map(([, way, late]) => [way, late === "no limit" ? "Number.POSITIVE_INFINITY" : `${parseInt(late!)}_000`]),
  );
  expect(told).toEqual(limits);
});

const MODEL: Model = {
  id: "own",
  name: "Own",
  provider: "own",
  api: "own",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 10_000,
  maxTokens: 1_000,
};

/** A model that calls a tool, fails once, and answers. */
const own: Extension = (pi) => {
  const turns = [{ calls: [{ name: "work", arguments: {} }] }, { fail: { status: 529 } }, { text: "Done." }];
  pi.register("api", "own", {
    async *stream(request) {
      await request.onPayload({});
      await request.onHeaders({});
      await request.onResponse({ status: 200, headers: new Headers() });
      await request.onStreamEvent?.({});
      yield* streamTurn(turns.shift()!, request, 0);
    },
  });
  pi.registerProvider({ id: "own", api: "own", env: [], models: [MODEL] });
  pi.registerTool({
    name: "work",
    description: "Works.",
    parameters: { type: "object" },
    async execute(_id, _args, _signal, onUpdate) {
      onUpdate({ content: [] });
      return { content: [{ type: "text", text: "Worked." }] };
    },
  });
};

/** Runs it, trying again what fails, and answers the names of the points in the order in which each fired first. */
async function firedInRun(): Promise<string[]> {
  const agent = createAgent({ extensions: [own] });
  const fired = new Set<string>();
  for (const { name } of sections.filter(({ way }) => way !== "around")) {
    agent.on(name as HookName, (() => void fired.add(name)) as never);
  }
  agent.on("provider_call", (request, next) => {
    fired.add("provider_call");
    return next(request);
  });
  agent.on("provider_error", () => ({ retry: { delayMs: 1, reason: "once more" } }));
  await agent.input("Go.");
  await agent.settled();
  await agent.dispose();
  return [...fired];
}

test("the points stand in groups that follow a run, and in the order in which it fires them", async () => {
  const fired = await firedInRun();
  const ordered = (names: readonly string[]) => names.toSorted((a, b) => fired.indexOf(a) - fired.indexOf(b));
  const inRun = sections.filter(({ group }) => !APART.includes(group));
  expect(inRun.map(({ name }) => name).filter((name) => !fired.includes(name))).toEqual([]);
  for (const [group, points] of Map.groupBy(inRun, (section) => section.group)) {
    const names = points.map(({ name }) => name);
    expect(names, group).toEqual(ordered(names));
  }
  const heads = ["input", "agent_start", "provider_call", "tool_execution_start", "turn_end"];
  expect(inRun.map(({ name }) => name).filter((name) => heads.includes(name))).toEqual(ordered(heads));
});

test("the drawing shows every point of a run", () => {
  const drawing = /```\n([^]*?)```/.exec(PAGE)?.[1] ?? "";
  const inRun = sections.filter(({ group }) => ![...APART, "## Keeping"].includes(group));
  expect(inRun.map(({ name }) => name).filter((name) => !new RegExp(`\\b${name}\\b`).test(drawing))).toEqual([]);
});
