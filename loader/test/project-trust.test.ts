import { chmod, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SCRIPTED_MODEL, scriptedProvider } from "../../test/kit/src/index.ts";
import type { LoadMode, TrustAnswer } from "../src/options.ts";
import type { LoadPlan } from "../src/plan.ts";
import { readTrust } from "../src/trust-store.ts";
import { askedWith, canary, loadIn, marks, PRINT, planOf, project, toolExtension } from "./loading.ts";

const A = "extension:.pi/extensions/a.ts";
const B = "extension:.pi/extensions/b.ts";
const PROMPT = "prompt:.pi/prompts/p.md";

/** A front end that gives the answers in turn, and keeps what it was asked. */
function person(...answers: TrustAnswer[]): LoadMode & { asked: LoadPlan[] } {
  const asked: LoadPlan[] = [];
  const askTrust = (plan: LoadPlan) => {
    asked.push(plan);
    return answers.shift() ?? "not-now";
  };
  return { name: "tui", hasUI: true, ui: PRINT.ui, askTrust, asked };
}

function open({ items }: LoadPlan): string[] {
  return items.filter(({ verdict }) => verdict === "held").map(({ id }) => id);
}

function loaded({ items }: LoadPlan): string[] {
  return items.filter(({ verdict }) => verdict === "loaded").map(({ id }) => id);
}

const files = { ".pi/extensions/a.ts": "export default () => {};", ".pi/prompts/p.md": "p" };

test("--trust lets load this content and no other", async () => {
  const at = await project({ files });
  const { digest } = await planOf(at);
  const right = await loadIn(at, { flags: { trust: digest } });
  expect(right.report).toMatchObject({ decision: "trusted", decidedBy: "flag" });
  await at.write(".pi/prompts/p.md", "q");
  const wrong = await loadIn(at, { flags: { trust: digest }, mode: person("content") });
  expect(wrong.report).toMatchObject({ decision: "untrusted", decidedBy: "flag" });
  expect(wrong.report.problems.map(({ code }) => code)).toContain("trust_pin");
  expect(readTrust(at.agentDir, at.path).approvals).toEqual([]);
});

test("F035: an approval is remembered, and only what changed since is asked about", async () => {
  const at = await project({ files: { ...files, "AGENTS.md": "one" } });
  const first = person("content");
  await loadIn(at, { mode: first });
  expect(first.asked.map(open)).toEqual([[A, PROMPT]]);
  const second = person();
  expect((await loadIn(at, { mode: second })).report.decision).toBe("trusted");
  expect(second.asked).toEqual([]);

  await at.write(".pi/extensions/a.ts", canary(at, "a"));
  await at.write(".pi/extensions/b.ts", canary(at, "b"));
  await at.write("AGENTS.md", "two");
  const third = person("not-now");
  const { report } = await loadIn(at, { mode: third });
  expect(third.asked.map(open)).toEqual([[A, B]]);
  const [a, b] = third.asked[0]!.items.filter(({ verdict }) => verdict === "held");
  expect(a!.change).toEqual({ isNew: false, added: [], removed: [], changed: [".pi/extensions/a.ts"] });
  expect(b!.change?.isNew).toBe(true);
  expect(marks(at)).toEqual([]);
  expect(report.decision).toBe("text");
  expect(report.problems.map(({ code }) => code)).toContain("context_changed");
  expect(loaded(report.plan)).toContain(PROMPT);
});

test("attack 40: content that was approved before is known again after a change back", async () => {
  const at = await project({ files });
  await loadIn(at, { mode: person("content") });
  await at.write(".pi/extensions/a.ts", "export default () => { 1; };");
  await loadIn(at, { mode: person("not-now") });
  await at.write(".pi/extensions/a.ts", files[".pi/extensions/a.ts"]);
  const back = person();
  await loadIn(at, { mode: back });
  expect(back.asked).toEqual([]);
});

test("what is approved after a change is remembered beside what was approved before", async () => {
  const at = await project({ files });
  await loadIn(at, { mode: person("content") });
  await at.write(".pi/extensions/b.ts", canary(at, "b"));
  await loadIn(at, { mode: person("text") });
  expect(marks(at)).toEqual([]);
  const again = person();
  const { report } = await loadIn(at, { mode: again });
  expect(again.asked).toEqual([]);
  expect(loaded(report.plan)).toEqual(expect.arrayContaining([A, PROMPT]));
  expect(open(report.plan)).toEqual([B]);
});

test("never, said about a change, is a no to the whole project", async () => {
  const at = await project({ files });
  await loadIn(at, { mode: person("content") });
  await at.write(".pi/extensions/b.ts", canary(at, "b"));
  const { report } = await loadIn(at, { mode: person("never") });
  expect(loaded(report.plan)).toEqual([]);
  const later = person("content");
  await loadIn(at, { mode: later });
  expect(later.asked).toEqual([]);
});

