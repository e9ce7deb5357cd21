/** Splits what follows a command: `--name` and its value are options, the rest is text. */
export interface Words {
  /** By name; a switch has "". */
  options: Map<string, string>;
  text: string;
}

/** Takes options out of a command's text. `valued`: those that take all that follows them. */
export function splitWords(args: string, { valued = [] }: { valued?: readonly string[] } = {}): Words {
  const options = new Map<string, string>();
  const texts: string[] = [];
  for (let rest = args.trim(); rest !== ""; ) {
    const [word = ""] = /^\S+/.exec(rest) ?? [];
    rest = rest.slice(word.length).trim();
    if (!/^--[a-z]/.test(word)) texts.push(word);
    else if (valued.includes(word.slice(2))) {
      options.set(word.slice(2), rest);
      rest = "";
    } else options.set(word.slice(2), "");
  }
  return { options, text: texts.join(" ") };
}

/** Finds an option that a command does not have. */
export function unknownOption({ options }: Words, known: readonly string[]): string | undefined {
  return [...options.keys()].find((name) => !known.includes(name));
}
