import { describe, expect, test } from "bun:test";
import { decodeRecord } from "../../src/ingest/record.ts";
import { accountRecords } from "../support/node.ts";
import { cast } from "../support/records.ts";

const records = [...accountRecords(1), cast(1, "gm")];
const byKind = [...Map.groupBy(records, ({ kind }) => kind)].map(
  ([kind, [record]]) => [kind, record] as const,
);
const codeOf = (decoded: ReturnType<typeof decodeRecord>) => (decoded.ok ? "ok" : decoded.error.code);

describe.each(byKind)("a record of the kind %s", (_kind, record) => {
  if (!record) throw new Error("no record");
  const { kind, bytes } = record;

  test("is decoded", () => {
    expect(codeOf(decodeRecord({ kind, bytes }))).toBe("ok");
  });

  test("is refused when it is cut off", () => {
    expect(codeOf(decodeRecord({ kind, bytes: bytes.subarray(0, -1) }))).toBe("bad_request.parse_failure");
  });

  test("is refused where the decoder would stop early, unlike the reference node", () => {
    const extended = Buffer.concat([bytes, new Uint8Array([0])]);
    expect(codeOf(decodeRecord({ kind, bytes: extended }))).toBe("bad_request.parse_failure");
  });
});
