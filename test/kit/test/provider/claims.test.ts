import type { Api, AssistantMessage, Failure, ProviderRequest, StreamEvent } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { assistantMessage, type ProviderUnderTest, providerClaims, TEST_MODEL } from "../../src/provider.ts";

/** What this made-up api may do wrong. */
interface Fault {
  retries?: true;
  forgetsHead?: true;
  hidesReason?: true;
  callsAbortAnError?: true;
  dropsText?: true;
}

/** A service whose answers are plain texts. */
function createApi(fault: Fault): Api {
  return { stream: (request) => streamText(request, fault) };
}

async function* streamText(request: ProviderRequest, fault: Fault): AsyncGenerator<StreamEvent[]> {
  const message = assistantMessage(request.model, []);
  const timeout = request.timeoutMs ? [AbortSignal.timeout(request.timeoutMs)] : [];
  const signal = AbortSignal.any([request.signal, ...timeout]);
  const send = () => request.fetch(request.auth.baseUrl!, { method: "POST", body: "{}", signal });
  try {
    const response = await send();
    if (!fault.forgetsHead) await request.onResponse(response);
    if (!response.ok && fault.retries) await send();
    if (!response.ok) return yield [fail(message, { kind: "overloaded", status: response.status }, "Busy.")];
    yield [{ type: "start", partial: message }];
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      message.content.push({ type: "text", text: piece });
      yield [
        { type: "text_start", contentIndex: 0 },
        { type: "text_delta", contentIndex: 0, delta: piece },
      ];
    }
  } catch (error) {
    if (fault.dropsText) message.content.length = 0;
    const end: StreamEvent[] = message.content.map((block) => ({
      type: "text_end",
      contentIndex: 0,
      content: textOf(block),
    }));
    yield [...end, endOf(message, error as Error, { request, fault })];
  }
}

function endOf(
  message: AssistantMessage,
  error: Error,
  { request, fault }: { request: ProviderRequest; fault: Fault },
) {
  if (request.signal.aborted && !fault.callsAbortAnError) {
    message.stopReason = "aborted";
    return { type: "error", reason: "aborted", error: message } satisfies StreamEvent;
  }
  const kind = error.name === "TimeoutError" ? "timeout" : "network";
  return fail(
    message,
    { kind },
    fault.hidesReason ? "Something went wrong." : ((error.cause as Error | undefined)?.message ?? error.message),
  );
}

function fail(message: AssistantMessage, failure: Failure, errorMessage: string): StreamEvent {
  Object.assign(message, { stopReason: "error", failure, errorMessage });
  return { type: "error", reason: "error", error: message };
}

function textOf(block: AssistantMessage["content"][number]): string {
  return block.type === "text" ? block.text : "";
}

const subject = (fault: Fault): ProviderUnderTest => ({
  api: createApi(fault),
  model: TEST_MODEL,
  overloaded: { status: 503, body: "" },
  half: "Half",
});

test.each(providerClaims(subject({})))("an honest provider passes: %s", (_claim, check) => check());

test.each<[Fault, RegExp]>([
  [{ retries: true }, /not sent again/],
  [{ forgetsHead: true }, /head is told/],
  [{ hidesReason: true }, /says why/],
  [{ callsAbortAnError: true }, /before the head/],
  [{ callsAbortAnError: true }, /in the middle/],
  [{ dropsText: true }, /what had arrived/],
])("a provider with the fault %j fails at %s", async (fault, claim) => {
  const [, check] = providerClaims(subject(fault)).find(([words]) => claim.test(words))!;
  await expect(check()).rejects.toThrow();
});
