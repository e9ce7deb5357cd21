/**
 * The load closure of an executable: what loading it runs, wherever in the project that lies.
 *
 *   entry ─► its folder's own files, where it has one ─► what they import ─► what those import, dependencies too
 *
 * 1. An own file is any in the folder but what lies under `node_modules` or `.git`; each counts, imported or not.
 * 2. Imports are looked for where the importer would look (`ModuleResolver`); package.json files that decide, and links
 *    on the way, count too.
 * 3. What is read counts, and what counts is read: its bytes, once.
 * 4. What does not count does not load, unless the decision holds for the folder whatever it becomes.
 */
import { type ProjectView, Refusal } from "./file-view.ts";
import { type Reading, readImports, UNKNOWNS } from "./import-reader.ts";
import { isLent } from "./lent.ts";
import { listMembers, MAX_BYTES, MAX_FILES, readLink, readMember, readWithin } from "./members.ts";
import { createTrace, isDependency, ModuleResolver, type Request } from "./module-resolver.ts";
import { lookAt } from "./places.ts";
import { belowBoundary, type Member } from "./plan.ts";

export interface Closure {
  members: Member[];
  /** What loading it may reach beyond its members, worded to follow "not covered: ". */
  uncovered: string[];
}

// Larger files are data, or bundles that bring along what they need.
const MAX_CODE_BYTES = 2 << 20;
const UNREAD: Reading = { requests: [], unknowns: new Map([["large", 1]]) };
const CODE = /\.[cm]?[jt]sx?$/;
// What is imported by any other name is evaluated as code.
const NO_CODE = /\.(?:json|node|wasm)$/;
const NOT_OWN = new Set(["node_modules", ".git"]);
// More lines than this nobody reads.
const MAX_LINES = 20;
const MAX_WORDS = 200;

/** Reads load closures in one project; what several share is looked at once. */
export class ClosureReader {
  readonly view: ProjectView;
  readonly boundary: string;
  readonly resolver: ModuleResolver;
  private readonly readings = new Map<string, Reading>();

  constructor(view: ProjectView, boundary: string) {
    this.view = view;
    this.boundary = boundary;
    this.resolver = new ModuleResolver(view, boundary);
  }

  /** Reads what belongs to the executable at `entry`; `root` is its folder, or the entry itself. Fails with a `Refusal`. */
  read(entry: string, root: string): Closure {
    return new Walk(this, entry, root).go();
  }

  importsOf({ path, content }: Member): Reading {
    let reading = this.readings.get(path);
    if (!reading) {
      this.view.assertTimeLeft();
      reading = content.length > MAX_CODE_BYTES ? UNREAD : readImports(content.toString("utf8").replace(/^\uFEFF/, ""));
      this.readings.set(path, reading);
    }
    return reading;
  }
}

class Walk {
  private readonly from: ClosureReader;
  private readonly entry: string;
  private readonly root: string;
  private readonly members = new Map<string, Member>();
  private readonly queue: Member[] = [];
  private readonly queued = new Set<string>();
  private readonly lines = { own: new Map<string, string>(), others: new Map<string, string>() };
  private own: Member[] = [];
  private imported = { files: 0, bytes: 0 };

  constructor(from: ClosureReader, entry: string, root: string) {
    this.from = from;
    this.entry = entry;
    this.root = root;
  }

  go(): Closure {
    const { view } = this.from;
    if (this.root !== this.entry) this.readOwn();
    this.follow(this.members.get(this.entry) ?? this.add(readMember(view, this.entry)));
    for (let member = this.queue.shift(); member; member = this.queue.shift()) this.readImportsOf(member);
    const lines = [...this.lines.own.values(), ...this.lines.others.values()];
    const more = lines.length > MAX_LINES ? [`and ${lines.length - MAX_LINES} more`] : [];
    return { members: [...this.members.values()], uncovered: [...lines.slice(0, MAX_LINES), ...more] };
  }

  private readOwn(): void {
    const { view } = this.from;
    const { paths, excess } = listMembers(view, this.root, (name) => NOT_OWN.has(name));
    if (excess !== undefined) this.lines.own.set("rest", `what else is in its folder, which ${excess}`);
    else this.own = paths.map((path) => this.add(readWithin(view, this.root, path)));
  }

  private readImportsOf(member: Member): void {
    const { requests, unknowns } = this.from.importsOf(member);
    for (const [unknown, line] of unknowns) this.note(member.path, { what: UNKNOWNS[unknown], line });
    for (const { line, ...request } of requests) this.take({ ...request, from: member.path }, line);
    // A computed name may find any of them.
    if (unknowns.has("computed") && !isDependency(member.path))
      for (const each of this.own.filter(({ path }) => CODE.test(path))) this.follow(each);
  }

  private take(request: Request, line: number): void {
    const { specifier, from } = request;
    if (isLent(specifier)) return;
    this.from.view.assertTimeLeft();
    const trace = createTrace();
    const found = naming(request, () => this.from.resolver.resolve(request, trace));
    const { view } = this.from;
    const isNew = (path: string) => !this.members.has(path);
    for (const path of [...trace.links].filter(isNew)) this.add(readLink(view, path));
    for (const path of [...trace.manifests].filter(isNew)) this.add(readMember(view, path));
    if (found && "outside" in found)
      this.note(from, { what: `${specifier}, from outside the project`, line }, specifier);
    if (!found || !("path" in found)) return;
    const member = this.members.get(found.path) ?? this.import(request, found.path);
    if (member) this.follow(member);
  }

  /** Reads a file that is imported; `undefined` when there are too many. */
  private import(request: Request, path: string): Member | undefined {
    const { imported } = this;
    const bytes = imported.bytes + (lookAt(path)?.size ?? 0);
    if (imported.files === MAX_FILES || bytes > MAX_BYTES) {
      const most = `${MAX_FILES} files or ${MAX_BYTES >> 20} MB`;
      this.lines.own.set("imports", `what it imports beyond ${most}, which does not load`);
      return undefined;
    }
    this.imported = { files: imported.files + 1, bytes };
    return this.add(naming(request, () => readMember(this.from.view, path)));
  }

  private add(member: Member): Member {
    this.members.set(member.path, member);
    return member;
  }

  private follow(member: Member): void {
    if (this.queued.has(member.path) || member.type === "link" || NO_CODE.test(member.path)) return;
    this.queued.add(member.path);
    this.queue.push(member);
  }

  private note(path: string, { what, line }: { what: string; line: number }, key = `${what} ${path}`): void {
    const lines = isDependency(path) ? this.lines.others : this.lines.own;
    const text = what.length > MAX_WORDS ? `${what.slice(0, MAX_WORDS)}…` : what;
    if (!lines.has(key)) lines.set(key, `${text} (${belowBoundary(this.from.boundary, path)}:${line})`);
  }
}

/** Says which import a refusal is about. */
function naming<T>({ specifier, from }: Request, look: () => T): T {
  try {
    return look();
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    throw new Refusal(`imports ${specifier} (in ${from}), which ${thrown.message}`, { cause: thrown });
  }
}
