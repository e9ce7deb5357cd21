import { mkdir, realpath, symlink } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { formatSource, parseSource } from "../../src/packages/source.ts";
import { temporaryFolder } from "./folders.ts";

const BASE = { folder: "/home/me/project", home: "/home/me" };
const parse = (text: string) => parseSource(text, BASE);

const TABLE: [text: string, identity: string, saved: string][] = [
  [".pi/ext/foo.ts", "local:/home/me/project/.pi/ext/foo.ts", "./.pi/ext/foo.ts"],
  ["./a", "local:/home/me/project/a", "./a"],
  ["../a", "local:/home/me/a", "../a"],
  [".", "local:/home/me/project", "."],
  ["~/a", "local:/home/me/a", "~/a"],
  ["/a b", "local:/a b", "/a b"],
  ["file:///a%20b", "local:/a b", "/a b"],
  ["./x.tgz", "tarball:/home/me/project/x.tgz", "./x.tgz"],
  ["git:host.corp/org/repo", "git:host.corp/org/repo", "https://host.corp/org/repo"],
  ["git:localhost:8080/org/repo@v1", "git:localhost:8080/org/repo", "https://localhost:8080/org/repo@v1"],
  ["git@host:org/repo.git@feat/x", "git:host/org/repo", "git:git@host:org/repo.git@feat/x"],
  ["git:git@host:org/repo", "git:host/org/repo", "git:git@host:org/repo"],
  ["https://h/o/r.git@v1", "git:h/o/r", "https://h/o/r.git@v1"],
  ["https://H.example:443/o/r#v1", "git:h.example/o/r", "https://H.example:443/o/r@v1"],
  ["git+https://h/o/r", "git:h/o/r", "https://h/o/r"],
  ["ssh://git@h:22/o/r", "git:h/o/r", "ssh://git@h:22/o/r"],
  ["ssh://git@h:2222/o/r.git@main", "git:h:2222/o/r", "ssh://git@h:2222/o/r.git@main"],
  ["https://h/o/r#semver:^1.0", "git:h/o/r", "https://h/o/r#semver:^1.0"],
  ["https://h/o/r#v1::path:packages/a", "git:h/o/r::packages/a", "https://h/o/r#v1::path:packages/a"],
  ["https://h/o/r#path:b", "git:h/o/r::b", "https://h/o/r#path:b"],
  ["file:///tmp/a@b/r.git@v1", "git:file:///tmp/a@b/r", "git:file:///tmp/a@b/r.git@v1"],
  ["github:o/r#b", "git:github.com/o/r", "https://github.com/o/r@b"],
  ["npm:@s/p@^1", "npm:@s/p", "npm:@s/p@^1"],
  ["npm:@s/p", "npm:@s/p", "npm:@s/p"],
  ["@s/p", "npm:@s/p", "npm:@s/p"],
  ["@s/p@next", "npm:@s/p", "npm:@s/p@next"],
  ["npm:p@v1.2.3", "npm:p", "npm:p@1.2.3"],
];

test.each(TABLE)("F025: %s has one meaning, the same after it was saved and read again", (text, identity, saved) => {
  const source = parse(text);
  expect(source.identity).toBe(identity);
  expect(formatSource(source, BASE.folder)).toBe(saved);
  const again = parse(saved);
  expect(again.identity).toBe(identity);
  expect(formatSource(again, BASE.folder)).toBe(saved);
});

test("F025: a path is written relative to the settings file, wherever it was typed", () => {
  expect(formatSource(parse("./ext"), "/home/me/project/.pi")).toBe("../ext");
  expect(formatSource(parse("../x.tgz"), "/home/me/.pi/agent")).toBe("../../x.tgz");
});

test.each([
  ["o/r", "git:github.com/o/r"],
  ["name", "npm:name"],
  ["a/b/c", "./a/b/c"],
])("F025: %s may mean several things, is refused, and the hint says how to write each", (text, hinted) => {
  expect(() => parse(text)).toThrow(
    expect.objectContaining({ code: "package_source", hint: expect.stringContaining(hinted) }),
  );
});

test.each([
  "",
  "-x",
  "npm:-x",
  "git:-x.example/o/r",
  "https://h/o/r@-x",
  "https://h/o/r@--upload-pack=x",
  "git@-oProxyCommand=x:o/r",
  "ssh://-oProxyCommand=x/o/r",
  "ssh://-x@h/o/r",
  "npm:a\u0000b",
  "npm:a\u202eb",
  "https://h/o/r\nx",
  "npm:.",
  "npm:..",
  "npm:@s/..",
  "npm:../evil",
  "npm:@s/p/q",
  "npm:con",
  "npm:Upper",
  "npm:a@",
  "npm:a@file:../x",
  "npm:a@https://evil/x.tgz",
  "npm:a@npm:b",
  "https://h/../r",
  "https://h/o/%2e%2e",
  "https://h/o/..%2fr",
  "https://h/o/r?x=1",
  "https://h/o",
  "https://h/o/r#path:../x",
  "https://h/o/r@a..b",
  "http://h/o/r",
  "git://h/o/r",
  "ext::sh -c touch% x",
  "ftp://h/o/r",
  "https://h/o/x.tgz",
  "file://host/x",
])("P10: %j is refused as a source", (text) => {
  expect(() => parse(text)).toThrow(expect.objectContaining({ code: "package_source" }));
});

test.skipIf(process.platform === "win32")("F025: a path of Windows is none here", () => {
  expect(() => parse("C:\\x")).toThrow(/path of Windows/);
});

test.each(["https://me:s3cret@h/o/r", "https://t0ken@h/o/r", "ssh://me:s3cret@h/o/r"])(
  "P10: credentials in %s are refused and never printed",
  (text) => {
    const thrown = catchError(() => parse(text));
    expect(thrown).toMatchObject({ code: "package_source" });
    expect(JSON.stringify([thrown.message, thrown.hint])).not.toMatch(/s3cret|t0ken/);
  },
);

test("P12: one folder is one package by every spelling, also through a link", async () => {
  const root = await realpath(await temporaryFolder());
  await mkdir(join(root, "pkg"));
  await symlink(join(root, "pkg"), join(root, "link"));
  const identities = ["./pkg", "./pkg/", "./x/../pkg", join(root, "pkg"), "./link"].map(
    (text) => parseSource(text, { folder: root, home: "/nowhere" }).identity,
  );
  expect(new Set(identities)).toEqual(new Set([`local:${root}/pkg`]));
});

test("P10: whatever a source is, it is refused with its code or means the same when it is read again", () => {
  const pieces = fc.constantFrom(
    "npm:",
    "git:",
    "@",
    "/",
    "a",
    "b.c",
    "#",
    "::",
    "semver:",
    "path:",
    "..",
    "-",
    "1.0.0",
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(pieces, fc.string({ maxLength: 3 })), { maxLength: 8 }), (parts) => {
      const source = tryParse(parts.join(""));
      if (source === undefined) return;
      const saved = formatSource(source, BASE.folder);
      expect(parse(saved).identity).toBe(source.identity);
      expect(formatSource(parse(saved), BASE.folder)).toBe(saved);
    }),
    { numRuns: 500 },
  );
});

function tryParse(text: string) {
  try {
    return parse(text);
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: "package_source", hint: expect.any(String) });
    return undefined;
  }
}

function catchError(run: () => unknown): Error & { hint?: string } {
  try {
    run();
  } catch (thrown) {
    return thrown as Error;
  }
  throw new Error("nothing was thrown");
}
