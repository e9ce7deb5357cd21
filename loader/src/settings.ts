import { join } from "node:path";
import {
  AgentError,
  currentOwner,
  type Json,
  type JsonObject,
  type Owner,
  type Registered,
  type Services,
  type Undo,
} from "@pi-agent/kernel";
import { findMisfits } from "./json-check.ts";
import type { FileProblem } from "./jsonc.ts";
import { type OwnFile, parseOwnText, readOwnFile } from "./own-file.ts";
import { writeSetting } from "./settings-file.ts";
import {
  type GradedSetting,
  gradeSettings,
  schemaAt,
  takeProjectSettings,
  type WithheldSetting,
} from "./settings-grades.ts";
import { fitSettings, tellUnknown } from "./settings-layer.ts";
import { changedKeys, defaultsOf, mergeSettings, valueAt } from "./settings-merge.ts";
import { addNamespaces, type Namespaces } from "./settings-namespaces.ts";
import { SETTINGS_SCHEMA, type SettingSchema } from "./settings-schema.ts";

/** What a project's settings file asks for, before anything of it is in force. */
export interface ProjectSettingsReport {
  settings: GradedSetting[];
  problem?: FileProblem;
}

export type SettingsStore = Services["settings"] & {
  /** The person's settings file. */
  readonly path: string;
  /** What is wrong in the files: faults, values that do not fit, keys that nothing here knows. */
  readonly problems: readonly FileProblem[];
  /** What the granted project asks for and does not get. */
  readonly withheld: readonly WithheldSetting[];
  /** What the person has, whatever a project says: their value, else the default. */
  userValue(key: string): Json | undefined;
  /** What the granted project has put in force, by itself. */
  projectValue(key: string): Json | undefined;
  /** Reads a project's settings file as data, for the load plan. */
  inspectProject(bytes: Uint8Array, path: string): ProjectSettingsReport;
  /**
   * Lays a trusted project's settings over the person's, as far as each key's grade allows. A file that is broken now
   * leaves the values that were in force.
   */
  grantProject(bytes: Uint8Array, path: string, consent: boolean): void;
  /** Takes the project's settings away again. */
  revokeProject(): void;
  /**
   * Lays the settings of an agent's file over everything. `isOwn`: the agent is the program; else a person named the file,
   * and each key counts as far as a trusted project may set it.
   */
  override(values: JsonObject, isOwn: boolean): Undo;
  /** Reads the person's file again; a file that is broken now leaves the values that were in force. */
  reload(): void;
};

/**
 * Opens the settings of an agent directory. Never fails: what cannot be read leaves the defaults in force. `namespaces`
 * are those that extensions registered: they count from the first question on after they appear or go.
 */
export function openSettings(options: { agentDir: string; namespaces?: () => Namespaces }): SettingsStore {
  return new LayeredSettings(join(options.agentDir, "settings.json"), options.namespaces ?? (() => NONE));
}

const NONE: Namespaces = new Map();

/** The person's settings are not a project's to change, whatever it may run (T4). */
function refuseProject({ name }: Owner): AgentError {
  return new AgentError("setting_withheld", `${name} belongs to a project, and may not change your settings.`, {
    hint: "Change them yourself, or keep the extension among your own.",
    owner: name,
  });
}

/**
 *   defaults ◄─ user ◄─ project, as its grades allow ◄─ overrides ──► merged
 */
class LayeredSettings implements SettingsStore {
  readonly path: string;
  readonly #namespaces: () => Namespaces;
  #registered: readonly Registered<"settings">[] = [];
  #schema: SettingSchema = SETTINGS_SCHEMA;
  #file: OwnFile;
  #user: JsonObject = {};
  #projectFile: { file: OwnFile; consent: boolean } | undefined;
  #project: JsonObject = {};
  #overrides: JsonObject[] = [];
  #merged: JsonObject = {};
  #problems: FileProblem[] = [];
  #withheld: WithheldSetting[] = [];
  #listeners = new Set<(key: string) => void>();
  #lastWrite: Promise<unknown> = Promise.resolve();

  constructor(path: string, namespaces: () => Namespaces) {
    this.path = path;
    this.#namespaces = namespaces;
    this.#file = readOwnFile(path);
    this.#layer();
  }

