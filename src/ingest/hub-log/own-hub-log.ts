import type { IndexDatabase } from "../../db/index/database.ts";
import { appendHubBlock } from "../../db/index/hub-log.ts";
import { firstEventId, MAX_EVENTS_OF_BLOCK } from "../../protocol/hub-event-id.ts";
import { toFarcasterSecs } from "../../protocol/time.ts";
import { OWN_SHARD } from "./block-heights.ts";
import type { OpenLogs } from "./open-logs.ts";
import type { NewHubEvent } from "./operation-events.ts";

const NO_HASH = new Uint8Array();

/** The log of hub events of a node that follows no other and numbers its blocks itself. */
export interface OwnHubLog {
  /**
   * Returns whether the next commit can be logged. Otherwise it must not happen, because its events would be missing; more heights
   * are then being reserved.
   */
  isReady(): boolean;
  /** Appends the events of a commit, in its transaction, as one block or, when there are too many for one, as several. */
  append(events: readonly NewHubEvent[], nowSecs: number): void;
  /** Appends a block without events, in a transaction. */
  heartbeat(nowSecs: number): void;
  /** Makes the appended blocks final, after the commit. */
  committed(): void;
  /** Forgets the appended blocks, after the transaction was rolled back. */
  rolledBack(): void;
}

/** Heights that a commit may take: its records have a few events each, and a block has room for 16,383. */
const MAX_BLOCKS_OF_COMMIT = 64;

export function createOwnHubLog({
  db,
  logs,
}: {
  readonly db: IndexDatabase;
  readonly logs: OpenLogs;
}): OwnHubLog {
  function takeHeight(): number {
    if (!logs.heights) throw new Error("the logs are not open");
    return logs.heights.take();
  }

  function appendBlock(events: readonly NewHubEvent[], nowSecs: number): void {
    const height = takeHeight();
    appendHubBlock(db, {
      shard: OWN_SHARD,
      height,
      at: toFarcasterSecs(nowSecs),
      hash: NO_HASH,
      seqnum: 0,
      events: events.map((event, at) => ({ ...event, id: firstEventId(height) + at + 1 })),
    });
  }

  return {
    isReady() {
      if ((logs.heights?.available ?? 0) >= MAX_BLOCKS_OF_COMMIT) return true;
      void logs.heights?.reserveMore();
      return false;
    },
    append(events, nowSecs) {
      for (let at = 0; at < events.length; at += MAX_EVENTS_OF_BLOCK)
        appendBlock(events.slice(at, at + MAX_EVENTS_OF_BLOCK), nowSecs);
    },
    heartbeat: (nowSecs) => appendBlock([], nowSecs),
    committed() {
      logs.heights?.keep();
      void logs.heights?.reserveMore();
    },
    rolledBack: () => logs.heights?.giveBack(),
  };
}
