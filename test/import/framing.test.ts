import { describe, expect, test } from "bun:test";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { FrameCutter } from "../../src/import/framing.ts";

/** The bytes of records behind their lengths, by the protobuf library. */
function stream(payloads: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(payloads.map((payload) => new BinaryWriter().bytes(payload).finish()));
}

/** Cuts bytes at the given places, which may lie anywhere. */
function split(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const cuts = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return cuts.slice(1).map((cut, index) => bytes.subarray(cuts[index], cut));
}

const payloads = fc.array(fc.uint8Array({ maxLength: 400 }), { maxLength: 12 });
const places = fc.array(fc.nat(6000), { maxLength: 30 });

describe("cutting a stream into records", () => {
  test("any split into chunks gives the same records at the same places", () => {
    fc.assert(
      fc.property(payloads, places, fc.nat(1_000_000), (all, cuts, start) => {
        const bytes = stream(all);
        const cutter = new FrameCutter(start);
        const frames = split(bytes, cuts).flatMap((chunk) => cutter.push(chunk));
        expect(frames.map(({ payload }) => Buffer.from(payload))).toEqual(all.map((one) => Buffer.from(one)));
        expect(Buffer.concat(frames.map(({ raw }) => raw))).toEqual(Buffer.from(bytes));
        let offset = start;
        for (const frame of frames) {
          expect(frame.offset).toBe(offset);
          offset = frame.endOffset;
          expect(frame.endOffset - frame.offset).toBe(frame.raw.length);
        }
        expect(offset).toBe(start + bytes.length);
        expect([cutter.offset, cutter.pendingBytes, cutter.fault]).toEqual([offset, 0, undefined]);
      }),
    );
  });

  test("a stream that breaks off anywhere gives the whole records and tells where the broken one begins", () => {
    fc.assert(
      fc.property(payloads, fc.nat(5000), (all, place) => {
        const bytes = stream(all);
        const cut = place % (bytes.length + 1);
        const cutter = new FrameCutter(0);
        const frames = cutter.push(bytes.subarray(0, cut));
        const whole = Buffer.concat(frames.map(({ raw }) => raw));
        expect(whole).toEqual(Buffer.from(bytes.subarray(0, whole.length)));
        expect(cutter.offset).toBe(whole.length);
        expect(cutter.pendingBytes).toBe(cut - whole.length);
        expect(cutter.push(bytes.subarray(cut)).length).toBe(all.length - frames.length);
      }),
    );
  });

  test("any bytes end in records, a rest that is smaller than a record may be, or a fault", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 10 }), (chunks) => {
        const cutter = new FrameCutter(0, 100);
        let consumed = 0;
        for (const chunk of chunks) {
          for (const { payload, raw } of cutter.push(chunk)) {
            expect(payload.length).toBeLessThanOrEqual(100);
            consumed += raw.length;
          }
          expect(cutter.offset).toBe(consumed);
          if (cutter.fault === undefined) expect(cutter.pendingBytes).toBeLessThan(100 + 5);
        }
      }),
    );
  });

  test("a length of exactly the limit passes, and one more is a fault at the place of the record", () => {
    const first = new Uint8Array(3);
    const within = new FrameCutter(0, 200);
    expect(within.push(stream([first, new Uint8Array(200)])).length).toBe(2);
    const beyond = new FrameCutter(1000, 200);
    expect(beyond.push(stream([first, new Uint8Array(201), first])).length).toBe(1);
    expect(beyond.offset).toBe(1004);
    expect(beyond.fault).toContain("201 bytes");
    expect(beyond.push(stream([first]))).toEqual([]);
  });

  test("a length that never ends is a fault and not a wait", () => {
    const cutter = new FrameCutter(0);
    for (let byte = 0; byte < 5; byte++) {
      expect(cutter.fault).toBeUndefined();
      expect(cutter.push(Uint8Array.of(0x80))).toEqual([]);
    }
    expect(cutter.fault).toBe("no record length");
  });
});
