import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { endTree, findLeft, findTree, listFromPs, MARK_VARIABLE } from "../src/process-tree.ts";

/** Starts a shell script in a session of its own; answers when it said so many lines. */
async function start(script: string, lines = 1) {
  const mark = crypto.randomUUID();
  const child = spawn("sh", ["-c", script], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, [MARK_VARIABLE]: `outer,${mark}` },
  });
  let said = "";
  while (said.split("\n").length <= lines) said += String((await once(child.stdout, "data"))[0]);
  return { root: { pid: child.pid!, mark }, child };
}

test("F076 a tree is its group, what left the group, and the children of both", async () => {
  const own = "(echo; exec sleep 60) &";
  const apart = "setsid sh -c '(echo; exec env -i sleep 60) & echo; exec sleep 60' &";
  const { root } = await start(`${own} ${apart} wait`, 3);
  expect(findTree(root)).toHaveLength(4);
  expect(await endTree(root, 1_000)).toEqual([]);
  expect(findTree(root)).toEqual([]);
});

test("F077 what ignores SIGTERM, or is stopped, gets SIGKILL after the grace", async () => {
  const { root, child } = await start("trap '' TERM; echo ready; while :; do kill -STOP $$; done");
  const gone = once(child, "exit");
  expect(await endTree(root, 50)).toEqual([]);
  expect(await gone).toEqual([null, "SIGKILL"]);
});

test("a group whose number is another's by now is left alone", async () => {
  const { root } = await start("echo ready; sleep 60");
  expect(findLeft({ pid: root.pid, mark: "another command" })).toEqual([]);
  expect(findLeft(root).length).toBeGreaterThan(0);
  await endTree(root, 1_000);
});

test("ps tells the same where there is no /proc", () => {
  const own = listFromPs().find(({ pid }) => pid === process.pid);
  expect(own).toMatchObject({ parent: process.ppid, isDead: false });
});
