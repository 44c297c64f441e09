import { expect, test } from "bun:test";
import { proofOf } from "../../src/node/console/proof.ts";
import type { Healed, ShardState } from "../../src/upstream/chain/proofs.ts";
import { type TrustProgress, TrustTracker } from "../../src/upstream/chain/trust-tracker.ts";

const NOW_SECS = 1_800_000_000;
const proven = (shard: number, provenHeight: number): ShardState => ({
  shard,
  state: "proven",
  provenHeight,
  provenAt: NOW_SECS - 12,
  mismatchHeight: undefined,
  mismatches: 0,
  dirty: 0,
});

/** The proof of a network of two data shards. */
function proofWith(
  states: readonly ShardState[],
  change: (tracker: TrustTracker) => void = () => {},
  { forks = [], quarantined = [] }: Partial<Pick<TrustProgress, "forks"> & Pick<Healed, "quarantined">> = {},
) {
  const tracker = new TrustTracker();
  tracker.verifies("release", "roots");
  for (const shard of [0, 1, 2]) tracker.verified(shard, 100, { signers: 5, validators: 7 });
  change(tracker);
  const rest = { forks, disputes: [], states, healing: { healed: 0, quarantined } };
  return proofOf({ ...tracker.progress(), ...rest }, NOW_SECS);
}

test("a state that is proven in all shards is shown with the lowest height, its age and who signed it", () => {
  expect(proofWith([proven(1, 99), proven(2, 98)])).toEqual({
    state: "proven",
    shard: 2,
    height: 98,
    age_secs: 12,
    accounts: 0,
    signers: 5,
    validators: 7,
  });
});

test("the shard of which is known least is shown", () => {
  const computing = {
    ...proven(2, 0),
    state: "computing",
    provenHeight: undefined,
    provenAt: undefined,
  } as const;
  const unproven = { ...proven(1, 90), state: "unproven", mismatchHeight: 91 } as const;
  const differs = { ...proven(2, 90), state: "differs", mismatchHeight: 92 } as const;
  expect(proofWith([proven(1, 99), computing])).toMatchObject({
    state: "computing",
    shard: 2,
    age_secs: null,
  });
  expect(proofWith([unproven, computing])).toMatchObject({ state: "unproven", shard: 1 });
  expect(proofWith([unproven, differs])).toMatchObject({ state: "differs", shard: 2, height: 92 });
});

test("what stops a shard precedes its state, and a trusted node says nothing of it", () => {
  const states = [proven(1, 99), proven(2, 98)];
  expect(proofWith(states, (tracker) => tracker.unknownValidators(1))).toMatchObject({
    state: "unknown_validators",
    shard: 1,
  });
  expect(proofWith([], (tracker) => tracker.verifies("release", "blocks"))).toMatchObject({
    state: "blocks",
  });
  expect(proofWith(states, (tracker) => tracker.trustsNode("trust.level is node"))).toMatchObject({
    state: "node",
  });
});

test("accounts that no node could repair are counted, and a proof that is older than an hour is stale, or than a day while large accounts wait", () => {
  const since = NOW_SECS - 60;
  const quarantined = [5001, 5002].map((fid) => ({ shard: 2, fid, since }));
  const differs = { ...proven(2, 90), state: "differs", mismatchHeight: 92 } as const;
  expect(proofWith([proven(1, 99), differs], undefined, { quarantined })).toMatchObject({
    state: "quarantined",
    shard: 2,
    accounts: 2,
  });
  const aged = (ageSecs: number, dirty: number) =>
    proofWith([{ ...proven(1, 99), provenAt: NOW_SECS - ageSecs, dirty }]).state;
  expect([aged(3600, 0), aged(3601, 0), aged(86_400, 1), aged(86_401, 1)]).toEqual([
    "proven",
    "stale",
    "proven",
    "stale",
  ]);
});
