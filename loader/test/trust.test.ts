import { expect, test } from "vitest";
import type { LoadPlan } from "../src/plan.ts";
import { assertGrant, type Evidence, settleTrust, type TrustGrant } from "../src/trust.ts";
import type { StoredTrust, TrustRecord } from "../src/trust-store.ts";
import { planOf, project, verdicts } from "./loading.ts";

const FILES = { ".pi/extensions/a.ts": "a", ".pi/settings.json": "{}", ".pi/prompts/p.md": "p", "AGENTS.md": "c" };
const EXTENSION = "extension:.pi/extensions/a.ts";
const SETTINGS = "settings:.pi/settings.json";
const PROMPT = "prompt:.pi/prompts/p.md";
const CONTEXT = "context-file:AGENTS.md";

async function settle(evidence: Evidence): Promise<TrustGrant> {
  return settleTrust(await planOf(await project({ files: FILES })), evidence);
}

function loads({ digests }: TrustGrant): string[] {
  return [...digests.keys()];
}

const ALL = [SETTINGS, EXTENSION, PROMPT, CONTEXT];
const TEXTS = [PROMPT, CONTEXT];
const NONE = [CONTEXT];
const denial: StoredTrust = { denial: "/agent/trust.json", approvals: [], notes: [] };
const folder = { bound: "folder", decision: "trusted", resources: {} } as unknown as TrustRecord;
const approval: StoredTrust = { approvals: [folder], notes: [] };
const yes = () => ({ trusted: "yes", isRemembered: false }) as const;
const no = () => ({ trusted: "no", isRemembered: false }) as const;

test.each<[string, Evidence, string[], string]>([
  ["nothing is undecided, which is no", {}, NONE, "nobody"],
  ["--approve beats a stored no", { approve: true, stored: () => denial, vote: no }, ALL, "flag"],
  [
    "--no-approve beats everything",
    { approve: false, stored: () => approval, vote: yes, ask: () => "content" },
    NONE,
    "flag",
  ],
  ["embedding code speaks like a flag", { answer: "text", stored: () => denial }, TEXTS, "code"],
  ["a stored no beats an extension's yes", { stored: () => denial, vote: yes, defaultTrust: "always" }, NONE, "record"],
  ["an extension's no beats a stored yes", { stored: () => approval, vote: no }, NONE, "extension"],
  ["an extension's yes decides", { vote: yes, defaultTrust: "never" }, ALL, "extension"],
  ["a stored yes beats defaultProjectTrust", { stored: () => approval, defaultTrust: "never" }, ALL, "record"],
  ["defaultProjectTrust always asks nobody", { defaultTrust: "always", ask: () => "never" }, ALL, "setting"],
  ["defaultProjectTrust never asks nobody", { defaultTrust: "never", ask: () => "content" }, NONE, "setting"],
  ["the person is asked last", { vote: () => undefined, defaultTrust: "ask", ask: () => "content" }, ALL, "prompt"],
])("%s", async (_claim, evidence, expected, decidedBy) => {
  const grant = await settle(evidence);
  expect(loads(grant)).toEqual(expected);
  expect(grant.decidedBy).toBe(decidedBy);
});

test.each([
  ["content", ALL],
  ["folder", ALL],
  ["text", TEXTS],
  ["not-now", NONE],
  ["never", NONE],
  ["yes", NONE],
  [true, NONE],
  [{ trusted: 1 }, NONE],
  [undefined, NONE],
  ["__proto__", NONE],
])("T4: the answer %j lets load what it says, and anything inexact is no", async (answer, expected) => {
  expect(loads(await settle({ ask: () => answer }))).toEqual(expected);
});

test("a question that fails is no, and is reported", async () => {
  const faults: unknown[] = [];
  const ask = () => Promise.reject(new Error("the terminal is gone"));
  expect(loads(await settle({ ask, onFault: (fault) => faults.push(fault) }))).toEqual(NONE);
  expect(faults).toHaveLength(1);
});

test("what is unchanged since it was approved loads without a question; the question is about the rest", async () => {
  const at = await project({ files: FILES });
  const before = await planOf(at);
  const resources = Object.fromEntries(before.items.map(({ id, kind, digest }) => [id, { kind, digest, members: {} }]));
  const approvals = [{ ...folder, bound: "content" as const, resources }];
  await at.write(".pi/extensions/a.ts", "changed");
  await at.write(".pi/extensions/new.ts", "new");
  const asked: LoadPlan[] = [];
  const grant = await settleTrust(await planOf(at), {
    stored: () => ({ approvals, notes: [] }),
    ask: (plan) => {
      asked.push(plan);
      return "not-now";
    },
  });
  expect(asked[0]?.items.filter(({ verdict }) => verdict === "held").map(({ id }) => id)).toEqual([
    EXTENSION,
    "extension:.pi/extensions/new.ts",
  ]);
  expect(loads(grant)).toEqual([SETTINGS, PROMPT, CONTEXT]);
  expect(grant.decision).toBe("partial");
});

test("texts that were approved load, and the code beside them is not asked about again", async () => {
  const at = await project({ files: FILES });
  const plan = await planOf(at);
  const resources = Object.fromEntries(plan.items.map(({ id, kind, digest }) => [id, { kind, digest, members: {} }]));
  const approvals = [{ ...folder, bound: "content" as const, decision: "text" as const, resources }];
  const ask = () => {
    throw new Error("asked");
  };
  const grant = await settleTrust(plan, { stored: () => ({ approvals, notes: [] }), ask });
  expect(loads(grant)).toEqual(TEXTS);
  expect(grant.decision).toBe("text");
});

test("where there is nothing to decide nobody is asked, and nothing is granted beyond what loads anyway", async () => {
  const plan = await planOf(await project({ files: { "AGENTS.md": "" } }));
  const fail = () => {
    throw new Error("asked");
  };
  const grant = await settleTrust(plan, { stored: fail, vote: fail, ask: fail, defaultTrust: "always" });
  expect(grant.decision).toBe("untrusted");
  expect(loads(grant)).toEqual([CONTEXT]);
});

test("what is refused stays refused, whoever says yes", async () => {
  const at = await project({ files: { ".pi/package.json": "", ".pi/extensions/x/package.json": "{" } });
  const grant = await settleTrust(await planOf(at), { approve: true });
  expect(loads(grant)).toEqual([]);
  expect(verdicts(grant.plan)).toEqual({
    "extension:.pi/extensions/x": "refused: has a package.json that is no valid JSON object",
  });
});

test("a grant is made by settleTrust, for one project, and by nothing else", async () => {
  const grant = await settle({ approve: true });
  expect(() => assertGrant(grant, grant.key)).not.toThrow();
  const noGrant = expect.objectContaining({ code: "no_grant" });
  expect(() => assertGrant(grant, "/another/project")).toThrow(noGrant);
  expect(() => assertGrant({ ...grant }, grant.key)).toThrow(noGrant);
  expect(() => assertGrant(structuredClone({ ...grant }), grant.key)).toThrow(noGrant);
  // @ts-expect-error: an object of the same shape is no grant.
  const forged: TrustGrant = {
    key: "/p",
    decision: "trusted",
    decidedBy: "flag",
    plan: grant.plan,
    digests: new Map(),
    isFolderBound: true,
    decidedAt: "",
  };
  expect(() => assertGrant(forged, "/p")).toThrow(noGrant);
  expect(Object.isFrozen(grant)).toBe(true);
});
