import { describe, expect, test } from "bun:test";
import { settleChannelsActive } from "../../src/db/index/channels/follows.ts";
import { markDemo } from "../../src/db/index/identity.ts";
import type { EncodedRecord } from "../../src/ingest/record.ts";
import type { RelayedOp } from "../../src/ingest/relayed-op.ts";
import { decodeChannelChange } from "../../src/protocol/channels/change.ts";
import { channelIdOfKey } from "../../src/protocol/channels/registrations.ts";
import { isChannelEvent } from "../../src/protocol/event-kind.ts";
import { slotOf } from "../../src/protocol/message/merge-rules.ts";
import { decodeMessage } from "../../src/protocol/message/signed-message.ts";
import { toUnixSecs } from "../../src/protocol/time.ts";
import {
  CastingMode,
  FarcasterNetwork,
  MessageType,
  ReactionType,
} from "../../src/protocol/wire/generated/message.ts";
import {
  ChannelRegisterEventType as EventType,
  OnChainEvent,
  OnChainEventType,
} from "../../src/protocol/wire/generated/on-chain.ts";
import { relayedChainBlocks } from "../../src/upstream/blocks/chain-operations.ts";
import { Scope } from "../../src/upstream/scope.ts";
import {
  Action,
  activateChannels,
  acts,
  disownsWallet,
  follows,
  moderates,
  ownsWallet,
  pins,
  registers,
  updates,
  uriOf,
  walletOf,
} from "../support/channel-records.ts";
import { DEFAULT_NOW_SECS, DEFAULT_TIMESTAMP } from "../support/messages.ts";
import { accountRecords, startTestNode, type TestNode } from "../support/node.ts";
import { takeEvents } from "../support/outbox.ts";
import { cast, likeUrl, signed, unlikeUrl } from "../support/records.ts";
import { expectOk } from "../support/result.ts";
import { hashOf } from "../support/social.ts";

const KEY = "books";
const OWNER = 1;
const NOW = DEFAULT_TIMESTAMP;
const LONG_AGO = NOW - 5000;
const FIDS = [1, 2, 3];
const CAST = cast(3, "a page", NOW - 10);
const CAST_HASH = Buffer.from(hashOf(CAST.bytes).slice(2), "hex");
const hash = new Uint8Array(20).fill(5);

/** A node on which fid 1 owns a channel, and nothing has happened yet that is an event. */
function startNode(): TestNode {
  const node = startTestNode();
  activateChannels(node.db);
  const records = [...FIDS.flatMap((fid) => accountRecords(fid)), ownsWallet(OWNER, LONG_AGO)];
  expect(new Set(node.ingestAll([...records, registers(KEY, walletOf(OWNER)), CAST]))).toEqual(
    new Set(["ok"]),
  );
  takeEvents(node.db);
  return node;
}

/** The events of channels in the outbox: kind, the users it concerns, who did it, and what else it says. */
function channelEvents({ db }: TestNode): string[] {
  return takeEvents(db).flatMap(({ kind, subject }) => {
    if (!isChannelEvent(kind) || !subject) return [];
    const { fid, actorFid, changed, role, previousRole, isHidden } = decodeChannelChange(subject);
    const roles = role === undefined ? [] : [`${previousRole} > ${role}`];
    const hidden = isHidden === undefined ? [] : [isHidden ? "hidden" : "shown"];
    return [[kind, fid, `by ${actorFid}`, ...(changed ?? []), ...roles, ...hidden].join(" ")];
  });
}

const later = (record: (at: number) => EncodedRecord, secs: number) => record(NOW + secs);
const act = (author: number, action: (typeof Action)[keyof typeof Action], fid: number, secs: number) =>
  later((at) => acts(author, KEY, action, fid, at), secs);

const recastsUrl = (fid: number, url: string) => {
  const value = {
    type: ReactionType.REACTION_TYPE_RECAST,
    target: { $case: "targetUrl", value: url },
  } as const;
  return signed(fid, { type: MessageType.MESSAGE_TYPE_REACTION_ADD, body: { $case: "reactionBody", value } });
};

