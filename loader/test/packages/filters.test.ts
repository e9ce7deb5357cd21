import fc from "fast-check";
import { expect, test } from "vitest";
import type { PackageContents } from "../../src/packages/contents.ts";
import { type Filters, isDisabled, select, turn } from "../../src/packages/filters.ts";

const CONTENTS: PackageContents = {
  extensions: [{ path: "extensions/a.ts" }, { path: "extensions/b.ts" }, { path: "lib/c.ts" }],
  skills: [{ path: "skills/one/SKILL.md" }],
  prompts: [],
  themes: [],
  refused: [],
};

const TABLE: [filters: Filters, on: string[]][] = [
  [{}, ["extensions/a.ts", "extensions/b.ts", "lib/c.ts", "skills/one/SKILL.md"]],
  [{ extensions: [] }, ["skills/one/SKILL.md"]],
  [{ extensions: ["extensions/*.ts"] }, ["extensions/a.ts", "extensions/b.ts", "skills/one/SKILL.md"]],
  [{ extensions: ["a.ts"] }, ["extensions/a.ts", "skills/one/SKILL.md"]],
  [{ extensions: ["!extensions/*"] }, ["lib/c.ts", "skills/one/SKILL.md"]],
  [{ extensions: ["!extensions/*", "+extensions/b.ts"] }, ["extensions/b.ts", "lib/c.ts", "skills/one/SKILL.md"]],
  [{ extensions: ["-extensions/a.ts"] }, ["extensions/b.ts", "lib/c.ts", "skills/one/SKILL.md"]],
  [{ extensions: ["+extensions/a.ts", "-extensions/a.ts"] }, ["extensions/b.ts", "lib/c.ts", "skills/one/SKILL.md"]],
  [{ skills: ["!one"] }, ["extensions/a.ts", "extensions/b.ts", "lib/c.ts"]],
  [{ autoload: false }, []],
  [{ autoload: false, extensions: ["extensions/*", "-extensions/a.ts"] }, ["extensions/b.ts"]],
  [{ autoload: false, skills: ["+skills/one"] }, ["skills/one/SKILL.md"]],
];

test.each(TABLE)("filters %j leave on what Pi's do", (filters, on) => {
  expect(listOn(filters)).toEqual(on);
});

test("a project's filters with autoload: false are a change to what the person has on", () => {
  const own = select(CONTENTS, { extensions: ["lib/*"] });
  const selected = select(CONTENTS, { autoload: false, extensions: ["+extensions/a.ts", "-lib/c.ts"] }, own);
  expect(selected.extensions.filter(({ isOn }) => isOn)).toEqual([{ path: "extensions/a.ts", isOn: true }]);
  expect(selected.skills).toEqual(own.skills);
});

test("a package is disabled when it has resources and none is on", () => {
  expect(isDisabled(select(CONTENTS, { autoload: false }))).toBe(true);
  expect(isDisabled(select(CONTENTS, { extensions: [] }))).toBe(false);
  expect(isDisabled(select({ ...CONTENTS, extensions: [], skills: [] }, {}))).toBe(false);
});

test("P6: turning one resource on or off changes that one, whatever the filters were", () => {
  const pattern = fc.constantFrom("extensions/*", "!b.ts", "+lib/c.ts", "-extensions/a.ts", "a.ts", "!**", "lib/c.ts");
  const filters = fc.record({
    extensions: fc.option(fc.array(pattern, { maxLength: 4 }), { nil: undefined }),
    autoload: fc.constantFrom(undefined, false),
  });
  const path = fc.constantFrom(...CONTENTS.extensions.map((each) => each.path));
  fc.assert(
    fc.property(filters, path, fc.boolean(), (before, turned, on) => {
      const after = turn(CONTENTS, before, { list: "extensions", path: turned, on });
      const expected = new Set(listOn(before));
      if (on) expected.add(turned);
      else expected.delete(turned);
      expect(new Set(listOn(after))).toEqual(expected);
    }),
    { numRuns: 1000 },
  );
});

function listOn(filters: Filters): string[] {
  const { extensions, skills } = select(CONTENTS, filters);
  return [...extensions, ...skills].filter(({ isOn }) => isOn).map(({ path }) => path);
}