  get(key: string): Json | undefined {
    this.#follow();
    return valueAt(this.#merged, key);
  }

  userValue(key: string): Json | undefined {
    this.#follow();
    return valueAt(this.#user, key);
  }

  projectValue(key: string): Json | undefined {
    this.#follow();
    return valueAt(this.#project, key);
  }

  get problems(): readonly FileProblem[] {
    this.#follow();
    return [...this.#problems, ...tellUnknown(this.#schema, this.#file)];
  }

  get withheld(): readonly WithheldSetting[] {
    this.#follow();
    return this.#withheld;
  }

  async set(key: string, value: Json): Promise<void> {
    const owner = currentOwner();
    if (owner?.scope === "project") throw refuseProject(owner);
    this.#follow();
    this.#check(key, value);
    // One at a time within the process: they would only wait for each other's lock.
    const write = this.#lastWrite.then(() => writeSetting(this.path, key.split("."), value ?? undefined));
    this.#lastWrite = write.catch(() => {});
    const file = await write;
    this.#change(() => {
      this.#file = file;
    });
  }

  onChange(listener: (key: string) => void): Undo {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  inspectProject(bytes: Uint8Array, path: string): ProjectSettingsReport {
    this.#follow();
    const file = parseOwnText(path, new TextDecoder().decode(bytes));
    return { settings: gradeSettings(this.#schema, file.values), problem: file.problem };
  }

  grantProject(bytes: Uint8Array, path: string, consent: boolean): void {
    const read = parseOwnText(path, new TextDecoder().decode(bytes));
    const before = this.#projectFile?.file;
    const file = read.problem && before?.path === path ? { ...before, problem: read.problem } : read;
    this.#change(() => {
      this.#projectFile = { file, consent };
    });
  }

  revokeProject(): void {
    this.#change(() => {
      this.#projectFile = undefined;
    });
  }

  override(given: JsonObject, isOwn: boolean): Undo {
    const asked = { values: given, consent: true };
    const values = isOwn ? given : takeProjectSettings(this.#schema, this.#user, asked).values;
    this.#change(() => this.#overrides.push(values));
    return () =>
      this.#change(() => {
        this.#overrides = this.#overrides.filter((each) => each !== values);
      });
  }

  reload(): void {
    const file = readOwnFile(this.path);
    this.#change(() => {
      this.#file = file.problem ? { ...this.#file, problem: file.problem } : file;
    });
  }

  /** Takes in what extensions registered or took back since the last question. */
  #follow(): void {
    const registered = [...this.#namespaces().values()];
    const isSame =
      registered.length === this.#registered.length && registered.every((r, i) => r === this.#registered[i]);
    if (isSame) return;
    this.#registered = registered;
    this.#change(() => {
      this.#schema = addNamespaces(SETTINGS_SCHEMA, registered);
    });
  }

  #check(key: string, value: Json): void {
    const schema = schemaAt(this.#schema, key);
    const names = key.split(".");
    const misfit = value !== null && schema && findMisfits(schema, value)[0];
    if (!misfit && names.every((name) => name !== "" && name !== "__proto__")) return;
    const why = misfit ? misfit.message : "that is not the name of a setting";
    throw new AgentError("invalid_setting", `"${key}" cannot be set: ${why}.`, {
      hint: "Nothing was written. Give it another value.",
    });
  }

  #change(apply: () => void): void {
    const before = this.#merged;
    apply();
    this.#layer();
    const changed = changedKeys(before, this.#merged);
    for (const listener of this.#listeners) changed.forEach((key) => listener(key));
  }

  #layer(): void {
    const schema = this.#schema;
    const { values, problems } = fitSettings(schema, this.#file);
    this.#problems = problems;
    this.#user = mergeSettings(schema, defaultsOf(schema), values);
    const project = this.#projectFile;
    if (project?.file.problem) problems.push(project.file.problem);
    const asked = { values: project?.file.values ?? {}, consent: project?.consent ?? false };
    const taken = takeProjectSettings(schema, this.#user, asked);
    this.#project = taken.values;
    this.#withheld = taken.withheld;
    this.#merged = [this.#project, ...this.#overrides].reduce<JsonObject>(
      (lower, upper) => mergeSettings(schema, lower, upper),
      this.#user,
    );
    deepFreeze(this.#merged);
    deepFreeze(this.#user);
    deepFreeze(this.#project);
  }
}

function deepFreeze(value: Json): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
}
