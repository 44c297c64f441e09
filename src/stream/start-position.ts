import type { IndexDatabase } from "../db/index/database.ts";
import { logIdOf } from "../db/index/log-identity.ts";
import { eventRange, firstEventFrom } from "../db/index/outbox.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { NO_BLOCKS, type StreamPosition } from "./position.ts";

/** Where a client wants its stream to begin. */
export interface StreamStart {
  readonly from:
    | { readonly kind: "live" }
    | { readonly kind: "cursor"; readonly position: StreamPosition }
    /** The first event that was applied then or later, unix seconds. */
    | { readonly kind: "since"; readonly unixSecs: number };
  /** Whether a stream whose first events are gone begins with the oldest. Else it is refused. */
  readonly skipsGap: boolean;
}

export interface ResolvedStart {
  /** Undefined for a stream that begins with what comes. */
  readonly position: StreamPosition | undefined;
  /** Events between these two positions are gone. `from` is undefined for a start by time. */
  readonly gap: { readonly from: StreamPosition | undefined; readonly to: StreamPosition } | undefined;
  /** The position before the oldest event. */
  readonly oldest: StreamPosition;
}

/** The events behind the position of a client are gone, or were never here. */
export interface GoneEvents {
  readonly oldest: StreamPosition;
}

/** The ends of the log: the positions before its oldest event, and behind its newest. */
export interface LogEnds {
  readonly oldest: StreamPosition;
  readonly head: StreamPosition;
}

/** Returns the ends of the log; undefined before a node has served the index. */
export function logEnds(db: IndexDatabase): LogEnds | undefined {
  return db.snapshot(() => {
    const logId = logIdOf(db);
    if (logId === undefined) return undefined;
    const { oldestSeq, headSeq } = eventRange(db);
    const at = (seq: number): StreamPosition => ({ logId, seq, blocks: NO_BLOCKS });
    return { oldest: at(oldestSeq - 1), head: at(headSeq) };
  });
}

/**
 * Finds the position of a start.
 *
 * @param retainedFrom Events that were applied then or later are in the log, unix seconds.
 */
export function resolveStart(
  db: IndexDatabase,
  { oldest, head }: LogEnds,
  { from, skipsGap }: StreamStart,
  retainedFrom: number,
): Result<ResolvedStart, GoneEvents> {
  const beginsAt = (position: StreamPosition | undefined) => ok({ position, gap: undefined, oldest });
  const gone = (wanted: StreamPosition | undefined) =>
    skipsGap ? ok({ position: oldest, gap: { from: wanted, to: oldest }, oldest }) : err({ oldest });
  if (from.kind === "live") return beginsAt(undefined);
  if (from.kind === "cursor") {
    const { logId, seq } = from.position;
    const isHere = logId === oldest.logId && seq >= oldest.seq && seq <= head.seq;
    return isHere ? beginsAt(from.position) : gone(from.position);
  }
  if (oldest.seq > 0 && from.unixSecs < retainedFrom) return gone(undefined);
  const seq = db.snapshot(() => firstEventFrom(db, from.unixSecs));
  return beginsAt(seq === undefined ? undefined : { ...oldest, seq: seq - 1 });
}
