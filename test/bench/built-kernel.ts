import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Rolldown } from "tsdown";

export const KERNEL = join(import.meta.dirname, "..", "..", "kernel", "src");

/** Bundles and minifies the kernel as the command does, with typebox or without; answers the code. */
export async function bundleKernel({ typebox }: { typebox: boolean }): Promise<string> {
  const { output } = await Rolldown.build({
    input: join(KERNEL, "index.ts"),
    platform: "node",
    external: typebox ? [/^node:/] : [/^node:/, /^typebox/],
    output: { format: "esm", minify: true, codeSplitting: false },
    write: false,
  });
  return output[0].code;
}

/** Calls `use` with the path of a built kernel that is gone afterwards. */
export async function withBuiltKernel<T>(use: (file: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "pi-bench-kernel-"));
  try {
    const file = join(folder, "kernel.mjs");
    writeFileSync(file, await bundleKernel({ typebox: true }));
    return await use(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
