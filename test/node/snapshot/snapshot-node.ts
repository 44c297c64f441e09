import { Database } from "bun:sqlite";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { openState, statePath } from "../../../src/db/state/database.ts";
import { type CreateSnapshotOptions, createSnapshot } from "../../../src/node/snapshot/create-snapshot.ts";
import type { Manifest } from "../../../src/node/snapshot/manifest.ts";
import { directoryPlace } from "../../../src/node/snapshot/places/directory-place.ts";
import { type RestoreSnapshotOptions, restoreSnapshot } from "../../../src/node/snapshot/restore-snapshot.ts";
import { verifySnapshot } from "../../../src/node/snapshot/verify-snapshot.ts";
import { makeSecret } from "../../management/owned-store-contract.ts";
import { configWith } from "../../runtime/config.ts";
import { accountRecords, startTestNode, type TestNode } from "../../support/node.ts";
import { oddMessages } from "../../support/odd-messages.ts";
import { tempDir } from "../../support/program.ts";
import { localStores } from "../../support/state-stores.ts";

export const UNENDING = new AbortController().signal;

/** A data directory with messages of all kinds, events and an app, whose databases stay open as in a running node. */
export interface SnapshotNode extends Disposable {
  readonly node: TestNode;
  readonly dataDir: string;
  /** A directory for snapshots and restored nodes. */
  path(name: string): string;
  create(name: string, options?: Partial<CreateSnapshotOptions>): Promise<Manifest>;
  verify(name: string, ...settings: string[]): Promise<Manifest>;
  /** Restores into the directory `into`. */
  restore(
    name: string,
    into: string,
    options?: Partial<RestoreSnapshotOptions>,
  ): ReturnType<typeof restoreSnapshot>;
  names(name: string): string[];
}

export async function openSnapshotNode(): Promise<SnapshotNode> {
  const node = startTestNode();
  node.ingestAll(accountRecords(7, 10));
  for (const bytes of oddMessages(7)) node.ingestMessage(bytes);
  const state = openState(statePath(node.dir));
  const nowSecs = 1_750_000_000;
  await localStores(state).apps.create(
    {
      appId: "app-1",
      ownerFid: 7,
      name: "Bread",
      appUrl: "https://bread.example",
      description: null,
      signerFidAllowlist: [],
      secrets: [makeSecret(1)],
      createdAt: nowSecs,
      updatedAt: nowSecs,
    },
    10,
  );
  const dir = tempDir();
  const path = (name: string) => join(dir.path, name);
  const clock = { nowMs: () => nowSecs * 1000 };
  return {
    node,
    dataDir: node.dir,
    path,
    create: (name, options = {}) =>
      createSnapshot({
        dataDir: node.dir,
        place: directoryPlace(path(name)),
        parts: ["index", "state"],
        clock,
        signal: UNENDING,
        ...options,
      }),
    verify: (name, ...settings) =>
      verifySnapshot({
        place: directoryPlace(path(name)),
        config: configWith(...settings),
        signal: UNENDING,
      }),
    restore(name, into, options = {}) {
      mkdirSync(path(into), { recursive: true });
      return restoreSnapshot({
        place: directoryPlace(path(name)),
        dataDir: path(into),
        config: configWith(),
        clock,
        signal: UNENDING,
        ...options,
      });
    },
    names: (name) => readdirSync(path(name)).sort(),
    [Symbol.dispose]() {
      state[Symbol.dispose]();
      node[Symbol.dispose]();
      dir[Symbol.dispose]();
    },
  };
}

/** The rows of each table of a database as text. */
export function tablesOf(file: string): Map<string, string> {
  using sqlite = new Database(file, { readonly: true });
  const tables = sqlite
    .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    .all();
  return new Map(
    tables.map(({ name }) => [
      name,
      sqlite
        .query(`SELECT * FROM ${name}`)
        .values()
        .map((row) =>
          JSON.stringify(row, (_, value) => (value instanceof Uint8Array ? value.toHex() : value)),
        )
        .sort()
        .join("\n"),
    ]),
  );
}
