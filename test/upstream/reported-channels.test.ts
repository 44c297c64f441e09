import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Client } from "@grpc/grpc-js";
import { channelHistoryOf, channelsLeftOut } from "../../src/db/index/channels/history.ts";
import { fidOfOwner } from "../../src/db/index/channels/owner-claims.ts";
import { findRegistrationByKey } from "../../src/db/index/channels/registrations.ts";
import { slotsOfChannel } from "../../src/db/index/channels/slots.ts";
import { putPosition } from "../../src/db/index/positions.ts";
import { channelIdOfKey } from "../../src/protocol/channels/registrations.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import {
  ChannelRegisterEventType as Event,
  OnChainEvent,
} from "../../src/protocol/wire/generated/on-chain.ts";
import type { ChannelMemberState } from "../../src/protocol/wire/generated/reads.ts";
import type { ChannelCalls } from "../../src/upstream/calls/channel-calls.ts";
import { createUpstreamClient, type UpstreamClient } from "../../src/upstream/calls/client.ts";
import { connectUpstream } from "../../src/upstream/calls/connection.ts";
import { NO_VERIFICATION } from "../../src/upstream/chain/chain-verifier.ts";
import { readChannelHistory, readLeftChannels } from "../../src/upstream/follow/channel-history.ts";
import type { StageDeps } from "../../src/upstream/stage.ts";
import { DEFAULT_TIMINGS } from "../../src/upstream/timings.ts";
import {
  Action,
  activateChannels,
  acts,
  moderates,
  ownsWallet,
  pins,
  registers,
  walletOf,
} from "../support/channel-records.ts";
import { type LoggedNode, startLoggedNode } from "../support/logged-node.ts";
import { DEFAULT_NOW_SECS } from "../support/messages.ts";
import { accountRecords, eventRecord, startTestNode, type TestNode } from "../support/node.ts";

const OWNER = 1;
const MEMBER = 2;
let upstream: LoggedNode;
let connection: Client;
let client: UpstreamClient;
let follower: TestNode;
let faults: string[];

beforeEach(async () => {
  upstream = await startLoggedNode();
  activateChannels(upstream.db);
  upstream.merge(...[OWNER, MEMBER].flatMap((fid) => accountRecords(fid)), ownsWallet(OWNER));
  connection = connectUpstream(`http://${upstream.hub.address}`);
  const pace = { callTimeoutMs: 30_000, stallMs: 30_000 };
  client = createUpstreamClient(connection, pace, new AbortController().signal);
  follower = startTestNode();
  activateChannels(follower.db);
  faults = [];
});
afterEach(async () => {
  follower[Symbol.dispose]();
  connection.close();
  await upstream[Symbol.asyncDispose]();
});

/** Reads the channels of a node whose blocks of shard 0 are not there. */
async function readAll(channels: Partial<ChannelCalls> = {}): Promise<void> {
  Object.assign(client.channels, channels);
  await readChannelHistory(deps());
}

function deps(signal = new AbortController().signal): StageDeps {
  const { db } = follower;
  return {
    client,
    db,
    writer: {
      apply: async ({ ops, positions }: Parameters<StageDeps["writer"]["apply"]>[0]) => {
        follower.relay(ops);
        db.transaction(() => {
          for (const { key, position } of positions) putPosition(db, key, position);
        });
      },
    },
    rules: {
      network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
      nowUnixSecs: DEFAULT_NOW_SECS,
      onRefused: ({ reason }: { readonly reason: string }) => faults.push(reason),
    },
    schedule: { activeAt: () => undefined },
    chain: NO_VERIFICATION,
    hasBlockShard: false,
    timings: { ...DEFAULT_TIMINGS, retryMs: 1, maxRetryMs: 1, engineCheckMs: 1 },
    signal,
    onFault: (what: string, cause: unknown) => faults.push(`${what}: ${cause}`),
  } as unknown as StageDeps;
}

function laterEvent(eventType: Event, blockNumber: number, value: { expiry?: number; owner?: Uint8Array }) {
  const registered = OnChainEvent.decode(registers("books", walletOf(OWNER), { blockNumber }).bytes);
  if (registered.body?.$case !== "channelRegisterEventBody") throw new Error("a registration has a body");
  Object.assign(registered.body.value, {
    eventType,
    channelKey: value.owner ? "" : "books",
    expiry: value.expiry ?? 0,
    ownerAddress: value.owner ?? new Uint8Array(),
  });
  return eventRecord(registered);
}

