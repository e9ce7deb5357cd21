import type { Loaded, LoadReport } from "@pi-agent/loader";
import { printWarning, toProblem } from "./print-error.ts";
import { reportFaults } from "./report-faults.ts";

/** Tells on standard error what a person has to know of a load, and from here on what extensions do wrong. */
export function reportLoad({ agent, report }: Loaded): void {
  reportProblems(report);
  reportHeld(report);
  reportFaults(agent);
}

/** Tells on standard error what went wrong, and what was left out. */
export function reportProblems(report: Pick<LoadReport, "problems">): void {
  for (const problem of report.problems) printWarning(toProblem(problem));
}

/** Tells on standard error, in one line, what of a project was not loaded. */
export function reportHeld(report: LoadReport): void {
  const held = report.heldLine();
  if (held !== undefined) process.stderr.write(`${held}\n`);
}
