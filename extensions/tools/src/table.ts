import type { Tool } from "@pi-agent/kernel";
import { type BashOptions, createBashTool } from "./bash.ts";
import { createEditTool } from "./edit.ts";
import { createFindTool } from "./find.ts";
import type { RefusalOf } from "./gate.ts";
import { createGrepTool } from "./grep.ts";
import { createLsTool } from "./ls.ts";
import type { ToolsOptions } from "./options.ts";
import { createReadTool } from "./read.ts";
import { createWriteTool } from "./write.ts";

/** Makes the seven tools as an agent has them, in the order in which the model is told of them. */
export function createTools(options: ToolsOptions, bash: BashOptions, refusalOf?: RefusalOf): Tool[] {
  return [
    createReadTool(undefined, options.read),
    createBashTool(undefined, bash),
    createEditTool(undefined, { refusalOf }),
    createWriteTool(undefined, { refusalOf }),
    createGrepTool(undefined, options.grep),
    createFindTool(undefined, options.find),
    createLsTool(undefined, options.ls),
  ];
}
