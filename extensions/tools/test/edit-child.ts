import { createEditTool } from "../src/index.ts";

/** Adds one to the line of a name, many times: `node edit-child.ts <file> <name> <times>`. */
const [file = "", name = "", times = "0"] = process.argv.slice(2);
const edit = createEditTool("/");
const { signal } = new AbortController();
for (let count = 0; count < Number(times); count++) {
  const edits = [{ oldText: `${name}=${count};`, newText: `${name}=${count + 1};` }];
  const result = await edit.execute("id", { path: file, edits }, signal, () => undefined, {} as never);
  if (result.isError) throw new Error(JSON.stringify(result.content));
}
