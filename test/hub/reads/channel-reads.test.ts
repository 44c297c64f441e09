import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { Client, credentials, type ServiceError, status } from "@grpc/grpc-js";
import { putSlot } from "../../../src/db/index/channels/slots.ts";
import { channelIdOfKey } from "../../../src/protocol/channels/registrations.ts";
import {
  ChannelSlotKind,
  MAX_MEMBER_SLOTS,
  MemberState,
  memberTarget,
} from "../../../src/protocol/channels/slots.ts";
import { CastingMode, MembershipMode } from "../../../src/protocol/wire/generated/message.ts";
import { encodeFields, type WireField } from "../../../src/read/hub/wire-bytes.ts";
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
  walletOf,
} from "../../support/channel-records.ts";
import { startTestHub, type TestHub } from "../../support/hub.ts";
import { DEFAULT_TIMESTAMP } from "../../support/messages.ts";
import { accountRecords, startTestNode, type TestNode } from "../../support/node.ts";

/** The numbers of fields are those of the reference node's `rpc.proto` and `request_response.proto`. */

const [OWNER, MODERATOR, MEMBER, BANNED, STRANGER] = [1, 2, 3, 4, 5] as const;
const KEY = "books";
const FULL = "full";
const AT = DEFAULT_TIMESTAMP;
const [pinned, hidden, shown] = [7, 8, 9].map((byte) => new Uint8Array(20).fill(byte)) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
];

let node: TestNode;
let hub: TestHub;
let client: Client;

function ingest(...records: Parameters<TestNode["ingestAll"]>[0]): void {
  expect(node.ingestAll(records)).toEqual(records.map(() => "ok"));
}

beforeAll(async () => {
  node = startTestNode();
  activateChannels(node.db);
  node.ingestAll([OWNER, MODERATOR, MEMBER, BANNED, STRANGER].flatMap((fid) => accountRecords(fid)));
  ingest(
    ownsWallet(OWNER),
    registers(KEY, walletOf(OWNER), { expiry: 2_000_000_000 }),
    registers(FULL, walletOf(OWNER)),
    updates(OWNER, KEY, { name: "Books", rules: "", castingMode: CastingMode.CASTING_MODE_EVERYONE }),
    acts(OWNER, KEY, Action.addModerator, MODERATOR, AT + 1),
    acts(MODERATOR, KEY, Action.addMember, MEMBER, AT + 2),
    acts(MODERATOR, KEY, Action.ban, BANNED, AT + 3),
    pins(MODERATOR, KEY, pinned),
    moderates(OWNER, KEY, hidden, true),
    moderates(MODERATOR, KEY, shown, true, AT + 4),
    moderates(MODERATOR, KEY, shown, false, AT + 5),
    follows(STRANGER, KEY),
  );
  fillMembers();
  hub = await startTestHub(node.db, { clock: node.clock });
  client = new Client(hub.address, credentials.createInsecure());
});
afterAll(async () => {
  client.close();
  await hub[Symbol.asyncDispose]();
  node[Symbol.dispose]();
});

/** Takes all slots of a channel but one: fids from 1,000 on, every second one a member. */
function fillMembers(): void {
  const channelId = channelIdOfKey(FULL);
  node.db.transaction(() => {
    for (let at = 0; at < MAX_MEMBER_SLOTS - 1; at++) {
      const targetFid = 1_000 + at;
      const state = at % 2 === 0 ? MemberState.Member : MemberState.Removed;
      const kind = ChannelSlotKind.Member;
      const slot = { channelId, kind, target: memberTarget(targetFid), targetFid, state, detail: null };
      putSlot(node.db, { slot, authorFid: OWNER, timestamp: AT, seqnum: 1, message: null });
    }
  });
}

type Value = number | Uint8Array;

/** Calls a method with fields by their numbers. Returns the fields of the response, or the code of the error. */
async function call(
  method: string,
  ...fields: readonly (WireField | undefined)[]
): Promise<Value[][] | number> {
  const request = Buffer.from(encodeFields(fields.filter((field) => field !== undefined)));
  const asBuffer = (bytes: Buffer) => bytes;
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      `/HubService/${method}`,
      asBuffer,
      asBuffer,
      request,
      (fault: ServiceError | null, response) =>
        resolve(fault ? fault.code : fieldsOf(response ?? Buffer.alloc(0))),
    );
  });
}

function fieldsOf(bytes: Uint8Array): Value[][] {
  const reader = new BinaryReader(bytes);
  const fields: Value[][] = [];
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    const values = fields[number] ?? [];
    fields[number] = values;
    values.push(type === WireType.Varint ? Number(reader.uint64()) : new Uint8Array(reader.bytes()));
  }
  return fields;
}

