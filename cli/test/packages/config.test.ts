import { expect, test, vi } from "vitest";
import { EXTENSION, openBench } from "./bench.ts";

vi.setConfig({ testTimeout: 60_000 });

test("P6: pi config turns single resources on and off by words, and writes filters", async () => {
  const { pi, put, settings } = await openBench();
  await put("pkg/extensions/one.ts", EXTENSION["extensions/one.ts"]);
  await put("pkg/skills/review/SKILL.md", "---\nname: review\ndescription: Reviews.\n---\nLook.\n");
  await pi("install", "./pkg", "--yes");
  expect(await pi("config", "off", "./pkg", "skills/review")).toMatchObject({
    code: 0,
    stdout: "Off: skills/review/SKILL.md of pkg\n",
  });
  expect(await settings()).toMatchObject({ packages: [{ skills: ["-skills/review/SKILL.md"] }] });
  expect((await pi("config", "list")).stdout).toBe("pkg\n  on   extensions/one.ts\n  off  skills/review/SKILL.md\n");
  const [listed] = JSON.parse((await pi("config", "list", "--json")).stdout);
  expect(listed).toMatchObject({ name: "pkg", resources: [{ isOn: true }, { list: "skills", isOn: false }] });
  expect((await pi("list")).stdout).toContain("1 extension, 0 of 1 skills");
  await pi("config", "on", "pkg", "skills/review/SKILL.md");
  expect((await settings()).packages).toEqual([expect.any(String)]);
  const unknown = await pi("config", "on", "pkg", "skills/reveiw/SKILL.md");
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("did you mean skills/review/SKILL.md?") });
  expect(await pi("config", "on", "pgk", "x")).toMatchObject({ code: 1, stderr: expect.stringContaining("mean pkg?") });
  expect(await pi("config")).toMatchObject({ code: 2, stderr: expect.stringContaining("pi config list, on and off") });
});
