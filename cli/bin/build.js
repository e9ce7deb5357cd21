// Builds the command when its sources are newer than what was built. Run by `pnpm install` and `pnpm start`.
"use strict";

const fs = require("fs");
const path = require("path");
const { spawnSync } = require("child_process");

const root = path.join(__dirname, "..", "..");
const built = path.join(root, "cli", "dist", "main.js");

/** Builds if that is needed; answers whether there is something to run. Messages go to standard error. */
function buildIfStale() {
  if (changedAt(built) > newestSource()) return true;
  const tsdown = path.join(root, "node_modules", "tsdown", "dist", "run.mjs");
  const options = { cwd: root, stdio: ["ignore", 2, 2] };
  return spawnSync(process.execPath, [tsdown, "--logLevel", "warn"], options).status === 0;
}

function newestSource() {
  const rooms = ["kernel", "loader", "cli"];
  for (const name of fs.readdirSync(path.join(root, "extensions"))) rooms.push(path.join("extensions", name));
  const folders = rooms.map((room) => path.join(root, room, "src"));
  const files = [path.join(root, "pnpm-lock.yaml"), path.join(root, "tsdown.config.ts")];
  for (const folder of folders.filter((each) => fs.existsSync(each))) {
    for (const name of fs.readdirSync(folder, { recursive: true })) files.push(path.join(folder, name));
  }
  return Math.max(...files.map(changedAt));
}

function changedAt(file) {
  const found = fs.statSync(file, { throwIfNoEntry: false });
  return found ? found.mtimeMs : 0;
}

module.exports = { buildIfStale };

if (require.main === module) {
  // An install goes on with a Node that is too old; the command itself then says so.
  const tooOld = require("./pi.js").explainOldNode();
  if (tooOld) console.error(tooOld);
  else if (!buildIfStale()) process.exitCode = 1;
}
