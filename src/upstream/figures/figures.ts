import { counter, counterBy, figureOf, gauge, gaugeBy, gauges } from "../../runtime/figures/figures.ts";
import { type ShardProgress, UPSTREAM_PHASES, type UpstreamProgress } from "../follow/progress.ts";
import { ENDPOINT_STATES } from "../peers/endpoints/endpoint-status.ts";
import { engineSection, proofLags, sumOf, trustSection, unknownSamples } from "./status-sections.ts";

/** The progress of following, undefined before it is known, and why the index is behind. */
export interface UpstreamStats {
  readonly progress: UpstreamProgress | undefined;
  readonly behind: string | undefined;
  /** `trust.roots`. */
  readonly roots: "sample" | "full";
}

const MAX_FAULT_CHARS = 300;

/** Returns how far the most delayed shard is behind its upstream, in whole seconds; 0 without progress. */
export function lagSecsOf(progress: UpstreamProgress | undefined): number {
  return Math.round(Math.max(0, ...(progress?.shards ?? []).map(({ lagSecs }) => lagSecs ?? 0)));
}

/** Like `lagSecsOf`, but undefined until each shard has applied a block. */
export function knownLagSecs(progress: UpstreamProgress | undefined): number | undefined {
  const { shards } = progress ?? { shards: [] };
  const isKnown = shards.length > 0 && shards.every(({ lagSecs }) => lagSecs !== undefined);
  return isKnown ? lagSecsOf(progress) : undefined;
}

const figure = figureOf<UpstreamStats>();

/** Returns a value per shard, without shards for which it is not known. */
const byShard =
  (read: (shard: ShardProgress) => number | undefined) =>
  ({ progress }: UpstreamStats) =>
    (progress?.shards ?? []).flatMap((each) => {
      const value = read(each);
      return value === undefined ? [] : [[{ shard: each.shard }, value] as const];
    });

