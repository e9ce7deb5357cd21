// What is used of these packages, which bring no types of their own.

declare module "@npmcli/config" {
  interface ConfigOptions {
    definitions: object;
    shorthands: object;
    flatten: object;
    nerfDarts: string[];
    npmPath: string;
    env: Record<string, string | undefined>;
    argv: string[];
    cwd: string;
    execPath: string;
    excludeNpmCwd: boolean;
    warn: boolean;
  }
  export default class Config {
    constructor(options: ConfigOptions);
    load(): Promise<void>;
    readonly flat: Record<string, unknown>;
    /** Where a value comes from: `default`, `builtin`, `global`, `user`, `project`, `env` or `cli`. */
    find(key: string): string | null;
  }
}

declare module "@npmcli/config/lib/definitions/index.js" {
  const npm: { definitions: object; shorthands: object; flatten: object; nerfDarts: string[] };
  export default npm;
}
