import { symlink, truncate } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ProjectView, readRegularFile, SCAN_LIMITS } from "../src/file-view.ts";
import { makePipe, project } from "./loading.ts";

test("T5: links, pipes, sockets, devices and folders are not opened", async () => {
  const at = await project({ files: { "real.txt": "x", "folder/x": "" } });
  const path = (name: string) => join(at.path, name);
  await symlink(path("real.txt"), path("link"));
  await symlink("/dev/zero", path("zero"));
  makePipe(path("pipe"));
  const server = createServer().listen(path("socket"));
  await new Promise((resolve) => server.once("listening", resolve));
  const view = new ProjectView();
  expect(
    ["real.txt", "folder", "link", "zero", "pipe", "socket", "none"].map((name) => view.kindOf(path(name))),
  ).toEqual(["file", "folder", "link", "link", "other", "other", "missing"]);
  for (const name of ["link", "zero", "pipe", "socket", "folder"]) {
    expect(() => view.read(path(name)), name).toThrow(/is a link|is not a regular file/);
  }
  expect([...view.contents.keys()]).toEqual([]);
  await new Promise((resolve) => server.close(resolve));
});

test("T5: a device is not opened, since opening one can act", () => {
  expect(() => readRegularFile("/dev/null", 10)).toThrow("is not a regular file");
});

test("T5: an oversized file is refused by its size, before a byte of it is read", async () => {
  const at = await project({ files: { big: "" } });
  await truncate(join(at.path, "big"), 4 * 2 ** 30);
  const view = new ProjectView();
  expect(() => view.read(join(at.path, "big"))).toThrow("is larger than 20 MB");
});

test("T5: the scan has limits on entries, bytes and time, and says which one was reached", async () => {
  const files = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`f${index}`, "12345"]));
  const at = await project({ files });
  const few = new ProjectView({ ...SCAN_LIMITS, entries: 10 });
  expect(() => few.list(at.path)).toThrow("more than 10 entries");
  const small = new ProjectView({ ...SCAN_LIMITS, bytes: 12 });
  small.read(join(at.path, "f0"));
  small.read(join(at.path, "f1"));
  expect(() => small.read(join(at.path, "f2"))).toThrow("would make the scan read more than");
  const late = new ProjectView({ ...SCAN_LIMITS, deadlineMs: -1 });
  expect(() => late.list(at.path)).toThrow("was not reached within");
});

test("a file is read once, and what was read is what everybody gets", async () => {
  const at = await project({ files: { f: "before" } });
  const view = new ProjectView();
  view.read(join(at.path, "f"));
  await at.write("f", "after");
  expect(view.read(join(at.path, "f")).toString()).toBe("before");
});

test("names come in an order that no locale changes", async () => {
  const at = await project({ files: { b: "", a: "", B: "", "\u00e4": "", "10": "", "9": "" } });
  expect(new ProjectView().list(at.path)).toEqual(["10", "9", "B", "a", "b", "\u00e4"]);
});
