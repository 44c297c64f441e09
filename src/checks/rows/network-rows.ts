import type { Check } from "../check.ts";
import type { CheckFigures } from "../figures.ts";

const UNMATCHED = "../follow-the-network.md#when-something-does-not-match";
/** Seconds after which a network without blocks has stopped. */
const STALL_SECS = 60;

/** Maximum number of blocks, at one per second, since the newest proven one, by `trust.roots`. */
const PROOF_LAGS = { full: 3600, sample: 86_400 };

const endpoints = (figures: CheckFigures, state: string) =>
  figures.samples("upstream_state", { state })?.filter(([, isIt]) => isIt === 1);

/** Checks of the followed network, and of whether the index is what its validators signed. */
export const networkRows: readonly Check[] = [
  {
    id: "upstream_away",
    name: "UpstreamLost",
    title: "Upstream unreachable",
    severity: "critical",
    scope: "node",
    isPublic: true,
    value(figures) {
      const isUp = figures.max("upstream_up");
      return isUp === undefined ? undefined : 1 - isUp;
    },
    openForSecs: 120,
    resolveForSecs: 60,
    sentence: "The followed node is not connected, or is not a Farcaster node.",
    remedy:
      "`/status` has the last fault. Check the followed node, `upstream.url` and the network between them.",
    runbook: "watch.md#health",
    promql: () => "svc_upstream_up == 0",
  },
  {
    id: "index_behind",
    name: "BehindUpstream",
    title: "Index behind",
    severity: "critical",
    scope: "node",
    isPublic: true,
    value: (figures) => figures.max("upstream_lag_seconds"),
    opens: ({ index_behind_secs }) => ({ above: index_behind_secs }),
    openForSecs: 300,
    resolves: ({ index_behind_secs }) => ({ below: index_behind_secs / 4 }),
    resolveForSecs: 120,
    sentence: "The index is {{ $value | humanizeDuration }} behind the network.",
    resolution:
      "Resolves once the index has been less than {{ $value | humanizeDuration }} behind for {{ $labels.for }}.",
    remedy:
      "If the applied block rises, the node is too slow: look at CPU and disk. If not, the followed node is behind or unreachable.",
    runbook: "watch.md#health",
    promql: ({ index_behind_secs }) =>
      `max without (shard) (svc_upstream_lag_seconds) > ${index_behind_secs}`,
  },
  {
    id: "network_fork",
    name: "NetworkFork",
    title: "Network fork",
    severity: "critical",
    scope: "node",
    isPublic: true,
    value: (figures) => figures.max("trust_forks"),
    openForSecs: 0,
    resolveForSecs: 0,
    sentence: "Validators signed two blocks for one height: the shard has stopped.",
    remedy:
      "Both certificates are in `forks/` of the data directory. Ask the operators of the network which block counts, then move the files away.",
    runbook: UNMATCHED,
    promql: () => "svc_trust_forks > 0",
  },
  {
    id: "event_disputed",
    name: "EventDisputed",
    title: "Disputed events",
    severity: "warning",
    scope: "node",
    isPublic: false,
    value: (figures) => figures.max("trust_disputed_events"),
    openForSecs: 0,
    resolveForSecs: 60,
    sentence: "The followed nodes disagree on the owner, the keys or the storage of an fid.",
    remedy:
      "`/status` has the fids and the nodes. Compare the events with a block explorer of Optimism, and remove the lying node from `upstream.urls`.",
    runbook: UNMATCHED,
    promql: () => "svc_trust_disputed_events > 0",
  },
  {
    id: "upstream_refused",
    name: "UpstreamRefused",
    title: "Upstream refused",
    severity: "warning",
    scope: "node",
    isPublic: false,
    value(figures) {
      const refused = endpoints(figures, "refused");
      return (
        refused && {
          value: refused.length,
          labels: { position: refused.map(([{ position }]) => String(position)).join(", ") },
        }
      );
    },
    openForSecs: 0,
    resolveForSecs: 60,
    sentence: "The followed node at position {{ $labels.position }} sent a block that is not the network's.",
    remedy: "`/status` has the block and the rule. Remove the node from `upstream.urls`.",
    runbook: UNMATCHED,
    promql: () => 'svc_upstream_state{state="refused"} == 1',
  },
  {
    id: "network_stalled",
    name: "NetworkStalled",
    title: "Network stalled",
    severity: "warning",
    scope: "node",
    isPublic: true,
    value(figures) {
      const ok = endpoints(figures, "ok");
      const lagSecs = figures.max("upstream_lag_seconds");
      if (!ok || lagSecs === undefined) return undefined;
      return ok.length > 0 ? lagSecs : 0;
    },
    opens: { above: STALL_SECS },
    openForSecs: 60,
    resolves: { below: STALL_SECS / 2 },
    resolveForSecs: 60,
    sentence: "The followed nodes respond, but none has a block from the last minute.",
    resolution:
      "Resolves once the newest block has been younger than {{ $value | humanizeDuration }} for {{ $labels.for }}.",
    remedy:
      "The network itself may have stopped. There is nothing to do here: following resumes with its next block.",
    runbook: "watch.md#health",
    promql: () =>
      `max without (shard) (svc_upstream_lag_seconds) > ${STALL_SECS} and on (job, instance) sum by (job, instance) (svc_upstream_state{state="ok"}) > 0`,
  },
  {
    id: "state_differs",
    name: "StateDiffers",
    title: "State differs from the signed one",
    severity: "warning",
    scope: "node",
    isPublic: true,
    value: (figures) => figures.max("trust_shards_differing"),
    openForSecs: 300,
    resolveForSecs: 60,
    sentence: "The index differs from the state that the network's validators signed.",
    remedy:
      "The log and the `trust` section of `/status` name accounts that no upstream could repair; `verify --roots` names what the disk has lost.",
    runbook: "../follow-the-network.md#what-is-verified",
    promql: () => "svc_trust_shards_differing > 0",
  },
  {
    id: "proof_old",
    name: "ProofOld",
    title: "Proof is old",
    severity: "warning",
    scope: "node",
    isPublic: false,
    value(figures) {
      const lags = figures.samples("trust_proof_lag_blocks");
      const old = lags?.flatMap(([{ roots }, lag]) => (lag > PROOF_LAGS[roots as "full"] ? [lag] : []));
      return old && Math.max(0, ...old);
    },
    openForSecs: 300,
    resolveForSecs: 60,
    sentence: "A shard has applied {{ $value }} blocks since its newest proven block.",
    remedy:
      "Accounts change faster than their roots are computed: `dirty` in the `trust` section of `/status` counts those that wait. Give the node more CPU, or run `verify --roots`.",
    runbook: "../follow-the-network.md#what-is-verified",
    promql: () =>
      Object.entries(PROOF_LAGS)
        .map(([roots, lag]) => `svc_trust_proof_lag_blocks{roots="${roots}"} > ${lag}`)
        .join(" or "),
  },
];