const CASES: readonly {
  readonly name: string;
  readonly when: readonly EncodedRecord[];
  readonly events: readonly string[];
}[] = [
  {
    name: "a first registration",
    when: [registers("poems", walletOf(OWNER), { atSecs: DEFAULT_NOW_SECS })],
    events: ["channel.created 1 by null"],
  },
  {
    name: "a registration for an address that no one has verified",
    when: [registers("poems", walletOf(2), { atSecs: DEFAULT_NOW_SECS })],
    events: ["channel.created  by null"],
  },
  { name: "an old registration", when: [registers("poems", walletOf(OWNER))], events: [] },
  {
    name: "settings",
    when: [updates(OWNER, KEY, { name: "Books", castingMode: CastingMode.CASTING_MODE_EVERYONE })],
    events: ["channel.updated 1 by 1 name casting_mode"],
  },
  {
    name: "settings that clear others, and settings that change nothing",
    when: [
      updates(OWNER, KEY, { name: "Books", rules: "None" }, NOW - 3),
      updates(OWNER, KEY, { name: "Books" }, NOW - 2),
      updates(OWNER, KEY, { name: "Books" }, NOW - 1),
    ],
    events: ["channel.updated 1 by 1 name rules", "channel.updated 1 by 1 rules"],
  },
  {
    name: "settings that name a channel as its key does",
    when: [updates(OWNER, KEY, { name: KEY, rules: "None" })],
    events: ["channel.updated 1 by 1 rules"],
  },
  {
    name: "roles",
    when: [
      act(1, Action.addMember, 2, 1),
      act(1, Action.addModerator, 2, 2),
      act(2, Action.addMember, 3, 3),
      act(2, Action.ban, 3, 4),
      act(2, Action.unban, 3, 5),
      act(1, Action.removeModerator, 2, 6),
      act(2, Action.removeMember, 2, 7),
    ],
    events: [
      "channel.member.added 2 by 1 null > member",
      "channel.moderator.added 2 by 1 member > moderator",
      "channel.member.added 3 by 2 null > member",
      "channel.member.banned 3 by 2 member > null",
      "channel.member.unbanned 3 by 2 null > null",
      "channel.moderator.removed 2 by 1 moderator > member",
      "channel.member.removed 2 by 2 member > null",
    ],
  },
  {
    name: "a moderator who leaves",
    when: [act(1, Action.addModerator, 2, 1), act(2, Action.removeMember, 2, 2)],
    events: [
      "channel.moderator.added 2 by 1 null > moderator",
      "channel.member.removed 2 by 2 moderator > null",
    ],
  },
  {
    name: "what the network refuses",
    when: [act(2, Action.addMember, 3, 1), pins(2, KEY, hash)],
    events: [],
  },
  {
    name: "pins: a second one of the same cast and unpinning nothing are none",
    when: [
      pins(1, KEY, new Uint8Array(), NOW - 9),
      pins(1, KEY, hash, NOW - 8),
      pins(1, KEY, hash, NOW - 7),
      pins(1, KEY, new Uint8Array(20).fill(6), NOW - 6),
      pins(1, KEY, new Uint8Array(), NOW - 5),
    ],
    events: ["channel.pinned  by 1", "channel.pinned  by 1", "channel.unpinned  by 1"],
  },
  {
    name: "hidden casts: showing what was never hidden is none",
    when: [
      moderates(1, KEY, hash, false, NOW - 9),
      moderates(1, KEY, hash, true, NOW - 8),
      moderates(1, KEY, hash, true, NOW - 7),
      moderates(1, KEY, hash, false, NOW - 6),
    ],
    events: ["cast.moderated  by 1 hidden", "cast.moderated  by 1 shown"],
  },
  {
    name: "a message that takes its slot again after another one",
    when: [pins(1, KEY, hash, NOW - 9), pins(1, KEY, new Uint8Array(), NOW - 8), pins(1, KEY, hash, NOW - 9)],
    events: ["channel.pinned  by 1", "channel.unpinned  by 1", "channel.pinned  by 1"],
  },
  {
    name: "an owner who takes the verification back, and verifies again",
    when: [disownsWallet(OWNER, NOW - 5), ownsWallet(OWNER, NOW - 4)],
    events: ["channel.updated  by 1 owner", "channel.updated 1 by 1 owner"],
  },
  { name: "an owner who verifies again", when: [ownsWallet(OWNER, NOW - 4)], events: [] },
  {
    name: "a verification that owns nothing",
    when: [ownsWallet(2)],
    events: [],
  },
  {
    name: "follows: a second one is none, and neither is a recast or a like of another URL",
    when: [
      recastsUrl(3, uriOf(KEY)),
      follows(2, KEY),
      likeUrl(2, uriOf(KEY), NOW + 1),
      likeUrl(2, "https://example.com/"),
      unlikeUrl(2, uriOf(KEY), NOW + 2),
    ],
    events: ["channel.follow.created 2 by 2", "channel.follow.deleted 2 by 2"],
  },
  {
    name: "a follow of a channel that is not registered",
    when: [follows(2, "nowhere")],
    events: [],
  },
];

