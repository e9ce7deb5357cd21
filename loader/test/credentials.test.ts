import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentError } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { open, provider } from "./agent-files.ts";

const official = [
  provider("acme", ["a-1"], { env: ["ACME_KEY", "ACME_TOKEN"] }),
  provider("free", ["f-1"], { env: [] }),
];
const stored = (key: string, more = {}) => ({ acme: { type: "api_key", key, ...more } });
const custom = (more: object) => ({ providers: { acme: more } });

test("the environment's variables are asked in the provider's order", async () => {
  await using both = await open(official, { env: { ACME_TOKEN: "second", ACME_KEY: "first" } });
  await using one = await open(official, { env: { ACME_TOKEN: "second", ACME_KEY: "" } });
  expect(await both.credentials.resolve("acme")).toEqual({ apiKey: "first" });
  expect(await one.credentials.resolve("acme")).toEqual({ apiKey: "second" });
});

test("--api-key stands over auth.json, auth.json over models.json, models.json over the environment", async () => {
  const env = { ACME_KEY: "from-env" };
  const models = custom({ apiKey: "from-models" });
  await using all = await open(official, { env, files: { "auth.json": stored("from-auth"), "models.json": models } });
  await using noAuth = await open(official, { env, files: { "models.json": models } });
  expect(await noAuth.credentials.resolve("acme")).toEqual({ apiKey: "from-models" });
  expect(await all.credentials.resolve("acme")).toEqual({ apiKey: "from-auth" });
  all.credentials.useApiKey("acme", "given $KEY");
  expect(await all.credentials.resolve("acme")).toEqual({ apiKey: "given $KEY" });
});

test("a key may be taken from a variable, of auth.json's own env or the process's", async () => {
  const files = { "auth.json": stored("${MINE}-$SHARED", { env: { MINE: "m" } }) };
  await using opened = await open(official, { files, env: { SHARED: "s", MINE: "process" } });
  expect(await opened.credentials.resolve("acme")).toEqual({ apiKey: "m-s" });
});

test("a command of auth.json runs once in a process, one of models.json at each request", async () => {
  const count = (file: string) => `!echo x >> ${file}; wc -l < ${file} | tr -d ' '`;
  await using auth = await open(official, { files: { "auth.json": stored(count("auth-runs")) } });
  await using models = await open(official, { files: { "models.json": custom({ apiKey: count("models-runs") }) } });
  for (const expected of ["1", "1"]) expect(await auth.credentials.resolve("acme")).toEqual({ apiKey: expected });
  for (const expected of ["1", "2"]) expect(await models.credentials.resolve("acme")).toEqual({ apiKey: expected });
  expect(await readFile(join(auth.agentDir, "auth-runs"), "utf8")).toBe("x\n");
});

test("a stored command that failed is tried again", async () => {
  await using opened = await open(official, { files: { "auth.json": stored("!cat unlocked") } });
  await expect(opened.credentials.resolve("acme")).rejects.toMatchObject({ code: "no_key" });
  await writeFile(join(opened.agentDir, "unlocked"), "now");
  expect(await opened.credentials.resolve("acme")).toEqual({ apiKey: "now" });
});

test("a login that another process stored meanwhile counts, and a file that broke leaves the last one", async () => {
  await using opened = await open(official);
  const path = join(opened.agentDir, "auth.json");
  expect(opened.credentials.has("acme")).toBe(false);
  await writeFile(path, JSON.stringify(stored("new")), { mode: 0o600 });
  expect(opened.credentials.has("acme")).toBe(true);
  await writeFile(path, "{");
  expect(await opened.credentials.resolve("acme")).toEqual({ apiKey: "new" });
  expect(opened.credentials.problems).toMatchObject([{ path, line: 1 }]);
});

test("an auth.json that others may read is told, with the command that mends it", async () => {
  await using opened = await open(official, { files: { "auth.json": stored("k") } });
  const path = join(opened.agentDir, "auth.json");
  await chmod(path, 0o640);
  expect(opened.credentials.problems).toMatchObject([{ path, hint: `Run: chmod 600 ${path}` }]);
  await chmod(path, 0o600);
  expect(opened.credentials.problems).toEqual([]);
});

