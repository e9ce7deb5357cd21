import { statSync } from "node:fs";
import { dirname } from "node:path";

/** Says what a test that goes on as another user needs, when that user could not reach this checkout or a file in it. */
export function lacksRightsOfOthers(path: string): string | undefined {
  for (let at = path; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return "needs a checkout that other users can reach";
    if (dirname(at) === at) return undefined;
  }
}
