// Plain JavaScript, for processes that run built code.
/** Leaves the most memory that the process had at a time, in megabytes, in PI_BENCH_MEMORY_FILE. */
import { writeFileSync } from "node:fs";

const { PI_BENCH_MEMORY_FILE } = process.env;
process.once("exit", () => writeFileSync(PI_BENCH_MEMORY_FILE, String(process.resourceUsage().maxRSS / 1024)));
