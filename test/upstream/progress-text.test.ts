import { expect, test } from "bun:test";
import fc from "fast-check";
import { TrustTracker } from "../../src/upstream/chain/trust-tracker.ts";
import { UPSTREAM_PHASES, type UpstreamProgress } from "../../src/upstream/follow/progress.ts";
import { formatUpstreamProgress, notReadyReason } from "../../src/upstream/follow/progress-text.ts";

const backfill: UpstreamProgress = {
  isConnected: true,
  upstreams: [],
  engine: { unknownAt: undefined, unknown: [], isHistoryDue: false, channelsLeftOut: 0 },
  phase: "backfill",
  shards: [],
  fids: { done: 12_345, total: 900_000 },
  build: undefined,
  messages: 1_000_000,
  messagesPerSec: 5432.1,
  etaSecs: 7320,
  peerError: undefined,
  trust: {
    ...new TrustTracker().progress(),
    forks: [],
    disputes: [],
    states: [],
    healing: { healed: 0, quarantined: [] },
  },
  lastFault: undefined,
};

const live = (...lags: (number | undefined)[]): UpstreamProgress => ({
  ...backfill,
  phase: "live",
  shards: lags.map((lagSecs, shard) => ({ shard, appliedBlock: 5, headBlock: 9, lagSecs })),
});

test("an index is up to date if and only if every shard lags by less than the bound", () => {
  expect(notReadyReason(live(1, 29.9, 3), 30)).toBeUndefined();
  expect(notReadyReason(live(0, 30, 3), 30)).toBe("shard 1 is 30s behind; ready is less than 30s");
  expect(notReadyReason(live(100, 30, 3700), 30)).toBe("shard 2 is 1h 1m behind; ready is less than 30s");
  expect(notReadyReason(live(1, undefined), 30)).toBe(
    "no block of shard 1 has been received from the upstream yet",
  );
  expect(notReadyReason(live(), 30)).toBe("the upstream has not reported its shards yet");
  fc.assert(
    fc.property(
      fc.array(fc.nat(100), { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 1, max: 100 }),
      (lags, bound) =>
        (notReadyReason(live(...lags), bound) === undefined) === lags.every((lagSecs) => lagSecs < bound),
    ),
  );
});

test("before the live phase an index is never up to date, and the reason has the progress", () => {
  expect(notReadyReason(backfill, 30)).toBe(
    "filling the index from the upstream: 12,345 of 900,000 fids (1%), about 2h 2m left",
  );
  expect(notReadyReason({ ...backfill, etaSecs: undefined, fids: { done: 0, total: 0 } }, 30)).toBe(
    "filling the index from the upstream: 0 of 0 fids (0%)",
  );
  expect(notReadyReason({ ...backfill, phase: "reconcile" }, 30)).toStartWith("comparing the index with");
  const waiting = UPSTREAM_PHASES.filter((phase) => phase !== "live");
  for (const phase of waiting) expect(notReadyReason({ ...live(0), phase }, 30)).toBeString();
});

test("a progress line shows fids, rate and time left, as far as they fit into the width", () => {
  expect(formatUpstreamProgress(backfill, 120)).toBe(
    `[${"-".repeat(40)}]    1%  filling  12,345 of 900,000 fids  5,432 messages/s  2h 2m left`,
  );
  expect(formatUpstreamProgress(backfill, 70)).toEndWith("]    1%  filling  5,432 messages/s  2h 2m left");
  expect(formatUpstreamProgress(backfill, 40)).toEndWith("]    1%  filling  2h 2m left");
  expect(formatUpstreamProgress({ ...backfill, phase: "replay" }, 60)).toEndWith(
    "]  catching up  5,432 messages/s",
  );
});

test("a progress line is never wider than the terminal or longer than one line", () => {
  const progresses = fc.record({
    phase: fc.constantFrom(...UPSTREAM_PHASES),
    shards: fc.constant([]),
    fids: fc.record({ done: fc.nat(), total: fc.nat() }),
    build: fc.option(
      fc.record({ stage: fc.constant("casts"), done: fc.double({ min: 0, max: 1, noNaN: true }) }),
      {
        nil: undefined,
      },
    ),
    messages: fc.nat(),
    messagesPerSec: fc.double({ min: 0, max: 1e9, noNaN: true }),
    etaSecs: fc.option(fc.nat(), { nil: undefined }),
    isConnected: fc.boolean(),
    upstreams: fc.constant([]),
    engine: fc.constant({ unknownAt: undefined, unknown: [], isHistoryDue: false, channelsLeftOut: 0 }),
    peerError: fc.constant(undefined),
    trust: fc.constant({
      ...new TrustTracker().progress(),
      forks: [],
      disputes: [],
      states: [],
      healing: { healed: 0, quarantined: [] },
    }),
    lastFault: fc.constant(undefined),
  });
  fc.assert(
    fc.property(progresses, fc.integer({ min: 0, max: 300 }), (progress, columns) => {
      const line = formatUpstreamProgress(progress, columns);
      expect(line.length).toBeLessThanOrEqual(Math.max(0, columns - 1));
      expect(line).toMatch(/^[ -~]*$/);
    }),
  );
});
