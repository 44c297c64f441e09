import { expect, test } from "bun:test";
import fc from "fast-check";
import { fidOfOwner, putOwnerClaim } from "../../../src/db/index/channels/owner-claims.ts";
import { countsOfChannel, findSlot, putSlot } from "../../../src/db/index/channels/slots.ts";
import { openIndexInMemory } from "../../../src/db/index/database.ts";
import {
  type ChannelSlot,
  channelSlotOf,
  MemberState,
  memberTarget,
} from "../../../src/protocol/channels/slots.ts";
import type { ChannelMemberAction } from "../../../src/protocol/wire/generated/message.ts";

const CHANNEL_ID = new Uint8Array(32).fill(3);

function member(fid: number, action: ChannelMemberAction): ChannelSlot {
  const slot = channelSlotOf({
    body: { $case: "channelMemberBody", value: { channelId: CHANNEL_ID, fid, action } },
  });
  if (!slot) throw new Error("a member's message has a slot");
  return slot;
}

const anyActs = fc.array(
  fc.record({
    fid: fc.integer({ min: 1, max: 4 }),
    action: fc.integer({ min: 1, max: 6 }),
    at: fc.nat(1000),
  }),
  { minLength: 1, maxLength: 30 },
);

test("checks 5 and 11: a slot is held by the last decision, whatever its time, its author and the order and number of applications", () => {
  fc.assert(
    fc.property(anyActs, fc.infiniteStream(fc.nat()), (acts, random) => {
      using db = openIndexInMemory();
      const decided = acts.map((act, n) => ({ ...act, seqnum: n + 1 }));
      const applied = [...decided, ...decided.filter(() => (random.next().value ?? 0) % 2 === 0)]
        .map((one) => ({ one, order: random.next().value ?? 0 }))
        .sort((a, b) => a.order - b.order)
        .map(({ one }) => one);
      for (const { fid, action, at, seqnum } of applied)
        db.transaction(() =>
          putSlot(db, { slot: member(fid, action), authorFid: fid, timestamp: at, seqnum, message: null }),
        );
      const states = new Map<number, number>();
      for (const { fid, action } of decided) states.set(fid, member(fid, action).state);
      for (const [fid, state] of states)
        expect(findSlot(db, { ...member(fid, 1), target: memberTarget(fid) })?.state).toBe(state);
      const counted = (state: MemberState) => [...states.values()].filter((one) => one === state).length;
      expect(countsOfChannel(db, CHANNEL_ID)).toMatchObject({
        members: counted(MemberState.Member),
        moderators: counted(MemberState.Moderator),
        memberSlots: states.size,
      });
    }),
    { numRuns: 50 },
  );
});

test("check 8: the owner is the fid with the newest live claim, of equally late ones that with the greater hash, of equal ones the lower fid", () => {
  using db = openIndexInMemory();
  const address = new Uint8Array(20).fill(1);
  const claim = (fid: number, timestamp: number, seqnum: number, isAdd = true) =>
    putOwnerClaim(db, { fid, address, isAdd, timestamp, hash: new Uint8Array(20).fill(fid), seqnum });
  expect(fidOfOwner(db, address)).toBe(0);
  claim(5, 100, 1);
  claim(6, 90, 2);
  expect(fidOfOwner(db, address)).toBe(5);
  claim(6, 100, 3);
  expect(fidOfOwner(db, address)).toBe(6);
  // Removed by its fid, and added again.
  claim(6, 110, 4, false);
  expect(fidOfOwner(db, address)).toBe(5);
  claim(5, 120, 5, false);
  expect(fidOfOwner(db, address)).toBe(0);
  claim(5, 130, 6);
  expect(fidOfOwner(db, address)).toBe(5);
  // Claims that the upstream reported have no hashes.
  const reported = new Uint8Array(20).fill(2);
  for (const fid of [9, 8])
    putOwnerClaim(db, {
      fid,
      address: reported,
      isAdd: true,
      timestamp: 7,
      hash: new Uint8Array(20),
      seqnum: 0,
    });
  expect(fidOfOwner(db, reported)).toBe(8);
  // An earlier decision, applied again.
  expect(claim(5, 120, 5, false)).toBe(false);
  expect(fidOfOwner(db, address)).toBe(5);
});
