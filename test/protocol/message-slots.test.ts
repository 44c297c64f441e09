import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  compactSlot,
  Kind,
  linkSlot,
  parseLinkSlot,
  parseReactionSlot,
  Store,
  slotOf,
} from "../../src/protocol/message/merge-rules.ts";
import {
  MessageData,
  MessageType,
  type ReactionBody,
  ReactionType,
} from "../../src/protocol/wire/generated/message.ts";

const hash = new Uint8Array(20).fill(5);
/** Fids have up to 64 bits on the wire, of which the node reads 53. */
const fid = fc.oneof(fc.integer({ min: 1, max: 9 }), fc.maxSafeNat());

function reactionSlot(
  target: ReactionBody["target"],
  type = MessageType.MESSAGE_TYPE_REACTION_ADD,
  reaction = ReactionType.REACTION_TYPE_LIKE,
) {
  const body = { $case: "reactionBody" as const, value: { type: reaction, target } };
  return slotOf({ hash, data: MessageData.fromPartial({ type, body }) });
}

test("the slot of a reaction holds its type and its target, a cast or a URL", () => {
  const { REACTION_TYPE_LIKE, REACTION_TYPE_RECAST } = ReactionType;
  fc.assert(
    fc.property(
      fc.constantFrom(REACTION_TYPE_LIKE, REACTION_TYPE_RECAST),
      fid,
      fc.uint8Array({ minLength: 20, maxLength: 20 }),
      fc.string({ minLength: 1 }).map((text) => text.toWellFormed()),
      (type, fid, hash, url) => {
        const add = MessageType.MESSAGE_TYPE_REACTION_ADD;
        const ofCast = reactionSlot({ $case: "targetCastId", value: { fid, hash } }, add, type).slot;
        const parsed = parseReactionSlot(ofCast);
        const ofHash = "hash" in parsed.target ? Uint8Array.from(parsed.target.hash) : undefined;
        expect({ ...parsed.target, type: parsed.type, hash: ofHash }).toEqual({ type, fid, hash });
        const ofUrl = reactionSlot({ $case: "targetUrl", value: url }, add, type).slot;
        expect(parseReactionSlot(ofUrl)).toEqual({ type, target: { url } });
      },
    ),
  );
});

test("a URL with the bytes of a cast id has a slot of its own", () => {
  const value = { fid: 0x6162_6364, hash: new Uint8Array(20).fill(0x61) };
  const ofCast = reactionSlot({ $case: "targetCastId", value }).slot;
  const url = Buffer.from(ofCast.subarray(2)).toString("utf8");
  expect(reactionSlot({ $case: "targetUrl", value: url }).slot).not.toEqual(ofCast);
});

test("a reaction and its removal share a slot and differ in kind", () => {
  const target = { $case: "targetUrl", value: "https://a.example" } as const;
  const added = reactionSlot(target);
  const removed = reactionSlot(target, MessageType.MESSAGE_TYPE_REACTION_REMOVE);
  expect([added.store, added.kind]).toEqual([Store.Reactions, Kind.Add]);
  expect(removed).toEqual({ ...added, kind: Kind.Remove });
});

test("the slot of a link holds its type and target; that of a compact state is no link's", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 8, unit: "grapheme-ascii" }), fid, (type, targetFid) => {
      expect(parseLinkSlot(linkSlot(type, targetFid))).toEqual({ type, targetFid });
      expect(parseLinkSlot(compactSlot(type))).toBeUndefined();
    }),
  );
});

test("the slots of one link type sort by target", () => {
  const fids = [1, 255, 256, 2 ** 32 - 1, 2 ** 32, 2 ** 40 + 1];
  const slots = fids.map((fid) => linkSlot("follow", fid));
  expect(slots.toSorted(Buffer.compare)).toEqual(slots);
});
