/**
 * The screen of `pi config`. What is pressed is done one after the other, and each change is saved at once.
 *
 *   keys ─► move │ turn, saved ─► packages read anew │ other scope ─► drawn ─► … ─► done
 */
import { emitKeypressEvents, type Key } from "node:readline";
import { isAgentError } from "@pi-agent/kernel";
import { findInstalled, type PackageContext, type PackageScope, scopeOf, turnResource } from "@pi-agent/loader";
import { type ConfigView, drawView, listChoices, move } from "./config-view.ts";
import { wordTurned } from "./word-package.ts";

export interface ConfigStreams {
  input: NodeJS.ReadStream;
  output: NodeJS.WriteStream;
}

export interface ConfigOptions {
  context: PackageContext;
  scope: PackageScope["name"];
  /** Why the project cannot be switched to. */
  projectFault?: string;
  signal: AbortSignal;
}

/** How it ended, and what was changed: in which scopes, and a line for each change. */
export interface ConfigEnd {
  how: "done" | "interrupted";
  changed: ReadonlySet<PackageScope["name"]>;
  changes: readonly string[];
}

const ENTER_SCREEN = "\u001b[?1049h\u001b[?25l";
const LEAVE_SCREEN = "\u001b[?25h\u001b[?1049l";
const HOME = "\u001b[H";
const CLEAR_LINE = "\u001b[K";
const CLEAR_BELOW = "\u001b[J";
const PAGE = 10;
const MOVES: Readonly<Record<string, number>> = { up: -1, k: -1, down: 1, j: 1, pageup: -PAGE, pagedown: PAGE };
const ENDS = new Set(["return", "enter", "escape", "q"]);
const USUAL_SIZE = { rows: 24, columns: 80 };

/** Lets a person turn resources on and off until they are done. Fails as reading packages does. */
export async function showConfig({ input, output }: ConfigStreams, options: ConfigOptions): Promise<ConfigEnd> {
  const screen = new ConfigScreen(options, output);
  await screen.read();
  const { promise: ended, resolve: end, reject: fail } = Promise.withResolvers<ConfigEnd["how"]>();
  let last: Promise<unknown> = Promise.resolve();
  const onKey = (_: string | undefined, { name = "", ctrl }: Key) => {
    if (ctrl && name === "c") end("interrupted");
    else if (ENDS.has(name)) end("done");
    else {
      last = last.then(() => screen.press(name));
      last.catch(fail);
    }
  };
  const onResize = () => screen.draw();
  const leave = () => {
    input.off("keypress", onKey).pause().setRawMode(false);
    output.off("resize", onResize);
    screen.leave();
  };
  // The process may end before what was pressed is done.
  const onSignal = () => {
    leave();
    end("interrupted");
  };
  emitKeypressEvents(input);
  input.setRawMode(true).on("keypress", onKey).resume();
  output.on("resize", onResize);
  options.signal.addEventListener("abort", onSignal, { once: true });
  try {
    screen.enter();
    const how = await ended;
    await last;
    return { how, changed: screen.changed, changes: [...screen.changes.values()] };
  } finally {
    options.signal.removeEventListener("abort", onSignal);
    leave();
  }
}

class ConfigScreen {
  readonly changed = new Set<PackageScope["name"]>();
  /** The last one for each resource. */
  readonly changes = new Map<string, string>();
  private readonly options: ConfigOptions;
  private readonly output: NodeJS.WriteStream;
  private view: ConfigView;
  private isShown = false;

  constructor(options: ConfigOptions, output: NodeJS.WriteStream) {
    this.options = options;
    this.output = output;
    this.view = { scope: options.scope, packages: [], chosen: 0, note: "" };
  }

  /** Reads the packages of the scope anew. */
  async read(): Promise<void> {
    const { context } = this.options;
    this.view.packages = await findInstalled(context, scopeOf(context, this.view.scope));
  }

  async press(name: string): Promise<void> {
    const by = MOVES[name];
    this.view.note = "";
    if (by !== undefined) this.view.chosen = move(this.view, by);
    else if (name === "space") await this.turn();
    else if (name === "tab") await this.switchScope();
    this.draw();
  }

  enter(): void {
    this.isShown = true;
    this.output.write(ENTER_SCREEN);
    this.draw();
  }

  leave(): void {
    if (this.isShown) this.output.write(LEAVE_SCREEN);
    this.isShown = false;
  }

  draw(): void {
    if (!this.isShown) return;
    const { rows, columns } = this.output;
    const size = { rows: rows || USUAL_SIZE.rows, columns: columns || USUAL_SIZE.columns };
    const lines = drawView(this.view, size).map((line) => `${line}${CLEAR_LINE}`);
    this.output.write(`${HOME}${lines.join("\r\n")}${CLEAR_BELOW}`);
  }

  private async turn(): Promise<void> {
    const { view, options } = this;
    const { scope } = view;
    const choice = listChoices(view)[view.chosen];
    if (!choice) return;
    const { of, list, path, isOn } = choice;
    try {
      await turnResource(options.context, { scope, identity: of.identity, list, path, on: !isOn });
      this.changed.add(scope);
      this.changes.set(`${scope} ${of.identity} ${path}`, wordTurned(of, path, !isOn));
      await this.read();
    } catch (thrown) {
      if (!isAgentError(thrown)) throw thrown;
      view.note = thrown.message;
    }
  }

  private async switchScope(): Promise<void> {
    const { view, options } = this;
    if (view.scope === "user" && options.projectFault !== undefined) {
      view.note = options.projectFault;
      return;
    }
    view.scope = view.scope === "user" ? "project" : "user";
    view.chosen = 0;
    await this.read();
  }
}
