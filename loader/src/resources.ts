/**
 * The service `resources`: what is there of each kind, best first. Only what may be used is in it: what a project brings
 * appears when it is granted.
 *
 *   flags ─► the person's settings ─► the person's folders ─► other sources ─► the granted project
 *
 * The project comes first for the system prompt, which it may replace once granted, and last for context files, which
 * are read from the outermost folder to the innermost.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { FlagValue, JsonObject, Resource, Services } from "@pi-agent/kernel";
import { findContextFile } from "./context-files.ts";
import { dropSwitchedOff, type Found, type FoundKind, find, findSkills } from "./discover.ts";
import { createOwnView, type FileView } from "./file-view.ts";
import { loadYaml, type ParseYaml, readFrontmatter } from "./frontmatter.ts";
import { belongsToProject, type Places, resolveFrom } from "./places.ts";
import { contentOf, type LoadPlan } from "./plan.ts";
import type { SettingsStore } from "./settings.ts";
import type { TrustDecision } from "./trust.ts";

/** A place that text resources come from, beside files: a database, an index, a program. */
export interface ResourceSource {
  name: string;
  /** What has the scope `project` is used only when the project is trusted, or its texts are. */
  scope: Resource["scope"];
  list(kind: string): readonly { id: string; path?: string; digest?: string }[];
  read(id: string): string;
}

/** A text that an installed package brings. */
export interface PackagedText extends Pick<Resource, "kind" | "path" | "source"> {
  scope: "package" | "project";
}

export interface ResourceStore {
  readonly service: Services["resources"];
  /** What of the person's own could not be used. */
  readonly refused: readonly Found[];
  /**
   * Finds the person's own resources, in place of those that were found before. What was typed is relative to `cwd`, and
   * may lie in the project. `hasContextFiles`: whether those count, the project's too. `isPicked`: nothing counts but what
   * was typed, and packages.
   */
  findOwn(
    places: Places,
    from: {
      settings: SettingsStore;
      flags: ReadonlyMap<string, FlagValue>;
      cwd: string;
      hasContextFiles: boolean;
      packaged: readonly PackagedText[];
      isPicked: boolean;
    },
  ): Promise<void>;
  /** Takes what a plan says may be loaded, in place of what was granted before. */
  grant(plan: LoadPlan, decision: TrustDecision, packaged: readonly PackagedText[]): Promise<void>;
  /** Takes away what the project brought. */
  revoke(): void;
}

interface Kind {
  kind: FoundKind;
  folder: string;
  /** The flag with further paths, and the one that leaves out what is found. */
  flag?: string;
  without?: string;
}

const KINDS: readonly Kind[] = [
  { kind: "skill", folder: "skills", flag: "skill", without: "no-skills" },
  { kind: "prompt", folder: "prompts", flag: "prompt-template", without: "no-prompt-templates" },
  { kind: "theme", folder: "themes", flag: "theme", without: "no-themes" },
  { kind: "agent", folder: "agents" },
];
const TEXTS = [
  { kind: "system-prompt", name: "SYSTEM.md" },
  { kind: "append-system-prompt", name: "APPEND_SYSTEM.md" },
];
// What a project brings of these is not for reading: it is executed, or in force.
const NOT_READ = new Set(["extension", "package", "settings"]);
const PROJECT_FIRST = new Set(TEXTS.map(({ kind }) => kind));
const WITH_FRONTMATTER = new Set(["skill", "prompt", "agent"]);

