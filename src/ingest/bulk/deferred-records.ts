import type { IndexDatabase } from "../../db/index/database.ts";
import { appendToJournal, dropFromJournal, journaledBlocksAfter } from "../../db/index/upstream-work.ts";
import type { EncodedRecord, RecordKind } from "../record.ts";

/** A record of an import that is merged after the bulk build. */
interface DeferredRecord {
  readonly number: number;
  /** Offset in the imported file. */
  readonly offset: number;
  readonly record: EncodedRecord;
  /** Whether the author was already admitted when the preceding records had been read. */
  readonly isAdmitted: boolean;
}

/** Number under which the journal stores an import's records. No shard has it. */
const IMPORT = -1;
const KINDS: readonly RecordKind[] = ["message", "onChainEvent", "usernameProof"];
const HEAD_BYTES = 10;

export function defer(db: IndexDatabase, { number, offset, record, isAdmitted }: DeferredRecord): void {
  const bytes = Buffer.alloc(HEAD_BYTES + record.bytes.length);
  bytes[0] = KINDS.indexOf(record.kind);
  bytes[1] = isAdmitted ? 1 : 0;
  bytes.writeDoubleLE(offset, 2);
  bytes.set(record.bytes, HEAD_BYTES);
  appendToJournal(db, IMPORT, { block: number, bytes });
}

/** Returns the next deferred records after the one with a number. */
export function deferredAfter(db: IndexDatabase, number: number, limit: number): DeferredRecord[] {
  return journaledBlocksAfter(db, IMPORT, number, limit).map(({ block, bytes }) => {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const kind = KINDS[buffer[0] ?? 0] ?? "message";
    return {
      number: block,
      offset: buffer.readDoubleLE(2),
      record: { kind, bytes: new Uint8Array(buffer.subarray(HEAD_BYTES)) },
      isAdmitted: buffer[1] === 1,
    };
  });
}

export function areDeferred(db: IndexDatabase): boolean {
  return journaledBlocksAfter(db, IMPORT, -1, 1).length > 0;
}

/** Drops the deferred records up to a number, in the transaction that merges them. */
export function dropDeferred(db: IndexDatabase, upTo: number): void {
  dropFromJournal(db, IMPORT, upTo);
}
