/**
 * Server-sent events of a body, whatever the borders of its network chunks.
 *
 *   bytes ── one TextDecoder ──► text ── indexOf ──► lines ── fields ──► events
 *
 * Only new text is ever scanned: an unfinished line waits as a rope and is joined once, when its end arrives.
 */
import { failureError } from "./failure.ts";

/** `event` is `unframed` for text outside the format, such as an error page under a success status. */
export interface ServerSentEvent {
  event: string;
  data: string;
}

/** Characters of one event, or of the text outside the format. An event with an image in it is about 10 million. */
const MAX_EVENT_CHARS = 64_000_000;
const LF = 10;
const SPACE = 32;

/**
 * Reads events, in one array per network chunk that completes at least one. The last event is given even when the
 * blank line after it is missing. Fails with the signal's reason once it has fired, and with a `malformed_response`
 * failure for an event without end. Cancels the body when left early.
 */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<ServerSentEvent[]> {
  const source = openEvents(body, signal);
  try {
    for (let events = await source.next(); events; events = await source.next()) yield events;
  } finally {
    source.close();
  }
}

export interface EventReader {
  /** The events of the next chunk that completes any; `undefined` at the end. */
  next(): Promise<ServerSentEvent[] | undefined>;
  /** The body ended within an event, which was given as far as it had come. */
  readonly isCut: boolean;
  /** Cancels the body, if it goes on. */
  close(): void;
}

/**
 * As `readServerSentEvents`, without a generator's cost per chunk: the caller has to close it. `onBytes` is called for
 * every network chunk, one with comments only too.
 */
export function openEvents(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  onBytes: () => void = () => {},
): EventReader {
  const reader = body.getReader();
  const parser = createParser();
  let isDone = false;
  // A body that has already failed says so again here; read() has told it.
  const cancel = () => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener("abort", cancel, { once: true });
  return {
    async next() {
      while (!isDone) {
        signal.throwIfAborted();
        const { done, value } = await reader.read();
        signal.throwIfAborted();
        onBytes();
        isDone = done;
        const events = done ? parser.end() : parser.push(value);
        if (events.length > 0) return events;
      }
      return undefined;
    },
    get isCut() {
      return parser.isCut();
    },
    close() {
      signal.removeEventListener("abort", cancel);
      if (!isDone) cancel();
    },
  };
}

function createParser() {
  const decoder = new TextDecoder();
  let events: ServerSentEvent[] = [];
  let event = "";
  let data = "";
  let hasData = false;
  let unframed = "";
  /** The start of a line whose end has not arrived. */
  let rest = "";
  /** The last chunk ended with CR: an LF at the start of the next one belongs to it. */
  let afterCr = false;
  let isCut = false;

  function takeLine(line: string) {
    if (line === "") {
      if (hasData) events.push({ event: event === "" ? "message" : event, data });
      event = data = "";
      hasData = false;
    } else if (line.startsWith("data:")) {
      const value = fieldValue(line, 5);
      data = hasData ? `${data}\n${value}` : value;
      hasData = true;
    } else if (line.startsWith("event:")) event = fieldValue(line, 6);
    else if (line === "data") {
      data = hasData ? `${data}\n` : "";
      hasData = true;
    } else if (!isOtherField(line)) unframed += `${line}\n`;
    if (data.length > MAX_EVENT_CHARS || unframed.length > MAX_EVENT_CHARS) throw tooLong();
  }

  function scan(text: string) {
    let from = afterCr && text.charCodeAt(0) === LF ? 1 : 0;
    if (text !== "") afterCr = false;
    let lf = text.indexOf("\n", from);
    let cr = text.indexOf("\r", from);
    while (lf >= 0 || cr >= 0) {
      const end = cr >= 0 && (lf < 0 || cr < lf) ? cr : lf;
      takeLine(rest + text.slice(from, end));
      rest = "";
      from = end + 1;
      if (end === cr) {
        if (lf === from) from++;
        afterCr = from === text.length && end === from - 1;
        cr = text.indexOf("\r", from);
      }
      if (lf >= 0 && lf < from) lf = text.indexOf("\n", from);
    }
    rest += text.slice(from);
    if (rest.length > MAX_EVENT_CHARS) throw tooLong();
  }

  function takeEvents(): ServerSentEvent[] {
    const taken = events;
    events = [];
    return taken;
  }

  return {
    push(bytes: Uint8Array): ServerSentEvent[] {
      scan(decoder.decode(bytes, { stream: true }));
      return takeEvents();
    },
    isCut: () => isCut,
    end(): ServerSentEvent[] {
      isCut = hasData || rest !== "";
      scan(`${decoder.decode()}\n\n`);
      if (unframed.trim() !== "") events.push({ event: "unframed", data: unframed });
      return takeEvents();
    },
  };
}

function fieldValue(line: string, from: number): string {
  return line.slice(line.charCodeAt(from) === SPACE ? from + 1 : from);
}

const FIELDS = ["data:", "event:", "id:", "retry:"];

/** A comment, a field that is of no use here, or the start of a field that a cut has left. */
function isOtherField(line: string): boolean {
  const colon = line.indexOf(":");
  return colon === 0 || FIELDS.some((name) => name.startsWith(colon < 0 ? line : line.slice(0, colon + 1)));
}

function tooLong(): Error {
  return failureError({ kind: "malformed_response" }, `one event is longer than ${MAX_EVENT_CHARS} characters`);
}