const ownerIn = ({ db }: Pick<TestNode, "db">) => {
  const channel = findRegistrationByKey(db, "books");
  return channel && [channel.ownerAddress.toHex(), channel.expiry, fidOfOwner(db, channel.ownerAddress)];
};

test("checks 6 and 24: a transfer that shard 0 decided too late to count names no owner where states are read", async () => {
  upstream.merge(
    registers("books", walletOf(OWNER), { blockNumber: 2_000 }),
    laterEvent(Event.CHANNEL_REGISTER_EVENT_TYPE_RENEW, 2_030, { expiry: 4_100_000_000 }),
    laterEvent(Event.CHANNEL_REGISTER_EVENT_TYPE_TRANSFER, 2_020, { owner: walletOf(MEMBER) }),
  );
  expect(ownerIn(upstream)).toEqual([walletOf(OWNER).toHex(), 4_100_000_000, OWNER]);
  await readAll();
  expect(channelHistoryOf(follower.db).isDone).toBe(true);
  expect(ownerIn(follower)).toEqual(ownerIn(upstream));
});

const hostile: readonly (readonly [string, Partial<ChannelCalls>])[] = [
  ["an owner with 5 bytes", { owner: async () => ({ fid: 1, ownerAddress: new Uint8Array(5), expiry: 1 }) }],
  [
    "an owner beyond all fids",
    { owner: async () => ({ fid: 2 ** 40, ownerAddress: new Uint8Array(20), expiry: 1 }) },
  ],
  ["a pin of a megabyte", { pin: async () => ({ castHash: new Uint8Array(1_000_000), authorFid: 1 }) }],
  [
    "a member without fid",
    { members: async () => ({ items: [{ fid: 0, state: 1 }], nextToken: undefined }) },
  ],
  [
    "a state of its own",
    {
      members: async () => ({
        items: [{ fid: 3, state: 77 as number as ChannelMemberState }],
        nextToken: undefined,
      }),
    },
  ],
  [
    "a hidden cast without hash",
    {
      moderations: async () => ({
        items: [{ castHash: new Uint8Array(), action: 1, authorFid: 1 }],
        nextToken: undefined,
      }),
    },
  ],
];

test.each(hostile)(
  "a channel with %s is named, the others are read, and it is read again later",
  async (_, lies) => {
    upstream.merge(
      registers("books", walletOf(OWNER)),
      registers("films", walletOf(OWNER)),
      pins(OWNER, "films", new Uint8Array(20).fill(1)),
      acts(OWNER, "films", Action.addMember, MEMBER),
      moderates(OWNER, "films", new Uint8Array(20).fill(2), true),
    );
    const [books, films] = ["books", "films"].map(channelIdOfKey) as [Uint8Array, Uint8Array];
    const ofBooks = Object.fromEntries(
      Object.entries(lies).map(([name, lie]) => {
        const real = Reflect.get(client.channels, name).bind(client.channels);
        const isOfBooks = (of: unknown) =>
          of === "books" || (of instanceof Uint8Array && of.toHex() === books.toHex());
        return [
          name,
          (of: unknown, token: unknown) => (isOfBooks(of) ? (lie as () => unknown)() : real(of, token)),
        ];
      }),
    );
    const truth = Object.keys(lies).map((name) => [name, Reflect.get(client.channels, name)]);
    await readAll(ofBooks);
    expect(channelHistoryOf(follower.db).isDone).toBe(true);
    expect(slotsOfChannel(follower.db, books)).toEqual([]);
    expect(slotsOfChannel(follower.db, films)).toHaveLength(4);
    expect(faults).toEqual([expect.stringContaining(`0x${books.toHex()} of the upstream is not stored`)]);
    expect(channelsLeftOut(follower.db)).toEqual([books.toHex()]);

    Object.assign(client.channels, Object.fromEntries(truth));
    const done = new AbortController();
    const reading = readLeftChannels(deps(done.signal));
    while (channelsLeftOut(follower.db).length > 0) await Bun.sleep(2);
    done.abort();
    await reading;
    expect(slotsOfChannel(follower.db, books)).toHaveLength(2);
  },
);

test("a channel whose end is above 2^53 - 1 ends then", async () => {
  upstream.merge(registers("books", walletOf(OWNER)), registers("films", walletOf(OWNER)));
  upstream.db.sqlite.run("UPDATE channels SET expiry = ? WHERE key = 'books'", [2 ** 60]);
  await readAll();
  expect(channelHistoryOf(follower.db).isDone).toBe(true);
  expect(findRegistrationByKey(follower.db, "books")?.expiry).toBe(2 ** 53 - 1);
  expect(faults).toEqual([]);
});