/** The entries of a list: the values of their fields, from the first on. */
async function entries(method: string, ...fields: readonly (WireField | undefined)[]): Promise<unknown> {
  const response = await call(method, ...fields);
  if (typeof response === "number") return response;
  return (response[1] ?? []).map((entry) =>
    fieldsOf(entry as Uint8Array).flatMap((values) => values.map(shownValue)),
  );
}

const shownValue = (value: Value) => (typeof value === "number" ? value : value.toHex());
const hex = (bytes: Uint8Array) => bytes.toHex();
const bytes = (field: number, value: Uint8Array): WireField => ({ field, bytes: value });
const number = (field: number, value: number): WireField => ({ field, value });
const named = (field = 1, key = KEY) => bytes(field, channelIdOfKey(key));
const values = async (method: string, ...fields: readonly WireField[]) => {
  const response = await call(method, ...fields);
  return typeof response === "number" ? response : response.flatMap((all) => all.map(shownValue));
};

describe("check 21: the 13 reads of channels over gRPC", () => {
  const key = Buffer.from(KEY);
  const info = () => [hex(key), OWNER, hex(walletOf(OWNER)), 2_000_000_000];
  const full = () => [hex(Buffer.from(FULL)), OWNER, hex(walletOf(OWNER)), 4_000_000_000];

  test("have the values of the channel, by the field numbers of the reference node", async () => {
    expect(await values("GetChannelOwner", bytes(1, key))).toEqual(info().slice(1));
    expect(await entries("GetChannelsByAddress", bytes(1, walletOf(OWNER)), number(2, 10))).toEqual([
      info(),
      full(),
    ]);
    expect(await entries("GetChannelsByFid", number(1, OWNER), number(2, 10))).toEqual([info(), full()]);
    expect(await values("GetChannelMember", named(), number(2, MODERATOR))).toEqual([
      MemberState.Moderator,
      AT + 1,
    ]);
    expect(await values("GetChannelMember", named(), number(2, STRANGER))).toEqual([MemberState.None]);
    const all = [
      [MODERATOR, MemberState.Moderator],
      [MEMBER, MemberState.Member],
      [BANNED, MemberState.Banned],
    ];
    expect(await entries("GetChannelMembers", named())).toEqual(all);
    expect(await entries("GetChannelMembers", named(), number(2, MemberState.Banned))).toEqual(all.slice(2));
    expect(await entries("GetChannelMembers", named(), number(2, MemberState.None), number(5, 1))).toEqual(
      all.toReversed(),
    );
    expect(await entries("GetChannelPin", named())).toEqual([[hex(pinned), MODERATOR]]);
    expect(await entries("GetChannelPin", named(1, FULL))).toEqual([]);
    expect(await entries("GetChannelModerations", named())).toEqual([
      [hex(hidden), 1, OWNER],
      [hex(shown), 2, MODERATOR],
    ]);
    const modes = [CastingMode.CASTING_MODE_EVERYONE, MembershipMode.MEMBERSHIP_MODE_APPROVAL];
    // The rules are an empty text, which is another thing than none.
    expect(await values("GetChannelMetadata", named())).toEqual([hex(Buffer.from("Books")), "", ...modes]);
    const mine = [hex(channelIdOfKey(KEY)), MemberState.Member];
    expect(await entries("GetChannelMembershipsByFid", number(1, MEMBER))).toEqual([mine]);
    const followedAt = AT;
    expect(await entries("GetChannelFollowers", named())).toEqual([[STRANGER, followedAt]]);
    expect(await values("GetChannelFollowerCount", named())).toEqual([1]);
    expect(await entries("GetChannelFollows", number(1, STRANGER))).toEqual([
      [hex(channelIdOfKey(KEY)), followedAt],
    ]);
    expect(await values("IsFollowingChannel", number(1, STRANGER), named(2))).toEqual([1, followedAt]);
    expect(await values("IsFollowingChannel", number(1, OWNER), named(2))).toEqual([]);
  });

  test("refuse other widths, fids and page sizes, and tell an unregistered channel from one without followers", async () => {
    const unknown = named(1, "gravel");
    const ofChannel = ["GetChannelMembers", "GetChannelPin", "GetChannelModerations", "GetChannelMetadata"];
    for (const width of [0, 31, 33])
      for (const method of [...ofChannel, "GetChannelFollowers", "GetChannelFollowerCount"])
        expect([method, width, await call(method, bytes(1, new Uint8Array(width)))]).toEqual([
          method,
          width,
          status.INVALID_ARGUMENT,
        ]);
    for (const method of ofChannel)
      expect([method, await call(method, unknown)]).toEqual([method, status.NOT_FOUND]);
    expect(await call("GetChannelMember", unknown, number(2, OWNER))).toBe(status.NOT_FOUND);
    expect(await call("GetChannelOwner", bytes(1, Buffer.from("gravel")))).toBe(status.NOT_FOUND);
    expect(await values("GetChannelFollowerCount", unknown)).toEqual([0]);
    expect(await entries("GetChannelFollowers", unknown)).toEqual([]);
    for (const fid of [0, 2 ** 32]) {
      expect(await call("GetChannelMember", named(), number(2, fid))).toBe(status.INVALID_ARGUMENT);
      expect(await call("IsFollowingChannel", number(1, fid), named(2))).toBe(status.INVALID_ARGUMENT);
      expect(await call("GetChannelFollows", number(1, fid))).toBe(status.INVALID_ARGUMENT);
    }
    expect(await call("GetChannelMembers", named(), number(3, 0))).toBe(status.INVALID_ARGUMENT);
    expect(await entries("GetChannelsByFid", number(1, OWNER), number(2, 0))).toEqual([]);
  });
});