/** Before the progress is known, the metrics have no samples by label, and the status only says why it is behind. */
export const upstreamFigures = [
  figure({ read: ({ behind }) => behind ?? null, status: "upstream.behind" }),
  figure({
    read: ({ progress }) => progress?.isConnected === true && progress.peerError === undefined,
    metric: gauge("upstream_up", "1 while the upstream is connected and a Farcaster node, else 0."),
  }),
  figure({
    read: ({ progress }) => progress?.phase,
    metric: {
      ...gauges("upstream_phase", "1 for the current phase of following, 0 for the others.", ["phase"]),
      samples: (now) =>
        now ? UPSTREAM_PHASES.map((phase) => [{ phase }, Number(phase === now)] as const) : [],
    },
    status: "upstream.phase",
  }),
  figure({
    read: ({ progress }) =>
      progress?.shards.map(({ shard, appliedBlock, headBlock, lagSecs }) => ({
        shard,
        applied_block: appliedBlock,
        head_block: headBlock,
        lag_secs: lagSecs === undefined ? null : Math.round(lagSecs),
      })),
    status: "upstream.shards",
  }),
  figure({
    read: byShard(({ appliedBlock }) => appliedBlock),
    metric: gauges(
      "upstream_applied_block",
      "Newest block whose contents, like those of all blocks before it, are in the index.",
      ["shard"],
    ),
  }),
  figure({
    read: byShard(({ headBlock }) => headBlock),
    metric: gauges("upstream_head_block", "Newest block that the upstream reported.", ["shard"]),
  }),
  figure({
    read: byShard(({ lagSecs }) => lagSecs),
    metric: gauges("upstream_lag_seconds", "Age of the applied block.", ["shard"]),
  }),
  figure({
    read: ({ progress }) => knownLagSecs(progress),
    history: {
      series: "upstream_lag_secs",
      minute: "max",
      queue: {
        label: "Behind the followed node",
        words: "How old the newest block here is.",
        unit: "secs",
      },
    },
  }),
  figure({
    read: ({ progress }) => progress?.fids ?? null,
    metric: gaugeBy("state", "upstream_fids", "Fids of the running backfill or reconciliation."),
  }),
  figure({ read: ({ progress }) => progress?.fids.done, status: "upstream.fids_done" }),
  figure({ read: ({ progress }) => progress?.fids.total, status: "upstream.fids_total" }),
  figure({
    read: ({ progress }) =>
      progress &&
      (progress.build
        ? { stage: progress.build.stage, done_percent: Math.round(progress.build.done * 100) }
        : null),
    status: "upstream.build",
  }),
  figure({
    read: ({ progress }) => progress?.messages,
    metric: {
      ...counter("upstream_messages_total", "Messages applied from the upstream."),
      samples: (messages) => [[{}, messages ?? 0]],
    },
    status: "upstream.messages",
  }),
  figure({
    read: ({ progress }) => progress && Math.round(progress.messagesPerSec),
    status: "upstream.messages_per_sec",
  }),
  figure({
    read: ({ progress }) =>
      progress && (progress.etaSecs === undefined ? null : Math.round(progress.etaSecs)),
    status: "upstream.eta_secs",
  }),
  figure({
    read: ({ progress }) => progress && (progress.lastFault?.slice(0, MAX_FAULT_CHARS) ?? null),
    status: "upstream.last_fault",
  }),
  figure({
    read: ({ progress }) => (progress ? trustSection(progress) : null),
    status: "trust",
  }),
  figure({
    read: ({ progress }) =>
      (progress?.trust.shards ?? []).flatMap(({ shard, verifiedHeight }) =>
        verifiedHeight === undefined ? [] : [[{ shard }, verifiedHeight] as const],
      ),
    metric: gauges(
      "trust_verified_height",
      "Newest block with a verified certificate of the network's validators.",
      ["shard"],
    ),
  }),
  figure({
    read: ({ progress }) => progress?.trust.forks.length ?? 0,
    metric: gauge(
      "trust_forks",
      "Shards that have stopped, because validators signed two blocks for one height.",
    ),
  }),
  figure({
    read: ({ progress }) => progress?.trust.disputes.length ?? 0,
    metric: gauge(
      "trust_disputed_events",
      "Fids of whose on-chain events the followed nodes say different things.",
    ),
  }),
  figure({
    read: ({ progress }) =>
      (progress?.upstreams ?? []).flatMap(({ position, state }) =>
        ENDPOINT_STATES.map((one) => [{ position, state: one }, Number(one === state)] as const),
      ),
    metric: gauges(
      "upstream_state",
      "1 for the state of each followed node, by its position in the settings.",
      ["position", "state"],
    ),
  }),
  figure({
    read: ({ progress }) =>
      (progress?.trust.states ?? []).flatMap(({ shard, provenHeight }) =>
        provenHeight === undefined ? [] : [[{ shard }, provenHeight] as const],
      ),
    metric: gauges(
      "trust_proven_height",
      "Newest block whose signed root is that of the index, for each data shard.",
      ["shard"],
    ),
  }),
  figure({
    read: ({ progress, roots }) =>
      progress ? proofLags(progress).map(([shard, lag]) => [{ shard, roots }, lag] as const) : [],
    metric: gauges(
      "trust_proof_lag_blocks",
      "Applied blocks since the newest proven one; no sample before the first one, and while the state differs.",
      ["shard", "roots"],
    ),
  }),
  figure({
    read: ({ progress }) => sumOf(progress, ({ mismatches }) => mismatches),
    metric: counter(
      "trust_mismatches_total",
      "How often the index began to differ from the signed root of a shard.",
    ),
  }),
  figure({
    read: ({ progress }) => sumOf(progress, ({ state }) => Number(state === "differs")),
    metric: gauge(
      "trust_shards_differing",
      "Data shards of which the index should have the signed root, and has another.",
    ),
  }),
  figure({
    read: ({ progress }) => progress?.trust.healing.healed ?? 0,
    metric: counter("trust_healed_total", "Accounts that differed from the signed state and were repaired."),
  }),
  figure({
    read: ({ progress }) => progress?.trust.healing.quarantined.length ?? 0,
    metric: gauge("trust_accounts_quarantined", "Accounts that differ and that no upstream could repair."),
  }),
  figure({
    read: ({ progress }) => sumOf(progress, ({ dirty }) => dirty),
    metric: gauge("trust_accounts_dirty", "Kinds of accounts whose roots wait to be computed."),
  }),
  figure({
    read: ({ progress }) => progress?.trust.refused ?? {},
    metric: counterBy(
      "reason",
      "trust_refused_total",
      "Blocks of the upstream that are not the network's, by the rule that they break.",
    ),
  }),
  figure({
    read: ({ progress }) => (progress ? engineSection(progress.engine) : null),
    status: "engine",
  }),
  figure({
    read: ({ progress }) => progress?.engine.unknownAt,
    metric: gauge(
      "upstream_unknown_engine_at",
      "When the network switches to rules that this program has no date for, unix seconds; no sample while none is announced.",
    ),
  }),
  figure({
    read: ({ progress }) => unknownSamples(progress, ({ seen }) => seen),
    metric: gauges("upstream_unknown_records", "Records of kinds that this program does not know.", [
      "kind",
      "type",
    ]),
  }),
  figure({
    read: ({ progress }) => unknownSamples(progress, ({ dropped }) => dropped),
    metric: gauges(
      "upstream_unknown_records_dropped",
      "Those of them that are not kept, because 64 MiB of others are.",
      ["kind", "type"],
    ),
  }),
];
