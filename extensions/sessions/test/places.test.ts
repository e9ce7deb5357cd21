import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { lacksRightsOfOthers } from "@pi-agent/testing/house";
import { describe, expect, test } from "vitest";
import { readSession } from "../src/read.ts";
import { header, lines, message, tempFolder } from "./support.ts";

const duet = fileURLToPath(new URL("./duet-child.ts", import.meta.url));
const source = (name: string) => JSON.stringify(join(import.meta.dirname, "../src", name));
// Nothing is forbidden to root, so it goes on as nobody.
const AS_NOBODY = process.getuid?.() === 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : ["env"];

/** Runs a program of Node in its own process, started by another one. */
function run(via: readonly string[], args: readonly string[], { cwd, input = "" }: { cwd: string; input?: string }) {
  const [command, ...more] = [...via, process.execPath, "--conditions", "@pi-agent/source", ...args];
  const env = { ...process.env, HOME: cwd, NODE_COMPILE_CACHE: "" };
  return spawnSync(command!, more, { cwd, input, env, encoding: "utf8" });
}

describe("S4 F113 places that cannot be written", () => {
  test("a folder that is read-only from the start: the run goes on, and that is told once", ({ skip }) => {
    const lack = lacksRightsOfOthers(dirname(duet));
    if (lack) skip(lack);
    const cwd = tempFolder();
    chmodSync(cwd, 0o555);
    const told = run(AS_NOBODY, [duet, join(cwd, "s.jsonl")], { cwd, input: "hello\nagain\n" });
    chmodSync(cwd, 0o755);
    expect(told.stdout).toBe("ready\ndone\ndone\n");
    expect(told.stderr.match(/could not be written/g)).toHaveLength(1);
    expect(told.stderr).toContain("EACCES");
    expect(told.stderr).toContain("never written");
  });

  test("a file that may only be read is left as it is", ({ skip }) => {
    const lack = lacksRightsOfOthers(dirname(duet));
    if (lack) skip(lack);
    const cwd = tempFolder();
    const file = join(cwd, "s.jsonl");
    const content = lines(header({ cwd }), message("a", null));
    writeFileSync(file, content, { mode: 0o444 });
    chmodSync(cwd, 0o777);
    const told = run(AS_NOBODY, [duet, file], { cwd, input: "hello\n" });
    expect(told.stdout).toBe("ready\ndone\n");
    expect(told.stderr).toContain("EACCES");
    expect(readFileSync(file, "utf8")).toBe(content);
  });

  test("F104 files and folders that may not be read are left out of a list", ({ skip }) => {
    const lack = lacksRightsOfOthers(dirname(duet));
    if (lack) skip(lack);
    const root = tempFolder();
    chmodSync(root, 0o755);
    for (const name of ["good", "shut"]) {
      mkdirSync(join(root, name), { mode: 0o755 });
      for (const id of ["1", "2"])
        writeFileSync(
          join(root, name, `${id}.jsonl`),
          lines(header({ id: `${name}-${id}`, cwd: "/p" }), message("a", null)),
        );
    }
    chmodSync(join(root, "good", "2.jsonl"), 0o000);
    const program = `
      const { listSessions } = await import(${source("list.ts")});
      const place = { root: ${JSON.stringify(root)}, folder: ${JSON.stringify(join(root, "good"))}, isShared: false };
      console.log(listSessions(place).map(({ id }) => id).sort().join(" "));`;
    const told = run(AS_NOBODY, ["--input-type=module", "-e", program], { cwd: root });
    expect({ stdout: told.stdout, stderr: told.stderr }).toEqual({ stdout: "good-1 shut-1 shut-2\n", stderr: "" });
  });

  test.skipIf(process.platform === "win32")(
    "no descriptor is free: that is told, and all is written when one is",
    () => {
      const cwd = tempFolder();
      const program = `
      import { closeSync, openSync } from "node:fs";
      const { FileStore } = await import(${source("file-store.ts")});
      const { findPlace } = await import(${source("location.ts")});
      const { said, sampleHeader } = await import(${source("conformance.ts")});
      const notices = [];
      const place = findPlace("/project", ${JSON.stringify(cwd)});
      const store = new FileStore({ placeOf: () => place, durability: () => "flush", report: (text) => notices.push(text) });
      const file = ${JSON.stringify(join(cwd, "s.jsonl"))};
      store.remember("s", { file });
      const sink = store.open({ header: sampleHeader("s"), entries: [] });
      const held = [];
      try { for (;;) held.push(openSync("/dev/null")); } catch {}
      sink.append(said({ id: "a", parentId: null }));
      sink.flush();
      const claim = await store.claim("s");
      sink.append(said({ id: "b", parentId: "a" }));
      sink.flush();
      for (const fd of held) closeSync(fd);
      sink.append(said({ id: "c", parentId: "b" }));
      await sink.close();
      await claim.release();
      console.log(JSON.stringify(notices));`;
      const via = ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh"];
      const { stdout, stderr } = run(via, ["--input-type=module", "-e", program], { cwd });
      expect(stderr).toBe("");
      expect(JSON.parse(stdout)).toEqual([expect.stringContaining("EMFILE"), expect.stringContaining("3 entries")]);
      const file = join(cwd, "s.jsonl");
      expect(readSession(file)).toMatchObject({ problems: [], entries: [{ id: "a" }, { id: "b" }, { id: "c" }] });
    },
  );
});
