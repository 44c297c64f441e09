import type { Proof } from "../../console/pulse/pulse.ts";
import type { TrustProgress } from "../../upstream/chain/trust-tracker.ts";

/** The states of a shard, worst first. */
const ORDER = ["differs", "unproven", "incomplete", "computing", "proven"] as const;

/** Maximum age of a proof. If accounts are deferred because of their size, it is a day. */
const STALE_SECS = 3600;
const STALE_DEFERRED_SECS = 86_400;

/** Returns how a followed network is verified, for one line of the console. */
export function proofOf(trust: TrustProgress, nowSecs: number): Proof {
  const { level, shards, states, forks, healing } = trust;
  const proof = (state: Proof["state"], shard: number, height?: number, provenAt?: number): Proof => {
    const quorum = shards.find((one) => one.shard === shard)?.quorum;
    return {
      state,
      shard,
      height: height ?? null,
      age_secs: provenAt === undefined ? null : Math.max(0, Math.round(nowSecs - provenAt)),
      accounts: healing.quarantined.length,
      signers: quorum?.signers ?? null,
      validators: quorum?.validators ?? null,
    };
  };
  const [fork] = forks;
  if (fork) return proof("fork", fork.shard, fork.height);
  const unknown = shards.find(({ isSetUnknown }) => isSetUnknown);
  if (unknown) return proof("unknown_validators", unknown.shard);
  if (level === "node") return proof("node", 0);
  const data = shards.find(({ shard, quorum }) => shard > 0 && quorum) ?? shards[0];
  if (level === "blocks" || states.length === 0) return proof("blocks", data?.shard ?? 0);
  const [quarantined] = healing.quarantined;
  if (quarantined) return proof("quarantined", quarantined.shard);
  const [least] = states.toSorted(
    (a, b) =>
      ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || (a.provenHeight ?? 0) - (b.provenHeight ?? 0),
  );
  if (!least) return proof("blocks", 0);
  const staleSecs = least.dirty > 0 ? STALE_DEFERRED_SECS : STALE_SECS;
  if (least.state === "proven" && nowSecs - (least.provenAt ?? nowSecs) > staleSecs)
    return proof("stale", least.shard, least.provenHeight, least.provenAt);
  const height = least.state === "proven" ? least.provenHeight : least.mismatchHeight;
  return proof(least.state, least.shard, height, least.provenAt);
}
