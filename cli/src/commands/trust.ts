/** `pi trust show [path] [--json]`: what a project would load, what became of it, and why. */
import type { LoadReport, PlanItem } from "@pi-agent/loader";
import { EXIT_CODES } from "../exit-codes.ts";
import { formatTable } from "../table.ts";
import { toTerminalLine } from "../terminal-text.ts";
import type { BuiltInIo } from "./built-in.ts";
import { refuseArguments } from "./refuse-arguments.ts";

const CELL_WIDTH = 120;

/** Prints the load plan of the folder given, or of this one; answers the exit code. */
export async function showTrust(args: readonly string[], io: BuiltInIo): Promise<number> {
  const isJson = args.includes("--json");
  const [verb = "show", path, ...more] = args.filter((arg) => arg !== "--json");
  if (verb !== "show" || more.length > 0) return refuseArguments(["trust", ...args], "pi trust show [path] [--json]");
  const other = path === undefined ? undefined : await io.loadAt(path);
  const { report } = other ?? io;
  io.output.write(isJson ? `${JSON.stringify(toData(report), null, 2)}\n` : describePlan(report));
  await other?.dispose();
  return EXIT_CODES.answered;
}

function toData({ plan, decision, decidedBy }: LoadReport): object {
  return { ...plan, decision, decidedBy };
}

function describePlan({ plan, decision, decidedBy }: LoadReport): string {
  const head = [`project   ${show(plan.project)}`, `decision  ${decision}, by ${decidedBy}`];
  if (plan.items.length === 0) return `${head.join("\n")}\n\nIt brings nothing to load.\n`;
  const rows = plan.items.map(({ verdict, grade, kind, id, reason }) =>
    [verdict, grade, kind, id.slice(kind.length + 1), reason].map(show),
  );
  const table = formatTable([["verdict", "grade", "kind", "path", "because"], ...rows]);
  return [
    ...head,
    `content   ${plan.digest}`,
    "",
    table,
    ...describeAllowing(plan.items),
    ...plan.items.flatMap(({ id, kind, hint }) => (hint ? [`${show(id.slice(kind.length + 1))}: ${show(hint)}`] : [])),
    "Trust decides what loads. It is no sandbox: what loads and runs has your account's rights.",
    "",
  ].join("\n");
}

function describeAllowing(items: readonly PlanItem[]): string[] {
  const commands = new Set(items.flatMap(({ verdict, allow }) => (verdict === "held" && allow ? [show(allow)] : [])));
  return commands.size === 0 ? [] : [`To let what is held load: ${[...commands].join(" or ")}`];
}

function show(text: string): string {
  return toTerminalLine(text, CELL_WIDTH);
}
