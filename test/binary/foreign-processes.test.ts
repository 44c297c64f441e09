import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { indexPath, openIndexReader } from "../../src/db/index/database.ts";
import { verifyIndex } from "../../src/db/index/verify/verify.ts";
import { statePath } from "../../src/db/state/database.ts";
import { loadCastsByHash } from "../../src/read/hydrate/casts.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { castNow, deliveryArgs, hubClient, prepareDeliveries } from "../support/delivery-network.ts";
import { CAN_LIST_LOCKS, lockedFiles, lockFilesOf } from "../support/file-locks.ts";
import { type ForeignAct, useAsForeign } from "../support/foreign-process.ts";
import { makeWallet } from "../support/messages.ts";
import { type RunningNode, startNode, tempDir } from "../support/program.ts";
import { signedHeaders } from "../support/signing.ts";
import { hashOf } from "../support/social.ts";

/** Other programs use the databases of a process, which is killed with -9 then: what it has acknowledged is there. */

const EVERY_ACT: readonly ForeignAct[] = ["read", "write", "checkpoint", "vacuum", "leave write-ahead mode"];
const EVERY_OUTCOME = ["", "", "", "", expect.stringContaining("database is locked")];
const FID = 1;

const dir = tempDir();
afterAll(() => dir[Symbol.dispose]());

/** The locks that a process must hold. */
function expectLocks(pid: number, databases: readonly string[]): void {
  if (!CAN_LIST_LOCKS) return;
  const files = databases.flatMap(lockFilesOf);
  expect(lockedFiles(pid, files)).toEqual(files);
}

const KEY_CALLS = { make: ["POST", "/api_key"], list: ["GET", `/api_key/list?fid=${FID}`] } as const;

async function signed(url: string, call: keyof typeof KEY_CALLS, body?: string) {
  const [method, path] = KEY_CALLS[call];
  const signedAt = Math.floor(Date.now() / 1000);
  const wallet = makeWallet(`custody ${FID}`);
  const content = body === undefined ? {} : { body };
  const headers = await signedHeaders({ method, path, fid: FID, signedAt, wallet, ...content });
  const response = await fetch(`${url}/v2/svc${path}`, { method, headers, ...content });
  expect([path, response.status]).toEqual([path, 200]);
  return (await response.json()) as { api_keys: { name: string }[] };
}

interface Scene {
  readonly node: RunningNode;
  readonly dataDir: string;
  readonly files: readonly string[];
  /** Has the node acknowledge casts and a key. */
  write(): Promise<void>;
  /** Has another program read its databases, whose locks the node keeps. */
  look(): void;
}

/** Runs a node that is killed at the end. What it has acknowledged is there at its next start. */
async function killedAfter(
  name: string,
  settings: readonly string[],
  run: (scene: Scene) => Promise<void>,
): Promise<void> {
  const dataDir = join(dir.path, name);
  const files = [indexPath(dataDir), statePath(dataDir)];
  await prepareDeliveries(dataDir, { fids: [FID], webhooks: [] });
  const start = (own: readonly string[]) =>
    startNode({
      command: compiledProgram,
      dataDir,
      args: [...deliveryArgs, ...own.flatMap((setting) => ["--set", setting])],
    });
  await using node = await start(settings);
  using hub = hubClient(node.hubAddress);
  const casts: `0x${string}`[] = [];
  const keys: string[] = [];
  await run({
    node,
    dataDir,
    files,
    async write() {
      const batch = Array.from({ length: 10 }, (_, at) => castNow(FID, `cast ${casts.length + at}`));
      expect(await hub.submit(batch)).toEqual(batch.map(() => true));
      casts.push(...batch.map(hashOf));
      const key = `key ${keys.length}`;
      await signed(node.url, "make", JSON.stringify({ name: key, scopes: ["read"] }));
      keys.push(key);
    },
    look() {
      for (const file of files) expect(useAsForeign(file, ["read"])).toEqual([""]);
      expectLocks(node.pid, files);
    },
  });
  await node.kill();

  await using next = await start([]);
  const { api_keys: listed } = await signed(next.url, "list");
  expect(listed.map((key) => key.name).sort()).toEqual(keys);
  expect(await next.stop()).toBe(0);
  using db = openIndexReader(indexPath(dataDir));
  expect(loadCastsByHash(db, casts)).toHaveLength(casts.length);
  expect(verifyIndex(indexPath(dataDir))).toEqual([]);
}

describe("a serving node", () => {
  test("loses nothing that it acknowledged before and after other programs read, write, checkpoint and vacuum its databases", async () => {
    await killedAfter("serve", [], async ({ node, dataDir, files, write, look }) => {
      await write();
      look();
      await write();
      for (const file of files) expect(useAsForeign(file, EVERY_ACT)).toEqual(EVERY_OUTCOME);
      expectLocks(node.pid, files);
      await write();
      await expect(startNode({ command: compiledProgram, dataDir, args: deliveryArgs })).rejects.toThrow(
        `is in use by process ${node.pid}`,
      );
      expectLocks(node.pid, files);
      if (CAN_LIST_LOCKS) expect(lockedFiles(node.pid, [join(dataDir, "lock")])).toHaveLength(1);
      await write();
      look();
    });
  }, 180_000);

  test("loses nothing that it acknowledged while and after it made a backup, when other programs look", async () => {
    const backups = join(dir.path, "backups");
    // The backup of the day is missing, so it begins with the node.
    const settings = ["backup.at=00:00", `backup.dir=${backups}`, "backup.index=true"];
    await killedAfter("backup", settings, async ({ node, write, look }) => {
      const isMade = () => node.logs().includes("Created a backup");
      do {
        await write();
        look();
      } while (!isMade());
      await write();
      look();
    });
  }, 180_000);
});
