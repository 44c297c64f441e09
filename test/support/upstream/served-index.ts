import { createAdmission } from "../../../src/admission/admission.ts";
import { hasHubEventsAfter } from "../../../src/db/index/log/hub-log.ts";
import { createSubscribers } from "../../../src/hub/events/subscribers.ts";
import type { HubUpstream } from "../../../src/hub/own-methods.ts";
import { createBlockRelay } from "../../../src/hub/reads/block-relay.ts";
import { FarcasterNetwork } from "../../../src/protocol/wire/generated/message.ts";
import { createHubReads } from "../../../src/read/hub/hub-reads.ts";
import { connectUpstream } from "../../../src/upstream/calls/connection.ts";
import { createFillCheck } from "../../../src/upstream/positions.ts";
import { ManualClock } from "../clock.ts";
import { startTestHub, type TestHub } from "../hub.ts";
import type { FollowedIndex } from "./followed-index.ts";

/**
 * Serves the index of a follower as a hub does, with the log of hub events and the blocks of its upstream. Messages are not
 * forwarded.
 */
export async function serveIndex(index: FollowedIndex, nowSecs: number): Promise<TestHub> {
  const { db, upstreamUrl } = index;
  const clock = new ManualClock(nowSecs);
  const connection = connectUpstream(upstreamUrl);
  const reads = createHubReads({
    db,
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    clock,
    isFilled: createFillCheck(db),
  });
  const subscribers = createSubscribers({
    reads,
    awaitEvents: (afterSeq) => index.eventually(() => hasHubEventsAfter(db, afterSeq)),
    heartbeat: undefined,
    maxSubscribers: 64,
    maxPerAddress: 64,
    onFault: (cause) => {
      throw cause;
    },
  });
  const refuse = async () => {
    throw new Error("nothing is submitted here");
  };
  const upstream: HubUpstream = {
    submits: { submit: refuse, submitBulk: refuse, submitWrite: refuse },
    isReady: async () => true,
    shards: async () => index.progress.shards,
  };
  const deps = {
    reads,
    subscribers,
    upstream,
    blocks: createBlockRelay(() => connection, createAdmission().budgets.blockRelays),
  };
  const hub = await startTestHub(db, { clock, deps });
  return {
    ...hub,
    async [Symbol.asyncDispose]() {
      await hub[Symbol.asyncDispose]();
      connection.close();
    },
  };
}
