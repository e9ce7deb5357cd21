import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { AgentError } from "@pi-agent/kernel";
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
      const isFromInside =
        context.parentURL?.startsWith("file:") && belongsToProject(places, toPath(context.parentURL));
      if (found.url.startsWith("file:") && !isFromInside) check(toPath(found.url));
      return found;
    },
  });
  return { check, stop: () => hooks.deregister() };
}

function toPath(url: string): string {
  return fileURLToPath(new URL(url));
}

function refuse(file: string, { boundary }: Places): AgentError {
  return new AgentError("inside_project", `${file} lies inside the project ${boundary}.`, {
    hint: "Keep what your own extensions need outside of projects, or name the file with -e.",
  });
}
