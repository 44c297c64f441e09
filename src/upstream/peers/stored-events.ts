import { createHash } from "node:crypto";
import type { IndexDatabase } from "../../db/index/database.ts";
import { onChainEventBytes } from "../../db/index/project/on-chain.ts";
import { statement } from "../../db/index/statement.ts";
import { OnChainEvent, type OnChainEventType } from "../../protocol/wire/generated/on-chain.ts";

/** The events of one type of an fid as the index has them, in chain order, and a digest of their bytes. */
export interface StoredEvents {
  readonly events: readonly OnChainEvent[];
  readonly digest: string;
}

export function storedEvents(db: IndexDatabase, type: OnChainEventType, fid: number): StoredEvents {
  const stored = onChainEventBytes(db, type, fid);
  return { events: stored.map((bytes) => OnChainEvent.decode(bytes)), digest: digestOf(stored) };
}

/** Beyond this number, all digests are computed again. */
const MAX_DIGESTS = 10_000;
const ownChanges = statement<{ changes: number }, []>(
  "stored-events.own-changes",
  "SELECT total_changes() AS changes",
);

/**
 * The digests of `storedEvents`. An owner can add events without limit, and a comparison must cover all of them, because any
 * of them may be the one that a node invents, withholds or changes. So they are not decoded, and read once per commit to the
 * index, however many requests the fid sends.
 */
export class StoredDigests {
  readonly #db: IndexDatabase;
  readonly #digests = new Map<string, string>();
  #version = "";

  constructor(db: IndexDatabase) {
    this.#db = db;
  }

  of(type: OnChainEventType, fid: number): string {
    // Read before the events: if a commit follows, they are read again.
    const version = `${this.#db.dataVersion()} ${this.#db.get(ownChanges)?.changes}`;
    if (version !== this.#version || this.#digests.size >= MAX_DIGESTS) this.#digests.clear();
    this.#version = version;
    const key = `${type} ${fid}`;
    const known = this.#digests.get(key);
    if (known !== undefined) return known;
    const digest = digestOf(onChainEventBytes(this.#db, type, fid));
    this.#digests.set(key, digest);
    return digest;
  }
}

function digestOf(stored: readonly Uint8Array[]): string {
  const hash = createHash("sha256");
  for (const bytes of stored) hash.update(String(bytes.length)).update(";").update(bytes);
  return hash.digest("base64");
}

/** Returns the identity of an event, which is the same however it was encoded. */
export function identity(event: OnChainEvent): string {
  return Buffer.from(OnChainEvent.encode(event).finish()).toString("base64");
}

/** Returns a digest of events that is the same however they were encoded. */
export function fingerprintOf(events: readonly OnChainEvent[]): Buffer {
  const hash = createHash("sha256");
  for (const event of events) hash.update(identity(event)).update(";");
  return hash.digest();
}

export function isSubset(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return [...a].every((one) => b.has(one));
}

export function isSame(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && isSubset(a, b);
}
