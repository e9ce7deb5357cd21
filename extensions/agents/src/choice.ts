/** The model and the thinking level that agents choose. What a person chooses meanwhile stays theirs. */
import type { ExtensionAPI, Model, ThinkingLevel } from "@pi-agent/kernel";

export class Choice {
  private readonly pi: ExtensionAPI;
  /** What was chosen before an agent did; absent when the present one is no agent's choice. */
  private model: { before: Model | undefined } | undefined;
  private level: { before: ThinkingLevel } | undefined;
  private isOurs = false;

  constructor(pi: ExtensionAPI) {
    this.pi = pi;
    pi.on("model_select", ({ previousModel }) => {
      this.model = this.isOurs ? (this.model ?? { before: previousModel }) : undefined;
    });
    pi.on("thinking_level_select", ({ previousLevel }) => {
      this.level = this.isOurs ? (this.level ?? { before: previousLevel }) : undefined;
    });
  }

  /** Takes what an agent chooses; where it does not choose, what was there before agents did. Fails with `no_key`. */
  async take({ model, thinking }: { model?: Model; thinking?: ThinkingLevel }): Promise<void> {
    const before = model ? undefined : this.model;
    const next = model ?? before?.before ?? (before && this.pi.service("models")?.initial()?.model);
    if (next && !(await this.asOurs(() => this.pi.setModel(next))) && model) throw await this.wordNoKey(model);
    if (before) this.model = undefined;
    const level = thinking ?? this.level?.before;
    if (level) await this.asOurs(() => this.pi.setThinkingLevel(level));
    if (!thinking) this.level = undefined;
  }

  private async asOurs<T>(choose: () => T): Promise<Awaited<T>> {
    this.isOurs = true;
    try {
      return await choose();
    } finally {
      this.isOurs = false;
    }
  }

  private async wordNoKey(model: Model): Promise<Error> {
    const { pi } = this;
    try {
      await pi.service("credentials")?.resolve(model.provider, model);
    } catch (thrown) {
      return thrown as Error;
    }
    return pi.error("no_key", `There is no key for ${model.provider}/${model.id}, the model of the agent.`, {
      hint: "Set the key of its provider, or name another model in the agent's file.",
    });
  }
}
