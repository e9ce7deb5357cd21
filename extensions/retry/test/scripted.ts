import type { Agent, AssistantMessage, Extension, Failure, ProviderRequest, StreamEvent } from "@pi-agent/kernel";
import { SCRIPTED_MODEL } from "@pi-agent/testing";
import { assistantMessage } from "@pi-agent/testing/provider";

export function say(text: string): AssistantMessage {
  return assistantMessage(SCRIPTED_MODEL, [{ type: "text", text }]);
}

export function call(name: string): AssistantMessage {
  return assistantMessage(SCRIPTED_MODEL, [{ type: "toolCall", id: "call_1", name, arguments: {} }], {
    stopReason: "toolUse",
  });
}

/** An answer that failed, with what had arrived of it. */
export function fails(failure: Failure | undefined, content: AssistantMessage["content"] = []): AssistantMessage {
  const errorMessage = `It failed with ${failure?.kind ?? "nothing said"}.`;
  return assistantMessage(SCRIPTED_MODEL, content, { stopReason: "error", errorMessage, ...(failure && { failure }) });
}

/** A provider that plays these answers, and then says "Done."; the requests are those that reached it. */
export function playing(...answers: AssistantMessage[]): Extension & { requests: ProviderRequest[] } {
  const requests: ProviderRequest[] = [];
  const extension: Extension = (pi) => {
    pi.register("api", "scripted", {
      async *stream(request) {
        requests.push({ ...request, messages: [...request.messages] });
        const message = structuredClone(answers.shift() ?? say("Done."));
        yield [{ type: "start", partial: message }];
        const end: StreamEvent =
          message.stopReason === "error"
            ? { type: "error", reason: "error", error: message }
            : { type: "done", reason: message.stopReason as "stop", message };
        yield [end];
      },
    });
    pi.registerProvider({ id: "scripted", api: "scripted", models: [SCRIPTED_MODEL], env: [] });
  };
  return Object.assign(extension, { requests });
}

export async function prompt(agent: Agent, text = "Go."): Promise<void> {
  await agent.input(text);
  await agent.settled();
}
