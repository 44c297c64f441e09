import { openIndexInMemory } from "../../../src/index/database.ts";
import { IngestEngine } from "../../../src/ingest/engine.ts";
import {
  decodeRecord,
  type EncodedRecord,
  type IngestRecord,
  validateRecord,
} from "../../../src/ingest/record.ts";
import { nowSecs } from "../../../src/process/clock.ts";
import { Rejection } from "../../../src/protocol/rejection.ts";
import type { SignedMessage } from "../../../src/protocol/signed-message.ts";
import { toUnixSecs } from "../../../src/protocol/time.ts";
import {
  FarcasterNetwork,
  Message,
  type UserNameProof,
} from "../../../src/protocol/wire/generated/message.ts";
import { ManualClock } from "../clock.ts";
import { DEFAULT_NOW_SECS } from "../messages.ts";
import { dumpFollowed } from "./followed.ts";

/** A row that came into the live messages or left them, in the order in which it happened. */
export interface Change {
  readonly op: "put" | "take";
  readonly store: number;
  readonly message: Message;
}

export interface Outcome {
  readonly record: IngestRecord;
  readonly refusal: Rejection | undefined;
  readonly changes: readonly Change[];
  /** Of an fname transfer: the proof that held the name before. */
  readonly displacedProof: UserNameProof | undefined;
}

/** A gasless key as the node lists it; times in unix seconds. */
export interface GaslessKeyRow {
  readonly key: Uint8Array;
  readonly requestFid: number;
  readonly scopes: number[];
  readonly ttlSecs: number;
  readonly addedAt: number;
  readonly lastUsedAt: number;
}

/** What GetSignersByFid says of the gasless keys of an fid. */
export interface GaslessKeys {
  readonly fid: number;
  readonly keys: readonly GaslessKeyRow[];
  /** Last nonces by request fid; 0 is the custody's own. */
  readonly nonces: ReadonlyMap<number, number>;
}

/**
 * The node that gets everything in order: an engine over a database of its own. What each record does to its live
 * messages is read off the table itself, by triggers, so that the upstream's events say what happened and not what
 * should have.
 */
export class Reference {
  readonly db = openIndexInMemory();
  readonly clock = new ManualClock(DEFAULT_NOW_SECS);
  readonly #engine: IngestEngine;
  /** Unix seconds, by key. */
  readonly #keyTimes = new Map<string, { addedAt: number; lastUsedAt: number }>();
  readonly #network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;

  constructor() {
    this.db.sqlite.exec(`
      CREATE TEMP TABLE changes (seq INTEGER PRIMARY KEY, op TEXT, store INTEGER, bytes BLOB);
      CREATE TEMP TRIGGER on_put AFTER INSERT ON main.messages
        BEGIN INSERT INTO changes (op, store, bytes) VALUES ('put', new.store, new.bytes); END;
      CREATE TEMP TRIGGER on_take AFTER DELETE ON main.messages
        BEGIN INSERT INTO changes (op, store, bytes) VALUES ('take', old.store, old.bytes); END;`);
    this.#engine = new IngestEngine({
      db: this.db,
      network: this.#network,
      clock: this.clock,
      onFault: (cause) => {
        throw cause;
      },
    });
  }

  /** Merges one record at the clock's time. A record that is not even well formed is a fault of the script. */
  apply(encoded: EncodedRecord): Outcome {
    const record = decodeRecord(encoded);
    if (record instanceof Rejection) throw new Error(record.reason);
    const rules = { network: this.#network, nowUnixSecs: nowSecs(this.clock), isHistory: true };
    const invalid = validateRecord(record, rules);
    if (invalid) throw new Error(invalid.reason);
    const displacedProof = record.kind === "usernameProof" ? this.#proofOf(record.proof) : undefined;
    const [refusal] = this.#engine.apply([record]);
    const changes = this.#takeChanges();
    if (record.kind === "message" && changes.some(({ op }) => op === "put")) this.#noteKeyUse(record.message);
    return { record, refusal, changes, displacedProof };
  }

  /** What a follower should hold when it has everything. */
  dump(): string {
    const update = this.db.sqlite.query<unknown, [number, number, Uint8Array]>(
      "UPDATE gasless_keys SET added_at = ?, last_used_at = ? WHERE key = ?",
    );
    for (const [key, { addedAt, lastUsedAt }] of this.#keyTimes)
      update.run(addedAt, lastUsedAt, Buffer.from(key, "hex"));
    return dumpFollowed(this.db);
  }

  /** By the times of the messages: the engine's own are those of its clock. */
  #noteKeyUse({ data, signer }: SignedMessage): void {
    const at = toUnixSecs(data.timestamp);
    const isAdded = data.body?.$case === "keyAddBody";
    const key = (data.body?.$case === "keyAddBody" ? data.body.value.key : signer).toHex();
    const known = this.#keyTimes.get(key);
    if (!known && !isAdded) return;
    const lastUsedAt = Math.max(at, known?.lastUsedAt ?? 0);
    this.#keyTimes.set(key, { addedAt: isAdded ? at : (known?.addedAt ?? at), lastUsedAt });
  }

  gaslessKeysOf(fid: number): GaslessKeys {
    const keys = this.db.sqlite
      .query<Omit<GaslessKeyRow, "scopes"> & { scopes: string }, [number]>(
        `SELECT key, request_fid AS requestFid, scopes, ttl_secs AS ttlSecs, added_at AS addedAt,
           last_used_at AS lastUsedAt FROM gasless_keys WHERE fid = ?`,
      )
      .all(fid)
      .map((row) => ({ ...row, ...this.#keyTimes.get(row.key.toHex()), scopes: JSON.parse(row.scopes) }));
    const nonces = this.db.sqlite
      .query<{ requestFid: number; nonce: number }, [number]>(
        "SELECT request_fid AS requestFid, nonce FROM key_nonces WHERE fid = ?",
      )
      .all(fid);
    return { fid, keys, nonces: new Map(nonces.map(({ requestFid, nonce }) => [requestFid, nonce])) };
  }

  #proofOf({ name }: UserNameProof): UserNameProof | undefined {
    const held = this.db.sqlite
      .query<Omit<UserNameProof, "name">, [string]>(
        "SELECT type, fid, owner, signature, timestamp FROM username_proofs WHERE name = ?",
      )
      .get(Buffer.from(name).toString());
    return held ? { ...held, name } : undefined;
  }

  #takeChanges(): Change[] {
    const rows = this.db.sqlite
      .query<{ seq: number; op: "put" | "take"; store: number; bytes: Uint8Array }, []>(
        "DELETE FROM changes RETURNING seq, op, store, bytes",
      )
      .all();
    return rows
      .sort((a, b) => a.seq - b.seq)
      .map(({ op, store, bytes }) => ({ op, store, message: Message.decode(bytes) }));
  }
}
