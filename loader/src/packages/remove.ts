/** `pi remove <source>`: takes away the settings entry, the lock entry and the files; a person's own folder stays. */
import { rm } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { AgentError } from "@pi-agent/kernel";
import { nearestNames } from "../nearest-names.ts";
import { toPrintable } from "../printable.ts";
import { type PackageContext, type PackageScope, scopeOf } from "./context.ts";
import { type Declared, readDeclared, undeclare } from "./declared.ts";
import { lockKey, readLocks } from "./effective.ts";
import { type Lock, writeLock } from "./lock-file.ts";
import { showSource, wordUnsaved } from "./package-error.ts";
import { readInPlace } from "./read-in-place.ts";
import { identityOf } from "./source.ts";
import { pruneStore, rootOf, withStore } from "./store.ts";

export interface RemoveOutcome {
  /** The source as it stood in the settings. */
  source: string;
  /** The other scope declares it as well, and still does. */
  isStillIn?: PackageScope["name"];
}

/** Removes a package by any of its spellings, or by its name. Fails with `package_unknown` where none is declared. */
export async function removePackage(
  context: PackageContext,
  text: string,
  { scope: name = "user", cwd }: { scope?: PackageScope["name"]; cwd: string },
): Promise<RemoveOutcome> {
  const scope = scopeOf(context, name);
  return await withStore(context, scope, async (assertHeld) => {
    const found = await findDeclared(context, { scope, text, cwd });
    const { now, previous } = readLocks(scope);
    const key = lockKey(found.source, scope);
    assertHeld();
    await undeclare(context, scope, found.source.identity);
    const after = new Map([...now].filter(([each]) => each !== key));
    if (now.has(key)) await writeLock(scope, after);
    await removeRoots(scope, [now.get(key), previous.get(key)]);
    await pruneStore(scope, [after, new Map([...previous].filter(([each]) => each !== key))]);
    return { source: found.text, isStillIn: findOther(context, found, name) };
  });
}

/** Finds what is declared in a scope by any of its spellings, or by its name. Fails with `package_unknown`. */
export async function findDeclared(
  context: PackageContext,
  { scope, text, cwd }: { scope: PackageScope; text: string; cwd: string },
): Promise<Declared> {
  const { declared } = readDeclared(context, scope);
  const identity = identityOf(text, { folder: cwd, home: context.home });
  const bare = text.replace(/^npm:/, "");
  const { now } = readLocks(scope);
  const named = await Promise.all(declared.map(async (each) => ({ each, name: await nameOf(each, { now, scope }) })));
  const found =
    declared.find(({ source }) => source.identity === identity) ??
    named.find(({ each, name }) => name === bare || each.text === text)?.each;
  if (found) return found;
  const [nearest] = nearestNames(
    bare,
    named.map(({ name }) => name),
    1,
  );
  throw new AgentError("package_unknown", `${showSource(text)} is not declared in ${scope.settings}.`, {
    hint: nearest === undefined ? "pi list shows what is." : `Did you mean ${toPrintable(nearest)}? pi list shows all.`,
  });
}

/** The name that a list shows. */
async function nameOf({ source, text }: Declared, { now, scope }: { now: Lock; scope: PackageScope }): Promise<string> {
  if (source.kind === "npm") return source.name;
  if (source.kind !== "local") return now.get(lockKey(source, scope))?.name ?? text;
  return await readInPlace(source.path).then(
    ({ name }) => name,
    // What cannot be read can still be taken out.
    () => basename(source.path),
  );
}

function findOther(
  context: PackageContext,
  { source }: Declared,
  name: PackageScope["name"],
): PackageScope["name"] | undefined {
  const other = name === "user" ? "project" : "user";
  if (other === "project" && context.projectDir === undefined) return undefined;
  const { declared } = readDeclared(context, scopeOf(context, other));
  return declared.some((each) => each.source.identity === source.identity) ? other : undefined;
}

async function removeRoots(
  scope: PackageScope,
  entries: readonly (Parameters<typeof rootOf>[1] | undefined)[],
): Promise<void> {
  for (const locked of entries) {
    if (locked === undefined) continue;
    const root = rootOf(scope, locked);
    await rm(root, { recursive: true, force: true }).catch((cause: unknown) =>
      Promise.reject(wordUnsaved(dirname(root), cause)),
    );
  }
}
