/**
 * Swaps approved files of a project for others and back, as fast as it is told to, until it is killed:
 *
 *   node swapping.ts <project> <outside> <most pause in µs>
 *
 * Prints the number of swaps now and then. What is swapped: a file by renaming, one in place, one for a link that leads
 * out, a helper that is imported, a whole folder, and files that Node loads natively.
 */
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";

const [project = "", outside = "", pauseUs = "0"] = process.argv.slice(2);
const extensions = join(project, ".pi", "extensions");
const spare = join(project, "spare");
mkdirSync(spare, { recursive: true });

/** The other version of a file that marks what it is. */
function toEvil(text: string): string {
  return text.replaceAll("good:", "evil:");
}

function byRenaming(path: string): () => void {
  const other = join(spare, path.replaceAll("/", "_"));
  writeFileSync(other, toEvil(readFileSync(path, "utf8")));
  const between = `${other}.between`;
  return () => {
    renameSync(path, between);
    renameSync(other, path);
    renameSync(between, other);
  };
}

function byReplacing(path: string): () => void {
  const versions = [toEvil(readFileSync(path, "utf8")), readFileSync(path, "utf8")];
  let turn = 0;
  return () => {
    writeFileSync(join(spare, "draft"), versions[turn++ % 2] ?? "");
    renameSync(join(spare, "draft"), path);
  };
}

function inPlace(path: string): () => void {
  const versions = [toEvil(readFileSync(path, "utf8")), readFileSync(path, "utf8")];
  let turn = 0;
  return () => writeFileSync(path, versions[turn++ % 2] ?? "");
}

function byLink(path: string): () => void {
  const good = readFileSync(path, "utf8");
  const evil = join(outside, "evil.ts");
  writeFileSync(evil, toEvil(good));
  let turn = 0;
  return () => {
    const draft = join(spare, "link-draft");
    if (turn++ % 2 === 0) symlinkSync(evil, draft);
    else writeFileSync(draft, good);
    renameSync(draft, path);
  };
}

function byFolder(path: string): () => void {
  const other = join(spare, "folder");
  mkdirSync(other);
  for (const name of ["index.ts", "part.ts"])
    writeFileSync(join(other, name), toEvil(readFileSync(join(path, name), "utf8")));
  return () => {
    renameSync(path, `${other}-between`);
    renameSync(other, path);
    renameSync(`${other}-between`, other);
  };
}

/** The event loop never turns here. */
function tell(what: string | number): void {
  writeSync(1, `${what}\n`);
}

const swaps = [
  byReplacing(join(extensions, "replaced.ts")),
  byRenaming(join(extensions, "renamed.ts")),
  inPlace(join(extensions, "in-place.ts")),
  byLink(join(extensions, "linked.ts")),
  byReplacing(join(project, "src", "helper.ts")),
  byReplacing(join(project, "src", "deep.cjs")),
  byReplacing(join(project, "src", "data.json")),
  byFolder(join(extensions, "folder")),
];
const cell = new Int32Array(new SharedArrayBuffer(4));
let count = 0;
tell("ready");
// The parent may end without a word.
while (existsSync(dirname(project))) {
  swaps[Math.floor(Math.random() * swaps.length)]!();
  count++;
  if (count % 10 === 0) tell(count);
  Atomics.wait(cell, 0, 0, (Math.random() * Number(pauseUs)) / 1_000);
}
rmSync(spare, { recursive: true, force: true });
