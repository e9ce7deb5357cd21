/** The project's identity is spoofed. Each is another place than the one that was trusted. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Attack, TrustKind } from "../attack.ts";
import { evaluate } from "../naive.ts";
import type { Site } from "../site.ts";
import { HARMLESS, SEEN_FROM_INSIDE } from "./approved.ts";

interface Elsewhere {
  id: string;
  title: string;
  trust?: TrustKind;
  /** Makes the place that nobody was asked about; answers where it is. */
  place: (site: Site) => string;
  /** Where the agent starts. Default: the place. */
  cwd?: (site: Site) => string;
}

/** The project is trusted, and the start is in a place that is made to look like it or to belong to it. */
function elsewhere({ id, title, trust = "folder", place, cwd = place }: Elsewhere): Attack {
  return {
    id,
    title,
    mistake: "identity",
    expect: "Q",
    trust,
    alone: "it starts in another place",
    plant: ({ write }) => void write(".pi/extensions/known.ts", HARMLESS),
    change(site) {
      const folder = place(site);
      site.write(join(folder, ".pi/extensions/known.ts"), site.canary.extension);
      site.write(join(folder, ".pi/extensions/unknown.ts"), site.canary.extension);
    },
    start: (site) => ({ cwd: cwd(site) }),
    control: "trusted",
  };
}

const clone = (path: string) => (site: Site) => site.neighbour(join("project", path));
const beside = (path: string) => (site: Site) => site.neighbour(path);

