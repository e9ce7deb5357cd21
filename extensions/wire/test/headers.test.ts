import { providerRequest, TEST_MODEL } from "@pi-agent/testing/provider";
import { expect, test } from "vitest";
import { settleHeaders } from "../src/headers.ts";

test("credentials go over the model's headers, these over the provider's, in any spelling of a name", async () => {
  const request = providerRequest({
    model: { ...TEST_MODEL, headers: { "X-One": "model", "x-two": "model" } },
    auth: { headers: { "x-ONE": "credentials" } },
  });
  const settled = await settleHeaders(request, new Headers({ "x-one": "own", "x-two": "own", "x-three": "own" }));
  expect(Object.fromEntries(settled)).toEqual({ "x-one": "credentials", "x-two": "model", "x-three": "own" });
});

test("null removes a header, whoever says it", async () => {
  const request = providerRequest({
    auth: { headers: { "x-api-key": null } },
    onHeaders: async (headers) => ({ ...headers, "user-agent": null, "x-new": "1" }),
  });
  const settled = await settleHeaders(request, new Headers({ "x-api-key": "k", "user-agent": "u" }));
  expect(Object.fromEntries(settled)).toEqual({ "x-new": "1" });
});

test("a header that lists things adds up", async () => {
  const request = providerRequest({ model: { ...TEST_MODEL, headers: { "X-Beta": "two" } } });
  const settled = await settleHeaders(request, new Headers({ "x-beta": "one" }), ["x-beta"]);
  expect(settled.get("x-beta")).toBe("one, two");
});
