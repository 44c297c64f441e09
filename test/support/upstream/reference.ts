import { openIndexInMemory } from "../../../src/db/index/database.ts";
import { claimNetwork } from "../../../src/db/index/identity.ts";
import { createIngestEngine, type IngestEngine } from "../../../src/ingest/engine.ts";
import { userNonce } from "../../../src/ingest/merge/keys/gasless-key-store.ts";
import { StorageLimitCache } from "../../../src/ingest/merge/storage-limits.ts";
import {
  decodeRecord,
  type EncodedRecord,
  type IngestRecord,
  validateRecord,
} from "../../../src/ingest/record.ts";
import type { RelayedOp } from "../../../src/ingest/relayed-op.ts";
import { type Store, slotOf } from "../../../src/protocol/message/merge-rules.ts";
import {
  decodeMessage,
  encodeMessage,
  type SignedMessage,
  toWire,
} from "../../../src/protocol/message/signed-message.ts";
import type { EngineSchedule } from "../../../src/protocol/network/engine-versions.ts";
import type { Rejection } from "../../../src/protocol/rejection.ts";
import { requiredVerifiedAddress } from "../../../src/protocol/validate/user-data.ts";
import {
  FarcasterNetwork,
  Message,
  UserDataType,
  type UserNameProof,
  UserNameType,
} from "../../../src/protocol/wire/generated/message.ts";
import { nowSecs } from "../../../src/runtime/clock.ts";
import { ManualClock } from "../clock.ts";
import { DEFAULT_NOW_SECS } from "../messages.ts";
import { expectOk } from "../result.ts";
import { dataOf } from "./hub-events.ts";
import { ListedNames } from "./listed-names.ts";

/** The tables of live messages; `$` is the row. */
const MESSAGE_TABLES = [
  { table: "casts", store: "1", key: "envelope_id" },
  { table: "links", store: "2", key: "envelope_id" },
  { table: "reactions", store: "3", key: "envelope_id" },
  { table: "user_data", store: "4", key: "envelope_id" },
  { table: "messages", store: "$.store", key: "id" },
] as const;

/** A row that was added to or removed from the live messages, in order. */
export interface Change {
  readonly op: "put" | "take";
  readonly store: number;
  readonly message: Message;
}

export interface Outcome {
  readonly record: IngestRecord;
  readonly refusal: Rejection | undefined;
  readonly changes: readonly Change[];
  /** For an fname transfer: the previous proof of the name. */
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
  readonly nonce: number;
}

/** The response of GetSignersByFid for the gasless keys of an fid. */
export interface GaslessKeys {
  readonly fid: number;
  readonly keys: readonly GaslessKeyRow[];
  readonly userNonce: number;
}

/**
 * A node that receives everything in order: an engine with its own database. Triggers record the effect of each record
 * on the live messages, so that the upstream's events report what happened and not what should have happened.
 */
export class Reference {
  readonly db = openIndexInMemory();
  readonly clock = new ManualClock(DEFAULT_NOW_SECS);
  readonly #engine: IngestEngine;
  readonly network: FarcasterNetwork;
  readonly #messages = new Map<string, Message>();
  readonly #listed = new ListedNames();
  /** The links that the current block has merged, by their hashes. */
  readonly #linksOfBlock = new Map<string, Message>();

