export interface Alert {
  /** The name without that of the service. */
  readonly name: string;
  /** `critical`: users are affected, or data is in danger: act now. `warning`: look at it on the same day. */
  readonly severity: "critical" | "warning";
  /** PromQL. The alert fires for each series of the result. */
  readonly expr: string;
  /** How long the expression must hold. Default: not at all. */
  readonly for?: string;
  /** What is wrong, as one sentence about the node. */
  readonly summary: string;
  /** What to do. */
  readonly action: string;
  /** The page and heading that say more, relative to docs/operate/watch.md. */
  readonly runbook: `${string}.md#${string}`;
}

const SECONDS = { m: 60, h: 3600 } as const;

/**
 * Whether a counter rose within `range`. `increase` does not see an event between the start of the process and the first
 * scrape, because the series begins with it: a counter above 0 of a process that is younger than the range rose within it.
 */
function rose(counter: string, range: `${number}${keyof typeof SECONDS}`): string {
  const unit = range.endsWith("h") ? "h" : "m";
  const secs = Number(range.slice(0, -1)) * SECONDS[unit];
  const isYoung = `time() - svc_process_start_time_seconds < ${secs}`;
  return `increase(${counter}[${range}]) > 0 or ${counter} > 0 and on (job, instance) ${isYoung}`;
}