describe("the events of channels", () => {
  test.each(CASES)("$name", ({ when, events }) => {
    using node = startNode();
    for (const record of when) node.ingest(record);
    expect(channelEvents(node)).toEqual([...events]);
  });

  test("a follow is a like of a URL as well", () => {
    using node = startNode();
    node.ingestAll([follows(2, KEY), unlikeUrl(2, uriOf(KEY), NOW + 2)]);
    expect(takeEvents(node.db).map(({ kind }) => kind)).toEqual([
      "channel.follow.created",
      "reaction.created",
      "channel.follow.deleted",
      "reaction.deleted",
    ]);
  });

  test("a pinned or hidden cast that is live concerns its author", () => {
    using node = startNode();
    node.ingestAll([pins(1, KEY, CAST_HASH), moderates(1, KEY, CAST_HASH, true)]);
    expect(channelEvents(node)).toEqual(["channel.pinned 3 by 1", "cast.moderated 3 by 1 hidden"]);
    node.ingestAll([pins(1, KEY, new Uint8Array(), NOW + 1)]);
    expect(channelEvents(node)).toEqual(["channel.unpinned 3 by 1"]);
  });

  test("a follow counts from the second on that channels are part of the protocol", () => {
    using node = startTestNode();
    markDemo(node.db);
    node.ingestAll([...accountRecords(1), ...accountRecords(2), registers(KEY, walletOf(1))]);
    node.db.transaction(() => settleChannelsActive(node.db, { scheduledAt: toUnixSecs(NOW) }));
    takeEvents(node.db);
    node.ingestAll([likeUrl(1, uriOf(KEY), NOW - 1), likeUrl(2, uriOf(KEY), NOW)]);
    expect(channelEvents(node)).toEqual(["channel.follow.created 2 by 2"]);
  });
});

const registryEvent = (eventType: EventType, at: { block: number; expiry?: number; owner?: Uint8Array }) =>
  OnChainEvent.encode(
    OnChainEvent.fromPartial({
      type: OnChainEventType.EVENT_TYPE_CHANNEL_REGISTER,
      chainId: 11_155_111,
      blockNumber: at.block,
      blockTimestamp: DEFAULT_NOW_SECS - 100,
      blockHash: new Uint8Array(32).fill(1),
      transactionHash: new Uint8Array(32).fill(2),
      body: {
        $case: "channelRegisterEventBody",
        value: {
          channelKey: eventType === EventType.CHANNEL_REGISTER_EVENT_TYPE_TRANSFER ? "" : KEY,
          expiry: at.expiry ?? 0,
          ownerAddress: at.owner ?? new Uint8Array(),
          eventType,
          label: channelIdOfKey(KEY),
        },
      },
    }),
  ).finish();

