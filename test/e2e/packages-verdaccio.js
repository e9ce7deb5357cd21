/**
 * A real registry on loopback, told where to listen by its parent:
 *
 *   node packages-verdaccio.js <config as JSON>      prints its address when it listens
 */
import { runServer } from "verdaccio";

const app = await runServer(JSON.parse(process.argv[2]));
// Whoever packs for seconds between two requests would write into a connection that is being closed.
app.keepAliveTimeout = 0;
app.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${app.address().port}\n`));
// It ends with its parent, however that ends.
process.stdin.resume().on("end", () => process.exit());
