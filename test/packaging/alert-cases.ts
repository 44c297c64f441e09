/** Series of one node, by name and labels, in promtool's notation: a sample a minute from 0 on; `5x3` is 5 and three more. */
type Node = Readonly<Record<string, string>>;

/** Nodes for which an alert fires after 90 minutes, and nodes for which it does not. */
interface AlertCases {
  readonly fires: readonly Node[];
  readonly quiet: readonly Node[];
}

/** All the time of the test. */
const always = (value: number | string) => `${value}x120`;
/** From the 88th minute on. */
const lately = (before: string, now: number | string) => `${before}x87 ${now}x32`;
const BEFORE_THE_TEST = -1_000_000;
const NO_SAMPLE = "_";

/** A counter that rises by one: of a process that has counted nothing so far, and of one that began with the event. */
function rising(counter: string): AlertCases {
  const start = "svc_process_start_time_seconds";
  return {
    fires: [
      { [start]: always(BEFORE_THE_TEST), [counter]: lately("0", 1) },
      { [start]: lately(NO_SAMPLE, 88 * 60), [counter]: lately(NO_SAMPLE, 1) },
    ],
    quiet: [
      { [start]: always(BEFORE_THE_TEST), [counter]: always(5) },
      { [start]: lately(NO_SAMPLE, 88 * 60), [counter]: lately(NO_SAMPLE, 0) },
    ],
  };
}

/** A gauge that has a value all the time. */
const gauge = (name: string, bad: number | string, good: number | string): AlertCases => ({
  fires: [{ [name]: always(bad) }],
  quiet: [{ [name]: always(good) }],
});

const REQUESTS = `svc_http_requests_total{method="GET",route="/a",status="200"}`;
const buckets = (within: string, all: string): Node => ({
  'svc_http_request_duration_seconds_bucket{route="/a",le="1"}': `0+${within}`,
  'svc_http_request_duration_seconds_bucket{route="/a",le="2.5"}': `0+${all}`,
  'svc_http_request_duration_seconds_bucket{route="/a",le="+Inf"}': `0+${all}`,
});