test("one extension is allowed beside texts, and the others are not asked about again", async () => {
  const at = await project({ files: { ...files, ".pi/extensions/b.ts": "export default () => { throw 1; };" } });
  const session = await loadIn(at, { mode: person("text") });
  expect(session.report.decision).toBe("text");
  const { plan } = await session.trust.decide("content", { only: A });
  expect(loaded(plan)).toEqual(expect.arrayContaining([A, PROMPT]));
  expect(open(plan)).toEqual([B]);
  const later = person();
  const { report } = await loadIn(at, { mode: later });
  expect(later.asked).toEqual([]);
  expect([report.decision, open(report.plan)]).toEqual(["partial", [B]]);
});

test.for<[TrustAnswer, string[]]>([
  ["never", []],
  ["content", [A]],
])("T1: a %s about one extension of a denied project trusts nothing else", async ([answer, expected]) => {
  const at = await project({ files: { ...files, ".pi/extensions/b.ts": files[".pi/extensions/a.ts"] } });
  const session = await loadIn(at);
  await session.trust.decide("never", { below: true });
  await session.trust.decide(answer, { only: A });
  expect(loaded(session.report.plan)).toEqual(expected);
  const { report } = await loadIn(at);
  expect(loaded(report.plan)).toEqual(expected);
});

test("T1: a no to one extension holds in a folder that is trusted whatever it becomes, and over a reload", async () => {
  const at = await project({ files });
  const session = await loadIn(at, { mode: person("folder") });
  await session.trust.decide("never", { only: A });
  await session.host.reload();
  expect(loaded(session.report.plan)).toEqual([PROMPT]);
  const later = person();
  expect(loaded((await loadIn(at, { mode: later })).report.plan)).toEqual([PROMPT]);
  expect(later.asked).toEqual([]);
});

test("this folder, whatever it becomes, is said of everything, also of what was said no to", async () => {
  const at = await project({ files });
  const session = await loadIn(at, { mode: person("text") });
  await session.trust.decide("never", { only: A });
  await at.write(".pi/extensions/b.ts", files[".pi/extensions/a.ts"]);
  const { report } = await loadIn(at, { mode: person("folder") });
  expect(loaded(report.plan)).toEqual(expect.arrayContaining([A, B, PROMPT]));
});

test("T10: what is trusted as before goes on in the same instance while something else is allowed or taken away", async () => {
  const at = await project({ files: { ".pi/extensions/a.ts": "", ".pi/extensions/b.ts": "" } });
  await at.write(".pi/extensions/a.ts", canary(at, "a"));
  await at.write(".pi/extensions/b.ts", canary(at, "b"));
  const session = await loadIn(at);
  await session.trust.decide("content", { only: A });
  await session.trust.decide("content", { only: B });
  await session.trust.decide("never", { only: B });
  expect(marks(at)).toEqual(["a evaluated", "a activated", "b evaluated", "b activated"]);
  expect(session.report.extensions.map(({ owner }) => owner.path)).toEqual([join(at.path, ".pi/extensions/a.ts")]);
});

test("a decision about one resource says nothing about the others", async () => {
  const at = await project({ files });
  const session = await loadIn(at);
  expect(loaded((await session.trust.decide("content", { only: A })).plan)).toEqual([A]);
  expect(loaded((await session.trust.decide("never", { only: A })).plan)).toEqual([]);
  const asked = person("not-now");
  await loadIn(at, { mode: asked });
  expect(asked.asked.map(open)).toEqual([[PROMPT]]);
  await expect(session.trust.decide("content", { only: "extension:nothing" })).rejects.toMatchObject({
    code: "unknown_resource",
  });
});

test("what changed while it was asked about is not decided about", async () => {
  const at = await project({ files });
  const session = await loadIn(at);
  const { digest } = session.report.plan;
  await at.write(".pi/prompts/p.md", "q");
  const late = session.trust.decide("content", { digest });
  await expect(late).rejects.toMatchObject({ code: "trust_outdated" });
  expect(readTrust(at.agentDir, at.path).approvals).toEqual([]);
});

