/** A program that embeds the loader: loads an agent for each message, asks it, and answers what it was told. */
import type { SdkReply, SdkRequest } from "./sdk.ts";

/** As much of the loader's interface as is used here. */
interface Loader {
  load: (options: object) => Promise<{
    agent: {
      setModel(model: unknown): Promise<unknown>;
      dispatch(hook: string, event: object): Promise<unknown>;
      input(text: string): Promise<unknown>;
      settled(): Promise<unknown>;
    };
    host: { models: { resolve(name: string): { model: unknown } } };
    report: { heldLine(): string | undefined; problems: readonly Error[] };
    dispose: () => Promise<unknown>;
  }>;
}

process.on("message", (request: SdkRequest) => {
  embed(request).then(
    (reply) => process.send?.(reply),
    (thrown: unknown) => process.send?.({ told: String(thrown), asked: false, code: 1 } satisfies SdkReply),
  );
});

async function embed({ options, hasMode, ...start }: SdkRequest): Promise<SdkReply> {
  const { load } = (await import(options.loader)) as Loader;
  const official = await Promise.all(
    options.packages.map(async (name) => {
      const { default: extension } = (await import(name)) as { default: unknown };
      return { owner: { name, scope: "official" }, extension };
    }),
  );
  let asked = false;
  const told: string[] = [];
  const notify = (text: string) => void told.push(text);
  const askTrust = () => {
    asked = true;
  };
  const mode = { name: "embedded", hasUI: true, ui: { ...NOBODY, notify }, askTrust };
  const { agent, host, report, dispose } = await load({
    cwd: start.cwd,
    env: { HOME: start.home, ...start.env },
    official,
    ...(hasMode && { mode }),
    ...(start.approve && { flags: { approve: true } }),
  });
  try {
    told.push(report.heldLine() ?? "", ...report.problems.map(({ message }) => message));
    await agent.setModel(host.models.resolve(start.model).model);
    await agent.dispatch("session_start", { reason: "startup" });
    for (const prompt of start.prompts) {
      await agent.input(prompt);
      await agent.settled();
    }
    return { told: told.join("\n"), asked, code: 0 };
  } catch (thrown) {
    return { told: `${told.join("\n")}\n${String(thrown)}`, asked, code: 1 };
  } finally {
    await dispose();
  }
}

const nothing = async () => undefined;
const NOBODY = {
  select: nothing,
  confirm: async () => false,
  input: nothing,
  editor: nothing,
  custom: nothing,
  setStatus: () => {},
  setWidget: () => {},
  setTitle: () => {},
};
