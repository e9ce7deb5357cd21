import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { providerRequest, TEST_KEY } from "@pi-agent/testing/provider";
import { expect, onTestFinished, test } from "vitest";
import { sendOnce } from "../src/index.ts";

/** A server that counts what it gets and answers all with one status. */
async function serve(status: number, location?: string) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(String(request.headers["x-api-key"]));
    response.writeHead(status, location ? { location } : {}).end("moved");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

test.each([301, 302, 307, 308])(
  "a redirect with status %i to another host fails, and the key stays here",
  async (status) => {
    const other = await serve(200);
    const named = await serve(status, `http://${other.host}/v1`);
    const heads: number[] = [];
    const request = providerRequest({ fetch, onResponse: async (head) => void heads.push(head.status) });
    const init = { method: "POST", headers: { "x-api-key": TEST_KEY }, body: "{}" };
    const error: unknown = await sendOnce(request, `http://${named.host}/v1`, init).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ failure: { kind: "invalid_request", status } });
    const { message } = error as Error;
    for (const part of [named.host, other.host, "Set the base URL"]) expect(message).toContain(part);
    expect({ named: named.seen, other: other.seen, heads }).toEqual({ named: [TEST_KEY], other: [], heads: [status] });
  },
);

test("a redirect that names no place fails too", async () => {
  const { host } = await serve(307);
  const sent = sendOnce(providerRequest({ fetch }), `http://${host}/`, { method: "POST", body: "{}" });
  await expect(sent).rejects.toMatchObject({ failure: { kind: "invalid_request" } });
});
