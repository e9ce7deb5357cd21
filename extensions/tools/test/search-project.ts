import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempFolder } from "./tool-call.ts";

/** Makes a project with ignore rules, hidden files, links and odd names; every file holds the word `needle`. */
export function searchProject(): string {
  const cwd = tempFolder();
  const files = {
    ".gitignore": "dist/\n.env\n*.log\n!keep.log\n",
    ".env": "needle=1\n",
    ".git/config": "needle\n",
    ".github/ci.yml": "needle\n",
    "dist/a.js": "needle\n",
    "logs/drop.log": "needle\n",
    "logs/keep.log": "needle\n",
    "src/main.ts": "one\nneedle two\nthree\nNeedle four\nfive\n",
    "src/deep/[x].ts": "needle\n",
    "app/(auth)/page.tsx": "needle\n",
    "--pre": "needle\n",
    "a\nb": "needle\n",
  };
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(cwd, path, ".."), { recursive: true });
    writeFileSync(join(cwd, path), content);
  }
  symlinkSync("nowhere", join(cwd, "broken"));
  symlinkSync("..", join(cwd, "src/loop"));
  return cwd;
}

/** Makes a folder that only root can read. */
export function shutFolder(cwd: string): void {
  mkdirSync(join(cwd, "shut"));
  writeFileSync(join(cwd, "shut/file"), "needle\n");
  chmodSync(join(cwd, "shut"), 0);
}
