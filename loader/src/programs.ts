/** Which program a bare name means, so that a project has no say in it, wherever PATH leads (T9). */
import { accessSync, constants, statSync } from "node:fs";
import { userInfo } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import { belongsToProject, isInside, type Places, realPathOf } from "./places.ts";

/** Programs outside of the project. */
export interface Programs {
  /** Finds the program that PATH means by a bare name; `undefined` where there is none. */
  find(name: string): string | undefined;
  /** The variables for such a program: the agent's own, with a PATH that leads into no project. */
  environment(): NodeJS.ProcessEnv;
}

const isWindows = process.platform === "win32";
const ENDINGS = isWindows ? [".exe", ".com", ""] : [""];
// An empty PATH would mean the working directory.
const PLACES = isWindows ? ["C:\\Windows\\System32"] : ["/usr/bin", "/bin"];

/** Looks for programs where `env` says, beside the project that `places` answers at the time. */
export function createPrograms(env: NodeJS.ProcessEnv, places: () => Places): Programs {
  const folders = () => {
    const here = places();
    const all = (env.PATH ?? "").split(delimiter).filter((entry) => isAbsolute(entry) && !isProjects(here, entry));
    return all.length > 0 ? all : PLACES;
  };
  return {
    find(name) {
      const here = places();
      const files = folders().flatMap((folder) => ENDINGS.map((ending) => join(folder, name + ending)));
      return files.find((file) => isProgram(file) && !isProjects(here, file));
    },
    environment: () => ({ ...env, PATH: folders().join(delimiter) }),
  };
}

/** Tells whether a command is a name to look for, and no path. */
export function isBareName(command: string): boolean {
  return !/[/\\]/.test(command);
}

function isProjects(places: Places, path: string): boolean {
  // Around the account's home a project is the person's own, and so are the programs in it.
  return belongsToProject(places, path) && !isInside(realPathOf(userInfo().homedir), places.boundary);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
