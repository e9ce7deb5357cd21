import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Adapter, SettingValues } from "./adapter.ts";
import { type Listener, startListener } from "./listener.ts";
import { type ModelServer, startModelServer } from "./model-server.ts";
import { makeRepository } from "./site.ts";

/** A project, a home, a place elsewhere, a model and a stranger's server, for one start. */
export interface World {
  /** Real. */
  root: string;
  project: string;
  home: string;
  agentDir: string;
  elsewhere: string;
  /** The file that canaries mark. */
  marks: string;
  /** The settings that the loader knows. */
  settings(values: SettingValues): Record<string, unknown>;
  /** A secret of the person's, in the environment. */
  secret: string;
  listener: Listener;
  model: ModelServer;
  close(): Promise<void>;
}

/** Makes a world for a loader. */
export async function makeWorld({
  agentDir = ".pi/agent",
  settings = () => ({}),
}: Pick<Adapter, "agentDir" | "settings">): Promise<World> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "attack-kit-")));
  const home = join(root, "home");
  const world = {
    root,
    home,
    settings,
    project: join(root, "project"),
    agentDir: join(home, agentDir),
    elsewhere: join(root, "elsewhere"),
    marks: join(root, "canary", "ran"),
    secret: `canary-key-${root.slice(-6)}`,
  };
  for (const folder of [world.project, world.agentDir, world.elsewhere, join(root, "canary")]) {
    mkdirSync(folder, { recursive: true });
  }
  makeRepository(world.project);
  makeRepository(world.elsewhere);
  const [listener, model] = await Promise.all([startListener(), startModelServer()]);
  return {
    ...world,
    listener,
    model,
    async close() {
      await Promise.all([listener.close(), model.close()]);
      rmSync(root, { recursive: true, force: true });
    },
  };
}
