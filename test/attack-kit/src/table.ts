/** The table: attack × way in × result. */
import { type Adapter, WAYS, type WayId } from "./adapter.ts";
import { type Attack, MISTAKES, type Mistake } from "./attack.ts";
import { existsFor } from "./run.ts";
import type { Cell } from "./start.ts";

const HEADS: Record<WayId, string> = {
  print: "print",
  json: "json",
  rpc: "rpc",
  interactive: "tty",
  sdk: "sdk",
  "sdk-mode": "sdk+ui",
  resume: "resume",
  switch: "switch",
  fork: "fork",
  reload: "reload",
  "extension-flag": "-e",
  help: "help",
  version: "versn",
  "unknown-flag": "flag?",
  "list-models": "models",
  doctor: "doctor",
  prompt: "prompt",
  "trust-show": "show",
  "trust-list": "list",
};
const WIDTH = 7;
const NONE = "·";
const MISSING = "–";

/** Draws the table of all cells, with footnotes. */
export function drawTable(adapter: Adapter, attacks: readonly Attack[], cells: readonly Cell[]): string {
  const idWidth = Math.max(...attacks.map(({ id }) => id.length)) + 1;
  const titleWidth = Math.max(...attacks.map(({ title }) => title.length)) + 1;
  const found = new Map(cells.map((cell) => [`${cell.attack.id} ${cell.way}`, cell]));
  const head = `${"".padEnd(idWidth)}${WAYS.map((way) => HEADS[way].padEnd(WIDTH)).join("")}attack`;
  const rows = (mistake: Mistake) =>
    attacks
      .filter((attack) => attack.mistake === mistake)
      .map((attack) => {
        const results = WAYS.map((way) => textOf(adapter, attack, way, found).padEnd(WIDTH)).join("");
        return `${attack.id.padEnd(idWidth)}${results}${attack.title}`;
      });
  const sections = (Object.keys(MISTAKES) as Mistake[]).map((mistake) =>
    [MISTAKES[mistake].toUpperCase(), ...rows(mistake)].join("\n"),
  );
  const title = `${adapter.name} ${adapter.version}: ${attacks.length} attacks, ${adapter.ways.length} ways in`;
  const line = "-".repeat(Math.min(idWidth + WAYS.length * WIDTH + titleWidth, 160));
  return [title, "", head, line, ...sections.flatMap((section) => [section, ""]), ...footnotes(adapter, attacks)].join(
    "\n",
  );
}

/** `0 of 1234 cells failed`. */
export function countLine(cells: readonly Cell[]): string {
  return `${cells.filter(isFailure).length} of ${cells.length} cells failed`;
}

/** Tells whether a cell is not what it should be. */
export function isFailure({ attack, verdict }: Cell): boolean {
  return verdict !== attack.expect;
}

function textOf(adapter: Adapter, attack: Attack, way: WayId, found: ReadonlyMap<string, Cell>): string {
  const there = adapter.ways.find(({ id }) => id === way);
  if (!there) return MISSING;
  if (!existsFor(attack, there)) return NONE;
  const cell = found.get(`${attack.id} ${way}`);
  if (!cell) return "";
  if (isFailure(cell)) return cell.verdict.toUpperCase();
  return cell.isTold ? `${cell.verdict}*` : cell.verdict;
}

function footnotes(adapter: Adapter, attacks: readonly Attack[]): string[] {
  const missing = Object.entries(adapter.missing ?? {}).map(
    ([way, why]) => `${MISSING} ${HEADS[way as WayId]}: ${why}`,
  );
  const only = attacks.flatMap(({ id, ways }) => (ways ? [`${NONE} ${id}: ${ways.why}`] : []));
  return [
    "S not loaded, and said so · Q asked about · R refused with a reason · I there, and without effect",
    "RAN code of the project · STEERED the model · REACHED, LEAKED: the stranger's server, a key to it · SHOWN, WRONG: see below",
    "HUNG · ENDED what else was asked for · SILENT: held back without a word · UNASKED · UNLISTED · FAILED: the kit itself",
    "* ran, as the person had been told before the answer: it is not covered",
    ...missing,
    ...only,
  ];
}

/** Words each failure with what was seen. */
export function listFailures(cells: readonly Cell[]): string[] {
  return cells
    .filter(isFailure)
    .map(({ attack, way, verdict, detail = "" }) => `${attack.id} × ${way}: ${verdict} ${JSON.stringify(detail)}`);
}
