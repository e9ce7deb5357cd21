/** Takes a lease when it gets a line, says whether it got it, and holds it until its input ends. */
import { once } from "node:events";
import { Lease, takeLease } from "../src/lease.ts";

process.stdout.write("ready\n");
await once(process.stdin, "data");
const taken = takeLease(process.argv[2]!);
process.stdout.write(taken instanceof Lease ? "held\n" : `refused ${taken.holder.pid}\n`);
await once(process.stdin, "end");
