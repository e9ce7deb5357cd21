import type { Reporter, TestModule } from "vitest/node";

/** Ends a run with why tests were skipped, and the one line that a person and a machine read alike: `N passed, N failed`. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const results = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result()));
    const count = (state: string) => results.filter((each) => each.state === state).length;
    const brokenModules = modules.filter((module) => module.state() === "failed" && module.errors().length > 0);
    const failed = count("failed") + brokenModules.length + unhandledErrors.length;
    const notes = results.flatMap((each) => (each.state === "skipped" ? [each.note ?? "no reason given"] : []));
    const lines = [...new Set(notes)].map(
      (note) => `skipped: ${note} (${notes.filter((each) => each === note).length})`,
    );
    const skipped = notes.length > 0 ? `, ${notes.length} skipped` : "";
    lines.push("", `${count("passed")} passed, ${failed} failed${skipped}`);
    // Printed when everything else has been: the default reporter writes its own summary after this hook.
    process.once("exit", () => process.stdout.write(`\n${lines.join("\n")}\n`));
  }
}
