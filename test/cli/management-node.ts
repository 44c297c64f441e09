import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { demoKeys } from "../../src/demo/keys.ts";
import { startDemoNode } from "../support/demo-node.ts";
import { tempDir } from "../support/program.ts";
import { type Ended, type Place, run } from "./run.ts";

/** A URL that the node's settings allow; registering it makes no connection. */
export const ALLOWED_URL = "https://127.0.0.1/valid";

/** A demo node as a process, and commands of its users. */
export interface ManagementNode extends AsyncDisposable {
  readonly url: string;
  /** Runs a command signed by an fid against the node; the key comes from a file. */
  as(fid: number, args: readonly string[], place?: Place): Promise<Ended>;
  /** Like `as` with `--json`, for a command that must succeed. */
  json(fid: number, args: readonly string[], place?: Place): Promise<Record<string, never>>;
}

export async function startManagementNode(settings: readonly string[] = []): Promise<ManagementNode> {
  const dir = tempDir();
  const node = await startDemoNode({
    dataDir: join(dir.path, "data"),
    args: ["net.allow_cidrs=127.0.0.0/8", ...settings].flatMap((setting) => ["--set", setting]),
  });
  const as = (fid: number, args: readonly string[], place?: Place) => {
    const key = writeKeyFile(dir.path, `${fid}.key`, `${custodyKey(fid)}\n`);
    return runWithoutLeak(
      custodyKey(fid),
      [...args, "--fid", `${fid}`, "--key-file", key, "--url", node.url],
      place,
    );
  };
  return {
    url: node.url,
    as,
    async json(fid, args, place) {
      const { exitCode, out, errors } = await as(fid, [...args, "--json"], place);
      expect({ exitCode, errors }).toEqual({ exitCode: 0, errors: "" });
      return JSON.parse(out);
    },
    async [Symbol.asyncDispose]() {
      await node.stop();
      dir[Symbol.dispose]();
    },
  };
}

/** Returns the custody key of a demo user. */
export function custodyKey(fid: number): `0x${string}` {
  const keys = demoKeys(fid);
  if (keys === undefined) throw new Error(`no demo fid ${fid}`);
  return keys.custody.privateKey;
}

/** Writes a file that by default only its owner can read. Returns its path. */
export function writeKeyFile(dir: string, name: string, text: string, mode = 0o600): string {
  const path = join(dir, name);
  writeFileSync(path, text, { mode });
  return path;
}

/** Runs a command, and fails if its arguments or its output contain the key. */
export async function runWithoutLeak(key: string, args: readonly string[], place?: Place): Promise<Ended> {
  const ended = await run(args, place);
  const digits = key.replace(/^0x/, "").toLowerCase();
  expect(digits.length).toBe(64);
  for (const text of [args.join(" "), ended.out, ended.errors]) {
    expect(text.toLowerCase().includes(digits)).toBe(false);
  }
  return ended;
}
