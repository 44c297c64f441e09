import { createHash } from "node:crypto";
import type { IndexDatabase } from "../../db/index/database.ts";
import { onChainEventBytes } from "../../db/index/project/on-chain.ts";
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

/** Returns the digest of `storedEvents` without decoding any event, because an fid can have thousands. */
export function digestOfStored(db: IndexDatabase, type: OnChainEventType, fid: number): string {
  return digestOf(onChainEventBytes(db, type, fid));
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
