import type { IndexDatabase } from "../../db/index/database.ts";
import {
  hasSeenReservedHeight,
  logIdOf,
  markHeightReserved,
  startReservingHeight,
} from "../../db/index/identity.ts";
import { appendHubBlock, beginHubLog, endHubLog, lastHubBlock } from "../../db/index/log/hub-log.ts";
import { firstEventId, MAX_EVENTS_OF_BLOCK } from "../../protocol/hub-event-id.ts";
import { FARCASTER_EPOCH_UNIX_SECS, toFarcasterSecs } from "../../protocol/time.ts";
import { type Clock, type SetTimer, setTimer } from "../../runtime/clock.ts";
import type { NodeLogStore } from "./node-log-store.ts";
import type { NewHubEvent } from "./operation-events.ts";

/** The only data shard of a node that numbers its blocks itself. */
const OWN_SHARD = 1;

const HEIGHTS_PER_RESERVATION = 4096;
const MS_PER_HEIGHT = 10;

interface BlockHeightsDeps {
  readonly db: IndexDatabase;
  readonly nodeId: string;
  readonly store: NodeLogStore;
  readonly clock: Clock;
  /** Whether the node numbers its blocks itself. Blocks of a followed node have the same numbers in every index. */
  readonly isNumbering: boolean;
  /** Number of heights reserved at a time. The next ones are reserved once half of them are used. */
  readonly heightsPerReservation?: number;
  /** Called when a reservation fails. It is tried again. */
  readonly onFault: (cause: unknown) => void;
}

/**
 * The heights of the blocks that a node numbers itself. A height is used only once, whatever happens to the index or to the
 * clock.
 */
interface BlockHeights {
  /** Number of reserved heights that are still unused. */
  readonly available: number;
  /** Returns the next height. The caller must have checked that one is available. */
  take(): number;
  /** Returns the heights taken by a rolled-back transaction. */
  giveBack(): void;
  /** Makes the taken heights permanent. */
  keep(): void;
  /** Reserves more heights in the state once half of them are used. Never throws. */
  reserveMore(): Promise<void>;
}

/**
 * Opens the logs of an index. If the index is not the one that this node served last (it is new, or a copy), its logs get a
 * new id, and the hub event log that this node numbers itself restarts above every height that was ever reserved.
 *
 * @throws StateUnavailable when the state cannot be read or written.
 */
export async function openBlockHeights(deps: BlockHeightsDeps): Promise<BlockHeights> {
  const { db, nodeId, store, clock, isNumbering, heightsPerReservation = HEIGHTS_PER_RESERVATION } = deps;
  const stored = await store.find(nodeId);
  const isSame =
    stored !== undefined && stored.logId === logIdOf(db) && hasSeenReservedHeight(db, stored.reservedHeight);
  const last = lastHubBlock(db, OWN_SHARD);
  const logId = isSame ? stored.logId : crypto.randomUUID().replaceAll("-", "");
  const first = Math.floor((clock.nowMs() - FARCASTER_EPOCH_UNIX_SECS * 1000) / MS_PER_HEIGHT);
  const reservedBefore = stored?.reservedHeight ?? 0;
  let next = isSame && last !== undefined ? last + 1 : Math.max(first, reservedBefore, (last ?? 0) + 1);
  let reserved = next;
  let taken = 0;
  let reserving: Promise<void> | undefined;

  /** Reserves heights. A crash at any point leaves the state's height in the index, under one of its two names. */
  async function reserve(height: number): Promise<void> {
    db.transaction(() => startReservingHeight(db, logId, height));
    await store.put(nodeId, { logId, reservedHeight: height });
    db.transaction(() => markHeightReserved(db, height));
    reserved = height;
  }

  // The next block is contiguous, so nodes that follow this one see no gap.
  if (isNumbering && (!isSame || last === undefined)) db.transaction(() => beginHubLog(db, OWN_SHARD, next));
  // Each start makes a reservation, so that a copy of the index made before it is detected.
  await reserve(Math.max(next, reservedBefore) + heightsPerReservation);

  return {
    get available() {
      return reserved - next - taken;
    },
    take() {
      const height = next + taken;
      if (height >= reserved) throw new Error("no block height is reserved");
      taken += 1;
      return height;
    },
    giveBack() {
      taken = 0;
    },
    keep() {
      next += taken;
      taken = 0;
    },
    async reserveMore() {
      if (reserving || reserved - next > heightsPerReservation / 2) return reserving;
      reserving = reserve(next + heightsPerReservation)
        .catch(deps.onFault)
        .finally(() => {
          reserving = undefined;
        });
      return reserving;
    },
  };
}

const NO_HASH = new Uint8Array();

/** The hub event log of a node that follows no other and numbers its blocks itself. */
export type OwnHubLog = ReturnType<typeof createOwnHubLog>;

/** Heights that a commit may take. Its records have a few events each, and a block has room for 16,383. */
const MAX_BLOCKS_OF_COMMIT = 64;

export function createOwnHubLog({ db, logs }: { readonly db: IndexDatabase; readonly logs: OpenLogs }) {
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
    /**
     * Returns whether the next commit can be logged. If not, it must not happen, because its events would be missing; more
     * heights are then being reserved.
     */
    isReady(): boolean {
      if ((logs.heights?.available ?? 0) >= MAX_BLOCKS_OF_COMMIT) return true;
      void logs.heights?.reserveMore();
      return false;
    },
    /** Appends the events of a commit in its transaction, as one block, or as several if there are too many. */
    append(events: readonly NewHubEvent[], nowSecs: number): void {
      for (let at = 0; at < events.length; at += MAX_EVENTS_OF_BLOCK)
        appendBlock(events.slice(at, at + MAX_EVENTS_OF_BLOCK), nowSecs);
    },
    /** Appends a block without events, in a transaction. */
    heartbeat: (nowSecs: number): void => appendBlock([], nowSecs),
    /** Makes the appended blocks permanent, after the commit. */
    committed(): void {
      logs.heights?.keep();
      void logs.heights?.reserveMore();
    },
    /** Discards the appended blocks, after the transaction was rolled back. */
    rolledBack: (): void => logs.heights?.giveBack(),
  };
}

/** Interval, in milliseconds, at which opening the logs is retried until the state responds. */
const RETRY_INTERVAL_MS = 1000;

/** The logs of an index whose node is starting or serving. */
export interface OpenLogs {
  /** Undefined until the state has responded. */
  readonly heights: BlockHeights | undefined;
  /** Stops retrying. */
  stop(): void;
}

interface OpenLogsDeps extends BlockHeightsDeps {
  /** Whether hub events are logged. */
  readonly isLogging: boolean;
  /** Default: the process's timers. */
  readonly after?: SetTimer;
}

/**
 * Opens the logs of an index. If the state does not respond, this resolves after the first try, because reads need no log,
 * and opening is retried in the background.
 */
export async function openLogs(deps: OpenLogsDeps): Promise<OpenLogs> {
  const { db, isLogging, isNumbering, onFault, after = setTimer } = deps;
  let heights: BlockHeights | undefined;
  let cancelRetry: (() => void) | undefined;
  let isStopped = false;

  async function open(): Promise<void> {
    try {
      heights = await openBlockHeights(deps);
    } catch (cause) {
      onFault(cause);
      if (!isStopped) cancelRetry = after(RETRY_INTERVAL_MS, open);
    }
  }

  // Records merged now will be missing from the log.
  if (isNumbering && !isLogging) db.transaction(() => endHubLog(db));
  await open();
  return {
    get heights() {
      return heights;
    },
    stop() {
      isStopped = true;
      cancelRetry?.();
    },
  };
}
