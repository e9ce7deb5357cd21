/** Collects the error codes that the sources raise, by reading them. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "oxc-parser";

const ROOT = join(import.meta.dirname, "../..");

export interface ErrorCodes {
  /** By package folder, such as `kernel` or `extensions/tools`: the codes, each with the files that raise it. */
  byPackage: Map<string, Map<string, string[]>>;
  /** Places that raise a code which cannot be read off them, and which does not come from another error either. */
  unreadable: string[];
}

interface Node {
  type: string;
  [key: string]: unknown;
}

/** Reads every source of kernel, loader, cli and extensions. */
export function collectErrorCodes(): ErrorCodes {
  const sources = globSync("{kernel,loader,cli,extensions/*}/src/**/*.ts", { cwd: ROOT }).toSorted();
  const trees = new Map(sources.map((path) => [path, parse(path)]));
  const makers = new Set([...trees.values()].flatMap((tree) => nodesIn(tree).flatMap(makersIn)));
  const found: ErrorCodes = { byPackage: new Map(), unreadable: [] };
  for (const [path, tree] of trees) {
    const nodes = nodesIn(tree);
    // An error whose text is read on the spot is not raised.
    const unraised = new Set(nodes.map((node) => (nameOf(node.property) === "message" ? node.object : undefined)));
    for (const node of nodes) {
      const first = unraised.has(node) ? undefined : codeArgument(node, makers);
      if (!first) continue;
      const { codes, isPassedOn } = readCode(first, nodes);
      for (const code of codes) note(found, path, code);
      if (codes.length === 0 && !isPassedOn) found.unreadable.push(path);
    }
  }
  return found;
}

function note({ byPackage }: ErrorCodes, path: string, code: string): void {
  const folder = path.slice(0, path.indexOf("/src/"));
  const codes = byPackage.get(folder) ?? new Map<string, string[]>();
  byPackage.set(folder, codes.set(code, [...(codes.get(code) ?? []), path]));
}

function parse(path: string): Node {
  return parseSync(path, readFileSync(join(ROOT, path), "utf8")).program as unknown as Node;
}

function nodesIn(node: Node): Node[] {
  const inside = Object.values(node).flatMap((value) => (Array.isArray(value) ? value : [value]));
  return [node, ...inside.filter(isNode).flatMap(nodesIn)];
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node).type === "string";
}

/** The names of functions and error classes whose first parameter is a `code`. */
function makersIn(node: Node): string[] {
  const takesCode = ({ params }: Node) => nameOf((params as Node[])[0]) === "code";
  if (node.type === "FunctionDeclaration" && takesCode(node)) return [nameOf(node.id as Node)];
  if (node.type !== "ClassDeclaration" || !node.superClass) return [];
  const isMaker = nodesIn(node.body as Node).some(
    (member) => member.type === "MethodDefinition" && member.kind === "constructor" && takesCode(member.value as Node),
  );
  return isMaker ? [nameOf(node.id as Node)] : [];
}

/** The first argument of `new Maker(…)`, `maker(…)` and `pi.error(…)`. */
function codeArgument({ type, callee, arguments: args }: Node, makers: ReadonlySet<string>): Node | undefined {
  if (type !== "NewExpression" && type !== "CallExpression") return undefined;
  const { object, property } = callee as Node;
  const isMaker = makers.has(nameOf(callee as Node)) || (nameOf(object) === "pi" && nameOf(property) === "error");
  return isMaker ? (args as Node[])[0] : undefined;
}

/** The texts that an expression, or the constant of that name, can be; or it hands on the code of another error. */
function readCode(argument: Node, nodes: readonly Node[]): { codes: string[]; isPassedOn: boolean } {
  const constants = nodes.filter(
    ({ type, id }) => type === "VariableDeclarator" && nameOf(id) && nameOf(id) === nameOf(argument),
  );
  const values = [argument, ...constants.map(({ init }) => init as Node)].flatMap((value) =>
    value?.type === "ConditionalExpression" ? [value.consequent as Node, value.alternate as Node] : [value],
  );
  const codes = values.flatMap((node) => (typeof node?.value === "string" ? [node.value] : []));
  const isPassedOn = nodesIn(argument).some((node) => /^(?:code|errorCode)$/.test(nameOf(node)));
  return { codes, isPassedOn };
}

function nameOf(node: unknown): string {
  const { name } = (node ?? {}) as { name?: unknown };
  return typeof name === "string" ? name : "";
}