  constructor(network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET, schedule?: EngineSchedule) {
    this.network = network;
    claimNetwork(this.db, network === FarcasterNetwork.FARCASTER_NETWORK_MAINNET ? "mainnet" : "devnet");
    this.db.sqlite.exec(
      "CREATE TEMP TABLE changes (seq INTEGER PRIMARY KEY, op TEXT, store INTEGER, key TEXT)",
    );
    for (const { table, store, key } of MESSAGE_TABLES) {
      for (const [event, op] of [
        ["INSERT", "put"],
        ["DELETE", "take"],
      ] as const) {
        const row = op === "put" ? "new" : "old";
        this.db.sqlite.exec(
          `CREATE TEMP TRIGGER ${table}_${op} AFTER ${event} ON main.${table} BEGIN
             INSERT INTO changes (op, store, key)
             VALUES ('${op}', ${store.replace("$", row)}, '${table}' || ${row}.${key}); END`,
        );
      }
    }
    this.#engine = createIngestEngine({
      db: this.db,
      network: this.network,
      clock: this.clock,
      ...(schedule && { schedule }),
      onFault: (cause) => {
        throw cause;
      },
    });
  }

  /** Starts the next block. */
  startBlock(): void {
    this.#linksOfBlock.clear();
  }

  /** Merges one record at the clock's time. Throws if it is malformed, which is a bug of the script. */
  apply(encoded: EncodedRecord): Outcome {
    const record = expectOk(decodeRecord(encoded));
    const rules = { network: this.network, nowUnixSecs: nowSecs(this.clock), isHistory: true };
    const invalid = validateRecord(record, rules);
    // A node may store on-chain events that this one refuses: it reports them, and a follower must not store them.
    if (invalid && record.kind === "onChainEvent")
      return { record, refusal: undefined, changes: [], displacedProof: undefined };
    if (invalid) throw new Error(invalid.reason);
    const displacedProof = record.kind === "usernameProof" ? this.#proofOf(record.proof) : undefined;
    const [refusal] = this.#engine.apply([record]);
    if (record.kind === "usernameProof" && !refusal) this.#listed.take(record.proof);
    const changes = this.#takeChanges(record);
    return { record, refusal, changes: this.#asInOneBlock(record, changes), displacedProof };
  }

  /** Applies what shard 0 decided. */
  decide(op: RelayedOp): void {
    this.#engine.applyRelayed({ ops: [op], positions: [] });
  }

  /** The first 256 channels of an address, by key. */
  keysOfOwner(address: Uint8Array): string[] {
    return this.db.sqlite
      .query<{ key: string }, [Uint8Array]>(
        "SELECT key FROM channels WHERE owner_address = ? ORDER BY key LIMIT 256",
      )
      .all(address)
      .map(({ key }) => key);
  }

  limitOf(fid: number, store: Store): number {
    return new StorageLimitCache(this.db).limit(fid, store, nowSecs(this.clock));
  }

  /**
   * Stores a verification that shard 0 decided, as the shard of its author does: over whatever it has, without a comparison of
   * times. Then the store is pruned, and a primary address ends with the verification that was displaced.
   */
  force(message: SignedMessage): Outcome {
    const record: IngestRecord = { kind: "message", message };
    const { fid } = message.data;
    const { slot, store } = slotOf(message);
    this.decide({ kind: "put", message: encodeMessage(message), happenedAt: 0 });
    const put = this.#takeChanges(record);
    const losers = put.filter(({ op }) => op === "take");
    const stored: Change = { op: "put", store, message: toWire(message) };
    const primaries = losers.length > 0 ? this.#rows("user_data", "envelope_id", `fid = ${fid}`) : [];
    const revoked = primaries.filter((one) => {
      const required = requiredVerifiedAddress(dataOf(one));
      return required && Buffer.compare(required.address, slot) === 0;
    });
    const verifications = this.#rows("messages", "id", `fid = ${fid} AND store = ${store}`);
    const excess = Math.max(0, verifications.length - this.limitOf(fid, store));
    const pruned = verifications.toSorted(byAge).slice(0, excess);
    for (const one of [...revoked, ...pruned]) this.#drop(one);
    const taken = this.#takeChanges(record);
    const dependents = taken.filter((change) => change.store !== store);
    return {
      record,
      refusal: undefined,
      changes: [...losers, ...dependents, stored, ...taken.filter((change) => change.store === store)],
      displacedProof: undefined,
    };
  }

  #rows(table: string, key: string, condition: string): Message[] {
    return this.db.sqlite
      .query<{ key: string }, []>(`SELECT '${table}' || ${key} AS key FROM ${table} WHERE ${condition}`)
      .all()
      .flatMap((row) => this.#messages.get(row.key) ?? []);
  }

  #drop(one: Message): void {
    const { data, hash } = expectOk(decodeMessage(Message.encode({ ...one, data: undefined }).finish()));
    const { store, slot } = slotOf({ data, hash });
    this.decide({ kind: "remove", ref: { fid: data.fid, store, slot, hash }, happenedAt: 0 });
  }

  /**
   * The engine merges one record after another. The network compacts the links that were committed before the block: those of
   * the same block, which the engine has removed, are put back.
   */
  #asInOneBlock(record: IngestRecord, changes: readonly Change[]): readonly Change[] {
    const body = record.kind === "message" ? record.message.data.body : undefined;
    if (record.kind === "message" && body?.$case === "linkBody" && changes.some(({ op }) => op === "put"))
      this.#linksOfBlock.set(record.message.hash.toHex(), toWire(record.message));
    if (body?.$case !== "linkCompactStateBody") return changes;
    const isSpared = ({ op, message }: Change) =>
      op === "take" && this.#linksOfBlock.has(message.hash.toHex());
    for (const { message } of changes.filter(isSpared)) {
      const encoded = Message.encode({ ...message, data: undefined }).finish();
      this.#engine.applyRelayed({ ops: [{ kind: "put", message: encoded, happenedAt: 0 }], positions: [] });
      this.#takeChanges(expectOk(decodeRecord({ kind: "message", bytes: encoded })));
    }
    return changes.filter((change) => !isSpared(change));
  }

  /**
   * The fnames that a fill cannot find: the node does not list them, and they are not the USERNAME of their fid. A node that followed
   * since their transfer has them.
   */
  hiddenNames(): string[] {
    const rows = this.db.sqlite
      .query<{ name: string }, [number, number]>(
        `SELECT name FROM username_proofs p WHERE type = ? AND NOT EXISTS
           (SELECT 1 FROM user_data u WHERE u.fid = p.fid AND u.type = ? AND u.value = p.name)`,
      )
      .all(UserNameType.USERNAME_TYPE_FNAME, UserDataType.USER_DATA_TYPE_USERNAME);
    return rows.map(({ name }) => name).filter((name) => !this.#listed.isListed(name));
  }

  gaslessKeysOf(fid: number): GaslessKeys {
    const keys = this.db.sqlite
      .query<Omit<GaslessKeyRow, "scopes"> & { scopes: string }, [number]>(
        `SELECT key, request_fid AS requestFid, scopes, ttl_secs AS ttlSecs, added_at AS addedAt,
           last_used_at AS lastUsedAt, nonce FROM gasless_keys WHERE fid = ?`,
      )
      .all(fid)
      .map((row) => ({ ...row, scopes: JSON.parse(row.scopes) }));
    return { fid, keys, userNonce: userNonce(this.db, fid) };
  }

  /** The last nonces of apps over all users, by app. */
  appNonces(): ReadonlyMap<number, number> {
    const rows = this.db.sqlite
      .query<{ requestFid: number; nonce: number }, []>(
        "SELECT request_fid AS requestFid, nonce FROM key_nonces WHERE fid = 0",
      )
      .all();
    return new Map(rows.map(({ requestFid, nonce }) => [requestFid, nonce]));
  }

  #proofOf({ name }: UserNameProof): UserNameProof | undefined {
    const held = this.db.sqlite
      .query<Omit<UserNameProof, "name">, [string]>(
        "SELECT type, fid, owner, signature, timestamp FROM username_proofs WHERE name = ?",
      )
      .get(Buffer.from(name).toString());
    return held ? { ...held, name } : undefined;
  }

  /** A record adds only its own message. Rows have only parts of a message, so the whole messages are stored by row. */
  #takeChanges(record: IngestRecord): Change[] {
    const rows = this.db.sqlite
      .query<{ seq: number; op: "put" | "take"; store: number; key: string }, []>(
        "DELETE FROM changes RETURNING seq, op, store, key",
      )
      .all();
    return rows
      .sort((a, b) => a.seq - b.seq)
      .map(({ op, store, key }) => {
        if (op === "put" && record.kind === "message") this.#messages.set(key, toWire(record.message));
        const message = this.#messages.get(key);
        if (!message) throw new Error("a row was not put by a record");
        return { op, store, message };
      });
  }
}

function byAge(a: Message, b: Message): number {
  return dataOf(a).timestamp - dataOf(b).timestamp || Buffer.compare(a.hash, b.hash);
}
