import { describe, expect, test } from "bun:test";
import { formatSummary, ImportSummary, reasonClass } from "../../src/import/summary.ts";
import { invalid, rejection } from "../../src/protocol/rejection.ts";

describe("ImportSummary", () => {
  test("reports accepted records by kind, known records, and refused records by code and reason", () => {
    const summary = new ImportSummary();
    summary.accept("message");
    summary.accept("message");
    summary.accept("onChainEvent");
    summary.refuse(10, rejection("bad_request.duplicate", "message is known"));
    for (const [index, fid] of [12, 7, 99, 5].entries())
      summary.refuse(100 + index, invalid(`fid ${fid} is not registered`));
    summary.refuse(500, rejection("bad_request.conflict", "a newer message already exists"));
    expect(summary.records).toBe(9);
    expect(summary.refused).toBe(5);
    expect(summary.report()).toEqual({
      accepted: { message: 2, onChainEvent: 1, usernameProof: 0 },
      known: 1,
      refused: 5,
      refusals: [
        {
          code: "bad_request.validation_failure",
          reason: "fid … is not registered",
          count: 4,
          examples: [
            { offset: 100, reason: "fid 12 is not registered" },
            { offset: 101, reason: "fid 7 is not registered" },
            { offset: 102, reason: "fid 99 is not registered" },
          ],
        },
        {
          code: "bad_request.conflict",
          reason: "a newer message already exists",
          count: 1,
          examples: [{ offset: 500, reason: "a newer message already exists" }],
        },
      ],
    });
    expect(formatSummary(summary.report())).toEqual([
      "2 messages, 1 on-chain events and 0 username proofs accepted",
      "1 known already",
      "5 refused:",
      "  4 x bad_request.validation_failure: fid … is not registered",
      "    at byte 100: fid 12 is not registered",
      "    at byte 101: fid 7 is not registered",
      "    at byte 102: fid 99 is not registered",
      "  1 x bad_request.conflict: a newer message already exists",
      "    at byte 500: a newer message already exists",
    ]);
  });

  test("is bounded for any reasons and still counts every record", () => {
    const summary = new ImportSummary();
    const letters = (index: number) =>
      index.toString(26).replace(/\d/g, (digit) => "qrstuvwxyz"[Number(digit)] ?? "");
    for (let index = 0; index < 5000; index++)
      summary.refuse(index, invalid(`reason ${letters(index)} ${"x".repeat(5000)}`));
    const { refused, refusals } = summary.report();
    expect(refused).toBe(5000);
    expect(refusals.length).toBeLessThan(80);
    expect(refusals.reduce((sum, { count }) => sum + count, 0)).toBe(5000);
    expect(refusals[0]?.reason).toBe("other reasons");
    for (const { reason, examples } of refusals) {
      expect(reason.length).toBeLessThan(200);
      expect(examples.length).toBeLessThanOrEqual(3);
      for (const example of examples) expect(example.reason.length).toBeLessThan(200);
    }
  });

  test("reasons that differ only in numbers, hex or quoted text are the same", () => {
    expect(reasonClass('"ann" and fid 3 of 0xAB12')).toBe('"…" and fid … of …');
    expect(reasonClass(`hash ${"ab".repeat(20)} is not that of the data`)).toBe(
      "hash … is not that of the data",
    );
    expect(reasonClass("signature_scheme must be ED25519")).toBe("signature_scheme must be ED25519");
  });
});
