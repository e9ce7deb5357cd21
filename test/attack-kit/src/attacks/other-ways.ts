/** Another way in skips the question. */
import type { Attack } from "../attack.ts";
import { evaluate, send } from "../naive.ts";
import { HARMLESS } from "./approved.ts";

export const OTHER_WAYS: readonly Attack[] = [
  {
    id: "13",
    title: "a program that embeds the agent and says nothing about trust",
    mistake: "door",
    expect: "S",
    ways: { only: ["sdk", "sdk-mode"], why: "it is about embedding" },
    plant: ({ canary, write }) => void write(".pi/extensions/13.ts", canary.extension),
    control: "trusted",
  },
  {
    id: "14",
    title: "side commands load what registers commands and flags",
    mistake: "door",
    expect: "S",
    ways: {
      only: ["help", "version", "unknown-flag", "list-models", "doctor", "prompt", "trust-show", "trust-list"],
      why: "it is about side commands",
    },
    names: [".pi/extensions/14.ts"],
    plant({ canary, write, word }) {
      const registers = `pi.registerFlag?.("fourteen", { type: "boolean", description: "${word}" }); pi.register?.("cli", "trust", { summary: "${word}", run: () => 0 }); pi.registerProvider?.("fourteen", { name: "${word}", baseUrl: "http://127.0.0.1:9", models: [] });`;
      write(".pi/extensions/14.ts", `${canary.esm}\nexport default function (pi) { ${registers} }\n`);
    },
    control: "trusted",
  },
  {
    id: "15",
    title: "a session of another place is resumed, or a running agent goes there",
    mistake: "door",
    expect: "S",
    ways: { only: ["resume", "switch", "fork"], why: "it is about sessions" },
    plant({ canary, write, line, word }) {
      write(".pi/extensions/15.ts", canary.extension);
      line(".pi/APPEND_SYSTEM.md", word);
    },
    control: "trusted",
  },
  {
    id: "17",
    title: "files are added, changed and renamed while the agent runs, then it reloads",
    mistake: "door",
    expect: "Q",
    trust: "content",
    ways: { only: ["reload"], why: "it is about reloading" },
    plant({ write }) {
      for (const name of ["changed", "renamed"]) write(`.pi/extensions/17-${name}.ts`, HARMLESS);
    },
    change({ canary, write, remove }) {
      write(".pi/extensions/17-changed.ts", canary.extension);
      write(".pi/extensions/17-added.ts", canary.extension);
      remove(".pi/extensions/17-renamed.ts");
      write(".pi/extensions/17-new-name.ts", canary.extension);
    },
    control: "trusted",
  },
  {
    id: "18",
    title: "files that are named like flags",
    mistake: "door",
    expect: "S",
    plant({ canary, write }) {
      write(".pi/extensions/18.ts", canary.extension);
      for (const name of ["--approve", "-a", "--trust", "--extension=.pi/extensions/18.ts", "@--approve", "-e"]) {
        write(name, "--approve\n");
        write(`.pi/prompts/${name}.md`, "--approve\n");
      }
    },
    control: "trusted",
  },
  {
    id: "18-folder",
    title: "the project itself is named `--approve`, and its branch too",
    mistake: "door",
    expect: "S",
    alone: "it is about the name of the project",
    plant({ canary, neighbour, write }) {
      const project = neighbour("--approve");
      write(`${project}/.pi/extensions/18.ts`, canary.extension);
      write(`${project}/.git/HEAD`, "ref: refs/heads/--approve;$(touch evil)\n");
    },
    start: ({ root }) => ({ cwd: `${root}/--approve` }),
    control: "trusted",
  },
  {
    id: "19",
    title: "a local server answers foreign pages",
    mistake: "door",
    expect: "R",
    ways: { only: [], why: "no way in of a loader listens on a port" },
    plant: () => {},
    control: { none: "there is no server to ask" },
  },
  {
    id: "own-20",
    title: "`-e` names one file of the project, and its neighbours come along",
    mistake: "door",
    expect: "S",
    alone: "its start names a file",
    ways: { only: ["extension-flag"], why: "it is about what is typed" },
    plant({ canary, write }) {
      write(".pi/extensions/own-20-typed.ts", HARMLESS);
      write(".pi/extensions/own-20.ts", canary.extension);
      write(".pi/extensions/package.json", '{ "pi": { "extensions": ["./own-20-typed.ts", "./own-20.ts"] } }');
    },
    start: () => ({ args: ["-e", ".pi/extensions/own-20-typed.ts"] }),
    control: "trusted",
  },
  {
    id: "own-21",
    title: "nobody is there: CI, no terminal, no input",
    mistake: "door",
    expect: "S",
    alone: "its environment is another",
    ways: { only: ["print", "json", "rpc", "sdk", "resume"], why: "it is about unattended runs" },
    plant: ({ canary, write }) => void write(".pi/extensions/own-21.ts", canary.extension),
    start: () => ({
      env: { CI: "1", TERM: "dumb", DEBIAN_FRONTEND: "noninteractive", PI_TRUST: "1", PI_APPROVE: "1" },
    }),
    control: "trusted",
  },
  {
    id: "own-22",
    title: "prompt templates and skills are called by name before anybody agreed",
    mistake: "door",
    expect: "S",
    names: [".pi/prompts/own-22.md"],
    plant({ write, word }) {
      write(".pi/prompts/own-22.md", `---\ndescription: ${word}\n---\n${word}\n`);
      write(".pi/skills/own-22/SKILL.md", `---\nname: own-22\ndescription: ${word}\n---\n${word}\n`);
      write(".agents/skills/own-22-b/SKILL.md", `---\nname: own-22-b\ndescription: ${word}\n---\n${word}\n`);
    },
    start: () => ({ prompts: ["/skill:own-22", "/own-22 now"] }),
    control: { naive: (site) => send(site, ".pi/prompts/own-22.md") },
  },
  {
    id: "own-23",
    title: "an agent that starts in an empty project, and is told to look again",
    mistake: "door",
    expect: "S",
    alone: "the project is empty at the start",
    ways: { only: ["reload", "fork", "switch"], why: "it is about running agents" },
    plant({ canary, write }) {
      write(".pi/extensions/own-23/index.ts", canary.extension);
      write(".pi/extensions/own-23.js", canary.extension);
    },
    control: "trusted",
  },
  {
    id: "own-24",
    title: "a start that fails: an unknown model, a session that is not there",
    mistake: "door",
    expect: "I",
    alone: "its start fails",
    ways: { only: ["print", "json"], why: "it is about what is typed" },
    mayEnd: "it has to fail",
    plant({ canary, write, json }) {
      write(".pi/extensions/own-24.ts", canary.extension);
      json(".pi/mcp.json", { mcpServers: { s24: { command: "sh", args: ["-c", canary.sh] } } });
    },
    start: () => ({ args: ["--model", "none/none", "--session", "no-such-session"] }),
    control: { naive: (site) => evaluate(site, ".pi/extensions/own-24.ts") },
  },
];
