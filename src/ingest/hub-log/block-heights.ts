import type { IndexDatabase } from "../../db/index/database.ts";
import { beginHubLog, lastHubBlock } from "../../db/index/hub-log.ts";
import {
  hasSeenReservedHeight,
  logIdOf,
  markHeightReserved,
  startReservingHeight,
} from "../../db/index/log-identity.ts";
import { FARCASTER_EPOCH_UNIX_SECS } from "../../protocol/time.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { NodeLogStore } from "./node-log-store.ts";

/** The only data shard of a node that numbers its blocks itself. */
export const OWN_SHARD = 1;

const HEIGHTS_PER_RESERVATION = 4096;
const MS_PER_HEIGHT = 10;

export interface BlockHeightsDeps {
  readonly db: IndexDatabase;
  readonly nodeId: string;
  readonly store: NodeLogStore;
  readonly clock: Clock;
  /** Whether the node numbers its blocks itself. Blocks of a followed node have the same numbers in every index. */
  readonly isNumbering: boolean;
  /** Heights that are reserved at a time. The next ones are reserved when half of them are used. */
  readonly heightsPerReservation?: number;
  /** Called for a reservation that failed; it is tried again. */
  readonly onFault: (cause: unknown) => void;
}

/** The heights of the blocks that a node numbers itself. A height is used once, whatever happens to the index or to the clock. */
export interface BlockHeights {
  /** The number of reserved heights that are not used yet. */
  readonly available: number;
  /** Returns the next height. The caller has checked that one is available. */
  take(): number;
  /** Withdraws the heights that a rolled back transaction took. */
  giveBack(): void;
  /** Makes the taken heights final. */
  keep(): void;
  /** Reserves more heights in the state when half of them are used. Never throws. */
  reserveMore(): Promise<void>;
}

/**
 * Opens the logs of an index. If the index is not the one that this node served last (it is new, or a copy), its logs get a new
 * id, and the log of hub events that this node numbers itself begins again above every height that was ever reserved.
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

  /** A crash at any point leaves the state's height in the index, under one of its two names. */
  async function reserve(height: number): Promise<void> {
    db.transaction(() => startReservingHeight(db, logId, height));
    await store.put(nodeId, { logId, reservedHeight: height });
    db.transaction(() => markHeightReserved(db, height));
    reserved = height;
  }

  // The next block is contiguous, so a node that follows this one sees no gap.
  if (isNumbering && (!isSame || last === undefined)) db.transaction(() => beginHubLog(db, OWN_SHARD, next));
  // Each start reserves, so that a copy of the index from before it is noticed.
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
