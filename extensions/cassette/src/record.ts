import { appendFile, readFile, writeFile } from "node:fs/promises";
import type { AssistantMessage, ProviderRequest, StreamEvent } from "@pi-agent/kernel";
import { type Header, parseCassette } from "./cassette-file.ts";
import type { Batch, Take } from "./take.ts";

/** Writes answers to a cassette as they are given. */
export interface Recorder {
  /** Hands the stream on as it is; the answer is in the file before its last event is out. */
  record(
    request: ProviderRequest,
    stream: AsyncIterable<readonly StreamEvent[]>,
  ): AsyncGenerator<readonly StreamEvent[]>;
}

export interface RecorderOptions {
  path: string;
  /** Takes keys out of a text. */
  mask: (text: string, request: ProviderRequest) => string;
  /** Hears once that the file cannot be written; the run goes on. */
  onFailure: (cause: Error) => void;
}

const HEADER: Header = { type: "cassette", version: 1 };

/** Makes a recorder that adds to the cassette at `path`, or makes it. Failed answers are kept too, aborted ones not. */
export function createRecorder({ path, mask, onFailure }: RecorderOptions): Recorder {
  let writing: Promise<void> | undefined;
  let hasFailed = false;
  const write = async (line: string) => {
    writing = (writing ?? startCassette(path)).then(() => appendFile(path, `${line}\n`));
    await writing.catch((cause: Error) => {
      if (!hasFailed) onFailure(cause);
      hasFailed = true;
    });
  };
  return {
    async *record(request, stream) {
      const batches: Batch[] = [];
      for await (const events of stream) {
        batches.push(events.flatMap(toMark));
        // Before the last event goes out: nobody asks for more after it.
        const take = takeOf(request, { last: events.at(-1), batches });
        if (take) await write(toLine(take, (text) => mask(text, request)));
        yield events;
      }
    },
  };
}

function toMark(event: StreamEvent): Batch {
  if (!("contentIndex" in event)) return [];
  if (event.type.endsWith("_start")) return [[event.contentIndex, 0]];
  return [
    event.type.endsWith("_end") || !("delta" in event)
      ? [event.contentIndex]
      : [event.contentIndex, event.delta.length],
  ];
}

function takeOf(
  request: ProviderRequest,
  { last, batches }: { last: StreamEvent | undefined; batches: Batch[] },
): Take | undefined {
  if (last?.type === "done") return makeTake(request, { message: last.message, stopReason: last.reason, batches });
  if (last?.type !== "error" || last.reason === "aborted") return undefined;
  return makeTake(request, { message: last.error, stopReason: last.reason, batches });
}

function makeTake(
  request: ProviderRequest,
  { message, stopReason, batches }: { message: AssistantMessage } & Pick<Take, "stopReason" | "batches">,
): Take {
  const { cost: _cost, totalTokens: _total, ...usage } = message.usage;
  return {
    model: `${request.model.provider}/${request.model.id}`,
    purpose: request.purpose,
    turns: request.messages.filter(({ role }) => role === "assistant").length,
    content: message.content.map(withoutSignature),
    stopReason,
    rawStopReason: message.rawStopReason,
    failure: message.failure,
    errorMessage: message.errorMessage,
    usage,
    batches,
  };
}

/** Signatures mean something to the model that made them only, and it is never asked again. */
function withoutSignature(block: Take["content"][number]): Take["content"][number] {
  if (block.type === "text") return { type: "text", text: block.text };
  if (block.type === "toolCall") {
    const { thoughtSignature: _signature, ...call } = block;
    return call;
  }
  const { thinkingSignature: _signature, ...thinking } = block;
  return thinking;
}

function toLine(take: Take, mask: (text: string) => string): string {
  return JSON.stringify(take, (_key, value: unknown) => (typeof value === "string" ? mask(value) : value));
}

/** Makes the file, or sees that it is a cassette whose last line is whole. */
async function startCassette(path: string): Promise<void> {
  const text = await readFile(path, "utf8").catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return "";
    throw cause;
  });
  if (text === "") return writeFile(path, `${JSON.stringify(HEADER)}\n`, { mode: 0o600 });
  parseCassette(text);
  if (!text.endsWith("\n")) await appendFile(path, "\n");
}
