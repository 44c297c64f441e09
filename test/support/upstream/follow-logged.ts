import { channelHistoryOf } from "../../../src/db/index/channels/history.ts";
import { type IndexDatabase, openIndexInMemory } from "../../../src/db/index/database.ts";
import { claimNetwork } from "../../../src/db/index/identity.ts";
import { lastHubBlock } from "../../../src/db/index/log/hub-log.ts";
import { createIngestEngine } from "../../../src/ingest/engine.ts";
import { FarcasterNetwork } from "../../../src/protocol/wire/generated/message.ts";
import { MAINNET_VALIDATORS, ValidatorSets } from "../../../src/trust/validator-sets.ts";
import type { TrustProgress } from "../../../src/upstream/chain/trust-tracker.ts";
import { startFollower } from "../../../src/upstream/follow/follower.ts";
import { UpstreamPositions } from "../../../src/upstream/positions.ts";
import { DEFAULT_TIMINGS } from "../../../src/upstream/timings.ts";
import type { LoggedNode } from "../logged-node.ts";
import { callsAtOnce } from "./calls.ts";

const TIMINGS = {
  ...DEFAULT_TIMINGS,
  pollMs: 5,
  retryMs: 5,
  maxRetryMs: 50,
  roomPollMs: 5,
  stallMs: 15_000,
  callTimeoutMs: 15_000,
};

/** An index that follows a node which numbers its own blocks. */
export interface FollowingIndex extends AsyncDisposable {
  readonly db: IndexDatabase;
  readonly faults: readonly string[];
  trust(): TrustProgress;
  /** Resolves when the index has all blocks of the node, and its channels of before them. */
  caughtUp(): Promise<void>;
}

/** @param prepare called with the empty index. */
export function followLogged(
  node: LoggedNode,
  prepare: (db: IndexDatabase) => void = () => {},
): FollowingIndex {
  const db = openIndexInMemory();
  claimNetwork(db, "mainnet");
  prepare(db);
  const faults: string[] = [];
  const engine = createIngestEngine({
    db,
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    clock: node.clock,
    onFault: (cause) => faults.push(`${cause}`),
  });
  const follower = startFollower({
    urls: [`http://${node.hub.address}`],
    db,
    writer: {
      apply: async (batch) => engine.applyRelayed(batch),
      buildStep: async () => engine.buildStep(),
    },
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    nameServer: undefined,
    verification: {
      validators: () => ({ origin: "release", sets: new ValidatorSets(MAINNET_VALIDATORS) }),
      onUnknownSet: "stop",
      comparesRoots: true,
    },
    clock: node.clock,
    fids: undefined,
    calls: callsAtOnce(4),
    timings: TIMINGS,
    onFault: (what, cause) => faults.push(`${what}: ${cause}`),
    onPeerError: (error) => faults.push(error.message),
  });
  const positions = new UpstreamPositions(db);
  return {
    db,
    faults,
    trust: () => follower.progress().trust,
    async caughtUp(): Promise<void> {
      while (
        follower.progress().phase !== "live" ||
        !channelHistoryOf(db).isDone ||
        (positions.applied(1) ?? 0) < (lastHubBlock(node.db, 1) ?? 0)
      )
        await Bun.sleep(5);
    },
    async [Symbol.asyncDispose]() {
      await follower.stop();
      db[Symbol.dispose]();
    },
  };
}
