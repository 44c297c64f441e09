import type { Proof } from "../../console/pulse/pulse.ts";
import type { TrustProgress } from "../../upstream/chain/trust-tracker.ts";

/** The states of a shard, the one that says least first. */
const ORDER = ["differs", "unproven", "incomplete", "computing", "proven"] as const;

/** Returns how a followed network is verified, for one line of the console. */
export function proofOf(trust: TrustProgress, nowSecs: number): Proof {
  const { level, shards, states, forks } = trust;
  const of = (state: Proof["state"], shard: number, height?: number, provenAt?: number): Proof => {
    const quorum = shards.find((one) => one.shard === shard)?.quorum;
    return {
      state,
      shard,
      height: height ?? null,
      age_secs: provenAt === undefined ? null : Math.max(0, Math.round(nowSecs - provenAt)),
      signers: quorum?.signers ?? null,
      validators: quorum?.validators ?? null,
    };
  };
  const [fork] = forks;
  if (fork) return of("fork", fork.shard, fork.height);
  const unknown = shards.find(({ isSetUnknown }) => isSetUnknown);
  if (unknown) return of("unknown_validators", unknown.shard);
  if (level === "node") return of("node", 0);
  const data = shards.find(({ shard, quorum }) => shard > 0 && quorum) ?? shards[0];
  if (level === "blocks" || states.length === 0) return of("blocks", data?.shard ?? 0);
  const [least] = states.toSorted(
    (a, b) =>
      ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || (a.provenHeight ?? 0) - (b.provenHeight ?? 0),
  );
  if (!least) return of("blocks", 0);
  const height = least.state === "proven" ? least.provenHeight : least.mismatchHeight;
  return of(least.state, least.shard, height, least.provenAt);
}
