/** A process that opens a database and brings its schema up to date, as every start does. */
import { migrate } from "../../src/migrations.ts";
import { openServer } from "../../src/server.ts";

const [, , url = "", schema = "pi_agent"] = process.argv;
const db = await openServer(url);
await migrate(db, schema);
await db.close();
