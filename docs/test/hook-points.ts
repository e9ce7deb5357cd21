/** Reads the hook points off their types: what each tells, and what a handler may answer. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "oxc-parser";

const ROOT = join(import.meta.dirname, "../..");

export interface PointShape {
  way: string;
  event: string[];
  answer: string[];
}

interface Node {
  type: string;
  [key: string]: unknown;
}

/** Every point of every `interface HookPoints`, the kernel's and those that packages merge in, by name. */
export function readHookPoints(): Map<string, PointShape> {
  const paths = globSync("{kernel,loader,cli,extensions/*}/src/**/*.ts", { cwd: ROOT });
  const interfaces = paths.flatMap(readInterfaces);
  const byName = new Map(interfaces.map((each) => [nameOf(each.id), each]));
  const membersWithInherited = (each: Node): Node[] => {
    const above = (each.extends as Node[]).flatMap(({ expression }) => byName.get(nameOf(expression)) ?? []);
    return [...above.flatMap(membersWithInherited), ...membersOf(each)];
  };
  const fields = (type: Node | undefined): string[] => {
    if (type?.type === "TSTypeLiteral") return (type.members as Node[]).map(({ key }) => nameOf(key));
    if (type?.type === "TSIntersectionType" || type?.type === "TSUnionType") {
      return [...new Set((type.types as Node[]).flatMap(fields))];
    }
    const found = type?.type === "TSTypeReference" ? byName.get(nameOf(type.typeName)) : undefined;
    return found ? membersWithInherited(found).map(({ key }) => nameOf(key)) : [];
  };
  const points = interfaces.filter(({ id }) => nameOf(id) === "HookPoints").flatMap(membersOf);
  return new Map(
    points.map((point) => {
      const { typeAnnotation } = point.typeAnnotation as { typeAnnotation: Node };
      const [way, event, answer] = (typeAnnotation.typeArguments as { params: Node[] }).params;
      const { value } = way!.literal as Node;
      return [nameOf(point.key), { way: String(value), event: fields(event), answer: fields(answer) }];
    }),
  );
}

function readInterfaces(path: string): Node[] {
  const source = readFileSync(join(ROOT, path), "utf8");
  if (!source.includes("interface ")) return [];
  return interfacesIn(parseSync(path, source).program as unknown as Node);
}

function interfacesIn(node: Node): Node[] {
  if (node.type === "TSInterfaceDeclaration") return [node];
  const inside = [node.body, node.declaration].flat() as (Node | null | undefined)[];
  return inside.flatMap((each) => (each ? interfacesIn(each) : []));
}

function membersOf({ body }: Node): Node[] {
  return (body as { body: Node[] }).body;
}

function nameOf(node: unknown): string {
  const { name } = node as { name?: unknown };
  return typeof name === "string" ? name : "";
}
