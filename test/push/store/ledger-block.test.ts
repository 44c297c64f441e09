import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  groupByBlock,
  LedgerBlock,
  type LedgerRow,
  tokensIn,
} from "../../../src/push/store/campaigns/ledger-block.ts";

const CAMPAIGNS = [1, 2, 3];
const LEASE_SECS = 30;
const KEPT_SECS = 100;

const tokensOf = (fids: readonly number[]) => fids.map((fid) => ({ fid, clientFid: 9152 }));
const fidsOf = (tokens: readonly { readonly fid: number }[]) => tokens.map(({ fid }) => fid);
const outcome = (kind: "success" | "failure") => ({ kind, reason: "", isRetryable: false, isGone: false });

/** The rows of one block as a store has them. */
class Store {
  readonly rows = new Map<string, LedgerRow>();
  readonly failures = new Map<number, Uint8Array>();

  change<T>(campaign: number, change: (ledger: LedgerBlock) => T): T {
    const ledger = new LedgerBlock(campaign, [...this.rows.values()], this.failures.get(campaign));
    const result = change(ledger);
    for (const { fids, ...row } of ledger.changedRows()) {
      const key = `${row.campaign} ${row.isSent}`;
      if (fids) this.rows.set(key, { ...row, fids });
      else this.rows.delete(key);
    }
    const failures = ledger.changedFailures();
    if (failures) this.failures.set(campaign, failures);
    return result;
  }
}

const fids = fc.uniqueArray(fc.nat(9), { minLength: 1, maxLength: 5 });
const step = fc.oneof(
  fc.record({ kind: fc.constant("claim" as const), campaign: fc.constantFrom(...CAMPAIGNS), fids }),
  fc.record({
    kind: fc.constant("record" as const),
    campaign: fc.constantFrom(...CAMPAIGNS),
    fids,
    isSuccess: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("wait" as const), secs: fc.constantFrom(1, 29, 30, 70, 100) }),
);

test("a token has one holder at a time, and each campaign counts its result once, over any history", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const store = new Store();
      /** By campaign and fid: whether the result that was counted is a success. */
      const counted = new Map<string, boolean>();
      /** By campaign and fid: until when it surely holds the token, unless it records a failure. */
      const holds = new Map<string, number>();
      let nowSecs = 1_000;
      for (const next of steps) {
        if (next.kind === "wait") {
          nowSecs += next.secs;
          continue;
        }
        const { campaign } = next;
        const key = (fid: number) => `${campaign} ${fid}`;
        const isHeldByAnother = (fid: number) =>
          CAMPAIGNS.some((other) => other !== campaign && (holds.get(`${other} ${fid}`) ?? 0) > nowSecs);
        if (next.kind === "claim") {
          const lease = { nowSecs, endsAt: nowSecs + LEASE_SECS };
          const result = store.change(campaign, (ledger) => ledger.claim(tokensOf(next.fids), lease));
          const { claimed, alreadyCounted, conflicting } = result;
          expect(fidsOf([...claimed, ...alreadyCounted, ...conflicting]).sort()).toEqual(
            [...next.fids].sort(),
          );
          expect(fidsOf(alreadyCounted)).toEqual(next.fids.filter((fid) => counted.has(key(fid))));
          for (const fid of fidsOf(claimed)) {
            expect([fid, isHeldByAnother(fid)]).toEqual([fid, false]);
            holds.set(key(fid), lease.endsAt);
          }
        } else {
          // Only what it holds has a result: a campaign calls under its lease. A repetition of its record says the same again.
          const held = next.fids.filter((fid) =>
            counted.has(key(fid))
              ? counted.get(key(fid)) === next.isSuccess
              : (holds.get(key(fid)) ?? 0) > nowSecs,
          );
          const results = tokensOf(held).map((token) => ({
            ...token,
            ...outcome(next.isSuccess ? "success" : "failure"),
          }));
          const fresh = store.change(campaign, (ledger) => ledger.record(results, nowSecs + KEPT_SECS));
          expect(fidsOf(fresh)).toEqual(held.filter((fid) => !counted.has(key(fid))));
          for (const fid of held) {
            counted.set(key(fid), next.isSuccess);
            if (next.isSuccess) holds.set(key(fid), nowSecs + KEPT_SECS);
            else holds.delete(key(fid));
          }
        }
      }
    }),
    { numRuns: 200 },
  );
});

