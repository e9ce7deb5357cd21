import { expect, test } from "vitest";
import { scopeOf } from "../../src/packages/context.ts";
import { declare, readDeclared } from "../../src/packages/declared.ts";
import { parseSource } from "../../src/packages/source.ts";
import { packageHome } from "./home.ts";

const SPELLINGS = [
  ".pi/ext/foo.ts",
  "./a",
  "../a",
  "~/a",
  "/a b",
  "./x.tgz",
  "git:host.corp/org/repo",
  "git@host:org/repo.git@feat/x",
  "https://h/o/r.git@v1",
  "ssh://git@h:22/o/other",
  "https://h/o/r#v1::path:inner",
  "https://h/o/ranged#semver:^1",
  "npm:@s/p@^1",
  "npm:plain",
  "@s/other",
  "github:o/r#b",
];

test("F025: every spelling is the same package after it was saved to a settings file and read again, from any folder", async () => {
  const at = await packageHome();
  const scope = scopeOf(at.context, "user");
  const cwd = `${at.home}/some/where`;
  const typed = SPELLINGS.map((text) => parseSource(text, { folder: cwd, home: at.home }));
  for (const source of typed) await declare(at.context, scope, { source, key: "packages" });
  const read = () => readDeclared(at.context, scope).declared;
  expect(read().map(({ source }) => source)).toEqual(
    // A path is written anew, relative to the file.
    typed.map((source) => ("written" in source ? { ...source, written: expect.any(String) } : source)),
  );
  const before = await at.settings();
  for (const { source } of read()) await declare(at.context, scope, { source, key: "packages" });
  expect(await at.settings()).toEqual(before);
});

test("F025, P12: of two spellings of one package there is one entry, whichever file and key it was in", async () => {
  const at = await packageHome();
  const scope = scopeOf(at.context, "user");
  const base = { folder: at.home, home: at.home };
  for (const text of [
    "https://h.example/o/r",
    "git:h.example/o/r@v1",
    "ssh://git@h.example/o/r.git",
    "git@h.example:o/r",
  ]) {
    for (const key of ["packages", "piAgent.packages"] as const) {
      await declare(at.context, scope, { source: parseSource(text, base), key });
      expect(readDeclared(at.context, scope).declared).toMatchObject([
        { key, source: { repository: "h.example/o/r" } },
      ]);
    }
  }
});
