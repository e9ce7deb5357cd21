// `pnpm start`: the shortest way from a fresh clone to an agent at work.
//
//   key and words ──► does that task in the folder it was typed in
//   key, no words ──► a conversation
//   no key ─────────► the demo, which needs none
//
// A key is in the environment, or in auth.json or models.json of the agent directory; which is used is the command's part.
"use strict";

const fs = require("fs");
const path = require("path");
const os = require("os");

const KEYS = ["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY"];

// How a first entry in each file looks.
const ENTRIES = { "models.json": /"providers"\s*:\s*\{[^}]*"/, "auth.json": /:\s*\{[^}]*"/ };

module.exports = { chooseArguments, findProviders };

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
  const hasOwn = findProviders(process.env);
  const choice = chooseArguments(words, { env: process.env, isTerminal, hasOwn });
  if (choice.notice) console.error(choice.notice);
  if (process.env.INIT_CWD) process.chdir(process.env.INIT_CWD);
  pi.run(choice.argv);
}

/** Answers what to run the command with, and one line for the person where it is not what they asked for. */
function chooseArguments(words, { env, isTerminal, hasOwn }) {
  const hasKey = hasOwn || KEYS.some((name) => env[name]);
  if (hasKey && words.length > 0) return { argv: ["--print", "--verbose"].concat(words) };
  if (hasKey && isTerminal) return { argv: [] };
  if (hasKey || words.length === 0) return { argv: ["demo"] };
  const notice = `No key for your task: none of ${KEYS.join(", ")} is set, and models.json has no provider. This is the demo, which needs none.`;
  return { argv: ["demo"], notice };
}

/** Tells whether the person seems to have written down providers or keys; what they are worth the command finds out. */
function findProviders(env) {
  const home = env.HOME || os.homedir();
  const named = env.PI_CODING_AGENT_DIR || path.join(home, ".pi", "agent");
  const agentDir = named === "~" || named.slice(0, 2) === "~/" ? home + named.slice(1) : named;
  return Object.keys(ENTRIES).some((name) => {
    try {
      return ENTRIES[name].test(fs.readFileSync(path.join(agentDir, name), "utf8"));
      // oxlint-disable-next-line no-unused-vars -- Node 6 has no catch without a parameter
    } catch (error) {
      return false;
    }
  });
}
