// What scripts/zips packs is the same for whoever packs the same programs, wherever and whenever.
// That two builds give the same programs takes two builds: scripts/reproduce. Here a script stands for
// the compiler, and leaves in a program what it is not told to leave out.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { root } from "./template.mjs";

const out = mkdtempSync(join(tmpdir(), "onsale-zips-"));
after(() => rmSync(out, { recursive: true }));

const programs = { holds: Buffer.alloc(40_000, "hold "), room: Buffer.from("a small program") };

function folderOf(name, { mode, time }) {
  const folder = join(out, name);
  for (const [program, code] of Object.entries(programs)) {
    const path = join(folder, program, "bootstrap");
    mkdirSync(join(folder, program), { recursive: true });
    writeFileSync(path, code);
    chmodSync(path, mode);
    utimesSync(path, time, time);
  }
  return folder;
}

const pack = (folder, limit, names, ...options) =>
  spawnSync("python3", ["scripts/pack-zips.py", ...options, folder, String(limit), ...names], { cwd: root, encoding: "utf8" });

// As far as a program is concerned: the folders of the workspace and of cargo are in it, but for those
// that are to be called something else.
const cargo = `#!/usr/bin/env bash
set -euo pipefail
text="$PWD/functions/room/src/main.rs $CARGO_HOME/registry/src/tokio/src/lib.rs"
for flag in \${RUSTFLAGS:-}; do
  names=\${flag#--remap-path-prefix=}
  text=\${text//"\${names%%=*}/"/\${names#*=}/}
done
for argument in "$@"; do
  [[ $argument == --package=* ]] || continue
  mkdir -p "$CARGO_TARGET_DIR/lambda/\${argument#--package=}"
  echo "$text" >"$CARGO_TARGET_DIR/lambda/\${argument#--package=}/bootstrap"
done
`;

const hash = (folder, name) => createHash("sha256").update(readFileSync(join(folder, `${name}.zip`))).digest("hex");

test("the same programs are the same zips, whatever folder, time, mode and order they come in", () => {
  const one = folderOf("one", { mode: 0o755, time: 1_000_000_000 });
  const other = folderOf("another/place", { mode: 0o600, time: 1_700_000_000 });
  assert.equal(pack(one, 8_000_000, ["holds", "room"]).status, 0);
  assert.equal(pack(other, 8_000_000, ["room", "holds"]).status, 0);
  for (const name of Object.keys(programs)) assert.equal(hash(one, name), hash(other, name), name);
});

test("a zip has the program under the name and with the right that Lambda starts it by, and nothing else", () => {
  const folder = folderOf("inside", { mode: 0o644, time: 1_000_000_000 });
  pack(folder, 8_000_000, ["room"]);
  const list = "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print([(i.filename, oct(i.external_attr >> 16), z.read(i)) for i in z.infolist()])";
  const { stdout } = spawnSync("python3", ["-c", list, join(folder, "room.zip")], { encoding: "utf8" });
  assert.equal(stdout.trim(), "[('bootstrap', '0o755', b'a small program')]");
});

test("a program that changed is packed anew, also if it is older than its zip, and the same one is left alone", () => {
  const folder = folderOf("again", { mode: 0o755, time: 1_000_000_000 });
  pack(folder, 8_000_000, ["room"]);
  const [before, path] = [hash(folder, "room"), join(folder, "room.zip")];
  utimesSync(path, 1_100_000_000, 1_100_000_000);
  pack(folder, 8_000_000, ["room"]);
  assert.equal(statSync(path).mtimeMs, 1_100_000_000_000);
  writeFileSync(join(folder, "room/bootstrap"), "another program");
  utimesSync(join(folder, "room/bootstrap"), 1_000_000_000, 1_000_000_000);
  pack(folder, 8_000_000, ["room"]);
  assert.notEqual(hash(folder, "room"), before);
});

test("a zip that is too large is named", () => {
  const folder = folderOf("large", { mode: 0o755, time: 1_000_000_000 });
  const { status, stderr } = pack(folder, 130, ["holds", "room"]);
  assert.notEqual(status, 0);
  assert.match(stderr, /more than 130 bytes: .*holds/);
});

test("a program with a folder of this machine in it is named and not packed", () => {
  const folder = folderOf("elsewhere", { mode: 0o755, time: 1_000_000_000 });
  const { status, stderr } = pack(folder, 8_000_000, ["holds", "room"], "--without=/nowhere/", "--without=small prog");
  assert.notEqual(status, 0);
  assert.match(stderr, /room has small prog in it/);
  assert.deepEqual(["holds", "room"].map((name) => existsSync(join(folder, `${name}.zip`))), [true, false]);
});

test("what is built for Lambda has no folder of this machine in it", () => {
  const tools = join(out, "tools");
  mkdirSync(tools);
  for (const [name, script] of [["cargo", cargo], ["rustup", "#!/bin/sh\n"]]) writeFileSync(join(tools, name), script, { mode: 0o755 });
  const target = join(out, "target");
  const env = { ...process.env, PATH: `${tools}:${process.env.PATH}`, CARGO_TARGET_DIR: target, CARGO_HOME: join(out, "cargo") };
  const built = spawnSync("scripts/zips", ["arm64"], { cwd: root, env, encoding: "utf8" });
  assert.equal(built.status, 0, built.stdout + built.stderr);
  const program = readFileSync(join(target, "lambda/room/bootstrap"), "utf8");
  assert.equal(program, "/onsale/functions/room/src/main.rs /cargo/registry/src/tokio/src/lib.rs\n");
});

test("every function of the template is among those that are packed", () => {
  const script = readFileSync(join(root, "scripts/zips"), "utf8");
  const pattern = script.match(/sed -nE 's\|(.*)\|\\1\|p' template\.yaml/)[1];
  const lines = readFileSync(join(root, "template.yaml"), "utf8").split("\n");
  const code = lines.filter((line) => line.includes("CodeUri:"));
  assert.ok(code.length >= 14);
  for (const line of code) assert.match(line, new RegExp(pattern));
});