describe("what shard 0 decides", () => {
  const decided = (record: EncodedRecord, seqnum: number, happenedAt = DEFAULT_NOW_SECS): RelayedOp => ({
    kind: "channel",
    message: record.bytes,
    decision: { seqnum, decidedAt: happenedAt },
    happenedAt,
  });
  const registered = (event: Uint8Array, seqnum: number): RelayedOp => ({
    kind: "registration",
    event,
    decision: { seqnum, decidedAt: DEFAULT_NOW_SECS },
    happenedAt: DEFAULT_NOW_SECS,
  });

  test("is one event, however often it is applied, and none while history is read", () => {
    using node = startNode();
    const pinned = decided(pins(1, KEY, hash), 100);
    const banned = decided(acts(1, KEY, Action.ban, 2), 101);
    node.relay([pinned, banned]);
    expect(channelEvents(node)).toEqual(["channel.pinned  by 1", "channel.member.banned 2 by 1 null > null"]);
    node.relay([pinned, banned, decided(pins(1, KEY, new Uint8Array()), 99)]);
    node.relay([{ ...decided(pins(1, KEY, new Uint8Array()), 102), happenedAt: 0 }]);
    node.relay([decided(moderates(1, KEY, hash, true), 103, DEFAULT_NOW_SECS - 901)]);
    expect(channelEvents(node)).toEqual([]);
  });

  test("has the time of its block: a backdated message is an event", () => {
    using node = startNode();
    node.relay([decided(pins(1, KEY, hash, NOW - 100_000), 100)]);
    expect(channelEvents(node)).toEqual(["channel.pinned  by 1"]);
  });

  test("has the same event id on every node, also where the cast is unknown", () => {
    using one = startNode();
    using other = startTestNode();
    activateChannels(other.db);
    other.ingestAll([registers(KEY, walletOf(OWNER))]);
    takeEvents(other.db);
    const ids = [one, other].map((node) => {
      node.relay([decided(pins(1, KEY, CAST_HASH), 100)]);
      return takeEvents(node.db).map(({ eventId }) => eventId.toHex());
    });
    expect(ids[0]).toHaveLength(1);
    expect(ids[1]).toEqual(ids[0] ?? []);
  });

  test("a renewal, a transfer and a late event of the registry", () => {
    using node = startNode();
    const { RENEW, TRANSFER } = {
      RENEW: EventType.CHANNEL_REGISTER_EVENT_TYPE_RENEW,
      TRANSFER: EventType.CHANNEL_REGISTER_EVENT_TYPE_TRANSFER,
    };
    node.relay([registered(registryEvent(RENEW, { block: 2000, expiry: 4_100_000_000 }), 10)]);
    node.relay([registered(registryEvent(TRANSFER, { block: 2001, owner: walletOf(2) }), 11)]);
    node.relay([registered(registryEvent(RENEW, { block: 1999, expiry: 4_200_000_000 }), 12)]);
    node.relay([registered(registryEvent(TRANSFER, { block: 2001, owner: walletOf(2) }), 11)]);
    expect(channelEvents(node)).toEqual([
      "channel.updated 1 by null expires_at",
      "channel.updated  by null owner_address owner",
    ]);
  });

  test("check 7: a second event at the same place of the chain is dropped, and names no other owner", () => {
    using node = startNode();
    const TRANSFER = EventType.CHANNEL_REGISTER_EVENT_TYPE_TRANSFER;
    node.relay([registered(registryEvent(TRANSFER, { block: 2001, owner: walletOf(2) }), 11)]);
    node.relay([registered(registryEvent(TRANSFER, { block: 2001, owner: walletOf(3) }), 12)]);
    expect(channelEvents(node)).toHaveLength(1);
    const owner = node.db.sqlite.query("SELECT owner_address FROM channels").values().flat();
    expect(owner).toEqual([Uint8Array.from(walletOf(2))]);
  });

  test("check 31: another owner is an event of the block, however long ago the verification was signed", () => {
    using node = startNode();
    const message = ownsWallet(OWNER, LONG_AGO + 100).bytes;
    const body = { $case: "merged" as const, value: { message } };
    const data = { seqnum: 50, type: 1, blockTimestamp: 0, body };
    const header = { height: { shardIndex: 0, blockNumber: 5 }, timestamp: NOW };
    const { ops } = relayedChainBlocks(RULES, [{ header, events: [{ data }] }], { isJournal: false });
    node.relay([{ ...claimOf(disownsWallet(OWNER, LONG_AGO + 50)), happenedAt: 0 }, ...ops]);
    expect(channelEvents(node)).toEqual(["channel.updated 1 by 1 owner"]);
  });
});

const RULES = {
  network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
  nameServer: undefined,
  nowUnixSecs: DEFAULT_NOW_SECS,
  scope: new Scope(undefined, []),
  shards: 2,
  hasBlockShard: true,
  logsHubEvents: false,
  onRefused: ({ reason }: { readonly reason: string }) => {
    throw new Error(reason);
  },
};

const claimOf = ({ bytes }: EncodedRecord) => ({
  kind: "claim" as const,
  message: bytes,
  decision: { seqnum: 40, decidedAt: DEFAULT_NOW_SECS },
  isForced: true,
});

test("the end of a follow is the same event, whether its user or the upstream ends it", () => {
  const follow = follows(2, KEY);
  const { store, slot } = slotOf(expectOk(decodeMessage(follow.bytes)));
  const ref = { fid: 2, store, slot, hash: Buffer.from(hashOf(follow.bytes).slice(2), "hex") };
  const endOf = (end: (node: TestNode) => void) => {
    using node = startNode();
    node.merge([follow]);
    takeEvents(node.db);
    end(node);
    return takeEvents(node.db).map(({ kind, eventId }) => [kind, eventId.toHex()]);
  };
  const ended = endOf((node) => node.merge([unlikeUrl(2, uriOf(KEY), NOW + 1)]));
  expect(ended.map(([kind]) => kind)).toContain("channel.follow.deleted");
  const removal = { kind: "remove", ref, happenedAt: DEFAULT_NOW_SECS } as const;
  expect(endOf((node) => node.relay([removal]))).toEqual(ended);
});
