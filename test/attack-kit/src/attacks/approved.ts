/** What attacks have in common: an extension that is approved, and then is another. */
import { join } from "node:path";
import type { Attack } from "../attack.ts";
import type { Site } from "../site.ts";

/** An extension that does nothing. */
export const HARMLESS = "export default function () {}\n";

/** For what lies in the project and is the person's own: who starts in another place has it from there. */
export const SEEN_FROM_INSIDE: Attack["ways"] = {
  not: ["resume", "switch"],
  why: "seen from elsewhere, it is the person's own",
};

interface Change {
  id: string;
  title: string;
  /** What was approved, by path below the attack's own folder `.pi/extensions/<id>`. */
  files: Record<string, string | ((site: Site) => string)>;
  /** What becomes of it. Default: the file `changed` becomes a canary. */
  become?: (site: Site, folder: string) => void;
  changed?: string;
  control?: Attack["control"];
}

/** An extension of its own folder is approved, then something about it is another. */
export function change({ id, title, files, become, changed = "index.ts", control = "trusted" }: Change): Attack {
  const folder = `.pi/extensions/${id}`;
  return {
    id,
    title,
    mistake: "change",
    expect: "Q",
    trust: "content",
    plant(site) {
      for (const [path, content] of Object.entries(files))
        site.write(join(folder, path), typeof content === "string" ? content : content(site));
    },
    change(site) {
      if (become) become(site, folder);
      else site.write(join(folder, changed), site.canary.extension);
    },
    control,
  };
}

/** The source of an extension that is what another file exports. */
export const IMPORTING = (specifier: string) => `import part from "${specifier}";\nexport default part;\n`;