export const SPOOFS_IDENTITY: readonly Attack[] = [
  elsewhere({ id: "26", title: "a clone inside of a trusted project", place: clone("vendor/evil") }),
  elsewhere({ id: "26-dependency", title: "a repository in node_modules", place: clone("node_modules/evil") }),
  elsewhere({
    id: "26-submodule",
    title: "a submodule of a trusted project",
    place(site) {
      const folder = site.folder("modules/evil");
      site.remove("modules/evil/.git");
      site.write("modules/evil/.git", "gitdir: ../../.git/modules/evil\n");
      return folder;
    },
  }),
  elsewhere({ id: "28-prefix", title: "a name that begins like a trusted one", place: beside("project-2") }),
  elsewhere({ id: "28-case", title: "a name in another case", place: beside("Project") }),
  elsewhere({ id: "28-space", title: "a name with a space at its end", place: beside("project ") }),
  elsewhere({ id: "28-dot", title: "a name with a dot at its end", place: beside("project.") }),
  elsewhere({
    id: "28-link",
    title: "a link to a trusted project is led elsewhere",
    place: beside("evil"),
    cwd(site) {
      site.remove(join(site.root, "link"));
      site.link(join(site.root, "link"), site.neighbour("evil"));
      return join(site.root, "link");
    },
  }),
  {
    ...elsewhere({
      id: "28-unicode",
      title: "a name that is spelled by other characters",
      place: beside("e\u0301t\u00e9"),
    }),
    plant({ neighbour, write }) {
      write(join(neighbour("\u00e9te\u0301"), ".pi/extensions/known.ts"), HARMLESS);
    },
    answeredAt: ({ root }) => join(root, "\u00e9te\u0301"),
  },
  elsewhere({
    id: "29",
    title: "`pro_ject` beside `pro-ject`, whose records must not be one",
    place: beside("project_"),
  }),
  elsewhere({ id: "29-slash", title: "`root__project` beside `root/project`", place: beside("elsewhere__project") }),
  {
    id: "30",
    title: "the trusted folder is deleted, and another put in its place",
    mistake: "identity",
    expect: "Q",
    trust: "content",
    alone: "the project is replaced as a whole",
    plant: ({ write }) => void write(".pi/extensions/known.ts", HARMLESS),
    change({ remove, neighbour, write, canary }) {
      remove("");
      neighbour("project");
      write(".pi/extensions/known.ts", canary.extension);
    },
    control: "trusted",
  },
  elsewhere({
    id: "own-40",
    title: "a worktree that says it belongs to a trusted repository",
    place(site) {
      const folder = site.folder(join(site.root, "worktree"));
      site.write(".git/worktrees/evil/HEAD", "ref: refs/heads/evil\n");
      site.write(join(folder, ".git"), `gitdir: ${site.project}/.git/worktrees/evil\n`);
      return folder;
    },
  }),
  elsewhere({
    id: "own-41",
    title: "`.git` is a link to that of a trusted project",
    place(site) {
      const folder = site.folder(join(site.root, "evil"));
      site.remove(join(folder, ".git"));
      site.link(join(folder, ".git"), join(site.project, ".git"));
      return folder;
    },
  }),
  elsewhere({
    id: "own-42",
    title: "`.git` is a pipe",
    place(site) {
      const folder = site.folder("inner");
      site.remove("inner/.git");
      site.pipe("inner/.git");
      return folder;
    },
  }),
  elsewhere({
    id: "own-43",
    title: "the start is reached by dots, slashes and /proc",
    place: beside("evil"),
    cwd: (site) => `/proc/self/root${site.neighbour("evil")}//./../evil`,
  }),
  elsewhere({
    id: "own-44",
    title: "a repository inside of the agent directory",
    place: (site) => site.neighbour(join(site.agentDir, "git/evil")),
  }),
  {
    id: "own-45",
    title: "the home directory is a repository, its agent directory a part of it",
    mistake: "identity",
    expect: "S",
    alone: "it starts at home",
    ways: SEEN_FROM_INSIDE,
    mayEnd: "the person's own models are a part of the project",
    plant({ neighbour, write, agentDir, home, canary }) {
      neighbour("home");
      write(join(agentDir, "extensions/own-45.ts"), canary.extension);
      write(join(home, ".pi/extensions/own-45.ts"), canary.extension);
    },
    start: ({ home }) => ({ cwd: home }),
    control: { naive: (site) => evaluate(site, join(site.home, ".pi/extensions/own-45.ts")) },
  },
  {
    id: "own-46",
    title: "a parent was trusted as a folder, not as all that is below it",
    mistake: "identity",
    expect: "Q",
    trust: "folder",
    alone: "it starts below",
    plant: ({ write, remove }) => {
      remove(".git");
      write(".pi/extensions/known.ts", HARMLESS);
    },
    change: ({ write, canary }) => void write("sub/.pi/extensions/own-46.ts", canary.extension),
    start({ project }) {
      mkdirSync(join(project, "sub"), { recursive: true });
      return { cwd: join(project, "sub") };
    },
    control: "trusted",
  },
  {
    id: "32",
    title: "manifests name files outside: absolute, by dots, by URL, encoded, with backslashes, bare",
    mistake: "identity",
    expect: "R",
    trust: "content",
    plant({ canary, write, json, outside }) {
      const evil = write(join(outside, "evil.ts"), canary.extension);
      write(join(outside, "node_modules/evil-package/index.js"), canary.extension);
      const entries = [
        evil,
        `file://${evil}`,
        "../../../../outside/32/evil.ts",
        "%2e%2e/%2e%2e/evil.ts",
        "..\\..\\evil.ts",
      ];
      for (const [index, entry] of [
        ...entries,
        "./a/../../../../../outside/32/evil.ts",
        "evil-package",
        "~/evil.ts",
        "./evil.ts\u0000.js",
      ].entries())
        json(`.pi/extensions/32-${index}/package.json`, {
          pi: { extensions: [entry], skills: [entry], prompts: [entry] },
        });
      json(".pi/settings.json", {
        extensions: [evil, "../../outside/32/evil.ts", `+${evil}`],
        skills: [outside],
        prompts: [outside],
      });
    },
    control: { naive: (site) => evaluate(site, join(site.outside, "evil.ts")) },
  },
  {
    id: "own-47",
    title: "extensions, their folders and their parts are links that leave the project",
    mistake: "identity",
    expect: "R",
    trust: "content",
    plant({ canary, write, link, outside }) {
      write(join(outside, "index.ts"), canary.extension);
      link(".pi/extensions/own-47", outside);
      link(".pi/extensions/own-47-file.ts", join(outside, "index.ts"));
      write(".pi/extensions/own-47-part/index.ts", 'import evil from "./part.ts";\nexport default evil;\n');
      link(".pi/extensions/own-47-part/part.ts", join(outside, "index.ts"));
      link(".pi/extensions/own-47-entry/index.ts", join(outside, "index.ts"));
    },
    control: { naive: (site) => evaluate(site, ".pi/extensions/own-47/index.ts") },
  },
];
