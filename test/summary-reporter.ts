import type { Reporter, TestModule } from "vitest/node";

/** Ends a run with the one line that a person and a machine read alike: `N passed, N failed`. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const states = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => test.result().state),
    );
    const count = (state: string) => states.filter((each) => each === state).length;
    const brokenModules = modules.filter(
      (module) => module.state() === "failed" && module.errors().length > 0,
    );
    const failed = count("failed") + brokenModules.length + unhandledErrors.length;
    const skipped = count("skipped");
    // Printed when everything else has been: the default reporter writes its own summary after this hook.
    process.once("exit", () => {
      process.stdout.write(
        `\n${count("passed")} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`,
      );
    });
  }
}
