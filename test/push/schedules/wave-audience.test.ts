import { expect, test } from "bun:test";
import fc from "fast-check";
import { shareOfWave } from "../../../src/push/schedules/wave-audience.ts";
import { SHARES } from "../../../src/push/selection.ts";
import { WINNER } from "../../../src/push/store/schedules/schedule-store.ts";

const text = { title: "T", body: "B", targetUrl: "https://app.example" };
const timing = { at: 1, local: null, quiet: null, zone: "UTC" };
const contentOf = (texts: number, waves: number, holdoutPercent: number) => ({
  texts: Array.from({ length: texts }, () => text),
  timing,
  times: Array.from({ length: waves }, (_, at) => at),
  holdoutPercent,
});

test("at each time, everyone belongs to one text or to the winner, and the texts have equally many people", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 4 }),
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 0, max: 90 }),
      (texts, waves, holdout) => {
        const content = contentOf(texts, waves, holdout);
        for (let place = 0; place < waves; place++) {
          const variants = Array.from({ length: texts }, (_, variant) => variant);
          const shares = [...variants, WINNER].map((variant) => {
            const wave = variant === WINNER ? place * texts : place * texts + variant;
            return shareOfWave("s", content, { wave, variant });
          });
          const borders = shares.map((share) => share?.to);
          expect(shares.map((share) => share?.from)).toEqual([0, ...borders.slice(0, -1)] as number[]);
          expect(borders.at(-1)).toBe(SHARES);
          const sizes = shares.map((share) => (share?.to ?? 0) - (share?.from ?? 0));
          expect(sizes.at(-1)).toBe((SHARES * holdout) / 100);
          const ofTexts = sizes.slice(0, -1);
          expect(Math.max(...ofTexts) - Math.min(...ofTexts)).toBeLessThanOrEqual(1);
          const places = shares.map((share) => share?.wave?.place);
          expect(new Set(places)).toEqual(new Set([waves > 1 ? place : undefined]));
        }
      },
    ),
  );
});

test("one text at one time reaches the whole audience, and only then", () => {
  expect(shareOfWave("s", contentOf(1, 1, 0), { wave: 0, variant: 0 })).toBeUndefined();
  expect(shareOfWave("s", contentOf(1, 2, 0), { wave: 1, variant: 0 })).toMatchObject({
    from: 0,
    to: SHARES,
    wave: { place: 1 },
  });
});
