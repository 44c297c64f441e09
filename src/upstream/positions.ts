import type { IndexDatabase } from "../db/index/database.ts";
import { getPosition } from "../db/index/positions.ts";
import type { PositionUpdate } from "../ingest/engine.ts";

/** What following does, as it survives a restart. */
export enum Stage {
  /** The fids are being listed; what was listed before a restart is worth nothing. */
  Listing = 1,
  /** The listed fids are being read; what happens meanwhile goes into the journal. */
  Filling = 2,
  /** The journal, and behind it what happens, is being applied. */
  Applying = 3,
}

const STAGE = "upstream stage";
const SHARDS = "upstream shards";
const SCOPE = "upstream scope";
const LISTED = "upstream listed";
const IS_FULL = "upstream is full pass";

/** Where following stands, as it is written in the transactions of the work itself. */
export class UpstreamPositions {
  constructor(private readonly db: IndexDatabase) {}

  get stage(): Stage | undefined {
    return getPosition(this.db, STAGE);
  }

  /** Number of data shards. */
  get shards(): number | undefined {
    return getPosition(this.db, SHARDS);
  }

  /** The fingerprint of whom the index follows. */
  get scope(): number | undefined {
    return getPosition(this.db, SCOPE);
  }

  /** Number of fids that the running pass began with. */
  get listed(): number {
    return getPosition(this.db, LISTED) ?? 0;
  }

  /** Whether the running pass reads every fid. */
  get isFull(): boolean {
    return getPosition(this.db, IS_FULL) !== 0;
  }

  /** The block of a shard up to which everything is in the index; undefined before there is one. */
  applied(shard: number): number | undefined {
    return getPosition(this.db, appliedKey(shard));
  }

  /** The last block of a shard that has been taken down or applied. */
  taken(shard: number): number | undefined {
    const applied = this.applied(shard);
    const journaled = getPosition(this.db, journaledKey(shard));
    return applied === undefined || journaled === undefined
      ? (applied ?? journaled)
      : Math.max(applied, journaled);
  }

  /** The block of a shard from which on the running pass, or the one before, takes down what happens. */
  start(shard: number): number {
    return getPosition(this.db, startKey(shard)) ?? 1;
  }

  /** The number of the last event of shard 0 that has been taken down or applied. */
  get seqnum(): number | undefined {
    const seqnum = getPosition(this.db, SEQNUM);
    return seqnum === undefined || seqnum < 0 ? undefined : seqnum;
  }
}

export const stageMove = (stage: Stage): PositionUpdate => ({ key: STAGE, position: stage });
export const shardsMove = (shards: number): PositionUpdate => ({ key: SHARDS, position: shards });
export const scopeMove = (fingerprint: number): PositionUpdate => ({ key: SCOPE, position: fingerprint });
export const passMoves = (listed: number, isFull: boolean): PositionUpdate[] => [
  { key: LISTED, position: listed },
  { key: IS_FULL, position: isFull ? 1 : 0 },
];
export const appliedMove = (shard: number, block: number): PositionUpdate => ({
  key: appliedKey(shard),
  position: block,
});
export const startMove = (shard: number, block: number): PositionUpdate => ({
  key: startKey(shard),
  position: block,
});
export const journaledMove = (shard: number, block: number): PositionUpdate => ({
  key: journaledKey(shard),
  position: block,
});
/** @param seqnum undefined: not known. */
export const seqnumMove = (seqnum: number | undefined): PositionUpdate => ({
  key: SEQNUM,
  position: seqnum ?? -1,
});

const SEQNUM = "upstream 0 seqnum";

function appliedKey(shard: number): string {
  return `upstream ${shard} applied`;
}

function journaledKey(shard: number): string {
  return `upstream ${shard} journaled`;
}

function startKey(shard: number): string {
  return `upstream ${shard} start`;
}