/** The alerts, the most urgent subjects first. Their names begin with the name of the service. */
export const alerts: readonly Alert[] = [
  {
    name: "Down",
    severity: "critical",
    expr: `up{job="svc"} == 0`,
    for: "2m",
    summary: "The node does not respond to Prometheus.",
    action:
      "Look at the supervisor and the end of the log: exit code 1 is a setting to correct, 75 is worth another try.",
    runbook: "install.md#exit-codes",
  },
  {
    name: "Restarts",
    severity: "critical",
    expr: "changes(svc_process_start_time_seconds[30m]) > 2",
    summary: "The process has started at least three times within 30 minutes.",
    action: "The last lines of the log before each start name the reason.",
    runbook: "install.md#exit-codes",
  },
  {
    name: "PartDoesNotRespond",
    severity: "critical",
    // Some parts report what the state holds.
    expr: "svc_node_part_up == 0 unless on (job, instance) svc_state_up == 0",
    for: "2m",
    summary: "The thread {{ $labels.part }} does not respond.",
    action:
      "See its last fault on the status page or in the log. A restart loses nothing that was acknowledged.",
    runbook: "watch.md#health",
  },
  {
    name: "NotReady",
    severity: "warning",
    expr: "svc_node_ready == 0",
    for: "15m",
    summary: "The node has not been ready for 15 minutes.",
    action: "`/ready` says why. A fill takes hours: silence the alert until its end.",
    runbook: "watch.md#health",
  },
  {
    name: "UpstreamLost",
    severity: "critical",
    expr: "svc_upstream_up == 0",
    for: "2m",
    summary: "The followed node is not connected, or is not a Farcaster node.",
    action: "`/status` has the last fault. Check the followed node, `upstream.url` and the network between.",
    runbook: "watch.md#health",
  },
  {
    name: "BehindUpstream",
    severity: "critical",
    expr: "max without (shard) (svc_upstream_lag_seconds) > 120",
    for: "5m",
    summary: "The index is {{ $value | humanizeDuration }} behind the network.",
    action:
      "If the applied block rises, the node is too slow: look at CPU and disk. If not, the followed node is behind or away.",
    runbook: "watch.md#health",
  },
  {
    name: "NetworkFork",
    severity: "critical",
    expr: "svc_trust_forks > 0",
    summary: "Validators signed two blocks for one height: the shard has stopped.",
    action:
      "Both certificates are in `forks/` of the data directory. Ask the operators of the network which block counts, then move the files away.",
    runbook: "../follow-the-network.md#when-something-does-not-match",
  },
  {
    name: "EventDisputed",
    severity: "warning",
    expr: "svc_trust_disputed_events > 0",
    summary: "The followed nodes say different things of who owns an fid, or of its keys.",
    action:
      "`/status` has the fids and the nodes. Compare the events with a block explorer of Optimism, and remove the node that lies from `upstream.urls`.",
    runbook: "../follow-the-network.md#when-something-does-not-match",
  },
  {
    name: "UpstreamRefused",
    severity: "warning",
    expr: 'svc_upstream_state{state="refused"} == 1',
    summary: "The followed node at position {{ $labels.position }} sent a block that is not the network's.",
    action: "`/status` has the block and the rule. Remove the node from `upstream.urls`.",
    runbook: "../follow-the-network.md#when-something-does-not-match",
  },
  {
    name: "NetworkStalled",
    severity: "warning",
    expr: 'max without (shard) (svc_upstream_lag_seconds) > 60 and on (job, instance) sum by (job, instance) (svc_upstream_state{state="ok"}) > 0',
    for: "1m",
    summary: "The followed nodes respond, and none has a block of the last minute.",
    action:
      "The network itself may have stopped. Nothing is to be done here: following resumes with its next block.",
    runbook: "watch.md#health",
  },
  {
    name: "StateDiffers",
    severity: "warning",
    expr: "svc_trust_shards_differing > 0",
    for: "5m",
    summary: "The index has another state than the one that the network's validators signed.",
    action:
      "The log and the section `trust` of `/status` name accounts that no upstream could repair; `verify --roots` names what the disk has lost.",
    runbook: "../follow-the-network.md#what-is-verified",
  },
  {
    name: "IndexBacklog",
    severity: "warning",
    expr: "min_over_time(svc_ingest_queue_records[10m]) > 1000",
    summary: "{{ $value }} records or more have waited for the writer of the index for 10 minutes.",
    action: "The disk or the CPU does not keep up with what is submitted.",
    runbook: "capacity.md#hardware",
  },
  {
    name: "CannotWrite",
    severity: "critical",
    expr: "svc_disk_write_fault == 1",
    for: "1m",
    summary: "The last write of the database {{ $labels.database }} failed, or it is damaged.",
    action:
      "`/ready` has the reason. Check the disk: full, read-only or failing. The node continues by itself once it can write; a damaged database needs a restore.",
    runbook: "watch.md#storage-faults",
  },
  {
    name: "DiskAlmostFull",
    severity: "critical",
    expr: "svc_disk_free_bytes < 2e9",
    for: "5m",
    summary: "Less than 2 GB are free on the disk of the data directory.",
    action: "Make room or enlarge the disk. Nothing is written without space.",
    runbook: "watch.md#storage-faults",
  },
  {
    name: "DiskFillsUp",
    severity: "warning",
    expr: "predict_linear(svc_disk_free_bytes[6h], 2 * 86400) < 0",
    for: "1h",
    summary: "At the speed of the last six hours the disk is full within two days.",
    action: "Enlarge the disk, or follow fewer fids.",
    runbook: "capacity.md#hardware",
  },
  {
    name: "IndexAlmostFull",
    severity: "warning",
    expr: "svc_index_max_bytes > 0 and svc_index_bytes > 0.9 * svc_index_max_bytes",
    for: "5m",
    summary: "The index has reached 90 % of `index.max_bytes`.",
    action: "Raise the bound, keep events for a shorter time, or follow fewer fids and compact the index.",
    runbook: "capacity.md#size-of-the-index",
  },
  {
    name: "IndexFull",
    severity: "critical",
    expr: "svc_index_full == 1",
    for: "1m",
    summary: "The index is at `index.max_bytes`: nothing more is merged.",
    action: "Raise the bound and restart, or stop the node and compact the index.",
    runbook: "capacity.md#size-of-the-index",
  },
  {
    name: "ServerErrors",
    severity: "critical",
    expr:
      `sum without (method, route, status) (rate(svc_http_requests_total{status=~"5..",status!="501"}[5m])) ` +
      "/ sum without (method, route, status) (rate(svc_http_requests_total[5m])) > 0.01",
    for: "5m",
    summary: "{{ $value | humanizePercentage }} of the responses are server errors.",
    action:
      "The log has the request id and the reason of each. 501 does not count: the route does not exist here.",
    runbook: "watch.md#health",
  },
  {
    name: "Slow",
    severity: "warning",
    expr: "histogram_quantile(0.99, sum without (route) (rate(svc_http_request_duration_seconds_bucket[5m]))) > 1",
    for: "10m",
    summary: "One request of a hundred takes {{ $value | humanizeDuration }} or longer.",
    action: "See the busiest routes on the dashboard, then CPU, disk and `http.workers`.",
    runbook: "capacity.md#hardware",
  },
  {
    name: "ConnectionsRefused",
    severity: "critical",
    expr: rose("svc_http_accept_pauses_total", "15m"),
    summary: "The node has stopped accepting connections for lack of file descriptors.",
    action: "Raise LimitNOFILE, or find the client that opens the connections.",
    runbook: "capacity.md#hardware",
  },
  {
    name: "FileDescriptors",
    severity: "warning",
    expr: "svc_process_open_fds / svc_process_max_fds > 0.8",
    for: "5m",
    summary: "{{ $value | humanizePercentage }} of the file descriptors are open.",
    action: "Raise LimitNOFILE before connections are refused.",
    runbook: "capacity.md#hardware",
  },
  {
    name: "StateCannotBeWritten",
    severity: "critical",
    expr: `svc_state_stalled_seconds > 5 or ${rose("svc_state_expired_writes_total", "5m")}`,
    summary: "Writes of the state wait for too long, or were given up with 503.",
    action: "Another process holds the lock of state.db, or the disk is slow.",
    runbook: "watch.md#storage-faults",
  },
  {
    name: "PostgresAway",
    severity: "critical",
    expr: "svc_state_up == 0",
    for: "1m",
    summary: "PostgreSQL does not respond to this node.",
    action:
      "Reads continue, what needs the state is 503. Check PostgreSQL and the network; the node reconnects by itself.",
    runbook: "../many-nodes.md#when-something-fails",
  },
  {
    name: "NodeFenced",
    severity: "critical",
    expr: "svc_node_fenced == 1",
    for: "1m",
    summary: "The node starts no calls to webhooks and clients: its lease has ended.",
    action: "It has not reached PostgreSQL for seconds. Other nodes have taken over its work.",
    runbook: "../many-nodes.md#when-something-fails",
  },
  {
    name: "StateWentBack",
    severity: "critical",
    expr: rose("svc_state_rollbacks_total", "1h"),
    summary: "The state may have gone back to an earlier time.",
    action:
      "PostgreSQL was restored, or failed over to a standby that lagged. Requests that were signed before are refused.",
    runbook: "backup.md#with-the-state-in-postgresql",
  },
  {
    name: "ClocksDiffer",
    severity: "warning",
    expr: "abs(svc_state_clock_offset_seconds) > 1",
    for: "5m",
    summary: "The clocks of this machine and of PostgreSQL differ by {{ $value | humanizeDuration }}.",
    action: "Run NTP on both.",
    runbook: "watch.md#clocks",
  },
  {
    name: "WritesWait",
    severity: "critical",
    expr: "svc_writes_queued > 0 and time() - svc_writes_oldest_queued_timestamp_seconds > 600",
    summary: "{{ $value }} accepted writes wait for the network, the oldest for more than 10 minutes.",
    action: "The followed node does not take messages: see its log and the last error of the write.",
    runbook: "../writing.md#what-a-response-promises",
  },
  {
    name: "WritesRefusedLater",
    severity: "warning",
    expr: rose(`svc_writes_ended_total{state="refused"}`, "1h"),
    summary: "The network has refused writes after a 202.",
    action:
      "Their owners see the reason in the state of the write. A signer may have been removed meanwhile.",
    runbook: "../writing.md#what-a-response-promises",
  },
  {
    name: "WebhookEventsWait",
    severity: "critical",
    expr:
      "svc_webhook_backpressure == 1 or svc_webhook_oldest_due_seconds > 300 " +
      "or time() - (svc_event_outbox_oldest_timestamp_seconds > 0) > 300",
    for: "5m",
    summary: "Events are not published or delivered in time.",
    action:
      "Slow receivers hold the slots, or the state is slow: see the delivery attempts and `svc_webhook_slow`.",
    runbook: "../webhooks.md#what-your-receiver-needs-to-know",
  },
  {
    name: "DeliveriesDropped",
    severity: "warning",
    expr: rose("svc_webhook_dropped_total", "15m"),
    summary: "Deliveries were dropped: they waited for too long, or the queue of a webhook was full.",
    action: "One receiver is too slow for its events; its owner sees it in the webhook's statistics.",
    runbook: "../webhooks.md#what-your-receiver-needs-to-know",
  },
  {
    name: "EventsSkipped",
    severity: "critical",
    expr: rose("svc_webhook_skipped_events_total", "1h"),
    summary: "Events were skipped because of a fault of the node. No webhook gets them.",
    action: "The log has the fault. Please report it.",
    runbook: "watch.md#health",
  },
  {
    name: "CertificateErrors",
    severity: "warning",
    expr: `${rose(`svc_webhook_attempts_total{response="tls"}`, "15m")} or ${rose(`svc_send_failed_calls_total{class="tls"}`, "15m")}`,
    summary: "Calls to webhooks or clients fail because a certificate is not valid.",
    action: "If all fail, the clock or the certificates of this machine are old. If some do, theirs are.",
    runbook: "settings.md#reverse-proxy-and-tls",
  },
  {
    name: "ClientHostDown",
    severity: "warning",
    expr: "svc_send_hosts_down > 0",
    for: "15m",
    summary: "{{ $value }} client hosts do not take notifications.",
    action: "The log names the host. If all are down, outgoing connections of this machine are blocked.",
    runbook: "../apps-and-push.md#send-a-push",
  },
  {
    name: "SendQueueOld",
    severity: "critical",
    expr: "svc_send_queue_age_seconds > 600",
    summary: "A campaign has waited for {{ $value | humanizeDuration }} to begin.",
    action: "More campaigns than the nodes can run: see the tokens a second, and hosts that are slow.",
    runbook: "../apps-and-push.md#send-a-push",
  },
  {
    name: "BackupMissing",
    severity: "critical",
    expr: "time() - svc_backup_last_timestamp_seconds > 2 * 86400",
    for: "1h",
    summary: "Backups are scheduled, and the newest is older than two days or there is none.",
    action: "See `backup` in `/status` and the log for why the last one failed.",
    runbook: "backup.md#backup-and-restore",
  },
  {
    name: "BackupFails",
    severity: "warning",
    expr: rose("svc_backup_failures_total", "2h"),
    summary: "A scheduled backup failed.",
    action: "The log has the reason, often space or a permission. It is tried again after ten minutes.",
    runbook: "backup.md#backup-and-restore",
  },
  {
    name: "MaintenanceFails",
    severity: "warning",
    expr: rose("svc_maintenance_faults_total", "30m"),
    summary: "Expired rows of the state could not be deleted.",
    action: "The log has the reason. The state grows until it succeeds.",
    runbook: "watch.md#storage-faults",
  },
];
