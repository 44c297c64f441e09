import type { IndexDatabase } from "../db/index/database.ts";
import type { CommitSequence } from "../db/index/log/commit-sequence.ts";
import { presenceOf } from "../ingest/merge/presence.ts";
import { isChannelMessage } from "../protocol/channels/slots.ts";
import type { SignedMessage } from "../protocol/message/signed-message.ts";
import type { FarcasterNetwork } from "../protocol/wire/generated/message.ts";

/** How often the commits of the index are polled while a caller waits. */
const POLL_MS = 10;

export interface IndexWatchDeps {
  readonly db: IndexDatabase;
  readonly network: FarcasterNetwork;
  readonly commits: Pick<CommitSequence, "read">;
  /** Returns the last block of shard 0 that the index has applied; undefined on a node that follows no other. */
  readonly shardZeroBlock: () => number | undefined;
}

/** Detects when accepted messages arrive in the index. */
export type IndexWatch = ReturnType<typeof createIndexWatch>;

interface Waiter {
  readonly message: SignedMessage;
  readonly untilMs: number;
  readonly resolve: (isIndexed: boolean) => void;
}

export function createIndexWatch({ db, network, commits, shardZeroBlock }: IndexWatchDeps) {
  let waiters: Waiter[] = [];
  let timer: ReturnType<typeof setInterval> | undefined;
  let lookedAt: number | undefined;

  const isIndexed = (message: SignedMessage) => presenceOf(db, network, message) !== "absent";

  function look(): void {
    const commit = commits.read();
    const nowMs = performance.now();
    const isNew = commit === undefined || commit !== lookedAt;
    lookedAt = commit;
    waiters = waiters.filter(({ message, untilMs, resolve }) => {
      const found = isNew && isIndexed(message);
      if (!found && nowMs < untilMs) return true;
      resolve(found);
      return false;
    });
    if (waiters.length > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    /** Reports whether the index has a message that the network has accepted, or one that has replaced it. */
    isIndexed,
    /** Reports whether a channel message was merged and has since lost its slot to a later one. */
    isReplaced: (message: SignedMessage): boolean =>
      isChannelMessage(message.data) && presenceOf(db, network, message) === "superseded",
    /** See `IndexWatchDeps`. */
    shardZeroBlock,
    /** Resolves to true when the index has the message, or to false after the time limit. */
    awaitIndexed(message: SignedMessage, timeoutMs: number): Promise<boolean> {
      // After a commit during this check, the index is checked again.
      lookedAt = undefined;
      if (isIndexed(message)) return Promise.resolve(true);
      return new Promise((resolve) => {
        waiters.push({ message, untilMs: performance.now() + timeoutMs, resolve });
        timer ??= setInterval(look, POLL_MS);
      });
    },
  };
}

/** If an accepted channel message is not in this many blocks of shard 0, it counts as refused: shard 0 does not report refusals. */
export const MAX_BLOCKS_TO_MERGE = 100;

/** Returns the block of shard 0 at which a message was accepted; undefined if shard 0 would not refuse it silently. */
export function acceptedBlockOf(
  index: Pick<IndexWatch, "shardZeroBlock">,
  { data }: SignedMessage,
): number | undefined {
  return isChannelMessage(data) ? index.shardZeroBlock() : undefined;
}
