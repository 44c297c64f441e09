import type { IndexDatabase } from "../db/index/database.ts";
import { lastEventBlocks } from "../db/index/event-blocks.ts";
import { logIdOf } from "../db/index/log-identity.ts";
import { type BlockRef, eventsAfter } from "../db/index/outbox.ts";
import { loadUsers } from "../read/hydrate/users.ts";
import type { EventFacts } from "../webhooks/match/facts.ts";
import { factsOf, fidsNamedIn } from "../webhooks/match/facts-of.ts";
import { type NodeEvent, readEvent } from "../webhooks/publish/event.ts";
import { blocksAlong } from "./blocks-along.ts";
import type { StreamPosition } from "./position.ts";

/** An event of the log with the position behind it. */
export interface LoggedEvent {
  readonly position: StreamPosition;
  readonly event: NodeEvent;
  readonly facts: EventFacts;
  /** The block that caused it; null for an event of no block. */
  readonly block: BlockRef | null;
}

/** The next events of the log. */
export interface LogPage {
  readonly events: readonly LoggedEvent[];
  /** The position behind all of them. */
  readonly end: StreamPosition;
  /** Whether events right behind the position are deleted. Then there are none here. */
  readonly isOvertaken: boolean;
}

export interface LogPageDeps {
  readonly db: IndexDatabase;
  /** Called for a row that this version of the node cannot read. It is passed over. */
  readonly onUnreadable: (seq: number, cause: unknown) => void;
}

/** Reads up to `limit` events behind a position, all in one snapshot. */
export function readLogPage(
  { db, onUnreadable }: LogPageDeps,
  after: StreamPosition,
  limit: number,
): LogPage {
  return db.snapshot(() => {
    const rows = eventsAfter(db, after.seq, limit);
    const [first] = rows;
    if (first === undefined) return { events: [], end: after, isOvertaken: false };
    // Numbers have no gaps, and are deleted from the front.
    if (first.seq !== after.seq + 1) return { events: [], end: after, isOvertaken: true };
    const logId = logIdOf(db) ?? after.logId;
    const atEnd = rows.length < limit ? lastEventBlocks(db, rows.at(-1)?.seq ?? after.seq) : undefined;
    const blocks = blocksAlong(
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
    const users = loadUsers(
      db,
      read.flatMap(({ event }) => fidsNamedIn(event)),
    );
    return {
      events: read.map((one) => ({ ...one, facts: factsOf(one.event, users) })),
      end: positionAt(rows.length - 1),
      isOvertaken: false,
    };
  });
}
