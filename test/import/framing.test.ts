import { describe, expect, test } from "bun:test";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { bytesOf, FrameDecoder } from "../../src/import/record-file.ts";

/** Returns the length-prefixed bytes of records, encoded by the protobuf library. */
function stream(payloads: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(payloads.map((payload) => new BinaryWriter().bytes(payload).finish()));
}

/** Splits bytes at arbitrary offsets. */
function split(bytes: Uint8Array, offsets: readonly number[]): Uint8Array[] {
  const cuts = [
    0,
    ...offsets.map((offset) => offset % (bytes.length + 1)).sort((a, b) => a - b),
    bytes.length,
  ];
  return cuts.slice(1).map((cut, index) => bytes.subarray(cuts[index], cut));
}

const payloads = fc.array(fc.uint8Array({ maxLength: 400 }), { maxLength: 12 });
const places = fc.array(fc.nat(6000), { maxLength: 30 });

describe("FrameDecoder", () => {
  test("returns the same records at the same offsets for any split into chunks", () => {
    fc.assert(
      fc.property(payloads, places, fc.nat(1_000_000), (all, cuts, start) => {
        const bytes = stream(all);
        const cutter = new FrameDecoder(start);
        const frames = split(bytes, cuts).flatMap((chunk) => cutter.push(chunk));
        expect(frames.map(({ payload }) => Buffer.from(payload))).toEqual(all.map((one) => Buffer.from(one)));
        expect(Buffer.concat(bytesOf(frames))).toEqual(Buffer.from(bytes));
        let offset = start;
        for (const frame of frames) {
          expect(frame.offset).toBe(offset);
          offset = frame.endOffset;
        }
        expect(offset).toBe(start + bytes.length);
        expect([cutter.offset, cutter.pendingBytes, cutter.fault]).toEqual([offset, 0, undefined]);
      }),
    );
  });

  test("returns the complete records of a truncated stream and the offset of the incomplete one", () => {
    fc.assert(
      fc.property(payloads, fc.nat(5000), (all, place) => {
        const bytes = stream(all);
        const cut = place % (bytes.length + 1);
        const cutter = new FrameDecoder(0);
        const frames = cutter.push(bytes.subarray(0, cut));
        const whole = Buffer.concat(bytesOf(frames));
        expect(whole).toEqual(Buffer.from(bytes.subarray(0, whole.length)));
        expect(cutter.offset).toBe(whole.length);
        expect(cutter.pendingBytes).toBe(cut - whole.length);
        expect(cutter.push(bytes.subarray(cut)).length).toBe(all.length - frames.length);
      }),
    );
  });

  test("any bytes result in records, an incomplete record within the limit, or a fault", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 10 }), (chunks) => {
        const cutter = new FrameDecoder(0, 100);
        let consumed = 0;
        for (const chunk of chunks) {
          for (const { payload, offset, endOffset } of cutter.push(chunk)) {
            expect(payload.length).toBeLessThanOrEqual(100);
            consumed += endOffset - offset;
          }
          expect(cutter.offset).toBe(consumed);
          if (cutter.fault === undefined) expect(cutter.pendingBytes).toBeLessThan(100 + 5);
        }
      }),
    );
  });

  test("accepts a record of the maximum length and reports a longer one as a fault at its offset", () => {
    const first = new Uint8Array(3);
    const within = new FrameDecoder(0, 200);
    expect(within.push(stream([first, new Uint8Array(200)])).length).toBe(2);
    const beyond = new FrameDecoder(1000, 200);
    expect(beyond.push(stream([first, new Uint8Array(201), first])).length).toBe(1);
    expect(beyond.offset).toBe(1004);
    expect(beyond.fault).toContain("201 bytes");
    expect(beyond.push(stream([first]))).toEqual([]);
  });

  test("reports an endless length as a fault", () => {
    const cutter = new FrameDecoder(0);
    for (let byte = 0; byte < 5; byte++) {
      expect(cutter.fault).toBeUndefined();
      expect(cutter.push(Uint8Array.of(0x80))).toEqual([]);
    }
    expect(cutter.fault).toBe("not a record length");
  });
});