test("an entry of another shape is told with its line, and the others work", async () => {
  const files = { "auth.json": '{\n  "other": "sk-plain",\n  "acme": { "type": "api_key", "key": "k" }\n}' };
  await using opened = await open(official, { files });
  await chmod(join(opened.agentDir, "auth.json"), 0o600);
  expect(opened.credentials.problems).toMatchObject([{ line: 2, message: expect.stringContaining("other") }]);
  expect(JSON.stringify(opened.credentials.problems)).not.toContain("sk-plain");
  expect(await opened.credentials.resolve("acme")).toEqual({ apiKey: "k" });
});

test("without a key the error names every place looked at, what to do, and how to go on without one", async () => {
  await using opened = await open(official, { env: { OTHER_KEY: "sk-other-0123456789abcdef" } });
  const error: unknown = await opened.credentials.resolve("acme").catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "no_key" });
  const { message, hint } = error as AgentError;
  const text = `${message} ${hint}`;
  for (const place of ["ACME_KEY", "ACME_TOKEN", "auth.json", "models.json", "--api-key", "pi demo"]) {
    expect(text).toContain(place);
  }
  expect(text).not.toContain("sk-other");
});

test("a login of another kind is named, since it cannot be used", async () => {
  await using opened = await open(official, { files: { "auth.json": { acme: { type: "oauth", access: "secret" } } } });
  expect(opened.credentials.has("acme")).toBe(false);
  await expect(opened.credentials.resolve("acme")).rejects.toThrow(/its oauth login there cannot be used/);
});

test.each([
  ["auth.json", stored("$GONE")],
  ["models.json", custom({ apiKey: "$GONE" })],
  ["models.json", custom({ apiKey: "!exit 4" })],
  ["models.json", custom({ apiKey: "k", headers: { "x-team": "$GONE" } })],
])("a value in %s that cannot be had is an error, not the next place's turn", async (file, content) => {
  await using opened = await open(official, { files: { [file]: content }, env: { ACME_KEY: "other" } });
  await expect(opened.credentials.resolve("acme")).rejects.toMatchObject({
    code: "no_key",
    message: expect.stringMatching(
      /(auth|models)\.json has for .*acme cannot be had: (\$GONE is not set|its command ended with 4)/,
    ),
  });
});

test("a provider's headers are filled in per request, with the key as a bearer token where asked", async () => {
  const acme = { apiKey: "k", authHeader: true, headers: { "x-team": "$TEAM", "x-run": "!echo 7" } };
  await using opened = await open(official, { files: { "models.json": custom(acme) }, env: { TEAM: "blue" } });
  expect(await opened.credentials.resolve("acme")).toEqual({
    apiKey: "k",
    headers: { "x-team": "blue", "x-run": "7", Authorization: "Bearer k" },
  });
});

test("a provider that names no variable needs no key", async () => {
  const models = { providers: { local: { baseUrl: "http://127.0.0.1:1", api: "acme-api", models: [{ id: "m" }] } } };
  await using opened = await open(official, { files: { "models.json": models } });
  for (const id of ["free", "local"]) {
    expect(await opened.credentials.resolve(id)).toEqual({});
    expect([opened.credentials.has(id), opened.credentials.hasKey(id)]).toEqual([true, false]);
  }
});

test("what can be told without running a command is told by has", async () => {
  await using opened = await open(official, { files: { "auth.json": stored("!touch ran") } });
  expect(opened.credentials.has("acme")).toBe(true);
  expect(opened.credentials.has("unheard-of")).toBe(false);
  await expect(readFile(join(opened.agentDir, "ran"))).rejects.toThrow("ENOENT");
});

test("names are all variables that may hold a secret: of providers, of models.json, of auth.json", async () => {
  const files = {
    "auth.json": stored("$FROM_AUTH", { env: { OWN: "x" } }),
    "models.json": { providers: { mine: { apiKey: "${FROM_MODELS}", headers: { a: "b-$FROM_HEADER" } } } },
  };
  await using opened = await open(official, { files });
  expect(opened.credentials.names().toSorted()).toEqual(
    ["ACME_KEY", "ACME_TOKEN", "FROM_AUTH", "OWN", "FROM_MODELS", "FROM_HEADER"].toSorted(),
  );
});

