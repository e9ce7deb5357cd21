export interface ErrorBody {
  /** What a person should read. */
  text: string;
  /** All that tells the kind: message, type, code, status, details. */
  words: string;
  retryAfterMs?: number;
}

const MAX_TEXT_CHARS = 1_000;

/** Reads an error answer of any service: JSON of the usual shapes, an HTML page, plain text. */
export function readErrorBody(body: unknown): ErrorBody {
  const value = typeof body === "string" ? parse(body) : body;
  if (value === undefined || value === null) return { text: "", words: "" };
  if (typeof value === "string") return fromText(value.trim());
  const text = cutText(findMessage(value) ?? JSON.stringify(value));
  const words = JSON.stringify(value);
  return { text, words, retryAfterMs: findRetryDelay(words) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function fromText(text: string): ErrorBody {
  if (!/^<(?:!doctype|html|\?xml|head|body)/i.test(text)) return { text: cutText(text), words: text };
  const title = /<title[^>]*>([^<]*)/i.exec(text)?.[1]?.trim().replace(/\s+/g, " ");
  const summary = title ? `an HTML page: ${cutText(title)}` : "an HTML page";
  return { text: summary, words: title ?? "" };
}

/** Shapes: {error:{message}} · {error:"…"} · {message} · {detail} · {errors:[…]} · [ … ] · the same, nested. */
function findMessage(value: unknown): string | undefined {
  if (typeof value === "string") return value.trim() === "" ? undefined : value;
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) return findMessage(value[0]);
  const body: Record<string, unknown> = { ...value };
  const message = findMessage(body.message);
  const raw = findRaw(body.metadata);
  if (message !== undefined) return raw === undefined ? message : `${message}: ${raw}`;
  for (const key of ["error", "errors", "detail", "msg", "title", "code", "type"]) {
    const found = findMessage(body[key]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What a router tells of its upstream's answer, beside a message of its own that says nothing. */
function findRaw(metadata: unknown): string | undefined {
  if (typeof metadata !== "object" || metadata === null || !("raw" in metadata)) return undefined;
  return typeof metadata.raw === "string" ? findMessage(parse(metadata.raw)) : undefined;
}

/** Google's RetryInfo: `"retryDelay":"34.07s"`. */
function findRetryDelay(words: string): number | undefined {
  const seconds = /"retryDelay":\s*"(\d+(?:\.\d+)?)s"/.exec(words)?.[1];
  return seconds === undefined ? undefined : Math.round(Number(seconds) * 1_000);
}

function cutText(text: string): string {
  return text.length > MAX_TEXT_CHARS ? `${text.slice(0, MAX_TEXT_CHARS)}…` : text;
}
