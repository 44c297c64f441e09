/** What following may be doing. */
export const UPSTREAM_PHASES = [
  // Nothing has been heard of the upstream since the start.
  "connecting",
  // Reads everything of every fid, while a journal takes down what happens meanwhile.
  "backfill",
  // Applies the journal.
  "replay",
  // Applies block after block.
  "live",
  // Reads the fids again of which something was missed.
  "reconcile",
] as const;

export type UpstreamPhase = (typeof UPSTREAM_PHASES)[number];

export interface ShardProgress {
  /** 0 is the shard of the network's own chain. */
  readonly shard: number;
  /** Everything up to this block is in the index; 0 before the first. */
  readonly appliedBlock: number;
  /** The newest block that the upstream told of. */
  readonly headBlock: number;
  /** Seconds between now and the time of `appliedBlock`; undefined before the first. */
  readonly lagSecs: number | undefined;
}

/** How far following has come. */
export interface UpstreamProgress {
  readonly phase: UpstreamPhase;
  /** Empty before the upstream told how many there are. */
  readonly shards: readonly ShardProgress[];
  /** Of the running backfill or reconciliation. */
  readonly fids: { readonly done: number; readonly total: number };
  /** Applied since the start of the process. */
  readonly messages: number;
  /** Over the last seconds. */
  readonly messagesPerSec: number;
  /** Until the fids are done, by the speed of the last while; undefined where nobody can say. */
  readonly etaSecs: number | undefined;
  /** That the upstream is no Farcaster node and why, for people; undefined where it is one or nobody knows. */
  readonly peerError: string | undefined;
  /** The latest fault that following recovered from, for people. */
  readonly lastFault: string | undefined;
}