test("T4: a provider that the project defined gets no key, whatever it asks for", async () => {
  const evil = provider("evil", ["e-1"], {
    env: ["ACME_KEY"],
    owner: { scope: "project", path: "/p/.pi/extensions/evil.ts" },
  });
  const env = { ACME_KEY: "sk-secret-0123456789abcdef" };
  await using opened = await open([...official, evil], {
    env,
    files: { "auth.json": { evil: { type: "api_key", key: "k" } } },
  });
  opened.credentials.useApiKey("evil", "given");
  expect([opened.credentials.has("evil"), opened.credentials.hasKey("evil")]).toEqual([false, false]);
  await expect(opened.credentials.resolve("evil")).rejects.toMatchObject({
    code: "no_key",
    message: expect.stringContaining("the project defined it (/p/.pi/extensions/evil.ts)"),
  });
  expect(await opened.credentials.resolve("acme")).toEqual({ apiKey: env.ACME_KEY });
});

test("T4: a wire format that the project defined turns off the keys of every provider that speaks it", async () => {
  const evil = provider("evil", [], { owner: { scope: "project" }, env: [] });
  const models = {
    providers: { mine: { baseUrl: "https://mine", api: "evil-api", apiKey: "k", models: [{ id: "m" }] } },
  };
  await using opened = await open([...official, evil], { files: { "models.json": models } });
  await expect(opened.credentials.resolve("mine")).rejects.toThrow(/its wire format evil-api/);
  expect(opened.credentials.has("mine")).toBe(false);
  expect(await opened.credentials.resolve("evil")).toEqual({});
});

test("T4: a project's provider never stands in for one of the person's models.json", async () => {
  const evil = provider("mine", ["e-1"], { owner: { scope: "project" }, baseUrl: "https://evil" });
  const models = {
    providers: { mine: { baseUrl: "https://mine", api: "acme-api", apiKey: "k", models: [{ id: "m" }] } },
  };
  await using opened = await open([...official, evil], { files: { "models.json": models } });
  expect(await opened.credentials.resolve("mine")).toEqual({ apiKey: "k" });
  const mine = opened.models.list().filter((each) => each.provider === "mine");
  expect(mine).toMatchObject([{ id: "m", baseUrl: "https://mine", api: "acme-api" }]);
});

test("T4, F028: a model that sends its provider's key elsewhere does not get it, whoever put it together", async () => {
  await using opened = await open([provider("acme", ["a-1"], { baseUrl: "https://acme/v1" })], {
    env: { ACME_KEY: "sk-secret-0123456789abcdef" },
    files: { "models.json": { providers: { acme: { models: [{ id: "near", baseUrl: "https://near" }] } } } },
  });
  const { credentials } = opened;
  const [known] = opened.models.list();
  for (const baseUrl of ["https://evil", "https://acme/v1/evil", "https://acme/v1@evil", "HTTPS://ACME.evil/v1", ""]) {
    await expect(credentials.resolve("acme", { ...known!, baseUrl }), baseUrl).rejects.toMatchObject({
      code: "no_key",
      message: `No key is given to acme, because the model a-1 sends it to ${baseUrl}, where that provider is not.`,
    });
  }
  for (const baseUrl of ["https://acme/v1", "https://acme/v1/", "https://near"]) {
    expect((await credentials.resolve("acme", { ...known!, baseUrl })).apiKey, baseUrl).toBeDefined();
  }
  expect(await credentials.resolve("acme", { ...known!, baseUrl: undefined })).toMatchObject({
    baseUrl: "https://acme/v1",
  });
});

test("T4, F028: a model that speaks a project's wire format gets no key, also where the provider is the person's", async () => {
  const evil = provider("evil", [], { owner: { scope: "project", path: "/p/evil.ts" }, env: [] });
  const env = { ACME_KEY: "sk-secret-0123456789abcdef" };
  await using opened = await open([...official, evil], { env });
  const model = opened.models.list().find((each) => each.provider === "acme")!;
  await expect(opened.credentials.resolve("acme", { ...model, api: "evil-api" })).rejects.toThrow(
    /wire format evil-api/,
  );
  expect(await opened.credentials.resolve("acme", model)).toEqual({ apiKey: env.ACME_KEY });
  await using other = await open([...official, evil], {
    env,
    files: { "models.json": { providers: { acme: { models: [{ id: "odd", api: "evil-api" }] } } } },
  });
  expect(other.credentials.hasKey("acme")).toBe(false);
});