async function pagesOf(filter: number, isReverse: boolean) {
  const fids: number[] = [];
  let token: Uint8Array | undefined;
  do {
    const response = await call(
      "GetChannelMembers",
      named(1, FULL),
      number(2, filter),
      number(3, 1_000),
      token && bytes(4, token),
      number(5, Number(isReverse)),
    );
    if (typeof response === "number") throw new Error(`code ${response}`);
    for (const entry of response[1] ?? []) fids.push(fieldsOf(entry as Uint8Array)[1]?.[0] as number);
    token = response[2]?.[0] as Uint8Array | undefined;
  } while (token !== undefined && token.length > 0);
  return fids;
}

test("check 14: a list of all slots pages completely in both directions, and one more slot is refused", async () => {
  const all = Array.from({ length: MAX_MEMBER_SLOTS - 1 }, (_, at) => 1_000 + at);
  const members = all.filter((_, at) => at % 2 === 0);
  expect(await pagesOf(MemberState.None, false)).toEqual(all);
  expect(await pagesOf(MemberState.None, true)).toEqual(all.toReversed());
  expect(await pagesOf(MemberState.Member, false)).toEqual(members);
  const page = await call("GetChannelMembers", named(1, FULL), number(3, 10));
  const token = typeof page === "number" ? undefined : (page[2]?.[0] as Uint8Array);
  expect(await call("GetChannelMembers", named(), token && bytes(4, token))).toBe(status.INVALID_ARGUMENT);

  ingest(acts(OWNER, FULL, Action.addMember, MEMBER, AT + 6));
  expect(node.ingest(acts(OWNER, FULL, Action.addMember, STRANGER, AT + 7))).toBe(
    "bad_request.validation_failure",
  );
  // A slot that is there already takes the next message.
  ingest(acts(OWNER, FULL, Action.removeMember, MEMBER, AT + 8));
  expect(await values("GetChannelMember", named(1, FULL), number(2, STRANGER))).toEqual([MemberState.None]);
});

test("check 12: settings replace all others, and what they do not name has its default again", async () => {
  ingest(updates(OWNER, KEY, { description: "Only this" }, AT + 9));
  const defaults = [CastingMode.CASTING_MODE_MEMBERS_ONLY, MembershipMode.MEMBERSHIP_MODE_APPROVAL];
  expect(await values("GetChannelMetadata", named())).toEqual([hex(Buffer.from("Only this")), ...defaults]);
});

test("check 13: bans, their end, a moderator who leaves and a member of a parked channel change slots and their times", async () => {
  const stateOf = (fid: number) => values("GetChannelMember", named(), number(2, fid));
  const steps = [
    [acts(OWNER, KEY, Action.unban, BANNED, AT + 10), BANNED, MemberState.Removed],
    [acts(OWNER, KEY, Action.addMember, BANNED, AT + 11), BANNED, MemberState.Member],
    [acts(MODERATOR, KEY, Action.removeMember, MODERATOR, AT + 12), MODERATOR, MemberState.Removed],
    [acts(OWNER, KEY, Action.addModerator, MODERATOR, AT + 13), MODERATOR, MemberState.Moderator],
    [acts(OWNER, KEY, Action.removeModerator, MODERATOR, AT + 14), MODERATOR, MemberState.Member],
  ] as const;
  for (const [at, [record, fid, state]] of steps.entries()) {
    ingest(record);
    expect(await stateOf(fid)).toEqual([state, AT + 10 + at]);
  }
  ingest(disownsWallet(OWNER, AT + 15));
  expect(node.ingest(acts(OWNER, KEY, Action.ban, STRANGER, AT + 16))).toBe("bad_request.validation_failure");
  ingest(acts(MEMBER, KEY, Action.removeMember, MEMBER, AT + 17));
  expect(await stateOf(MEMBER)).toEqual([MemberState.Removed, AT + 17]);
  expect(await values("GetChannelOwner", bytes(1, Buffer.from(KEY)))).toEqual([
    0,
    hex(walletOf(OWNER)),
    2_000_000_000,
  ]);
});
