import { describe, expect, test } from "bun:test";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { decodeEnvelope, encodeEnvelope } from "../../src/import/record-file.ts";
import { ok } from "../../src/lib/result.ts";
import { ImportRecord } from "../../src/protocol/wire/generated/hub.ts";
import { Message, UserNameProof } from "../../src/protocol/wire/generated/message.ts";
import { OnChainEvent } from "../../src/protocol/wire/generated/on-chain.ts";

const message = Message.fromPartial({ hash: Uint8Array.of(1, 2), dataBytes: Uint8Array.of(3) });
const event = OnChainEvent.fromPartial({ fid: 7, blockNumber: 9 });
const proof = UserNameProof.fromPartial({ fid: 8, timestamp: 1_700_000_000 });

const RECORDS = [
  {
    kind: "message" as const,
    bytes: Message.encode(message).finish(),
    wire: { $case: "message" as const, value: message },
  },
  {
    kind: "onChainEvent" as const,
    bytes: OnChainEvent.encode(event).finish(),
    wire: { $case: "onChainEvent" as const, value: event },
  },
  {
    kind: "usernameProof" as const,
    bytes: UserNameProof.encode(proof).finish(),
    wire: { $case: "usernameProof" as const, value: proof },
  },
];

function field(number: number, bytes: Uint8Array): Uint8Array {
  return new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(bytes).finish();
}

function reasonOf(payload: Uint8Array): string {
  const opened = decodeEnvelope(payload);
  if (opened.ok) throw new Error("the envelope was read");
  expect(opened.error.code).toBe("bad_request.parse_failure");
  return opened.error.reason;
}

describe("ImportRecord", () => {
  test("is encoded and decoded for every kind of record", () => {
    for (const { kind, bytes, wire } of RECORDS) {
      expect(decodeEnvelope(ImportRecord.encode({ record: wire }).finish())).toEqual(ok({ kind, bytes }));
      const framed = new BinaryReader(encodeEnvelope({ kind, bytes }));
      expect(ImportRecord.decode(framed.bytes()).record).toEqual(wire);
      expect(framed.pos).toBe(framed.len);
    }
  });

  test("decodes a record whose tag or length is encoded at length, and one of more than 2 MiB", () => {
    const bytes = Uint8Array.of(5, 6);
    expect(decodeEnvelope(Uint8Array.of(0x8a, 0, 0x82, 0, 5, 6))).toEqual(ok({ kind: "message", bytes }));
    expect(decodeEnvelope(Uint8Array.of(0x0a, 0x82, 0x80, 0x80, 0, 5, 6))).toEqual(
      ok({ kind: "message", bytes }),
    );
    const large = new Uint8Array(2 ** 21 + 1);
    expect(decodeEnvelope(field(2, large))).toEqual(ok({ kind: "onChainEvent", bytes: large }));
  });

  test("skips unknown fields", () => {
    const later = Buffer.concat([
      field(9, Uint8Array.of(1)),
      field(3, Uint8Array.of(2)),
      field(2000, new Uint8Array(4)),
    ]);
    expect(decodeEnvelope(later)).toEqual(ok({ kind: "usernameProof", bytes: Uint8Array.of(2) }));
  });

  test("refuses no record, two records and malformed bytes", () => {
    expect(reasonOf(new Uint8Array(0))).toContain("no record");
    expect(reasonOf(field(9, Uint8Array.of(1)))).toContain("no record");
    expect(reasonOf(Buffer.concat([field(1, Uint8Array.of(1)), field(2, Uint8Array.of(2))]))).toContain(
      "more than one",
    );
    expect(reasonOf(Buffer.concat([field(1, Uint8Array.of(1)), field(1, Uint8Array.of(1))]))).toContain(
      "more than one",
    );
    expect(reasonOf(new BinaryWriter().tag(1, WireType.Varint).uint32(5).finish())).toContain("field 1");
    expect(reasonOf(field(1, new Uint8Array(20)).subarray(0, 9))).toContain("cannot be read");
    expect(reasonOf(Uint8Array.of(0))).toContain("cannot be read");
  });

  test("decodes or refuses any bytes without throwing", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (payload) => {
        const opened = decodeEnvelope(payload);
        if (opened.ok) expect(opened.value.bytes.length).toBeLessThan(payload.length);
        else expect(opened.error.code).toBe("bad_request.parse_failure");
      }),
      { numRuns: 2000 },
    );
  });
});
