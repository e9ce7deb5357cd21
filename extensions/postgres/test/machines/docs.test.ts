/** The SQL that docs/persistence.md shows is run. */
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { DATABASES } from "../databases.ts";
import { writeRuns } from "../runs/sample-run.ts";

const DOCS = new URL("../../../../docs/persistence.md", import.meta.url);
const ID = "0192f0c1-7a2b-7000-8000-000000000001";

test.each(DATABASES.filter(({ isMissing }) => !isMissing))(
  "every statement in docs/persistence.md runs on an $kind database",
  async ({ create }) => {
    const statements = [...(await readFile(DOCS, "utf8")).matchAll(/```sql\n(.*?)```/gs)].map(([, sql = ""]) => sql);
    expect(statements.length).toBeGreaterThan(3);
    const place = await create();
    const db = await place.open();
    await writeRuns(db, [{ id: ID, status: "done" }]);
    const answers = [];
    for (const sql of statements) answers.push(await db.query(sql));
    expect(answers[0]).toEqual([expect.objectContaining({ host: "box", runs: 1, dollars: 0.0123 })]);
    expect(answers[1]).toEqual([{ tool: "look", calls: 1, failed: 0 }]);
    await db.close();
    await place.dispose();
  },
  60_000,
);
