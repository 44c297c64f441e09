import { hasHubEventsAfter } from "../../../src/db/index/hub-log.ts";
import { createSubscribers } from "../../../src/hub/events/subscribers.ts";
import { FarcasterNetwork } from "../../../src/protocol/wire/generated/message.ts";
import { createHubReads } from "../../../src/read/hub/hub-reads.ts";
import { createFillCheck } from "../../../src/upstream/build-check.ts";
import { ManualClock } from "../clock.ts";
import { startTestHub, type TestHub } from "../hub.ts";
import type { FollowedIndex } from "./followed-index.ts";

/** Serves the index of a follower as a hub does, with the log of hub events. */
export function serveIndex(index: FollowedIndex, nowSecs: number): Promise<TestHub> {
  const { db } = index;
  const clock = new ManualClock(nowSecs);
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
  return startTestHub(db, { clock, deps: { reads, subscribers } });
}
