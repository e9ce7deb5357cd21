import type { IncomingMessage, ServerResponse } from "node:http";
import { text as readText } from "node:stream/consumers";
import { anthropicFormat } from "./anthropic/anthropic-format.ts";
import { chatFormat } from "./chat/chat-format.ts";
import { type Chunking, chunkEvents, waitUnlessLeft, writeChunks } from "./delivery.ts";
import { describeFailure } from "./failures.ts";
import { type Format, findRefusal, type Refusal, type WireRequest } from "./format.ts";
import { geminiFormat } from "./gemini/gemini-format.ts";
import { isObject, isWellFormed } from "./json-values.ts";
import type { NeutralRequest } from "./neutral-request.ts";
import { createRecord, type RecordedRequest, type RequestRecord } from "./recorded-request.ts";
import { responsesFormat } from "./responses/responses-format.ts";
import { prepareTurn, type ScriptedFailure, type Turn } from "./turn.ts";

/** Every format, each with its table of rules. */
export const FORMATS: readonly Format[] = [anthropicFormat, chatFormat, responsesFormat, geminiFormat];

interface Context {
  nextTurn(request: NeutralRequest): Turn | undefined | Promise<Turn>;
  chunking: Chunking;
  server: WireRequest["server"];
  record(request: RecordedRequest): void;
}

interface Exchange extends Context {
  format: Format;
  request: WireRequest;
  response: ServerResponse;
  entry: RequestRecord;
}

/**
 *   request ─► path ─► rules ─► neutral view ─► turn ─► status, or events in chunks ─► ending
 *                └ 404   └ refused                └ the script has ended: refused
 */
export async function answerRequest(
  message: IncomingMessage,
  response: ServerResponse,
  context: Context,
): Promise<void> {
  const url = new URL(message.url ?? "/", "http://127.0.0.1");
  const body = parseBody(await readText(message));
  const format = FORMATS.find((each) => each.match(url.pathname) !== undefined);
  const entry = createRecord({
    format: format?.name,
    method: message.method ?? "",
    path: url.pathname + url.search,
    headers: message.headers,
    body: body.value,
  });
  response.once("close", () => entry.end(response.writableFinished ? "complete" : "left"));
  if (!format || message.method !== "POST") {
    entry.request.refusal = { rule: "path-unknown", message: `Nothing at ${message.method} ${url.pathname}` };
    context.record(entry.request);
    endWithJson(response, 404, { error: { message: "Not found" } });
    entry.end("refused");
    return;
  }
  const pathModel = format.match(url.pathname) ?? "";
  const bodyModel = isObject(body.value) && typeof body.value.model === "string" ? body.value.model : "";
  const request: WireRequest = {
    model: pathModel || bodyModel,
    body: body.value,
    bodyFault: body.fault,
    headers: message.headers,
    query: url.searchParams,
    apiKey: format.readKey(message.headers, url.searchParams),
    server: context.server,
  };
  await judgeAndAnswer({ ...context, format, request, response, entry });
}

async function judgeAndAnswer(exchange: Exchange): Promise<void> {
  const { format, request, entry } = exchange;
  const found = findRefusal(format.rules, request);
  if (found) {
    entry.request.refusal = { rule: found.rule, message: found.refusal.message };
    exchange.record(entry.request);
    refuse(exchange, found.refusal);
    return;
  }
  const neutral = format.read(request);
  entry.request.neutral = neutral;
  exchange.record(entry.request);
  const turn = await exchange.nextTurn(neutral);
  if (!turn) {
    const message = "The script has no turn left for this request.";
    entry.request.refusal = { rule: "script-ended", message };
    refuse(exchange, { message });
    return;
  }
  if (turn.delayMs !== undefined) await waitUnlessLeft(exchange.response, turn.delayMs);
  if (exchange.response.destroyed) return;
  if (typeof turn.fail === "object") answerFailure(exchange, turn.fail);
  else await streamTurn(exchange, turn, JSON.stringify(request.body).length);
}

function refuse({ format, response, entry }: Exchange, refusal: Refusal): void {
  const status = refusal.status ?? 400;
  endWithJson(response, status, format.errorBody({ ...refusal, status }));
  entry.end("refused");
}

function answerFailure({ format, response, entry }: Exchange, failure: ScriptedFailure): void {
  const { status, headers = {}, body } = failure;
  const said = body ?? format.errorBody(describeFailure(format.name, status));
  endWithJson(response, status, said, headers);
  entry.end("failed");
}

async function streamTurn(exchange: Exchange, turn: Turn, inputCharacters: number): Promise<void> {
  const { format, request, response, entry, chunking } = exchange;
  const events = format.encode(prepareTurn(turn, inputCharacters), request);
  response.writeHead(200, format.streamHeaders());
  response.flushHeaders();
  if (turn.hangAfter !== undefined) {
    await writeChunks(response, chunkEvents(events.slice(0, turn.hangAfter), chunking));
    entry.hang();
    return;
  }
  if (turn.fail === undefined) {
    await writeChunks(response, chunkEvents(events, chunking));
    response.end();
    return;
  }
  const sent = events.slice(0, Math.ceil(events.length / 2));
  if (turn.fail === "error-event") sent.push(...format.errorEvents());
  await writeChunks(response, chunkEvents(sent, chunking));
  if (turn.fail !== "cut") response.end();
  else response.socket?.resetAndDestroy();
  entry.end(turn.fail === "cut" ? "cut" : "failed");
}

function endWithJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  const isText = typeof body === "string";
  response.writeHead(status, { "content-type": isText ? "text/html" : "application/json", ...headers });
  response.end(isText ? body : JSON.stringify(body));
}

function parseBody(text: string): { value: unknown; fault?: WireRequest["bodyFault"] } {
  try {
    const value: unknown = JSON.parse(text);
    return isWellFormed(value) ? { value } : { value, fault: "lone-surrogate" };
  } catch {
    return { value: text, fault: "not-json" };
  }
}
