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

/** The inflater makes chunks of this many bytes. */
const CHUNK_BYTES = 16 * 1024;

test.each([1, 2, 3])(
  "a body is cut at the end of its chunk %i, and not where it ends there",
  async (chunks) => {
    const limit = chunks * CHUNK_BYTES;
    for (const more of [0, 1, CHUNK_BYTES]) {
      const plain = new Uint8Array(randomBytes(limit + more));
      expect(await inflateUpTo(Bun.gzipSync(plain), "gzip", limit)).toEqual({
        body: plain.subarray(0, limit),
        truncated: more > 0,
      });
    }
  },
);

test.each([null, "", "identity", " Identity "])(
  "a body with the encoding %j stays as it is, up to the limit",
  async (encoding) => {
    const body = Uint8Array.of(1, 2, 3);
    for (const limit of [3, 4])
      expect(await inflateUpTo(body, encoding, limit)).toEqual({ body, truncated: false });
    expect(await inflateUpTo(body, encoding, 2)).toEqual({ body: Uint8Array.of(1, 2), truncated: true });
  },
);

test("what follows the limit is not inflated", async () => {
  const packed = Bun.gzipSync(new Uint8Array(randomBytes(4_000_000)));
  const damaged = packed.slice();
  damaged.fill(255, packed.length / 2);
  expect(await inflateUpTo(damaged, "gzip", 1_000)).toMatchObject({ truncated: true });
  expect(await inflateUpTo(damaged, "gzip", 4_000_000)).toBeUndefined();
});
