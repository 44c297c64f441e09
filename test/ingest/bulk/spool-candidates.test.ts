import { describe, expect, test } from "bun:test";
import {
  CandidatePacker,
  candidateSigner,
  rowsStart,
  SlotFilter,
  slotHash,
} from "../../../src/ingest/bulk/spool-candidates.ts";
import { decodeMessage, type SignedMessage } from "../../../src/protocol/message/signed-message.ts";
import { FarcasterNetwork, MessageType } from "../../../src/protocol/wire/generated/message.ts";
import { DEFAULT_TIMESTAMP, signMessage } from "../../support/messages.ts";
import { accountSigner } from "../../support/node.ts";
import { expectOk } from "../../support/result.ts";

function castOf(fid: number): SignedMessage {
  const body = { $case: "castAddBody" as const, value: { text: `of ${fid}` } };
  const data = { type: MessageType.MESSAGE_TYPE_CAST_ADD, fid, timestamp: DEFAULT_TIMESTAMP, body };
  return expectOk(decodeMessage(signMessage(data, accountSigner(fid))));
}

test("the rows of records follow each other from 0 to the end; a record that is not a candidate has none", () => {
  const [first, second] = [castOf(1), castOf(2)];
  const packer = new CandidatePacker(FarcasterNetwork.FARCASTER_NETWORK_MAINNET, 3);
  for (const record of [first, undefined, second]) packer.add(record);
  const candidates = packer.finish();
  const [start, none, next, end] = [0, 1, 2, 3].map((record) => rowsStart(candidates, record));
  expect([start, end]).toEqual([0, candidates.rows.length]);
  expect(none).toBeGreaterThan(0);
  expect(next).toBe(none);
  expect(candidateSigner(candidates, 0)).toEqual(Uint8Array.from(first.signer));
  expect(candidateSigner(candidates, 2)).toEqual(Uint8Array.from(second.signer));
});

const hashOf = (n: number) => slotHash(n % 1000, n % 13, new Uint8Array(Uint32Array.of(n).buffer));

/** The share of new slots that a filter reports as known once it has all that it expects. */
function falseShare(expectedSlots: number): number {
  const filter = new SlotFilter(expectedSlots);
  for (let n = 0; n < expectedSlots; n++) filter.add(hashOf(n));
  const others = 10_000;
  let reported = 0;
  for (let n = 0; n < others; n++) if (filter.add(hashOf(expectedSlots + n))) reported += 1;
  return reported / others;
}

describe("SlotFilter", () => {
  test("reports every slot that was added", () => {
    const filter = new SlotFilter(1000);
    const slots = Array.from({ length: 1000 }, (_, n) => hashOf(n));
    for (const slot of slots) filter.add(slot);
    expect(slots.every((slot) => filter.add(slot))).toBe(true);
  });

  // Four bits of sixteen for each slot: (1 - e^-(4/16))^4 is 0.24 %.
  test.each([65_536, 300_000])("with its %d slots reports less than 0.5 % of others", (expectedSlots) => {
    expect(falseShare(expectedSlots)).toBeLessThan(0.005);
  });
});
