import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { inflateUpTo } from "../../src/net/inflate.ts";

test("a body that takes several chunks arrives whole up to the limit, and is cut above it", async () => {
  const plain = new Uint8Array(randomBytes(100_000));
  const packed = Bun.gzipSync(plain);
  for (const limit of [plain.length, plain.length + 1])
    expect(await inflateUpTo(packed, "gzip", limit)).toEqual({ body: plain, truncated: false });
  const below = plain.length - 1;
  expect(await inflateUpTo(packed, "gzip", below)).toEqual({
    body: plain.subarray(0, below),
    truncated: true,
  });
});

test.each([null, "", "identity", " Identity "])(
  "a body with the encoding %j stays as it is, up to the limit",
  async (encoding) => {
    const body = Uint8Array.of(1, 2, 3);
    for (const limit of [3, 4])
      expect(await inflateUpTo(body, encoding, limit)).toEqual({ body, truncated: false });
    expect(await inflateUpTo(body, encoding, 2)).toEqual({ body: Uint8Array.of(1, 2), truncated: true });
  },
);
