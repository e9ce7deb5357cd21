// Plain JavaScript, for processes that run built code.
/** Notes the process's own CPU time at each request that it makes, and leaves the milliseconds in PI_BENCH_CPU_FILE. */
import { subscribe } from "node:diagnostics_channel";
import { writeFileSync } from "node:fs";

const marks = [];
subscribe("undici:request:create", () => {
  const { user, system } = process.cpuUsage();
  marks.push((user + system) / 1_000);
});
process.once("exit", () => writeFileSync(process.env.PI_BENCH_CPU_FILE, JSON.stringify(marks)));
