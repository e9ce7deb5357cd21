/** What the screen of `pi config` shows: the resources of a scope's packages, one of them chosen. */
import type { InstalledPackage, PackageScope } from "@pi-agent/loader";
import { toTerminalName } from "../terminal-text.ts";
import { listResources, type Resource } from "./find-package.ts";
import { nameOf, problemOf } from "./word-package.ts";

export interface ConfigView {
  scope: PackageScope["name"];
  packages: readonly InstalledPackage[];
  /** The number of the chosen resource, over all packages. */
  chosen: number;
  /** What the person has to know, below the list. */
  note: string;
}

/** A resource with its package. */
export type Choice = Resource & { of: InstalledPackage };

const TITLES = { user: "Packages of yours, in every project", project: "Packages of this project" } as const;
const KEYS = "up, down: choose   space: on or off   tab: yours or the project's   enter: done";
// Title, note and keys, with empty lines between them.
const FRAME_ROWS = 5;

/** Every resource that can be chosen, in the order shown. */
export function listChoices({ packages }: Pick<ConfigView, "packages">): Choice[] {
  return packages.flatMap((of) => listResources(of).map((resource) => ({ ...resource, of })));
}

/** The number of the resource so many further, within the list. */
export function move(view: ConfigView, by: number): number {
  return Math.max(0, Math.min(listChoices(view).length - 1, view.chosen + by));
}

/** Draws the view as lines that fit a screen; of a long list the part around the chosen resource. */
export function drawView(view: ConfigView, { rows, columns }: { rows: number; columns: number }): string[] {
  const list = drawList(view, columns);
  const room = Math.max(1, rows - FRAME_ROWS);
  const at = list.findIndex(({ isChosen }) => isChosen);
  const first = Math.max(0, Math.min(at - Math.floor(room / 2), list.length - room));
  const shown = list.slice(first, first + room).map(({ line }) => line);
  const note = toTerminalName(view.note, columns);
  return [TITLES[view.scope], "", ...shown, "", note, KEYS.slice(0, columns)];
}

function drawList(view: ConfigView, columns: number): { line: string; isChosen: boolean }[] {
  if (view.packages.length === 0) return [{ line: "  none", isChosen: false }];
  let number = 0;
  return view.packages.flatMap((each) => {
    const problem = problemOf(each);
    const head = `${nameOf(each)}${problem ? ` (${each.state})` : ""}`;
    const resources = listResources(each).map(({ path, isOn }) => {
      const isChosen = number++ === view.chosen;
      const sign = `${isChosen ? ">" : " "} [${isOn ? "x" : " "}] `;
      return { line: `  ${sign}${toTerminalName(path, columns - sign.length - 2)}`, isChosen };
    });
    return [{ line: toTerminalName(head, columns), isChosen: false }, ...resources];
  });
}
