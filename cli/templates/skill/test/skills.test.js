import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const SKILLS = new URL("../skills/", import.meta.url);

for (const folder of readdirSync(SKILLS)) {
  const file = new URL(`${folder}/SKILL.md`, SKILLS);
  const [, head = "", body = ""] = /^---\n([^]*?)\n---\n([^]*)$/.exec(readFileSync(file, "utf8")) ?? [];
  const fields = Object.fromEntries(head.split("\n").map((line) => line.split(/:\s+(.*)/, 2)));

  test(`${folder}: its name is that of its folder, in small letters, digits and dashes`, () => {
    assert.equal(fields.name, folder);
    assert.match(folder, /^[a-z0-9]+(-[a-z0-9]+)*$/);
    assert.ok(folder.length <= 64);
  });

  test(`${folder}: its description says what it does and when to use it, since the model goes by nothing else`, () => {
    assert.ok(fields.description.length >= 20 && fields.description.length <= 1024);
  });

  test(`${folder}: it says something, and the files that it links to are there`, () => {
    assert.notEqual(body.trim(), "");
    for (const [, target] of body.matchAll(/\]\((?!\w+:)([^)#]+)/g)) {
      assert.ok(existsSync(new URL(target, file)), target);
    }
  });
}
