/** Where an attack plants: its part of a project, and places beside it. */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Canary, createCanary, leaveMark } from "./canary.ts";
import type { World } from "./world.ts";

type Json = { [key: string]: unknown };

/** One attack's view of a world; its functions may be taken apart. A relative path is below the project. */
export class Site {
  readonly id: string;
  /** The project's root, which is its boundary. */
  readonly project: string;
  readonly home: string;
  readonly agentDir: string;
  /** A folder outside of the project that is this attack's own. */
  readonly outside: string;
  readonly canary: Canary;
  /** A word that nobody else uses; seen where it should not be, the attack has reached the model or the screen. */
  readonly word: string;
  /** An address of the stranger's server that is this attack's own. */
  readonly url: string;
  readonly root: string;
  readonly world: World;

  constructor(world: World, id: string) {
    this.world = world;
    this.id = id;
    this.root = world.root;
    this.project = world.project;
    this.home = world.home;
    this.agentDir = world.agentDir;
    this.outside = join(world.root, "outside", id);
    mkdirSync(this.outside, { recursive: true });
    this.canary = createCanary(world.marks, id);
    this.word = `word${randomBytes(8).toString("hex")}`;
    this.url = `${world.listener.url}/${id}`;
  }

  /** Makes a path absolute. */
  readonly at = (path: string): string => resolve(this.project, path);

  readonly write = (path: string, content: string | Uint8Array, mode?: number): string => {
    const target = this.at(path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, content);
    if (mode !== undefined) chmodSync(target, mode);
    return target;
  };

  /** Adds to a JSON file: objects are merged, lists joined. */
  readonly json = (path: string, value: Json): void => {
    const target = this.at(path);
    const before = existsSync(target) ? (JSON.parse(readFileSync(target, "utf8")) as Json) : {};
    this.write(path, JSON.stringify(merge(before, value), null, 2));
  };

  /** Adds a line to a file. */
  readonly line = (path: string, text: string): void => {
    const target = this.at(path);
    mkdirSync(dirname(target), { recursive: true });
    appendFileSync(target, `${text}\n`);
  };

  readonly folder = (path: string): string => {
    const target = this.at(path);
    mkdirSync(target, { recursive: true });
    return target;
  };

  readonly link = (path: string, target: string): void => {
    const from = this.at(path);
    mkdirSync(dirname(from), { recursive: true });
    symlinkSync(target, from);
  };

  readonly remove = (path: string): void => {
    rmSync(this.at(path), { recursive: true, force: true });
  };

  /** Makes a pipe, which a careless reader opens for ever. Fails where the system has none. */
  readonly pipe = (path: string): void => {
    const target = this.at(path);
    mkdirSync(dirname(target), { recursive: true });
    const { status, stderr } = spawnSync("mkfifo", [target]);
    if (status !== 0) throw new Error(`mkfifo ${target}: ${stderr.toString()}`);
  };

  /** Makes another project beside this one; answers its root. */
  readonly neighbour = (path: string): string => {
    const folder = this.folder(resolve(this.root, path));
    makeRepository(folder);
    return folder;
  };

  /** Marks in the name of a careless loader. */
  readonly mark = (): void => {
    leaveMark(this.world.marks, this.id);
  };
}

/** Makes what git takes for a repository, without running git. */
export function makeRepository(folder: string): void {
  for (const each of ["objects", "refs/heads"]) mkdirSync(join(folder, ".git", each), { recursive: true });
  writeFileSync(join(folder, ".git", "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(folder, ".git", "config"), "[core]\n\trepositoryformatversion = 0\n\tbare = false\n");
}

function merge(before: unknown, value: unknown): unknown {
  if (Array.isArray(before) && Array.isArray(value)) return [...before, ...value];
  if (!isObject(before) || !isObject(value)) return value;
  const merged: Json = { ...before };
  for (const [key, each] of Object.entries(value)) merged[key] = merge(merged[key], each);
  return merged;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