/** The cases of each alert, by its name without that of the service. */
export const alertCases: Readonly<Record<string, AlertCases>> = {
  Down: gauge("up", 0, 1),
  Restarts: {
    fires: [{ svc_process_start_time_seconds: "1x80 2x2 3x2 4x40" }],
    quiet: [
      { svc_process_start_time_seconds: "1x70 2x2 3x60" },
      { svc_process_start_time_seconds: always(1) },
    ],
  },
  PartDoesNotRespond: {
    fires: [
      { 'svc_node_part_up{part="delivery"}': always(0) },
      { 'svc_node_part_up{part="delivery"}': always(0), svc_state_up: always(1) },
    ],
    quiet: [
      { 'svc_node_part_up{part="delivery"}': always(1) },
      { 'svc_node_part_up{part="signers"}': always(0), svc_state_up: always(0) },
    ],
  },
  NotReady: gauge("svc_node_ready", 0, 1),
  ServerErrors: {
    fires: [
      {
        [REQUESTS]: "0+98x120",
        'svc_http_requests_total{method="GET",route="/b",status="503"}': "0+2x120",
      },
      // A burst in series that begin with it, and do not rise.
      {
        [REQUESTS]: always(1000),
        'svc_http_requests_total{method="GET",route="/b",status="503"}': "_x83 30x36",
        'svc_http_requests_total{method="GET",route="/c",status="500"}': "_x87 30x32",
      },
    ],
    quiet: [
      {
        [REQUESTS]: "0+999x120",
        'svc_http_requests_total{method="GET",route="/b",status="500"}': "0+1x120",
      },
      { [REQUESTS]: "0+1x120", 'svc_http_requests_total{method="GET",route="/b",status="501"}': "0+9x120" },
      { [REQUESTS]: always(0) },
      // A node that Prometheus has seen for longer than the range.
      {
        [REQUESTS]: "_x40 1000+10x79",
        'svc_http_requests_total{method="GET",route="/b",status="503"}': "_x40 500x79",
      },
    ],
  },
  Slow: {
    fires: [buckets("90x120", "100x120")],
    quiet: [buckets("100x120", "100x120"), buckets("0x120", "0x120")],
  },
  ConnectionsRefused: rising("svc_http_accept_pauses_total"),
  FileDescriptors: {
    fires: [{ svc_process_open_fds: always(900), svc_process_max_fds: always(1000) }],
    quiet: [{ svc_process_open_fds: always(100), svc_process_max_fds: always(1000) }],
  },
  ClocksDiffer: {
    fires: [{ svc_state_clock_offset_seconds: always(-2) }],
    quiet: [{ svc_state_clock_offset_seconds: always("0.4") }],
  },
  Exposed: gauge(`svc_check_open{check="exposure"}`, 1, 0),
  UpstreamLost: gauge("svc_upstream_up", 0, 1),
  BehindUpstream: {
    fires: [
      {
        'svc_upstream_lag_seconds{shard="1"}': always(3),
        'svc_upstream_lag_seconds{shard="2"}': "0+60x120",
      },
    ],
    quiet: [
      { 'svc_upstream_lag_seconds{shard="1"}': always(100) },
      { 'svc_upstream_lag_seconds{shard="1"}': always(1) },
    ],
  },
  NetworkFork: gauge("svc_trust_forks", 1, 0),
  EventDisputed: gauge("svc_trust_disputed_events", 1, 0),
  UpstreamRefused: gauge('svc_upstream_state{position="2",state="refused"}', 1, 0),
  NetworkStalled: {
    fires: [
      {
        'svc_upstream_lag_seconds{shard="1"}': always(90),
        'svc_upstream_state{position="1",state="ok"}': always(1),
      },
    ],
    quiet: [
      {
        'svc_upstream_lag_seconds{shard="1"}': always(90),
        'svc_upstream_state{position="1",state="ok"}': always(0),
      },
      {
        'svc_upstream_lag_seconds{shard="1"}': always(3),
        'svc_upstream_state{position="1",state="ok"}': always(1),
      },
    ],
  },
  StateDiffers: gauge("svc_trust_shards_differing", 1, 0),
  ProofOld: {
    fires: [
      { 'svc_trust_proof_lag_blocks{shard="1",roots="sample"}': always(86_401) },
      {
        'svc_trust_proof_lag_blocks{shard="1",roots="full"}': always(2),
        'svc_trust_proof_lag_blocks{shard="2",roots="full"}': "0+60x120",
      },
    ],
    quiet: [
      { 'svc_trust_proof_lag_blocks{shard="1",roots="sample"}': always(86_400) },
      { 'svc_trust_proof_lag_blocks{shard="1",roots="full"}': always(3600) },
    ],
  },
  IndexBacklog: {
    fires: [{ svc_ingest_queue_records: always(5000) }],
    quiet: [{ svc_ingest_queue_records: "5000x84 0x1 5000x30" }, { svc_ingest_queue_records: always(0) }],
  },
  CannotWrite: gauge(`svc_disk_write_fault{database="index"}`, 1, 0),
  DiskAlmostFull: gauge("svc_disk_free_bytes", "1e9", "3e9"),
  DiskFillsUp: gauge("svc_disk_free_bytes", "1e11-1e8", "1e12-1e7"),
  IndexAlmostFull: {
    fires: [{ svc_index_max_bytes: always("1e9"), svc_index_bytes: always("0.95e9") }],
    quiet: [
      { svc_index_max_bytes: always("1e9"), svc_index_bytes: always("0.5e9") },
      { svc_index_max_bytes: always(0), svc_index_bytes: always("5e9") },
    ],
  },
  IndexFull: gauge("svc_index_full", 1, 0),
  StateCannotBeWritten: {
    fires: [...rising("svc_state_expired_writes_total").fires, { svc_state_stalled_seconds: always(6) }],
    quiet: [...rising("svc_state_expired_writes_total").quiet, { svc_state_stalled_seconds: always(1) }],
  },
  PostgresAway: gauge("svc_state_up", 0, 1),
  NodeFenced: gauge("svc_node_fenced", 1, 0),
  StateWentBack: rising("svc_state_rollbacks_total"),
  BackupMissing: {
    // None yet has the time 0; the test begins at 0, and two days have not passed.
    fires: [{ svc_backup_last_timestamp_seconds: always(-172_801) }],
    quiet: [{ svc_backup_last_timestamp_seconds: always(-80_000) }],
  },
  BackupFails: rising("svc_backup_failures_total"),
  MaintenanceFails: rising("svc_maintenance_faults_total"),
  WritesWait: {
    fires: [{ svc_writes_queued: always(3), svc_writes_oldest_queued_timestamp_seconds: always(60) }],
    quiet: [
      { svc_writes_queued: always(3), svc_writes_oldest_queued_timestamp_seconds: always(89 * 60) },
      { svc_writes_queued: always(0) },
    ],
  },
  WritesRefusedLater: rising(`svc_writes_ended_total{state="refused"}`),
  WebhookEventsWait: {
    fires: [
      { svc_webhook_backpressure: always(1) },
      { svc_webhook_oldest_due_seconds: always(301) },
      { svc_event_outbox_oldest_timestamp_seconds: always(60) },
    ],
    quiet: [
      {
        svc_webhook_backpressure: always(0),
        svc_webhook_oldest_due_seconds: always(20),
        svc_event_outbox_oldest_timestamp_seconds: always(0),
      },
    ],
  },
  DeliveriesDropped: rising("svc_webhook_dropped_total"),
  EventsSkipped: rising("svc_webhook_skipped_events_total"),
  CertificateErrors: {
    fires: [
      ...rising(`svc_webhook_attempts_total{response="tls",outcome="retry"}`).fires,
      ...rising(`svc_send_failed_calls_total{class="tls"}`).fires,
    ],
    quiet: [
      ...rising(`svc_webhook_attempts_total{response="timeout",outcome="retry"}`).fires,
      ...rising(`svc_webhook_attempts_total{response="tls",outcome="retry"}`).quiet,
      ...rising(`svc_send_failed_calls_total{class="tls"}`).quiet,
    ],
  },
  ClientHostDown: gauge("svc_send_hosts_down", 1, 0),
  SendQueueOld: gauge("svc_send_queue_age_seconds", 601, 5),
};
