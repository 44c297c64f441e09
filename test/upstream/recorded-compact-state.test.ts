import { expect, test } from "bun:test";
import { openIndexInMemory } from "../../src/db/index/database.ts";
import { claimNetwork } from "../../src/db/index/identity.ts";
import { allMessages } from "../../src/db/index/messages/live-messages.ts";
import { createIngestEngine } from "../../src/ingest/engine.ts";
import { toUnixSecs } from "../../src/protocol/time.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { FollowedEvent } from "../../src/protocol/wire/generated/upstream.ts";
import { relayedBlocks } from "../../src/upstream/blocks/block-operations.ts";
import { Scope } from "../../src/upstream/scope.ts";
import { ManualClock } from "../support/clock.ts";
import recorded from "./recorded-compact-state.json";

const SHARD = 1;
/** Farcaster seconds, after the last message. */
const RECORDED_AT = 185_961_200;
const nowUnixSecs = toUnixSecs(RECORDED_AT);
const network = FarcasterNetwork.FARCASTER_NETWORK_DEVNET;

test("a recorded block with links and a compact state ends in the messages of the network's signed state, also when it is applied again", () => {
  using db = openIndexInMemory();
  claimNetwork(db, "devnet");
  const engine = createIngestEngine({
    db,
    network,
    clock: new ManualClock(nowUnixSecs),
    onFault: (cause) => {
      throw cause;
    },
  });
  const rules = {
    network,
    nameServer: undefined,
    nowUnixSecs,
    scope: new Scope(undefined, []),
    shards: 2,
    hasBlockShard: true,
    logsHubEvents: true,
    onRefused: ({ reason }: { reason: string }) => {
      throw new Error(reason);
    },
  };
  const blocks = recorded.blocks.map(({ number, events }) => ({
    number,
    timestamp: RECORDED_AT,
    hash: new Uint8Array(),
    seqnum: 0,
    events: events.map((event) => FollowedEvent.decode(Buffer.from(event, "base64"))),
  }));
  const live = () => [...allMessages(db, network)].map(({ hash }) => hash.toHex()).sort();
  for (let times = 0; times < 2; times++) {
    const { ops, hubBlocks } = relayedBlocks(rules, { shard: SHARD, isJournal: false }, blocks);
    engine.applyRelayed({ ops, positions: [], hubBlocks });
    expect(live()).toEqual(recorded.live);
  }
});
