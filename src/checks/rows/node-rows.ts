import { type Check, promIncrease, promRose } from "../check.ts";

/** Minimum number of responses for a meaningful share of errors. */
const MIN_RESPONSES = 20;
const WINDOW_SECS = 300;
/** All but 501. */
const SERVER_ERRORS = ["500", "502", "503", "504"];
/** Clock offset, in seconds, that matters for signatures. */
const CLOCK_SECS = 1;

/** Checks of the process, its threads and its responses. */
export const nodeRows: readonly Check[] = [
  {
    id: "down",
    name: "Down",
    title: "Node down",
    severity: "critical",
    scope: "node",
    isPublic: true,
    openForSecs: 120,
    resolveForSecs: 0,
    sentence: "The node does not respond to Prometheus.",
    remedy:
      "Check the supervisor and the end of the log: exit code 1 means a setting to correct, 75 is worth a retry.",
    runbook: "install.md#exit-codes",
    promql: () => `up{job="svc"} == 0`,
  },
  {
    id: "restarts",
    name: "Restarts",
    title: "Node keeps restarting",
    severity: "critical",
    scope: "node",
    isPublic: true,
    openForSecs: 0,
    resolveForSecs: 0,
    sentence: "The process has started at least three times within 30 minutes.",
    remedy: "The last lines of the log before each start name the reason.",
    runbook: "install.md#exit-codes",
    promql: () => "changes(svc_process_start_time_seconds[30m]) > 2",
  },
  {
    id: "thread",
    name: "PartDoesNotRespond",
    title: "Thread does not respond",
    severity: "critical",
    scope: "node",
    isPublic: false,
    value(figures) {
      const parts = figures.samples("node_part_up");
      // Some parts report figures from the state.
      if (!parts || figures.max("state_up") === 0) return undefined;
      const silent = parts.filter(([, isUp]) => isUp === 0).map(([{ part }]) => String(part));
      return { value: silent.length, labels: { part: silent.join(", ") } };
    },
    openForSecs: 30,
    resolveForSecs: 30,
    sentence: "The thread {{ $labels.part }} does not respond.",
    remedy:
      "See its last error on the operator's page or in the log. A restart loses nothing that was acknowledged.",
    runbook: "watch.md#health",
    promql: () => "svc_node_part_up == 0 unless on (job, instance) svc_state_up == 0",
  },
  {
    id: "not_ready",
    name: "NotReady",
    title: "Not ready",
    severity: "warning",
    scope: "node",
    isPublic: true,
    value(figures) {
      const isReady = figures.max("node_ready");
      return isReady === undefined ? undefined : 1 - isReady;
    },
    openForSecs: 900,
    resolveForSecs: 60,
    sentence: "The node has not been ready for 15 minutes.",
    remedy: "`/ready` says why. A fill takes hours: silence the alert until it is done.",
    runbook: "watch.md#health",
    promql: () => "svc_node_ready == 0",
  },
  {
    id: "server_errors",
    name: "ServerErrors",
    title: "Server errors",
    severity: "critical",
    scope: "node",
    isPublic: true,
    value(figures) {
      const all = figures.increase("http_requests_total", WINDOW_SECS);
      if (all === undefined) return undefined;
      // A status without any response so far counts from 0.
      const errors = SERVER_ERRORS.reduce(
        (sum, status) => sum + (figures.increase("http_requests_total", WINDOW_SECS, { status }) ?? 0),
        0,
      );
      return all < MIN_RESPONSES ? 0 : errors / all;
    },
    opens: ({ error_percent }) => ({ above: error_percent / 100 }),
    openForSecs: 300,
    resolves: ({ error_percent }) => ({ below: error_percent / 500 }),
    resolveForSecs: 600,
    sentence: "{{ $value | humanizePercentage }} of the responses are server errors.",
    resolution:
      "Resolves once less than {{ $value | humanizePercentage }} of the responses have been server errors for {{ $labels.for }}.",
    remedy:
      "The log has the request id and the reason of each. 501 does not count: the route does not exist here.",
    runbook: "watch.md#health",
    promql: ({ error_percent }) => {
      const responses = (labels: string) =>
        `sum without (method, route, status) ${promIncrease(`svc_http_requests_total${labels}`, WINDOW_SECS)}`;
      const failed = responses('{status=~"5..",status!="501"}');
      return `${failed} / ${responses("")} > ${error_percent / 100} and ${responses("")} >= ${MIN_RESPONSES}`;
    },
  },
  {
    id: "slow",
    name: "Slow",
    title: "Slow responses",
    severity: "warning",
    scope: "node",
    isPublic: true,
    value(figures) {
      const bounds = figures.samples("http_request_duration_seconds_bucket");
      if (!bounds) return undefined;
      const les = [...new Set(bounds.map(([{ le }]) => String(le)))];
      return slowest(
        les.map((le) => ({
          le: le === "+Inf" ? Number.POSITIVE_INFINITY : Number(le),
          count: figures.increase("http_request_duration_seconds_bucket", WINDOW_SECS, { le }) ?? 0,
        })),
      );
    },
    opens: ({ latency_ms }) => ({ above: latency_ms / 1000 }),
    openForSecs: 600,
    resolves: ({ latency_ms }) => ({ below: latency_ms / 1000 }),
    resolveForSecs: 300,
    sentence: "One request in a hundred takes {{ $value | humanizeDuration }} or longer.",
    resolution:
      "Resolves once 99 in a hundred requests have taken less than {{ $value | humanizeDuration }} for {{ $labels.for }}.",
    remedy: "See the busiest routes on the dashboard, then CPU, disk and `http.workers`.",
    runbook: "capacity.md#hardware",
    promql: ({ latency_ms }) =>
      `histogram_quantile(0.99, sum without (route) ${promIncrease("svc_http_request_duration_seconds_bucket", WINDOW_SECS)}) > ${latency_ms / 1000}`,
  },
  {
    id: "connections_refused",
    name: "ConnectionsRefused",
    title: "Connections refused",
    severity: "critical",
    scope: "node",
    isPublic: true,
    value: (figures) => figures.increase("http_accept_pauses_total", 900),
    openForSecs: 0,
    resolveForSecs: 60,
    quietSecs: 900,
    sentence: "The node has stopped accepting connections for lack of file descriptors.",
    remedy: "Raise LimitNOFILE, or find the client that opens the connections.",
    runbook: "capacity.md#hardware",
    promql: () => promRose("svc_http_accept_pauses_total", 900),
  },
  {
    id: "file_descriptors",
    name: "FileDescriptors",
    title: "File descriptors",
    severity: "warning",
    scope: "node",
    isPublic: false,
    value(figures) {
      const open = figures.max("process_open_fds");
      const max = figures.max("process_max_fds");
      return open === undefined || max === undefined ? undefined : open / max;
    },
    opens: { above: 0.8 },
    openForSecs: 300,
    resolves: { below: 0.7 },
    resolveForSecs: 300,
    sentence: "{{ $value | humanizePercentage }} of the file descriptors are open.",
    resolution:
      "Resolves once less than {{ $value | humanizePercentage }} of the file descriptors have been open for {{ $labels.for }}.",
    remedy: "Raise LimitNOFILE before connections are refused.",
    runbook: "capacity.md#hardware",
    promql: () => "svc_process_open_fds / svc_process_max_fds > 0.8",
  },
  {
    id: "clock",
    name: "ClocksDiffer",
    title: "Clock",
    severity: "warning",
    scope: "node",
    isPublic: false,
    value(figures) {
      const offset = figures.max("state_clock_offset_seconds");
      return offset === undefined ? undefined : Math.abs(offset);
    },
    opens: { above: CLOCK_SECS },
    openForSecs: 300,
    resolves: { below: CLOCK_SECS / 2 },
    resolveForSecs: 60,
    sentence: "The clocks of this machine and of PostgreSQL differ by {{ $value | humanizeDuration }}.",
    resolution:
      "Resolves once the clocks have differed by less than {{ $value | humanizeDuration }} for {{ $labels.for }}.",
    remedy: "Run NTP on both.",
    runbook: "watch.md#clocks",
    promql: () => `abs(svc_state_clock_offset_seconds) > ${CLOCK_SECS}`,
  },
  {
    id: "exposure",
    name: "Exposed",
    title: "Risky settings",
    severity: "notice",
    scope: "node",
    isPublic: false,
    value(figures) {
      const keys = figures.samples("risky_settings");
      return keys && { value: keys.length, labels: { key: keys.map(([{ key }]) => String(key)).join(", ") } };
    },
    openForSecs: 0,
    resolveForSecs: 0,
    sentence: "Settings leave the node open or unprotected: {{ $labels.key }}.",
    remedy: "`config check` and the first lines of the log say what each of them risks.",
    runbook: "settings.md#settings",
  },
];

/** Returns the p99 latency, in seconds, of the buckets in which the responses of a period are; 0 without responses. */
function slowest(buckets: readonly { readonly le: number; readonly count: number }[]): number {
  const sorted = buckets.toSorted((a, b) => a.le - b.le);
  const total = sorted.at(-1)?.count ?? 0;
  if (total === 0) return 0;
  const rank = 0.99 * total;
  const at = sorted.findIndex(({ count }) => count >= rank);
  const upper = sorted[at] ?? { le: 0, count: 0 };
  const lower = sorted[at - 1] ?? { le: 0, count: 0 };
  if (!Number.isFinite(upper.le)) return lower.le;
  return lower.le + ((rank - lower.count) / (upper.count - lower.count)) * (upper.le - lower.le);
}
