import { createHash, randomBytes } from "node:crypto";
import { type AuditEntry, addAuditEntry } from "../audit/audit-store.ts";
import { sql } from "../db/state/sql.ts";
import type { StateDb, Sweep } from "../db/state/state-db.ts";
import {
  bytes,
  index,
  json,
  key,
  nullable,
  type Row,
  recordCodec,
  table,
  text,
  whole,
} from "../db/state/table.ts";
import { encodeBase58 } from "../lib/base58.ts";

/** What a secret grants. A secret of one kind is not valid for any other. */
export type OneTimeKind =
  | "channel"
  | "login-visit"
  | "login-code"
  | "login-signer"
  /** Key requests of an owner. Each owner has a separate limit. */
  | `key-request:${number}`;

/** Entries that the holder of a secret may redeem once. Times are unix seconds. Only the digest of the secret is stored. */
export const oneTime = table(
  "one_time",
  {
    /** SHA-256 over the kind and the secret. */
    digest: key(bytes()),
    kind: text<OneTimeKind>(),
    payload: json<unknown>(),
    /** Set when the entry is completed; null before. */
    result: nullable(json<unknown>()),
    expires_at: whole(),
  },
  {
    indexes: [index("one_time_by_kind", ["kind", "expires_at"]), index("one_time_by_expiry", ["expires_at"])],
  },
);

/** A stored entry. */
export interface OneTimeEntry {
  readonly digest: Uint8Array;
  readonly kind: OneTimeKind;
  readonly payload: unknown;
  readonly result: unknown;
  readonly expiresAt: number;
}

/** Entries of all nodes. An entry ends when it expires or is taken. */
export interface OneTimeStore {
  /**
   * Adds an entry unless its kind already has `max` entries. Replaces an entry with the same digest. Returns false if it was not added.
   *
   * @param audit is added to the audit log in the same transaction.
   */
  add(entry: Omit<OneTimeEntry, "result">, max: number, audit?: AuditEntry): Promise<boolean>;
  /**
   * Adds an entry. If its kind already has `max` entries, drops the one that expires first: a flood shortens the life of all entries, but
   * does not lock anyone out.
   */
  push(entry: Omit<OneTimeEntry, "result">, max: number): Promise<void>;
  find(digest: Uint8Array, nowSecs: number): Promise<OneTimeEntry | undefined>;
  /** Completes an entry. Returns true to exactly one of concurrent calls. */
  complete(digest: Uint8Array, result: unknown, nowSecs: number): Promise<boolean>;
  /** Deletes an entry and returns it to exactly one of concurrent calls. */
  take(digest: Uint8Array, nowSecs: number): Promise<OneTimeEntry | undefined>;
}

const SECRET_BYTES = 16;

/** Creates a secret of 128 random bits, encoded in base58. */
export function createOneTimeSecret(): string {
  return encodeBase58(new Uint8Array(randomBytes(SECRET_BYTES)));
}

export function oneTimeDigest(kind: OneTimeKind, secret: string): Uint8Array {
  return new Uint8Array(createHash("sha256").update(`${kind}\0${secret}`).digest());
}

const codec = recordCodec(oneTime);
type Stored = Row<typeof oneTime>;
const insert = sql<unknown, ReturnType<typeof codec.values>>(
  "one-time.add",
  `${codec.insert} ON CONFLICT (digest) DO UPDATE
   SET payload = excluded.payload, result = excluded.result, expires_at = excluded.expires_at`,
);
const countOfKind = sql<{ count: number }, [kind: string, nowSecs: number, max: number]>(
  "one-time.count",
  `SELECT count(*) AS count FROM (SELECT 1 FROM one_time WHERE kind = $1 AND expires_at > $2 LIMIT $3) c`,
);
const deleteFirst = sql<unknown, [kind: string, nowSecs: number, count: number]>(
  "one-time.make-room",
  `DELETE FROM one_time WHERE digest IN (SELECT o.digest FROM one_time o
   WHERE o.kind = $1 AND o.expires_at > $2 ORDER BY o.expires_at LIMIT $3 FOR UPDATE SKIP LOCKED)`,
);
const select = sql<Stored, [digest: Uint8Array, nowSecs: number]>(
  "one-time.find",
  `SELECT ${codec.columns} FROM one_time WHERE digest = $1 AND expires_at > $2`,
);
const setResult = sql<unknown, [result: string, digest: Uint8Array, nowSecs: number]>(
  "one-time.complete",
  "UPDATE one_time SET result = $1 WHERE digest = $2 AND expires_at > $3 AND result IS NULL",
);
const takeOne = sql<Stored, [digest: Uint8Array, nowSecs: number]>(
  "one-time.take",
  `DELETE FROM one_time WHERE digest = $1 AND expires_at > $2 RETURNING ${codec.columns}`,
);
const deleteExpired = sql<unknown, [nowSecs: number, max: number]>(
  "one-time.sweep",
  `DELETE FROM one_time WHERE digest IN
   (SELECT o.digest FROM one_time o WHERE o.expires_at < $1 ORDER BY o.expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
);

export function createOneTime(db: StateDb): OneTimeStore {
  const entryOf = (row: Stored | undefined) => row && codec.toRecord(row);
  return {
    add: db.decision<Parameters<OneTimeStore["add"]>, boolean>(
      "oneTime.add",
      async (tx, entry, max, audit) => {
        await tx.lock("owner", `one-time:${entry.kind}`);
        const counted = await tx.get(countOfKind, entry.kind, tx.clock.sweepableSecs(), max);
        if ((counted?.count ?? 0) >= max) return false;
        await tx.run(insert, ...codec.values({ ...entry, result: null }));
        if (audit) await addAuditEntry(tx, audit);
        return true;
      },
    ),
    push: db.decision<Parameters<OneTimeStore["push"]>, void>("oneTime.push", async (tx, entry, max) => {
      const now = tx.clock.sweepableSecs();
      // On PostgreSQL, concurrent calls may each have added an entry beyond the limit.
      const { count = 0 } = (await tx.get(countOfKind, entry.kind, now, 2 * max)) ?? {};
      if (count >= max) await tx.run(deleteFirst, entry.kind, now, count - max + 1);
      await tx.run(insert, ...codec.values({ ...entry, result: null }));
    }),
    find: async (digest, nowSecs) => entryOf(await db.get(select, digest, nowSecs)),
    complete: db.decision<Parameters<OneTimeStore["complete"]>, boolean>(
      "oneTime.complete",
      async (tx, digest, result, nowSecs) =>
        (await tx.run(setResult, JSON.stringify(result), digest, nowSecs)) === 1,
    ),
    take: db.decision<Parameters<OneTimeStore["take"]>, OneTimeEntry | undefined>(
      "oneTime.take",
      async (tx, digest, nowSecs) => entryOf(await tx.get(takeOne, digest, nowSecs)),
    ),
  };
}

export function oneTimeSweep(db: StateDb): Sweep {
  return db.sweep("one_time", (tx, maxRows) => tx.run(deleteExpired, tx.clock.sweepableSecs(), maxRows));
}
