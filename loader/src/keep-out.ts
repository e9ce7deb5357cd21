import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { AgentError } from "@pi-agent/kernel";
import { projectOf } from "./module-hooks.ts";
import { belongsToProject, type Places } from "./places.ts";

/**
 * Keeps modules from outside the project from importing one of its files, until the answer's `stop` is called: what the
 * person's own extensions reach for must not bring the project's code along before the person has decided about it.
 */
export function keepOut(places: Places): { check: (file: string) => void; stop: () => void } {
  const check = (file: string) => {
    if (belongsToProject(places, file)) throw refuse(file, places);
  };
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      if (found.url.startsWith("file:") && !isLetIn(context.parentURL)) check(toPath(found.url));
      return found;
    },
  });
  return { check, stop: () => hooks.deregister() };
}

/** Tells whether a module is one that was let in before: not everything that says it lies inside is. */
function isLetIn(url: string | undefined): boolean {
  const path = url?.startsWith("file:") ? toPath(url) : undefined;
  return path !== undefined && projectOf(path)?.has(path) === true;
}

function toPath(url: string): string {
  return fileURLToPath(new URL(url));
}

function refuse(file: string, { boundary }: Places): AgentError {
  return new AgentError("inside_project", `${file} lies inside the project ${boundary}.`, {
    hint: "Keep what your own extensions need outside of projects, or name the file with -e.",
  });
}
