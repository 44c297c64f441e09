import type { IndexDatabase } from "../db/index/database.ts";
import { logIdOf } from "../db/index/identity.ts";
import { lastEventBlocks } from "../db/index/log/event-blocks.ts";
import { type BlockRef, eventsAfter } from "../db/index/log/outbox.ts";
import type { ScoreSource } from "../read/hydrate/users.ts";
import { type NodeEvent, readEvent } from "../webhooks/event.ts";
import type { EventFacts } from "../webhooks/match/facts.ts";
import { loadFacts } from "../webhooks/match/facts-of.ts";
import { laterBlocks, NO_BLOCKS, type ShardBlocks, type StreamPosition } from "./position.ts";

/** An event of the log with the position after it. */
export interface LoggedEvent {
  readonly position: StreamPosition;
  readonly event: NodeEvent;
  readonly facts: EventFacts;
  /** The block that caused it; null if no block did. */
  readonly block: BlockRef | null;
}

/** The next events of the log. */
export interface LogPage {
  readonly events: readonly LoggedEvent[];
  /** The position after all of them. */
  readonly end: StreamPosition;
  /** Whether events right after the position are deleted. If so, there are no events here. */
  readonly isOvertaken: boolean;
}

export interface LogPageDeps {
  readonly db: IndexDatabase;
  /** Set if `minimum_author_score` has an effect. */
  readonly scores?: ScoreSource | undefined;
  /** Called for a row that this version of the node cannot read. It is skipped. */
  readonly onUnreadable: (seq: number, cause: unknown) => void;
}

/** Reads up to `limit` events after a position, all in one snapshot. */
export function readLogPage(
  { db, scores, onUnreadable }: LogPageDeps,
  after: StreamPosition,
  limit: number,
): LogPage {
  return db.snapshot(() => {
    const rows = eventsAfter(db, after.seq, limit);
    const [first] = rows;
    if (first === undefined) return { events: [], end: after, isOvertaken: false };
    // Numbers have no gaps, and events are deleted from the front.
    if (first.seq !== after.seq + 1) return { events: [], end: after, isOvertaken: true };
    const logId = logIdOf(db) ?? after.logId;
    const atEnd = rows.length < limit ? lastEventBlocks(db, rows.at(-1)?.seq ?? after.seq) : undefined;
    const blocks = blocksAfterEach(
      rows.map(({ block }) => block),
      after.blocks,
      atEnd,
    );
    const positionAt = (at: number): StreamPosition => ({
      logId,
      seq: rows[at]?.seq ?? after.seq,
      blocks: blocks[at] ?? after.blocks,
    });
    const read = rows.flatMap((row, at) => {
      try {
        return [{ event: readEvent(row), position: positionAt(at), block: row.block }];
      } catch (cause) {
        onUnreadable(row.seq, cause);
        return [];
      }
    });
    const facts = loadFacts(
      db,
      read.map(({ event }) => event),
      scores,
    );
    return {
      events: read.flatMap((one, at) => (facts[at] ? [{ ...one, facts: facts[at] }] : [])),
      end: positionAt(rows.length - 1),
      isOvertaken: false,
    };
  });
}

/**
 * Returns, for the position after each event, the last block of each shard whose events are all at or before it.
 *
 * @param events the blocks of consecutive events; null for events outside of blocks.
 * @param before the blocks of the position that precedes them.
 * @param atEnd the last block of each shard in the log, if the log has no further event; otherwise undefined.
 */
function blocksAfterEach(
  events: readonly (BlockRef | null)[],
  before: ShardBlocks,
  atEnd: ShardBlocks | undefined,
): ShardBlocks[] {
  if (before.size === 0 && (atEnd?.size ?? 0) === 0 && events.every((block) => block === null))
    return events.map(() => NO_BLOCKS);
  // An event of a block follows only after all events of earlier blocks were sent.
  let reached = before;
  const positions = events.map((block) => {
    if (block) reached = laterBlocks(reached, new Map([[block.shard, block.number - 1]]));
    return reached;
  });
  let next: ShardBlocks = atEnd ?? NO_BLOCKS;
  for (let at = events.length - 1; at >= 0; at--) {
    positions[at] = laterBlocks(positions[at] ?? before, next);
    const block = events[at];
    if (block) next = new Map(next).set(block.shard, block.number - 1);
  }
  return positions;
}
