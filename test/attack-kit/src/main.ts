/** `pnpm attacks [id …]`: runs the kit against the built command of this repository, and prints the table. */
import { createHouseAdapter } from "./house-adapter.ts";
import { ATTACKS, countLine, drawTable, isFailure, listFailures, runAttacks, runControls } from "./index.ts";

const wanted = process.argv.slice(2);
const attacks = wanted.length > 0 ? ATTACKS.filter(({ id }) => wanted.includes(id)) : ATTACKS;
const adapter = createHouseAdapter();
try {
  const harmless = await runControls(adapter, { attacks });
  const cells = await runAttacks(adapter, { attacks });
  console.log(drawTable(adapter, attacks, cells));
  for (const { attack, why } of harmless)
    console.log(`${attack.id} leaves no mark where nothing is against it: ${why}`);
  for (const line of listFailures(cells)) console.log(line);
  console.log(`${harmless.length} of ${attacks.length} attacks without a positive control, ${countLine(cells)}`);
  if (harmless.length > 0 || cells.some(isFailure)) process.exitCode = 1;
} finally {
  await adapter.close?.();
}
