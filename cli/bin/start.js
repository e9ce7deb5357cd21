// `pnpm start`: the shortest way from a fresh clone to an agent at work.
//
//   key and words ──► does that task in the folder it was typed in
//   key, no words ──► a conversation
//   no key ─────────► the demo, which needs none
"use strict";

const KEYS = ["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY"];

module.exports = { chooseArguments };

if (require.main === module) main();

function main() {
  const pi = require("./pi.js");
  if (!pi.explainOldNode() && !require("./build.js").buildIfStale()) {
    process.exitCode = 1;
    return;
  }
  const typed = process.argv.slice(2);
  const words = typed[0] === "--" ? typed.slice(1) : typed;
  const isTerminal = Boolean(process.stdin.isTTY && process.stdout.isTTY);
  const choice = chooseArguments(words, { env: process.env, isTerminal });
  if (choice.notice) console.error(choice.notice);
  if (process.env.INIT_CWD) process.chdir(process.env.INIT_CWD);
  pi.run(choice.argv);
}

/** Answers what to run the command with, and one line for the person where it is not what they asked for. */
function chooseArguments(words, { env, isTerminal }) {
  const hasKey = KEYS.some((name) => env[name]);
  if (hasKey && words.length > 0) return { argv: ["--print", "--verbose"].concat(words) };
  if (hasKey && isTerminal) return { argv: [] };
  if (hasKey || words.length === 0) return { argv: ["demo"] };
  const notice = `No key for your task: none of ${KEYS.join(", ")} is set. This is the demo, which needs none.`;
  return { argv: ["demo"], notice };
}
