import type { Flag } from "@pi-agent/kernel";

export const FLAGS: Readonly<Record<string, Flag>> = {
  continue: { type: "boolean", short: "c", description: "Go on with the newest session of this folder" },
  session: {
    type: "string",
    description: "Go on with a session: the path of its file, or its id or the beginning of it",
  },
  "session-id": { type: "string", description: "Use this id: go on with that session of this folder, or begin it" },
  "session-dir": { type: "string", description: "Keep and find sessions in this folder" },
  fork: {
    type: "string",
    description: "Go on with a copy of a session: the path of its file, its id or a part of its name",
  },
  resume: { type: "boolean", short: "r", description: "Choose a session to go on with" },
  "no-session": { type: "boolean", description: "Keep the session in memory only" },
  name: { type: "string", short: "n", description: "Name the session" },
};
