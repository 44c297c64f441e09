import type { UnknownCount } from "../../db/index/unknown-records.ts";
import { OnChainEventType } from "../../protocol/wire/generated/on-chain.ts";
import type { ShardState } from "../chain/proofs.ts";
import type { EngineProgress } from "../follow/engine-watch.ts";
import type { UpstreamProgress } from "../follow/progress.ts";

export function unknownSamples(
  progress: UpstreamProgress | undefined,
  read: (count: UnknownCount) => number,
) {
  return (progress?.engine.unknown ?? []).map(
    (count) => [{ kind: count.kind, type: count.number }, read(count)] as const,
  );
}

export function engineSection({ unknownAt, unknown, isHistoryDue }: EngineProgress) {
  return {
    unknown_version_at: unknownAt ?? null,
    unknown_records: unknown.map(({ kind, number, seen, dropped }) => ({
      kind,
      type: number,
      seen,
      dropped,
    })),
    channels_due: isHistoryDue,
  };
}

export function sumOf(progress: UpstreamProgress | undefined, read: (state: ShardState) => number): number {
  return (progress?.trust.states ?? []).reduce((sum, state) => sum + read(state), 0);
}

/**
 * Returns how many blocks each data shard has applied since its newest proven one. A shard that differs has another check.
 */
export function proofLags({ shards, trust }: UpstreamProgress): (readonly [shard: number, lag: number])[] {
  return trust.states.flatMap(({ shard, state, provenHeight }) => {
    const applied = shards.find((one) => one.shard === shard)?.appliedBlock;
    const isCompared = state === "proven" || state === "computing";
    if (!isCompared || provenHeight === undefined || applied === undefined) return [];
    return [[shard, Math.max(0, applied - provenHeight)]];
  });
}

export function trustSection({ trust, upstreams }: UpstreamProgress) {
  const { level, reason, validators, shards, states, healing, forks, disputes, refused } = trust;
  return {
    level,
    reason: reason ?? null,
    validators: validators ?? null,
    shards: shards.map(({ shard, verifiedHeight, isSetUnknown, quorum }) => ({
      shard,
      verified_height: verifiedHeight ?? null,
      signers: quorum?.signers ?? null,
      validators: quorum?.validators ?? null,
      set_unknown: isSetUnknown,
      ...stateSection(states.find((state) => state.shard === shard)),
    })),
    mismatches: states.reduce((sum, { mismatches }) => sum + mismatches, 0),
    healed: healing.healed,
    quarantined: healing.quarantined,
    refused,
    forks,
    disputed_events: disputes.map(({ fid, type, upstreams: positions }) => ({
      fid,
      type: OnChainEventType[type].replace("EVENT_TYPE_", "").toLowerCase(),
      upstreams: positions,
    })),
    upstreams: upstreams.map(
      ({ position, isDiscovered, state, isActive, lagBlocks, latencyMs, reason: why }) => ({
        position,
        discovered: isDiscovered,
        state,
        active: isActive,
        lag_blocks: lagBlocks ?? null,
        latency_ms: latencyMs ?? null,
        reason: why ?? null,
      }),
    ),
  };
}

/** Shard 0 has no state here, and below the level `roots` no shard has one. */
function stateSection(state: ShardState | undefined) {
  if (!state) return {};
  const { provenHeight, provenAt, mismatchHeight, dirty } = state;
  return {
    state: state.state,
    proven_height: provenHeight ?? null,
    proven_at: provenAt ?? null,
    mismatch_height: mismatchHeight ?? null,
    dirty,
  };
}
