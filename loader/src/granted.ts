/** Puts a decision in force: what it lets load comes, what it no longer lets load goes, all else goes on as it is. */
import type { ExtensionReport } from "@pi-agent/kernel";
import { isAlive, isOneOf, loadExtensions } from "./extensions.ts";
import type { Phases, Way } from "./phases.ts";
import { loadProject, wantedOf } from "./project.ts";
import { assertTyped } from "./roster.ts";
import type { TrustGrant } from "./trust.ts";

/** Loads what a grant lets load, in place of what the one before it let load. */
export async function loadGranted(phases: Phases, grant: TrustGrant, way: Way): Promise<void> {
  const { agent, places, stores, importer, options, roster, installed } = phases;
  const known = phases.grant?.digests ?? new Map<string, string>();
  phases.grant = grant;
  if (options.isPlanOnly) return;
  await installed.findProject(grant);
  await makeRoom(phases);
  await findTexts(phases);
  const packaged = { extensions: installed.projectExtensions, texts: installed.textsOf("project") };
  const granted = wantedOf(grant);
  const isWanted = (each: ExtensionReport) => isOneOf([...packaged.extensions, ...granted], each);
  await roster.unload(
    "project",
    roster.of("project").filter((each) => !isWanted(each)),
  );
  const before = roster.alive;
  // Where only the decision is another one, what is as it was goes on.
  const isAsBefore = ({ id = "" }: { id?: string }) => known.has(id) && known.get(id) === grant.digests.get(id);
  const unchanged = [...packaged.extensions, ...granted].filter(isAsBefore);
  const isStaying = (each: ExtensionReport) => way === "trust" && isAlive(each) && isOneOf(unchanged, each);
  const staying = roster.of("project").filter(isStaying);
  const loaded = await loadProject(grant, {
    cwd: places.cwd,
    agent,
    settings: stores.settings,
    resources: stores.resources,
    importer,
    packaged,
    optionsFor: (path) => installed.optionsFor(path),
    alive: before,
    staying: new Set(staying.map(({ owner }) => owner.name)),
  });
  if (!phases.hasStarted) assertTyped(loaded);
  roster.enter("project", { loaded, staying, before });
  if ([...known.keys()].some((id) => !grant.digests.has(id)))
    await agent.dispatch("resources_changed", { reason: "revocation" });
  if (way !== "reload" && grant.digests.size > 0) await agent.dispatch("resources_changed", { reason: "grant" });
}

/** One package is there once (P12): where the project has one of the person's, theirs makes room, and comes back after. */
async function makeRoom({ installed, roster, agent, importer }: Phases): Promise<void> {
  const wanted = installed.ownExtensions;
  const isGone = (each: ExtensionReport) => each.owner.scope === "package" && !isOneOf(wanted, each);
  await roster.unload("own", roster.of("own").filter(isGone));
  const missing = wanted.filter(({ path }) => !roster.of("own").some(({ owner }) => owner.name === path));
  if (missing.length === 0) return;
  const before = roster.alive;
  const loaded = await loadExtensions(missing, { agent, importer, alive: before });
  roster.enter("own", { loaded, staying: roster.of("own"), before });
}

/** Finds the texts of the person's own, and of their packages. */
async function findTexts({ places, stores, flags, options, installed }: Phases): Promise<void> {
  const { settings, resources } = stores;
  const hasContextFiles = !options.flags?.noContextFiles && settings.userValue("contextFiles") !== "never";
  const packaged = installed.textsOf("user");
  const isPicked = options.agent !== undefined;
  await resources.findOwn(places, { settings, flags, cwd: options.cwd, hasContextFiles, packaged, isPicked });
}
