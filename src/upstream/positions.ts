import { bulkPhaseOf } from "../db/index/bulk/bulk-state.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import { getPosition, type PositionUpdate } from "../db/index/positions.ts";

/** The stage of following. It is stored as a position, so it survives a restart. */
export const Stage = {
  /** The todo list is being written. A partial list from before a restart is discarded. */
  Listing: 1,
  /** The fids of the todo list are being read. New blocks are written to the journal. */
  Filling: 2,
  /** The journal and then new blocks are being applied. */
  Applying: 3,
} as const;

export type Stage = (typeof Stage)[keyof typeof Stage];

/** Progress of a full sync from snapshots. */
export const Replication = {
  /** Snapshots are being read. */
  Reading: 1,
  /** All snapshots have been read. What they do not contain has not. */
  Read: 2,
} as const;

export type Replication = (typeof Replication)[keyof typeof Replication];

const STAGE = "upstream stage";
const SHARDS = "upstream shards";
const SCOPE = "upstream scope";
const LISTED = "upstream listed";
const IS_FULL = "upstream is full pass";
const FILLED = "upstream filled";
const REPLICATION = "upstream replication";

/** Reads the positions of following, which are written in the transactions of the work itself. */
export class UpstreamPositions {
  readonly #db: IndexDatabase;

  constructor(db: IndexDatabase) {
    this.#db = db;
  }

  get stage(): Stage | undefined {
    return getPosition(this.#db, STAGE) as Stage | undefined;
  }

  /** Whether every fid has been read once. An index of an earlier version shows it only by its stage. */
  get isFilled(): boolean {
    return getPosition(this.#db, FILLED) === 1 || this.stage === Stage.Applying;
  }

  /** Number of data shards. */
  get shards(): number | undefined {
    return getPosition(this.#db, SHARDS);
  }

  /** The fingerprint of the followed scope. */
  get scope(): number | undefined {
    return getPosition(this.#db, SCOPE);
  }

  /** Number of fids on the todo list at the start of the running sync. */
  get listed(): number {
    return getPosition(this.#db, LISTED) ?? 0;
  }

  /** Whether the running sync is a full sync, which reads every fid. */
  get isFull(): boolean {
    return getPosition(this.#db, IS_FULL) !== 0;
  }

  /** Progress of the running full sync with the snapshots of the network; undefined for one that reads fid by fid. */
  get replication(): Replication | undefined {
    return (getPosition(this.#db, REPLICATION) || undefined) as Replication | undefined;
  }

  /** Returns the newest block of a shard that is in the index with all blocks before it; undefined before the first. */
  applied(shard: number): number | undefined {
    return getPosition(this.#db, appliedKey(shard));
  }

  /** Returns the last event of shard 0 that an applied block of a data shard has repeated; undefined if it is not known. */
  replayed(shard: number): number | undefined {
    const seqnum = getPosition(this.#db, replayedKey(shard));
    return seqnum === undefined || seqnum < 0 ? undefined : seqnum;
  }

  /** Returns the last block of a shard that was journaled or applied. */
  received(shard: number): number | undefined {
    const applied = this.applied(shard);
    const journaled = getPosition(this.#db, journaledKey(shard));
    return applied === undefined || journaled === undefined
      ? (applied ?? journaled)
      : Math.max(applied, journaled);
  }

  /** Returns the first block of a shard that the last full sync journaled. */
  start(shard: number): number {
    return getPosition(this.#db, startKey(shard)) ?? 1;
  }

  /** Number of the last event of shard 0 that was journaled or applied. */
  get seqnum(): number | undefined {
    const seqnum = getPosition(this.#db, SEQNUM);
    return seqnum === undefined || seqnum < 0 ? undefined : seqnum;
  }
}

/** Marks that the index has been filled once: every later sync keeps it complete. */
export const FILLED_POSITION: PositionUpdate = { key: FILLED, position: 1 };
export const stagePosition = (stage: Stage): PositionUpdate => ({ key: STAGE, position: stage });
export const replicationPosition = (replication: Replication | undefined): PositionUpdate => ({
  key: REPLICATION,
  position: replication ?? 0,
});
export const shardsPosition = (shards: number): PositionUpdate => ({ key: SHARDS, position: shards });
export const scopePosition = (fingerprint: number): PositionUpdate => ({ key: SCOPE, position: fingerprint });
export const syncPositions = (listed: number, isFull: boolean): PositionUpdate[] => [
  { key: LISTED, position: listed },
  { key: IS_FULL, position: isFull ? 1 : 0 },
];
export const appliedPosition = (shard: number, block: number): PositionUpdate => ({
  key: appliedKey(shard),
  position: block,
});
/** @param seqnum undefined or 0 if it is not known. */
export const replayedPosition = (shard: number, seqnum: number | undefined): PositionUpdate => ({
  key: replayedKey(shard),
  position: seqnum || -1,
});
export const startPosition = (shard: number, block: number): PositionUpdate => ({
  key: startKey(shard),
  position: block,
});
export const journaledPosition = (shard: number, block: number): PositionUpdate => ({
  key: journaledKey(shard),
  position: block,
});
/** @param seqnum undefined if it is not known. */
export const seqnumPosition = (seqnum: number | undefined): PositionUpdate => ({
  key: SEQNUM,
  position: seqnum ?? -1,
});

const SEQNUM = "upstream 0 seqnum";

function appliedKey(shard: number): string {
  return `upstream ${shard} applied`;
}

function replayedKey(shard: number): string {
  return `upstream ${shard} replayed`;
}

function journaledKey(shard: number): string {
  return `upstream ${shard} journaled`;
}

function startKey(shard: number): string {
  return `upstream ${shard} start`;
}

/** The shard of the block chain. It decides storage lends and gasless keys, and has no hub events. */
export const BLOCK_SHARD = 0;

/**
 * Returns a function that returns why the index of a node that follows an upstream cannot be read: while it is being built
 * in bulk, it lacks rows and indexes. The function reads the index until blocks have been applied for the first time.
 */
export function createBuildCheck(db: IndexDatabase): () => string | undefined {
  const positions = new UpstreamPositions(db);
  let isFilled = false;
  return () => {
    if (isFilled) return undefined;
    if (bulkPhaseOf(db) !== undefined) return "the index is being filled from the upstream";
    isFilled = positions.stage === Stage.Applying;
    return undefined;
  };
}

/**
 * Returns a function that reports whether the index of a node that follows an upstream has been filled once. The function
 * reads the index until it has.
 */
export function createFillCheck(db: IndexDatabase): () => boolean {
  const positions = new UpstreamPositions(db);
  let isFilled = false;
  return () => {
    isFilled ||= positions.isFilled;
    return isFilled;
  };
}
