import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createAgent, type Extension } from "@pi-agent/kernel";
import { recordEvents } from "@pi-agent/testing";
import { expect, onTestFinished, test } from "vitest";
import plainText from "../src/index.ts";

type Answer = (response: ServerResponse, request: IncomingMessage & { body: string }) => void;

/** An agent whose model is a server on loopback that answers as told. */
async function agentAt(answer: Answer, more: Extension[] = []) {
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => {
      body += chunk;
    });
    request.on("end", () => answer(response, Object.assign(request, { body })));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const credentials = { names: () => [], resolve: async () => ({ apiKey: "test-key", baseUrl }) };
  const agent = createAgent({
    extensions: [plainText, ...more],
    systemPrompt: "Be brief.",
    model: "plain-text/plain",
    host: { credentials },
  });
  onTestFinished(async () => {
    await agent.dispose();
    server.closeAllConnections();
    server.close();
  });
  return agent;
}

test("the conversation goes out as JSON, and the answer comes in piece by piece", async () => {
  const seen: { body: unknown; key?: string }[] = [];
  const agent = await agentAt((response, { body, headers }) => {
    seen.push({ body: JSON.parse(body), key: headers.authorization });
    response.write("It is ");
    // A character whose bytes come apart.
    const euro = Buffer.from("4 €.");
    response.write(euro.subarray(0, 3), () => response.end(euro.subarray(3)));
  });
  const deltas: string[] = [];
  agent.on("message_update", ({ assistantMessageEvent: event }) => {
    if (event.type === "text_delta") deltas.push(event.delta);
  });
  const { answer, outcome } = await agent.run("What does it cost?");
  expect({ answer, outcome }).toEqual({ answer: "It is 4 €.", outcome: "done" });
  expect(deltas.join("")).toBe("It is 4 €.");
  const messages = [{ role: "user", text: "What does it cost?" }];
  expect(seen).toEqual([{ key: "Bearer test-key", body: { system: expect.stringContaining("Be brief."), messages } }]);
});

test("hooks see and change payload and headers, and hear of the response and what it brings", async () => {
  const told: unknown[] = [];
  const meddler: Extension = (pi) => {
    pi.on("before_provider_request", ({ payload }) => ({ ...(payload as object), extra: 1 }));
    pi.on(
      "before_provider_headers",
      ({ headers }) => void Object.assign(headers, { authorization: null, "x-own": "2" }),
    );
    pi.on("after_provider_response", ({ status }) => void told.push(status));
    pi.on("provider_stream_event", ({ data }) => void told.push(data));
  };
  const agent = await agentAt(
    (response, { body, headers }) => {
      response.end(`${JSON.parse(body).extra} ${String(headers["x-own"])} ${headers.authorization}`);
    },
    [meddler],
  );
  expect((await agent.run("Go.")).answer).toBe("1 2 undefined");
  expect(told).toEqual([200, "1 2 undefined"]);
});

test.for([
  [401, "auth"],
  [429, "rate_limit"],
  [500, "unknown"],
] as const)("status %i is a failure of kind %s with the server's words", async ([status, kind]) => {
  const agent = await agentAt((response) => response.writeHead(status).end("not like this"));
  const { messages, outcome } = await agent.run("Go.");
  expect(outcome).toBe("error");
  expect(messages.at(-1)).toMatchObject({
    failure: { kind, status },
    errorMessage: "plain-text: not like this",
  });
});

test("a connection that breaks is a failure of kind network, and what came is kept", async () => {
  const agent = await agentAt((response) => response.write("Half an ", () => response.destroy()));
  const { messages, outcome } = await agent.run("Go.");
  expect(outcome).toBe("error");
  expect(messages.at(-1)).toMatchObject({ failure: { kind: "network" }, content: [{ text: "Half an " }] });
});

test("an abort reaches the request, and what came is kept", async () => {
  let isClosed: Promise<unknown> | undefined;
  const agent = await agentAt((response) => {
    isClosed = new Promise((resolve) => response.once("close", resolve));
    response.write("For ever and ");
  });
  const events = recordEvents(agent);
  agent.on("message_update", ({ assistantMessageEvent: { type } }) => {
    if (type === "text_delta") void agent.abort();
  });
  const { messages, outcome } = await agent.run("Go.");
  await isClosed;
  expect(outcome).toBe("aborted");
  expect(messages.at(-1)).toMatchObject({ stopReason: "aborted", content: [{ text: "For ever and " }] });
  expect(JSON.stringify(events)).not.toContain("extension_error");
});

test("without a key the variable to set is named", async () => {
  const agent = createAgent({ extensions: [plainText] });
  await expect(agent.run("Go.")).rejects.toMatchObject({ code: "no_key", message: /PLAIN_TEXT_API_KEY/ });
  await agent.dispose();
});
