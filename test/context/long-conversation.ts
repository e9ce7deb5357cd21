/** Long conversations, each made anew from its seed: what a person, a model, tools and bad luck may do in a session. */
import type { Image } from "@pi-agent/kernel";
import type { Turn } from "@pi-agent/testing";
import { WIRE_PROVIDERS } from "@pi-agent/testing/wire";
import { PIXEL, prompt, type WireAgent, type WireName } from "./wire-agent.ts";

export type Step =
  /** A prompt, and what the model does with it; `steers` is said while its first tool runs. */
  | { do: "ask"; text: string; image: boolean; turns: Turn[]; steers?: string }
  /** The same, but the last turn never ends, and the person gives up. */
  | { do: "abort"; text: string; turns: Turn[] }
  | { do: "note"; text: string; isShown: boolean }
  | { do: "shell"; isExcluded: boolean }
  /** Goes back to another place of the way here, a part of it from its beginning, and perhaps sums up what it left. */
  | { do: "back"; part: number; sumsUp: boolean }
  | { do: "switch"; wire: WireName };

type Chance = (below: number) => number;

/** A generator that tells the same story for the same seed. */
export function chanceOf(seed: number): Chance {
  let state = seed + 1;
  for (let n = 0; n < 5; n++) state = (state * 48_271) % 2_147_483_647;
  return (below) => (state = (state * 48_271) % 2_147_483_647) % below;
}

const VIEWS = ["the sea", "nothing", "silence", "picture", "broken picture", "é \u{1f600} ".repeat(40), "a", "b", "c"];

function callingTurn(chance: Chance): Turn {
  const count = [1, 1, 1, 2, 3, 5][chance(6)]!;
  return {
    ...(chance(2) === 0 && { thinking: `I think ${chance(1_000)} times.` }),
    ...(chance(3) === 0 && { text: "I look." }),
    calls: Array.from({ length: count }, () => ({ name: "look", arguments: { what: VIEWS[chance(VIEWS.length)]! } })),
  };
}

function lastTurn(chance: Chance): Turn {
  const text = `So it is, ${"well ".repeat(chance(30))}.`;
  const thinking = chance(2) === 0 ? { thinking: "It is clear now." } : {};
  switch (chance(9)) {
    case 0:
      return { ...thinking, text, fail: "cut" };
    case 1:
      return { ...callingTurn(chance), fail: "error-event" };
    case 2:
      return { ...callingTurn(chance), fail: "end" };
    case 3:
      return { fail: { status: 500 } };
    case 4:
      return { ...callingTurn(chance), stop: "length" };
    default:
      return { ...thinking, text };
  }
}

function nextStep(chance: Chance): Step {
  const text = `Question ${chance(1_000)}: ${"why ".repeat(chance(20))}?`;
  const calling = Array.from({ length: chance(4) }, () => callingTurn(chance));
  switch (chance(14)) {
    case 0:
      return { do: "note", text: "A note of an extension.", isShown: chance(2) === 0 };
    case 1:
      return { do: "shell", isExcluded: chance(3) === 0 };
    case 2:
    case 3:
      return { do: "back", part: chance(100) / 100, sumsUp: chance(2) === 0 };
    case 4:
      return { do: "switch", wire: WIRE_PROVIDERS[chance(WIRE_PROVIDERS.length)]! };
    case 5:
    case 6:
      return { do: "abort", text, turns: [...calling, { ...callingTurn(chance), hangAfter: 1 + chance(8) }] };
    default:
      return {
        do: "ask",
        text,
        image: chance(5) === 0,
        turns: [...calling, lastTurn(chance)],
        ...(chance(4) === 0 && { steers: "And hurry." }),
      };
  }
}

export function planConversation(seed: number, steps: number): Step[] {
  const chance = chanceOf(seed);
  return Array.from({ length: steps }, () => nextStep(chance));
}

const IMAGE: Image = { type: "image", data: PIXEL, mimeType: "image/png" };

/** Plays a conversation on an agent; `turns` is what its model does next. */
export async function playConversation(it: WireAgent, turns: Turn[], steps: readonly Step[]): Promise<void> {
  let steers: string | undefined;
  it.agent.on("tool_execution_start", () => {
    if (steers !== undefined) it.agent.steer(steers);
    steers = undefined;
  });
  for (const step of steps) {
    if (step.do === "ask") {
      turns.splice(0, turns.length, ...step.turns);
      steers = step.steers;
      await prompt(it.agent, step.text, step.image ? { images: [IMAGE] } : {});
      steers = undefined;
    } else await playAside(it, turns, step);
  }
  turns.length = 0;
}

async function playAside(it: WireAgent, turns: Turn[], step: Exclude<Step, { do: "ask" }>): Promise<void> {
  const { agent, pi } = it;
  switch (step.do) {
    case "abort":
      return abortRun(it, turns, step);
    case "note":
      return pi.sendMessage({ customType: "note", content: step.text, display: step.isShown });
    case "shell":
      return void agent.append([{ type: "message", message: shellMessage(step.isExcluded) }]);
    case "switch":
      return void (await agent.setModel(it.model(step.wire)));
    case "back": {
      const path = agent.transcript.path();
      const from = agent.transcript.leafId;
      const to = path[Math.floor(step.part * path.length)];
      if (!to || !from) return;
      agent.moveTo(to.id);
      if (step.sumsUp) agent.append([{ type: "branch_summary", fromId: from, summary: "It led nowhere." }]);
    }
  }
}

async function abortRun({ agent, server }: WireAgent, turns: Turn[], step: Step & { do: "abort" }): Promise<void> {
  turns.splice(0, turns.length, ...step.turns);
  const hanging = server.waitForRequest(server.requests.length + step.turns.length - 1);
  await agent.input(step.text);
  await (await hanging).hanging;
  await agent.abort();
}

function shellMessage(excludeFromContext: boolean) {
  return {
    role: "bashExecution" as const,
    command: "ls",
    output: "a\nb\n",
    exitCode: 0,
    cancelled: false,
    truncated: false,
    ...(excludeFromContext && { excludeFromContext }),
    timestamp: 1,
  };
}
