/** What a scan stumbles over before the question: pipes, devices, sizes, depths, loops. */
import { closeSync, ftruncateSync, openSync } from "node:fs";
import type { Attack } from "../attack.ts";
import { evaluate, markIfEndless } from "../naive.ts";

const ENDLESS = 1 << 30;

export const DENIES_SERVICE: readonly Attack[] = [
  {
    id: "47",
    title: "the settings file is a pipe",
    mistake: "before",
    expect: "R",
    alone: "there is one settings file",
    plant: ({ pipe }) => pipe(".pi/settings.json"),
    control: { naive: (site) => markIfEndless(site, "cat .pi/settings.json") },
  },
  {
    id: "47-texts",
    title: "texts are pipes, devices and folders",
    mistake: "before",
    expect: "R",
    plant({ pipe, link, folder }) {
      pipe(".pi/prompts/47.md");
      pipe(".pi/extensions/47-pipe/index.ts");
      pipe(".pi/extensions/47-manifest/package.json");
      pipe(".pi/skills/47-a/SKILL.md");
      link(".pi/prompts/47-zero.md", "/dev/zero");
      link(".pi/extensions/47-tty.ts", "/dev/tty");
      folder(".pi/prompts/47-folder.md");
      folder(".pi/skills/47-b/SKILL.md");
    },
    control: { naive: (site) => markIfEndless(site, "cat .pi/prompts/47.md") },
  },
  {
    id: "47-context",
    title: "context files are a pipe, a folder and four gigabytes",
    mistake: "before",
    expect: "R",
    alone: "there is one context file",
    plant({ pipe, folder, at }) {
      pipe("AGENTS.override.md");
      folder("AGENTS.md");
      makeSparse(at("CLAUDE.md"));
    },
    control: { naive: (site) => markIfEndless(site, "cat AGENTS.override.md") },
  },
  {
    id: "47-size",
    title: "an extension, a prompt and a skill's data are four gigabytes",
    mistake: "before",
    expect: "R",
    plant({ at, write }) {
      write(".pi/extensions/47-size/index.ts", "export default () => {};\n");
      write(".pi/skills/47-size/SKILL.md", "---\nname: size\ndescription: large\n---\n");
      write(".pi/prompts/47-size.md", "");
      makeSparse(at(".pi/extensions/47-size/data.ts"));
      makeSparse(at(".pi/skills/47-size/data.bin"));
      makeSparse(at(".pi/prompts/47-size.md"));
      makeSparse(at(".pi/extensions/47-size.ts"));
    },
    control: { none: "that nothing reads four gigabytes is seen by the time that the start takes" },
  },
  {
    id: "47-tree",
    title: "a tree of 200 folders, links in circles, and one that leads to the root of the disk",
    mistake: "before",
    expect: "R",
    plant({ write, link }) {
      const deep = Array.from({ length: 200 }, () => "d").join("/");
      write(`.pi/skills/47-tree/${deep}/SKILL.md`, "---\nname: deep\ndescription: deep\n---\n");
      write(".pi/extensions/47-tree/index.ts", "export default () => {};\n");
      link(".pi/extensions/47-tree/loop", "..");
      link(".pi/extensions/47-loop", "47-loop");
      link(".pi/skills/47-root", "/");
      link(".pi/skills/47-up", "../../..");
    },
    control: { none: "that nobody walks in circles is seen by the end of the start" },
  },
  {
    id: "47-count",
    title: "5,000 extensions",
    mistake: "before",
    expect: "S",
    alone: "the list of others would not be seen among them",
    plant({ canary, write }) {
      for (let index = 0; index < 5_000; index++) write(`.pi/extensions/47-${index}.ts`, canary.extension);
    },
    judge: ({ outcome }) => (outcome.stderr.length > 100_000 ? "it floods the terminal" : undefined),
    control: { naive: (site) => evaluate(site, ".pi/extensions/47-4999.ts") },
  },
  {
    id: "47-patterns",
    title: "patterns and front matter that take for ever to match",
    mistake: "before",
    expect: "S",
    alone: "it switches off what others plant",
    plant({ canary, write, json }) {
      const bomb = `!${"*a".repeat(40)}*b`;
      write(`.pi/extensions/${"a".repeat(120)}.ts`, canary.extension);
      json(".pi/settings.json", {
        extensions: [bomb, `!${"{a,b}".repeat(24)}`, `!${"+(a|aa)".repeat(20)}`],
        skills: [bomb],
      });
      const alias = Array.from(
        { length: 24 },
        (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}, *a${at}, *a${at}]`,
      );
      write(".pi/skills/47-p/SKILL.md", `---\na0: &a0 [x]\n${alias.join("\n")}\nname: x\ndescription: x\n---\n`);
      write(".pi/.gitignore", `${"**/".repeat(40)}${"a*".repeat(40)}b\n`);
    },
    control: { naive: (site) => evaluate(site, `.pi/extensions/${"a".repeat(120)}.ts`) },
  },
  {
    id: "own-10",
    title: "`.pi` is a file",
    mistake: "before",
    expect: "R",
    alone: "there is one `.pi`",
    plant: ({ write, canary }) => void write(".pi", canary.program, 0o755),
    control: { none: "a file holds no resources" },
  },
  {
    id: "own-11",
    title: "`.pi` is a link to a folder outside",
    mistake: "before",
    expect: "R",
    alone: "there is one `.pi`",
    plant({ write, link, outside, canary }) {
      write(`${outside}/pi/extensions/own-11.ts`, canary.extension);
      link(".pi", `${outside}/pi`);
    },
    control: { naive: (site) => evaluate(site, ".pi/extensions/own-11.ts") },
  },
  {
    id: "own-12",
    title: "`.pi` is a pipe, and so is `.agents`",
    mistake: "before",
    expect: "R",
    alone: "there is one `.pi`",
    plant({ pipe }) {
      pipe(".pi");
      pipe(".agents");
    },
    control: { naive: (site) => markIfEndless(site, "cat .pi") },
  },
  {
    id: "own-13",
    title: "a JSON file of a hundred thousand brackets",
    mistake: "before",
    expect: "S",
    alone: "there is one settings file",
    plant({ write, canary }) {
      write(".pi/extensions/own-13.ts", canary.extension);
      write(".pi/settings.json", `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`);
      write(".pi/extensions/own-13-b/package.json", `{"pi":${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}}`);
    },
    control: "trusted",
  },
];

/** A file that claims four gigabytes and takes none. */
function makeSparse(path: string): void {
  const file = openSync(path, "w");
  ftruncateSync(file, 4 * ENDLESS);
  closeSync(file);
}
