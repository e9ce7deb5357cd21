import { expect, test } from "vitest";
import { replyCut, replyHang, replyJson, replyStream, serveReplies } from "../../src/provider.ts";

test("requests get the replies in their order and are kept as they came", async () => {
  await using server = await serveReplies(replyStream("a", Buffer.from("b")), replyJson(503, { busy: true }));
  const first = await fetch(`${server.url}/v1?x=1`, { method: "POST", body: '{"p":"é"}', headers: { "x-one": "1" } });
  expect([first.status, await first.text()]).toEqual([200, "ab"]);
  const second = await fetch(server.url);
  expect([second.status, await second.json()]).toEqual([503, { busy: true }]);
  expect(server.seen).toMatchObject([
    { method: "POST", url: "/v1?x=1", headers: { "x-one": "1" }, body: { p: "é" } },
    { method: "GET", url: "/", body: {} },
  ]);
});

test("a request too many is refused, and seen", async () => {
  await using server = await serveReplies();
  expect((await fetch(server.url)).status).toBe(400);
  expect(server.seen).toHaveLength(1);
});

test("what a reply throws fails the test that closes the server", async () => {
  const server = await serveReplies(() => {
    throw new Error("not what I expected");
  });
  await expect(fetch(server.url)).rejects.toThrow();
  await expect(server.close()).rejects.toThrow("not what I expected");
});

test("a cut reply arrives, and then its connection breaks", async () => {
  await using server = await serveReplies(replyCut("a", "b"));
  const reader = (await fetch(server.url)).body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const readAll = async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += value;
    }
  };
  await expect(readAll()).rejects.toThrow("terminated");
  expect(text).toBe("ab");
});

test("a hanging reply keeps its connection until the server closes, and then nothing listens", async () => {
  const server = await serveReplies(replyHang("a"));
  const reader = (await fetch(server.url)).body!.getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toBe("a");
  const rest = reader.read();
  await Promise.all([expect(rest).rejects.toThrow("terminated"), server.close()]);
  await expect(fetch(server.url)).rejects.toThrow();
});
