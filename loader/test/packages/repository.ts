import { execFileSync } from "node:child_process";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { temporaryFolder } from "./folders.ts";

/** A repository on this machine. */
export interface Repository {
  folder: string;
  url: string;
  git(...args: string[]): string;
  /** Writes files, commits everything, and answers the commit. */
  commit(files: Record<string, string>): Promise<string>;
}

/** Makes an empty repository, gone when the test has finished. */
export async function repository(): Promise<Repository> {
  const folder = join(await temporaryFolder(), "owner", "repo.git");
  await mkdir(folder, { recursive: true });
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main", ...args], {
      cwd: folder,
      encoding: "utf8",
      env: { PATH: process.env.PATH, HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" },
    });
  git("init", "-q");
  return {
    folder,
    url: `file://${folder}`,
    git,
    async commit(files) {
      for (const [path, content] of Object.entries(files)) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), content);
      }
      await chmod(folder, 0o755);
      git("add", "-A");
      git("commit", "-q", "--allow-empty", "-m", "c");
      return git("rev-parse", "HEAD").trim();
    },
  };
}
