/** A curve or number in a panel. `__name__` of every metric starts with the name of the service. */
export interface PanelQuery {
  readonly expr: string;
  /** Text of the legend; `{{label}}` is the value of a label. */
  readonly legend: string;
}

export type PanelUnit = "short" | "s" | "bytes" | "reqps" | "percentunit" | "ops";

export interface Panel {
  readonly title: string;
  /** What the panel shows, and what to do if it looks wrong. */
  readonly description: string;
  readonly unit: PanelUnit;
  /** Shows a colored number instead of curves: red from this value up, or below it. */
  readonly stat?: { readonly badFrom: number } | { readonly badBelow: number };
  readonly queries: readonly PanelQuery[];
}

export interface PanelRow {
  readonly title: string;
  readonly panels: readonly Panel[];
}

const rate = (metric: string, by = "") =>
  by === "" ? `sum(rate(${metric}[$__rate_interval]))` : `sum by (${by}) (rate(${metric}[$__rate_interval]))`;
const quantile = (q: number, metric: string) =>
  `histogram_quantile(${q}, sum by (le) (rate(${metric}_bucket[$__rate_interval])))`;

/** The dashboard from top to bottom, in the order in which an operator needs it. */
export const rows: readonly PanelRow[] = [
  {
    title: "Health",
    panels: [
      {
        title: "Lag behind the network",
        description:
          "Age of the newest applied block. Above 2 minutes: the followed node is behind or unreachable, or this one is too slow.",
        unit: "s",
        stat: { badFrom: 120 },
        queries: [{ expr: "max(svc_upstream_lag_seconds)", legend: "lag" }],
      },
      {
        title: "Responding threads",
        description: "Share of the threads that responded to the scrape. Below 1: the named part hangs.",
        unit: "percentunit",
        stat: { badBelow: 1 },
        queries: [{ expr: "avg(svc_node_part_up)", legend: "parts" }],
      },
      {
        title: "Free disk",
        description: "Free bytes of the data directory's file system. At 0, writes stop.",
        unit: "bytes",
        stat: { badBelow: 2e9 },
        queries: [{ expr: "min(svc_disk_free_bytes)", legend: "free" }],
      },
      {
        title: "Server errors",
        description: "Share of responses with a 5xx status except 501. The log has their request ids.",
        unit: "percentunit",
        stat: { badFrom: 0.01 },
        queries: [
          {
            expr: `(sum(rate(svc_http_requests_total{status=~"5..",status!="501"}[$__rate_interval])) or vector(0)) / ${rate("svc_http_requests_total")}`,
            legend: "5xx",
          },
        ],
      },
    ],
  },
  {
    title: "Requests",
    panels: [
      {
        title: "Requests per second",
        description: "By status.",
        unit: "reqps",
        queries: [{ expr: rate("svc_http_requests_total", "status"), legend: "{{status}}" }],
      },
      {
        title: "Request latency",
        description: "Median, p95 and p99 over all routes.",
        unit: "s",
        queries: [0.5, 0.95, 0.99].map((q) => ({
          expr: quantile(q, "svc_http_request_duration_seconds"),
          legend: `p${q * 100}`,
        })),
      },
      {
        title: "Busiest routes",
        description: "The ten routes with the most requests.",
        unit: "reqps",
        queries: [{ expr: `topk(10, ${rate("svc_http_requests_total", "route")})`, legend: "{{route}}" }],
      },
      {
        title: "Streams",
        description: "Open streams of events by transport, and subscribers of hub events.",
        unit: "short",
        queries: [
          { expr: "sum by (transport) (svc_stream_connections)", legend: "{{transport}}" },
          { expr: "sum(svc_hub_subscribers)", legend: "hub" },
        ],
      },
    ],
  },
  {
    title: "Index",
    panels: [
      {
        title: "Merged messages per second",
        description: "Records by outcome. A sudden rise of one refusal code points to a client or a chain.",
        unit: "ops",
        queries: [{ expr: rate("svc_ingest_records_total", "outcome"), legend: "{{outcome}}" }],
      },
      {
        title: "Waiting records",
        description: "Records waiting for the index writer. A queue that does not shrink means a slow disk.",
        unit: "short",
        queries: [{ expr: "sum(svc_ingest_queue_records)", legend: "queue" }],
      },
      {
        title: "Rows",
        description: "Rows of the index by kind.",
        unit: "short",
        queries: [{ expr: "sum by (kind) (svc_index_rows)", legend: "{{kind}}" }],
      },
      {
        title: "Size",
        description:
          "Size of the index, and its limit if set. At the limit nothing more is merged: raise it or compact the index.",
        unit: "bytes",
        queries: [
          { expr: "sum by (instance) (svc_index_bytes)", legend: "{{instance}}" },
          { expr: "max(svc_index_max_bytes > 0)", legend: "bound" },
        ],
      },
      {
        title: "Lag by shard",
        description: "Age of the newest applied block of each shard.",
        unit: "s",
        queries: [{ expr: "max by (shard) (svc_upstream_lag_seconds)", legend: "shard {{shard}}" }],
      },
    ],
  },
  {
    title: "Webhooks and pushes",
    panels: [
      {
        title: "Delivery attempts per second",
        description: "By response: a status or an error class. `tls` means an invalid certificate.",
        unit: "ops",
        queries: [{ expr: rate("svc_webhook_attempts_total", "response"), legend: "{{response}}" }],
      },
      {
        title: "Oldest due delivery",
        description: "How long the oldest due delivery has waited. Above 5 minutes: look for slow receivers.",
        unit: "s",
        queries: [
          { expr: "max(svc_webhook_oldest_due_seconds)", legend: "due" },
          { expr: "time() - min(svc_event_outbox_oldest_timestamp_seconds > 0)", legend: "not published" },
        ],
      },
      {
        title: "Pushed tokens per second",
        description: "Tokens of campaigns by outcome.",
        unit: "ops",
        queries: [{ expr: rate("svc_send_tokens_total", "outcome"), legend: "{{outcome}}" }],
      },
      {
        title: "Client hosts",
        description: "Calls in flight, waiting batches, and hosts that do not respond.",
        unit: "short",
        queries: [
          { expr: "sum(svc_send_calls_in_flight)", legend: "in flight" },
          { expr: "sum(svc_send_batches_waiting)", legend: "waiting" },
          { expr: "sum(svc_send_hosts_down)", legend: "hosts down" },
        ],
      },
    ],
  },
  {
    title: "Writes and state",
    panels: [
      {
        title: "API writes",
        description: "Messages by outcome. Queued ones wait for the network.",
        unit: "ops",
        queries: [{ expr: rate("svc_writes_messages_total", "outcome"), legend: "{{outcome}}" }],
      },
      {
        title: "Messages waiting for the network",
        description: "Accepted and stored, but not yet taken by the followed node.",
        unit: "short",
        queries: [{ expr: "sum(svc_writes_queued)", legend: "queued" }],
      },
      {
        title: "State writes",
        description: "Writes per second, and those abandoned after their deadline, which callers saw as 503.",
        unit: "ops",
        queries: [
          { expr: rate("svc_state_writes_total"), legend: "writes" },
          { expr: rate("svc_state_expired_writes_total"), legend: "given up" },
        ],
      },
      {
        title: "Age of the newest backup",
        description: "Age of the newest scheduled backup. There is none until backup.at is set.",
        unit: "s",
        queries: [{ expr: "time() - max(svc_backup_last_timestamp_seconds > 0)", legend: "age" }],
      },
    ],
  },
  {
    title: "Process",
    panels: [
      {
        title: "CPU",
        description: "Cores in use.",
        unit: "short",
        queries: [{ expr: "rate(svc_process_cpu_seconds_total[$__rate_interval])", legend: "{{instance}}" }],
      },
      {
        title: "Memory",
        description: "Resident memory of the whole process.",
        unit: "bytes",
        queries: [{ expr: "svc_process_resident_memory_bytes", legend: "{{instance}}" }],
      },
      {
        title: "File descriptors",
        description: "Share of the limit. At the cap the node accepts no more connections.",
        unit: "percentunit",
        queries: [{ expr: "svc_process_open_fds / svc_process_max_fds", legend: "{{instance}}" }],
      },
      {
        title: "Event loop delay",
        description: "p99 delay of the main thread's event loop.",
        unit: "s",
        queries: [{ expr: "svc_nodejs_eventloop_lag_p99_seconds", legend: "{{instance}}" }],
      },
    ],
  },
];
