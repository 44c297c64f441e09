import { expect, test } from "bun:test";
import { type MessageData, MessageType, UserDataType } from "../../src/protocol/wire/generated/message.ts";
import { hex, readNetwork } from "./records.ts";

const { messages, records, events, proofs } = readNetwork();

test("chain events are first, then names, then messages, each oldest first", () => {
  expect(records.map(({ $case }) => $case)).toEqual([
    ...events.map(() => "onChainEvent" as const),
    ...proofs.map(() => "usernameProof" as const),
    ...messages.map(() => "message" as const),
  ]);
  expectAscending(events.map((event) => event.blockTimestamp));
  expectAscending(proofs.map((proof) => proof.timestamp));
  expectAscending(messages.map(({ data }) => data.timestamp));
});

test("no two events of a chain have the same position, and none is older than one of a lower block", () => {
  const places = events.map((event) => `${event.chainId} ${event.blockNumber} ${event.logIndex}`);
  expect(new Set(places).size).toBe(events.length);
  for (const chainId of new Set(events.map((event) => event.chainId))) {
    const blocks = events.filter((event) => event.chainId === chainId).map((event) => event.blockNumber);
    expectAscending(blocks);
  }
});

test("a cast is before every message that refers to it", () => {
  const known = new Set<string>();
  let named = 0;
  for (const { data, hash } of messages) {
    for (const target of namedCasts(data)) {
      expect(known).toContain(target);
      named++;
    }
    if (data.type === MessageType.MESSAGE_TYPE_CAST_ADD) known.add(hash);
  }
  expect(named).toBeGreaterThan(3000);
});

test("a removal follows its add, and no add is removed twice", () => {
  const live = new Set<string>();
  const opposite = new Map([
    [MessageType.MESSAGE_TYPE_LINK_REMOVE, MessageType.MESSAGE_TYPE_LINK_ADD],
    [MessageType.MESSAGE_TYPE_REACTION_REMOVE, MessageType.MESSAGE_TYPE_REACTION_ADD],
    [MessageType.MESSAGE_TYPE_VERIFICATION_REMOVE, MessageType.MESSAGE_TYPE_VERIFICATION_ADD],
    [MessageType.MESSAGE_TYPE_CAST_REMOVE, MessageType.MESSAGE_TYPE_CAST_ADD],
  ]);
  for (const { data, hash } of messages) {
    const added = opposite.get(data.type);
    const slot = `${data.fid} ${added ?? data.type} ${slotOf(data, hash)}`;
    if (added) expect(live.delete(slot)).toBe(true);
    else live.add(slot);
  }
});

test("no record depends on a name, an address or a key of a later record", () => {
  const names = new Map(proofs.map((proof) => [Buffer.from(proof.name).toString(), proof.fid]));
  const verified = new Set<string>();
  let addresses = 0;
  for (const { data } of messages) {
    if (data.body?.$case === "usernameProofBody") {
      names.set(Buffer.from(data.body.value.name).toString(), data.fid);
    }
    if (data.body?.$case === "verificationAddBody")
      verified.add(`${data.fid} ${hex(data.body.value.address)}`);
    if (data.body?.$case !== "userDataBody") continue;
    const { type, value } = data.body.value;
    if (type === UserDataType.USER_DATA_TYPE_USERNAME) expect(names.get(value)).toBe(data.fid);
    if (type === UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_ETHEREUM) {
      expect(verified).toContain(`${data.fid} ${value.slice(2).toLowerCase()}`);
      addresses++;
    }
  }
  expect(addresses).toBeGreaterThan(5);
});

function namedCasts(data: MessageData): string[] {
  switch (data.body?.$case) {
    case "castAddBody": {
      const { parent, embeds } = data.body.value;
      const quoted = embeds.flatMap(({ embed }) =>
        embed?.$case === "castId" ? [hex(embed.value.hash)] : [],
      );
      return parent?.$case === "parentCastId" ? [hex(parent.value.hash), ...quoted] : quoted;
    }
    case "castRemoveBody":
      return [hex(data.body.value.targetHash)];
    case "reactionBody":
      return data.body.value.target?.$case === "targetCastId" ? [hex(data.body.value.target.value.hash)] : [];
    default:
      return [];
  }
}

function slotOf(data: MessageData, hash: string): string {
  switch (data.body?.$case) {
    case "linkBody":
      return `${data.body.value.type} ${data.body.value.target?.value}`;
    case "reactionBody": {
      const { type, target } = data.body.value;
      return `${type} ${target?.$case === "targetCastId" ? hex(target.value.hash) : target?.value}`;
    }
    case "verificationAddBody":
    case "verificationRemoveBody":
      return hex(data.body.value.address);
    case "castRemoveBody":
      return hex(data.body.value.targetHash);
    default:
      return hash;
  }
}

function expectAscending(values: readonly number[]): void {
  for (const [index, value] of values.entries()) {
    if (index > 0) expect(value).toBeGreaterThanOrEqual(values[index - 1] ?? 0);
  }
}
