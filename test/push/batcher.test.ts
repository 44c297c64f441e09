import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Batch, Batcher } from "../../src/push/fan-out/batcher.ts";
import type { LiveToken } from "../../src/push/store/tokens/token-store.ts";

const tokenAt = (url: string, fid: number): LiveToken => ({
  appId: "a",
  fid,
  clientFid: 1,
  details: { url, host: "c.example", token: `t${fid}` },
});

/** The numbers of the tokens in a batch: each token is added under the lease of its number. */
const numbersIn = ({ tokens }: Batch) => tokens.map(({ fid }) => fid);

test("fills batches of up to 100 tokens of one URL, in order; from 500 waiting tokens on, the largest batch goes first", () => {
  // Few URLs fill batches, many let the number of waiting tokens reach its limit.
  const urls = fc
    .constantFrom(1, 3, 8, 300)
    .chain((count) => fc.array(fc.nat(count - 1), { minLength: 600, maxLength: 1_500, size: "max" }));
  fc.assert(
    fc.property(urls, (places) => {
      const batcher = new Batcher();
      const waiting = new Map<string, number[]>();
      const check = (batch: Batch | undefined) => {
        if (!batch) return;
        expect(numbersIn(batch)).toEqual(waiting.get(batch.url) ?? []);
        expect(batch.lease.nodeLease).toBe(batch.tokens[0]?.fid ?? -1);
        waiting.delete(batch.url);
      };
      for (const [number, place] of places.entries()) {
        const url = `https://c.example/${place}`;
        waiting.set(url, [...(waiting.get(url) ?? []), number]);
        const sizes = [...waiting.values()].map(({ length }) => length);
        const isFull = waiting.get(url)?.length === 100;
        const isCrowded = sizes.reduce((sum, size) => sum + size, 0) === 500;
        const batch = batcher.add(tokenAt(url, number), { endsAtMs: 0, nodeLease: number });
        expect(batch?.tokens.length).toBe(isFull || isCrowded ? Math.max(...sizes) : undefined);
        check(batch);
      }
      for (const batch of batcher.rest()) check(batch);
      expect([...waiting]).toEqual([]);
      expect([...batcher.rest()]).toEqual([]);
    }),
    { numRuns: 8 },
  );
});
