#!/usr/bin/env node
// The door of the command. Old syntax throughout: a Node that is too old must still be able to read it and say so.
"use strict";

const about = require("../package.json");

module.exports = { run, explainOldNode, prepare };

if (require.main === module) run(process.argv.slice(2));

function run(argv) {
  const tooOld = explainOldNode();
  if (tooOld) {
    console.error(tooOld);
    process.exitCode = 1;
  } else if (argv[0] === "--version" || argv[0] === "-v") {
    console.log(about.version);
  } else {
    prepare();
    start(argv);
  }
}

/** Readies the process for extensions and a quick start; a program that is an agent of its own does it too. */
function prepare() {
  dropNodePath();
  enableCompileCache();
}

/** One line for a person whose Node is too old; else `undefined`. */
function explainOldNode() {
  const have = process.versions.node;
  const need = about.engines.node.replace(">=", "");
  if (!isOlder(have, need)) return undefined;
  return `pi needs Node ${need} or newer; this is Node ${have}. Get it from https://nodejs.org`;
}

function isOlder(version, other) {
  const have = version.split(".").map(Number);
  const need = other.split(".").map(Number);
  for (let i = 0; i < 3; i++) if (have[i] !== need[i]) return have[i] < need[i];
  return false;
}

function start(argv) {
  let program;
  try {
    program = require("../dist/main.js");
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
    console.error("error: pi is not built here\n  why: cli/dist/main.js is missing\n  try: pnpm build");
    process.exitCode = 1;
    return;
  }
  program.main(argv).catch((error) => {
    console.error(error);
    process.exitCode = 1;
  });
}

/** Forgets the folders that a launcher adds: an extension would find packages there that are not its own. */
function dropNodePath() {
  if (process.env.NODE_PATH === undefined) return;
  delete process.env.NODE_PATH;
  // Node has read the variable already.
  require("module")._initPaths();
}

/** Keeps compiled code between starts, in a folder made and checked first: on an impossible one Node spins for ever. */
function enableCompileCache() {
  if (process.env.NODE_COMPILE_CACHE || process.env.NODE_DISABLE_COMPILE_CACHE) return;
  const folder = findCacheFolder();
  if (folder) require("module").enableCompileCache(folder);
}

function findCacheFolder() {
  const path = require("path");
  const os = require("os");
  const home = process.env.HOME || os.homedir();
  const named = process.env.PI_CODING_AGENT_DIR || path.join(home, ".pi", "agent");
  const agentDir = named === "~" || named.slice(0, 2) === "~/" ? home + named.slice(1) : named;
  const account = process.getuid ? process.getuid() : "user";
  const folders = [path.resolve(agentDir, "cache", "compile"), path.join(os.tmpdir(), `pi-compile-${account}`)];
  return folders.find((folder) => isOutsideProjects(folder) && makeOwnFolder(folder));
}

/** Tells whether a folder is no part of the working directory nor of a checkout: what lies there may be somebody else's. */
function isOutsideProjects(folder) {
  const fs = require("fs");
  const path = require("path");
  try {
    const cwd = fs.realpathSync(process.cwd());
    for (let at = findRealPath(folder); ; at = path.dirname(at)) {
      if (at === cwd || fs.existsSync(path.join(at, ".git"))) return false;
      if (at === path.dirname(at)) return true;
    }
    // oxlint-disable-next-line no-unused-vars -- Node 6 has no catch without a parameter
  } catch (error) {
    return false;
  }
}

/** The real path of a folder that may not be there yet. */
function findRealPath(folder) {
  const fs = require("fs");
  const path = require("path");
  try {
    return fs.realpathSync(folder);
  } catch (error) {
    if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
    return path.join(findRealPath(path.dirname(folder)), path.basename(folder));
  }
}

/** Makes a folder for this account alone; answers whether it may be used. One that others may write is not used: what lies in it is run. */
function makeOwnFolder(folder) {
  const fs = require("fs");
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    fs.accessSync(folder, fs.constants.W_OK);
    const found = fs.lstatSync(folder);
    const isOwn = !process.getuid || (found.uid === process.getuid() && (found.mode & 0o022) === 0);
    return found.isDirectory() && isOwn;
    // oxlint-disable-next-line no-unused-vars -- Node 6 has no catch without a parameter
  } catch (error) {
    return false;
  }
}
