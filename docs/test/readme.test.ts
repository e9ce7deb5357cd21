import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const blocks = [...read("README.md").matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(([, language, code]) => ({
  language,
  code,
}));

test("the README's code is that of the examples, which check themselves", () => {
  const code = blocks.filter(({ language }) => language === "ts").map((block) => block.code);
  expect(code).toEqual([
    read("docs/examples/hello-extension/src/index.ts"),
    read("docs/examples/custom-agent/src/agent.ts"),
  ]);
});

test("an extension takes at most twenty lines in the README, an agent ten", () => {
  const lines = blocks
    .filter(({ language }) => language === "ts")
    .map(({ code }) => code!.trim().split("\n").filter(Boolean).length);
  expect(lines[0]).toBeLessThanOrEqual(20);
  expect(lines[1]).toBeLessThanOrEqual(10);
});

test("the README's two commands name the pnpm that the project pins, and scripts that exist", () => {
  const { packageManager, scripts } = JSON.parse(read("package.json")) as {
    packageManager: string;
    scripts: Record<string, string>;
  };
  const commands = [...read("README.md").matchAll(/npx -y (pnpm@[\d.]+) (\w+)/g)];
  expect(commands.length).toBeGreaterThanOrEqual(2);
  for (const [, pnpm, script] of commands) {
    expect(pnpm).toBe(packageManager);
    expect(Object.keys(scripts)).toContain(script);
  }
});

test("links in the documentation lead somewhere", () => {
  const pages = [
    "README.md",
    "CONTRIBUTING.md",
    ...globSync("{docs,extensions,kernel,loader,cli,skills}/**/*.md", { cwd: ROOT, exclude: ["**/node_modules/**"] }),
  ];
  const dead = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
      .map(([, target]) => target!)
      .filter((target) => !existsSync(join(ROOT, dirname(page), target)))
      .map((target) => `${page}: ${target}`),
  );
  expect(dead).toEqual([]);
});