test("T10: a no in a running session takes effect at once: tools, hooks and texts go, what runs is aborted, the model is told", async () => {
  const tool = `export default (pi) => {
    pi.on("before_turn", () => { globalThis.hookCalls = (globalThis.hookCalls ?? 0) + 1; });
    pi.registerTool({ name: "wait", description: "Waits.", parameters: { type: "object", properties: {} },
      execute: (id, args, signal) => new Promise((resolve, reject) => {
        globalThis.isWaiting = true;
        signal.addEventListener("abort", () => { globalThis.wasAborted = true; reject(signal.reason); });
      }) });
  };`;
  const at = await project({ files: { ".pi/extensions/a.ts": tool, ".pi/prompts/p.md": "p" } });
  const provider = scriptedProvider([{ calls: [{ name: "wait", arguments: {} }] }, { text: "Done." }]);
  const session = await loadIn(at, {
    mode: person("content"),
    official: [{ owner: { name: "scripted", scope: "official" }, extension: provider }],
  });
  const { agent, host } = session;
  await agent.setModel(SCRIPTED_MODEL);
  await agent.input("Go.");
  const seen = globalThis as { isWaiting?: boolean; wasAborted?: boolean; hookCalls?: number };
  await expect.poll(() => seen.isWaiting).toBe(true);
  await session.trust.decide("never");
  expect(seen.wasAborted).toBe(true);
  await agent.settled();
  expect([...agent.registry("tool").keys()]).toEqual([]);
  expect(host.resources.list("prompt")).toEqual([]);
  const calls = seen.hookCalls;
  await agent.input("And now?");
  await agent.settled();
  expect(seen.hookCalls).toBe(calls);
  const sent = JSON.stringify(provider.requests.at(-1)?.messages);
  expect(sent).toContain("no longer trusts");
  expect(sent).toContain(A);
  const later = person("content");
  await loadIn(at, { mode: later });
  expect(later.asked).toEqual([]);
  for (const name of ["isWaiting", "wasAborted", "hookCalls"] as const) delete seen[name];
});

test("what a command says takes the place of --approve, also after a reload", async () => {
  const at = await project({ files });
  const session = await loadIn(at, { flags: { approve: true } });
  expect(loaded(session.report.plan)).toEqual(expect.arrayContaining([A, PROMPT]));
  await session.trust.decide("never");
  await session.host.reload();
  expect(loaded(session.report.plan)).toEqual([]);
});

test("a decision where only the plan was asked for is remembered, and runs nothing in this process", async () => {
  const at = await project({ files: {} });
  await at.write(".pi/extensions/a.ts", canary(at, "a"));
  const session = await loadIn(at, { isPlanOnly: true });
  const { plan } = await session.trust.decide("content");
  expect(loaded(plan)).toEqual([A]);
  expect(marks(at)).toEqual([]);
  await loadIn(at);
  expect(marks(at)).toEqual(["a evaluated", "a activated"]);
});

test("what is forgotten is asked about again", async () => {
  const at = await project({ files });
  const session = await loadIn(at, { mode: person("content") });
  expect(loaded((await session.trust.forget()).plan)).toEqual([]);
  const asked = person();
  await loadIn(at, { mode: asked });
  expect(asked.asked.map(open)).toEqual([[A, PROMPT]]);
});

test("F041: what cannot be saved holds for this run, and that is said", async () => {
  const at = await project({ files });
  await at.write(join(at.agentDir, "trust.d"), "in the way");
  const session = await loadIn(at, { mode: person("content") });
  expect(session.report.decision).toBe("trusted");
  expect(session.report.problems.map(({ code }) => code)).toContain("trust_not_saved");
  expect((await session.trust.decide("never")).fault).toMatchObject({ code: "trust_not_saved" });
  expect(loaded(session.report.plan)).toEqual([]);
  await session.host.reload();
  expect(loaded(session.report.plan)).toEqual([]);
  await rm(join(at.agentDir, "trust.d"));
  await chmod(at.agentDir, 0o700);
});

test("a project_trust handler that says remember is remembered", async () => {
  const at = await project({ files });
  const handler = `export default (pi) => pi.on("project_trust", () => ({ trusted: "yes", remember: true }));`;
  await at.write(join(at.agentDir, "extensions/vote.ts"), handler);
  await loadIn(at);
  await rm(join(at.agentDir, "extensions/vote.ts"));
  expect((await loadIn(at)).report).toMatchObject({ decision: "trusted", decidedBy: "record" });
});

test("a folder that is trusted whatever it becomes is not asked about again", async () => {
  const at = await project({ files });
  await loadIn(at, { mode: person("folder") });
  await at.write(".pi/extensions/b.ts", toolExtension("b", "b"));
  const asked = person();
  expect((await loadIn(at, { mode: asked })).report.decision).toBe("trusted");
  expect(asked.asked).toEqual([]);
});

test("an answer of embedding code counts for its process only", async () => {
  const at = await project({ files });
  await loadIn(at, { trust: "content" });
  expect(readTrust(at.agentDir, at.path)).toEqual({ approvals: [], notes: [] });
  expect((await loadIn(at, { mode: askedWith("yes") })).report.decision).toBe("untrusted");
});