/** Makes an empty store. */
export function createResources(options: { sources: readonly ("files" | ResourceSource)[] }): ResourceStore {
  const { sources } = options;
  const hasFiles = sources.includes("files");
  const others = sources.filter((source) => source !== "files");
  let own: Resource[] = [];
  let refused: Found[] = [];
  let contextFiles = true;
  let ofProject: Resource[] = [];
  let decision: TrustDecision = "untrusted";
  let parseYaml: ParseYaml | undefined;
  let leftOut: ReadonlySet<string> = new Set();

  const isLeft = ({ kind }: PackagedText) => !leftOut.has(kind);
  const toPackaged = ({ kind, path, source, scope }: PackagedText) => {
    const known = { id: `${kind}:${path}`, kind, path, source, scope };
    return toResource(known, () => toText(readFileSync(path)), frontmatterOf);
  };
  const frontmatterOf = (kind: string, text: () => string): JsonObject | undefined =>
    parseYaml && WITH_FRONTMATTER.has(kind) ? readFrontmatter(text(), parseYaml) : undefined;
  const prepare = async (resources: readonly Resource[]) => {
    if (resources.some(({ kind }) => WITH_FRONTMATTER.has(kind))) parseYaml ??= await loadYaml();
  };
  const enterInto = (list: { own: Resource[]; refused: Found[] }) => {
    return (kind: string, found: readonly Found[], from: Pick<Resource, "source" | "scope">) => {
      for (const each of found) {
        if (each.refusal !== undefined) list.refused.push(each);
        else if (!list.own.some((known) => known.kind === kind && known.path === each.path)) {
          const text = () => toText(readFileSync(each.path));
          list.own.push(
            toResource({ id: `${kind}:${each.path}`, kind, path: each.path, ...from }, text, frontmatterOf),
          );
        }
      }
    };
  };

  return {
    get refused() {
      return refused;
    },
    async findOwn(places, { settings, flags, cwd, hasContextFiles, packaged, isPicked }) {
      contextFiles = hasContextFiles;
      if (!hasFiles) return;
      const anew: { own: Resource[]; refused: Found[] } = { own: [], refused: [] };
      const enter = enterInto(anew);
      const { agentDir, home } = places;
      const view = createOwnView((path) => belongsToProject(places, path));
      const anywhere = createOwnView(() => false);
      if (contextFiles) enter("context-file", findContextFile(view, agentDir), OWN);
      for (const { kind, name } of isPicked ? [] : TEXTS) {
        const path = join(agentDir, name);
        if (view.kindOf(path) === "file") enter(kind, [{ path, root: path }], OWN);
      }
      for (const each of KINDS) {
        for (const path of textsOf(each.flag && flags.get(each.flag))) {
          enter(each.kind, await find(each.kind, anywhere, resolveFrom(cwd, path, home)), TYPED);
        }
        if (isPicked || (each.without && flags.get(each.without) === true)) continue;
        const list = textsOf(settings.userValue(each.folder));
        enter(each.kind, await findKind(each, { view, places, list }), OWN);
      }
      leftOut = new Set(KINDS.flatMap(({ kind, without }) => (without && flags.get(without) === true ? [kind] : [])));
      anew.own.push(...packaged.filter(isLeft).map(toPackaged));
      await prepare(anew.own);
      ({ own, refused } = anew);
    },
    revoke() {
      decision = "untrusted";
      ofProject = [];
    },
    async grant(plan, decided, packaged) {
      decision = decided;
      const granted = hasFiles ? plan.items.filter(({ verdict }) => verdict === "loaded") : [];
      ofProject = granted
        .filter(({ kind }) => !NOT_READ.has(kind) && (contextFiles || kind !== "context-file"))
        .flatMap(({ id, kind, path, source, digest }) => {
          const bytes = contentOf(plan, path);
          const known = { id, kind, path, source, scope: "project", digest } as const;
          return bytes ? [toResource(known, () => toText(bytes), frontmatterOf)] : [];
        });
      ofProject.push(...packaged.filter(isLeft).map(toPackaged));
      await prepare(ofProject);
    },
    service: {
      list(kind) {
        const isKind = (resource: Resource) => resource.kind === kind;
        const foreign = others
          .filter(({ scope }) => scope !== "project" || decision === "trusted" || decision === "text")
          .flatMap((source) => listSource(source, kind, frontmatterOf));
        const [mine, theirs] = [own.filter(isKind), ofProject.filter(isKind)];
        return PROJECT_FIRST.has(kind) ? [...theirs, ...mine, ...foreign] : [...mine, ...foreign, ...theirs];
      },
    },
  };
}

const OWN = { source: "files", scope: "user" } as const;
const TYPED = { source: "flag", scope: "flag" } as const;

async function findKind(
  { kind, folder }: Kind,
  { view, places, list }: { view: FileView; places: Places; list: readonly string[] },
): Promise<Found[]> {
  const { agentDir, home, homeSkills } = places;
  const found: Found[] = [];
  for (const entry of list.filter((each) => !/^[!+-]/.test(each))) {
    found.push(...(await find(kind, view, resolveFrom(agentDir, entry, home))));
  }
  const at = join(agentDir, folder);
  found.push(...dropSwitchedOff(await find(kind, view, at), { view, folder: at, base: agentDir, list }));
  if (kind === "skill" && homeSkills) {
    const shared = await findSkills(view, homeSkills, false);
    found.push(...dropSwitchedOff(shared, { view, folder: homeSkills, base: join(homeSkills, ".."), list }));
  }
  return found;
}

function listSource(source: ResourceSource, kind: string, frontmatterOf: FrontmatterOf): Resource[] {
  return source.list(kind).map(({ id, path = id, digest }) => {
    const text = () => source.read(id);
    return toResource({ id, kind, path, source: source.name, scope: source.scope, digest }, text, frontmatterOf);
  });
}

type FrontmatterOf = (kind: string, text: () => string) => JsonObject | undefined;

function toResource(
  known: Pick<Resource, "id" | "kind" | "path" | "source" | "scope" | "digest">,
  text: () => string,
  frontmatterOf: FrontmatterOf,
): Resource {
  return Object.freeze({
    ...known,
    state: "loaded" as const,
    text,
    get frontmatter() {
      return frontmatterOf(known.kind, text);
    },
  });
}

function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

function toText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