test.each<[name: string, record: "success" | "failure" | undefined, atSecs: number, isFree: boolean]>([
  ["a claim holds to its end", undefined, LEASE_SECS - 1, false],
  ["a claim that has ended holds nothing", undefined, LEASE_SECS, true],
  ["a success outlasts the claim", "success", KEPT_SECS - 1, false],
  ["a success is forgotten in the end", "success", KEPT_SECS, true],
  ["a failure frees the token for other campaigns at once", "failure", 0, true],
])("%s", (_, kind, atSecs, isFree) => {
  const store = new Store();
  const at = (secs: number) => ({ nowSecs: 1_000 + secs, endsAt: 1_000 + secs + LEASE_SECS });
  store.change(1, (ledger) => ledger.claim(tokensOf([5]), at(0)));
  if (kind !== undefined) {
    const results = tokensOf([5]).map((token) => ({ ...token, ...outcome(kind) }));
    store.change(1, (ledger) => ledger.record(results, 1_000 + KEPT_SECS));
  }
  const { claimed, conflicting } = store.change(2, (ledger) => ledger.claim(tokensOf([5]), at(atSecs)));
  expect([claimed.length, conflicting.length]).toEqual(isFree ? [1, 0] : [0, 1]);
  // The one that took the token over is its only holder.
  const again = store.change(3, (ledger) => ledger.claim(tokensOf([5]), at(atSecs)));
  expect(again.conflicting).toHaveLength(1);
  const former = store.change(1, (ledger) => ledger.claim(tokensOf([5]), at(atSecs)));
  expect(former.claimed).toHaveLength(kind === undefined && !isFree ? 1 : 0);
});

test("a campaign has counted its success even after another has taken the token over", () => {
  const store = new Store();
  const claim = (campaign: number, nowSecs: number) =>
    store.change(campaign, (ledger) => ledger.claim(tokensOf([5]), { nowSecs, endsAt: nowSecs + 30 }));
  claim(1, 1_000);
  const results = tokensOf([5]).map((token) => ({ ...token, ...outcome("success") }));
  store.change(1, (ledger) => ledger.record(results, 1_100));
  expect(fidsOf(claim(2, 1_100).claimed)).toEqual([5]);
  expect(fidsOf(claim(1, 1_101).alreadyCounted)).toEqual([5]);
  expect(fidsOf(claim(3, 1_101).conflicting)).toEqual([5]);
});

test("writes only rows that have changed, and none for a claim that gets nothing", () => {
  const store = new Store();
  const lease = { nowSecs: 1_000, endsAt: 1_030 };
  store.change(1, (ledger) => ledger.claim(tokensOf([5, 6]), lease));
  const none = new LedgerBlock(2, [...store.rows.values()], undefined);
  none.claim(tokensOf([5]), lease);
  expect([none.changedRows(), none.changedFailures()]).toEqual([[], undefined]);
  const other = new LedgerBlock(2, [...store.rows.values()], undefined);
  other.claim(tokensOf([7]), lease);
  expect(other.changedRows()).toMatchObject([{ campaign: 2, isSent: false, expiresAt: 1_030 }]);
});

test("writes the failures only if they have changed, and no row for a claim that was never stored", () => {
  const store = new Store();
  const results = (fid: number, kind: "success" | "failure") =>
    tokensOf([fid]).map((token) => ({ ...token, ...outcome(kind) }));
  store.change(1, (ledger) => ledger.record(results(5, "failure"), 1_100));
  const ledger = new LedgerBlock(1, [...store.rows.values()], store.failures.get(1));
  ledger.record(results(6, "success"), 1_100);
  expect(ledger.changedRows()).toMatchObject([{ campaign: 1, isSent: true, expiresAt: 1_100 }]);
  expect(ledger.changedFailures()).toBeUndefined();
});

test("groups tokens by client and block of fids, in order, and finds those that stored blocks contain", () => {
  const token = fc.record({
    fid: fc.constantFrom(1, 2, 4_095, 4_096, 9_000),
    clientFid: fc.constantFrom(1, 2),
  });
  fc.assert(
    fc.property(fc.array(token, { maxLength: 20 }), (tokens) => {
      const parts = groupByBlock(tokens);
      const keyOf = (each: (typeof tokens)[number]) => `${each.clientFid} ${Math.floor(each.fid / 4_096)}`;
      expect(parts.map((part) => part.tokens)).toEqual([...Map.groupBy(tokens, keyOf).values()]);
      for (const part of parts) {
        expect(part.tokens.map(keyOf)).toEqual(part.tokens.map(() => `${part.clientFid} ${part.block}`));
      }
    }),
  );
  const store = new Store();
  store.change(1, (ledger) => ledger.claim(tokensOf([5, 6]), { nowSecs: 1, endsAt: 2 }));
  store.change(2, (ledger) => ledger.claim(tokensOf([8]), { nowSecs: 1, endsAt: 2 }));
  const stored = [...store.rows.values()].map((row) => row.fids);
  const part = { clientFid: 9152, block: 0, tokens: tokensOf([4, 5, 6, 7, 8]) };
  expect(fidsOf(tokensIn(part, stored))).toEqual([5, 6, 8]);
  expect(tokensIn(part, [])).toEqual([]);
});

test("a claim that gets no token prolongs none", () => {
  const store = new Store();
  const claim = (campaign: number, fid: number, endsAt: number) =>
    store.change(campaign, (ledger) => ledger.claim(tokensOf([fid]), { nowSecs: 1000, endsAt }));
  expect(fidsOf(claim(1, 5, 1030).claimed)).toEqual([5]);
  expect(fidsOf(claim(2, 6, 1090).claimed)).toEqual([6]);
  expect(fidsOf(claim(1, 6, 1060).conflicting)).toEqual([6]);
  expect([...store.rows.values()].map(({ campaign, expiresAt }) => [campaign, expiresAt])).toEqual([
    [1, 1030],
    [2, 1090],
  ]);
});
