/**
 * One start of a loader in a world of its own, with one attack or several that get along:
 *
 *   planted ─► answered, where somebody was asked ─► changed ─► started ─► judged
 *
 * A way that is live is started first: what would have happened before happens while it runs.
 */
import { mkdirSync } from "node:fs";
import type { Adapter, Outcome, Start, Way } from "./adapter.ts";
import type { Attack, StartChange, TrustKind } from "./attack.ts";
import { type Judged, judge, traceOf } from "./judge.ts";
import { promptCalls } from "./model-server.ts";
import { Site } from "./site.ts";
import { makeWorld, type World } from "./world.ts";

// A start takes half a second; on a machine that is busy it takes a while.
const PATIENCE_MS = 60_000;
// A tool that every agent has, so that what a project does to it is seen.
const PROMPT = promptCalls([{ name: "bash", arguments: { command: "echo clean" } }]);

export interface Cell extends Judged {
  attack: Attack;
  way: Way["id"];
}

interface Planted {
  world: World;
  attacks: readonly Attack[];
  sites: readonly Site[];
  start: Start;
}

/** Starts once with all of `attacks`, and judges each. */
export async function startWith(adapter: Adapter, way: Way, attacks: readonly Attack[]): Promise<Cell[]> {
  const world = await makeWorld(adapter);
  try {
    const planted = prepare(world, attacks);
    const { uncovered, meanwhile } = await layOut(adapter, way, planted);
    const before = world.model.bodies.length;
    const outcome = await startOnce(adapter, way, { ...planted, meanwhile });
    const requests = world.model.bodies.join("\n");
    const turns = world.model.bodies.length - before;
    return attacks.map((attack, at) => {
      const seen = { site: planted.sites[at]!, way: way.id, outcome, uncovered, requests, turns };
      return { attack, way: way.id, ...judge(attack, way, seen) };
    });
  } catch (thrown) {
    const detail = thrown instanceof Error ? thrown.message : String(thrown);
    return attacks.map((attack) => ({ attack, way: way.id, verdict: "failed", detail }));
  } finally {
    await world.close();
  }
}

/** Does what comes before the start; answers what is left to do while it runs. */
async function layOut(
  adapter: Adapter,
  way: Way,
  planted: Planted,
): Promise<{ uncovered: readonly string[]; meanwhile: () => Promise<void> }> {
  const { attacks, sites } = planted;
  const trust = attacks[0]?.trust;
  // Who starts in another place has to find it.
  const movesAway = attacks.some(({ start }, at) => start?.(sites[at]!).cwd !== undefined);
  const isLive = way.isLive === true && !movesAway;
  if (trust !== undefined || !isLive) await plantAll(planted);
  const uncovered = trust === undefined ? [] : await answer(adapter, planted, trust);
  if (!isLive) {
    await changeAll(adapter, planted);
    return { uncovered, meanwhile: async () => {} };
  }
  const meanwhile = async () => {
    if (trust === undefined) await plantAll(planted);
    await changeAll(adapter, planted);
  };
  return { uncovered, meanwhile };
}

async function startOnce(adapter: Adapter, way: Way, planted: Planted & Pick<Start, "meanwhile">): Promise<Outcome> {
  const ending = new AbortController();
  const { beside: besides, ...place } = applyStart(planted);
  const running = besides.map((run) => run(ending.signal));
  try {
    return await adapter.start(way.id, { ...planted.start, ...place, meanwhile: planted.meanwhile });
  } finally {
    ending.abort();
    await Promise.all(running);
  }
}

/** Shows of each attack that it can leave a mark; answers those that did not, with the reason. */
export async function findHarmless(
  adapter: Adapter,
  attacks: readonly Attack[],
): Promise<{ attack: Attack; why: string }[]> {
  const world = await makeWorld(adapter);
  try {
    const planted = prepare(world, attacks);
    await plantAll(planted);
    await changeAll(adapter, planted);
    let said = "nothing was started";
    if (attacks.some(({ control }) => control === "trusted")) {
      const { beside: _beside, ...place } = applyStart(planted);
      const outcome = await adapter.start("print", { ...planted.start, ...place, approve: true });
      said = `${outcome.stdout}\n${outcome.stderr}`.trim().slice(-1_500);
    }
    for (const [at, { control }] of attacks.entries()) {
      if (typeof control === "object" && "naive" in control) await control.naive(planted.sites[at]!);
    }
    const requests = world.model.bodies.join("\n");
    return attacks.flatMap((attack, at) => {
      const isProvable = attack.control === "trusted" || "naive" in attack.control;
      if (!isProvable || traceOf(planted.sites[at]!, requests)) return [];
      return [{ attack, why: attack.control === "trusted" ? said : "the naive way left no mark" }];
    });
  } finally {
    await world.close();
  }
}

function prepare(world: World, attacks: readonly Attack[]): Planted {
  const sites = attacks.map(({ id }) => new Site(world, id));
  const { PATH = "/usr/bin:/bin", LANG = "C.UTF-8" } = process.env;
  const env = { PATH, LANG, TERM: "xterm", API_KEY: world.secret, ANTHROPIC_API_KEY: world.secret, TMPDIR: world.root };
  const start: Start = {
    cwd: world.project,
    home: world.home,
    agentDir: world.agentDir,
    elsewhere: world.elsewhere,
    env,
    provider: { url: world.model.url, apiKey: world.secret },
    prompts: [PROMPT],
    args: [],
    meanwhile: async () => {},
    timeoutMs: PATIENCE_MS,
  };
  return { world, attacks, sites, start };
}

async function plantAll({ attacks, sites }: Planted): Promise<void> {
  for (const [at, attack] of attacks.entries()) await attack.plant(sites[at]!);
}

async function answer(
  adapter: Adapter,
  { attacks, sites, start }: Planted,
  kind: TrustKind,
): Promise<readonly string[]> {
  const cwd = attacks[0]?.answeredAt?.(sites[0]!) ?? start.cwd;
  const isAskedFor = attacks.some(({ isBeyondDigests }) => isBeyondDigests);
  const uncovered = isAskedFor ? await adapter.uncovered?.({ ...start, cwd }) : undefined;
  await adapter.trust({ ...start, cwd }, kind);
  return uncovered ?? [];
}

async function changeAll(adapter: Adapter, { attacks, sites, start }: Planted): Promise<void> {
  const trust = (kind: TrustKind = "content"): Promise<void> => adapter.trust(start, kind);
  const agent = (...calls: Parameters<typeof promptCalls>[0]): Promise<Outcome> =>
    adapter.start("print", { ...start, prompts: [promptCalls(calls)] });
  for (const [at, attack] of attacks.entries()) await attack.change?.(sites[at]!, { trust, agent });
}

type Beside = NonNullable<StartChange["beside"]>;

/** Puts together what the attacks change about the start. */
function applyStart({ attacks, sites, start }: Planted): Partial<Start> & { beside: Beside[] } {
  const changes = attacks.map((attack, at) => attack.start?.(sites[at]!) ?? {});
  const { cwd, home }: StartChange = Object.assign({}, ...changes);
  if (cwd !== undefined) mkdirSync(cwd, { recursive: true });
  return {
    ...(cwd !== undefined && { cwd }),
    ...(home !== undefined && { home }),
    env: Object.assign({}, start.env, ...changes.map(({ env }) => env ?? {})),
    args: changes.flatMap(({ args = [] }) => args),
    prompts: [...start.prompts, ...changes.flatMap(({ prompts = [] }) => prompts)],
    beside: changes.flatMap(({ beside }) => beside ?? []),
  };
}
