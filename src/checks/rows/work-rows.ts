import { type Check, promRose } from "../check.ts";

/** Maximum age, in seconds, of the oldest waiting work once a queue has recovered. */
const RECOVERED_SECS = 30;
const RECEIVERS = "../webhooks.md#what-your-receiver-needs-to-know";
const SENDING = "../apps-and-push.md#send-a-push";

/** Checks of writes, webhooks and sends, which wait for other systems. Figures from the state are the same on all nodes. */
export const workRows: readonly Check[] = [
  {
    id: "writes_wait",
    name: "WritesWait",
    title: "Writes wait",
    severity: "critical",
    scope: "shared",
    isPublic: true,
    value(figures) {
      const queued = figures.sum("writes_queued");
      if (queued === undefined) return undefined;
      const oldestAt = figures.max("writes_oldest_queued_timestamp_seconds");
      return queued > 0 && oldestAt !== undefined ? figures.nowSecs - oldestAt : 0;
    },
    opens: ({ queue_age_secs }) => ({ above: 2 * queue_age_secs }),
    openForSecs: 0,
    resolves: { below: RECOVERED_SECS },
    resolveForSecs: 300,
    sentence: "Accepted writes have waited too long for the network.",
    resolution:
      "Resolves once no write has waited for longer than {{ $value | humanizeDuration }}, for {{ $labels.for }}.",
    remedy: "The followed node does not take messages: see its log and the last error of the write.",
    runbook: "../writing.md#what-a-response-promises",
    promql: ({ queue_age_secs }) =>
      `svc_writes_queued > 0 and time() - svc_writes_oldest_queued_timestamp_seconds > ${2 * queue_age_secs}`,
  },
  {
    id: "writes_refused",
    name: "WritesRefusedLater",
    title: "Writes refused",
    severity: "warning",
    scope: "node",
    isPublic: false,
    value: (figures) => figures.increase("writes_ended_total", 3600, { state: "refused" }),
    openForSecs: 0,
    resolveForSecs: 60,
    quietSecs: 3600,
    sentence: "The network has refused writes after a 202.",
    remedy: "Their owners see the reason in the state of the write. A signer may have been removed since.",
    runbook: "../writing.md#what-a-response-promises",
    promql: () => promRose(`svc_writes_ended_total{state="refused"}`, 3600),
  },
  {
    id: "webhook_events_wait",
    name: "WebhookEventsWait",
    title: "Webhook events wait",
    severity: "critical",
    scope: "shared",
    isPublic: true,
    value(figures) {
      const isPressed = figures.max("webhook_backpressure");
      const dueSecs = figures.max("webhook_oldest_due_seconds");
      const unpublishedAt = figures.max("event_outbox_oldest_timestamp_seconds");
      if (isPressed === undefined && dueSecs === undefined && unpublishedAt === undefined) return undefined;
      return Math.max(
        isPressed === 1 ? Number.MAX_SAFE_INTEGER : 0,
        dueSecs ?? 0,
        unpublishedAt ? figures.nowSecs - unpublishedAt : 0,
      );
    },
    opens: ({ queue_age_secs }) => ({ above: queue_age_secs }),
    openForSecs: 300,
    resolves: { below: RECOVERED_SECS },
    resolveForSecs: 300,
    sentence: "Events are not published or delivered in time.",
    resolution:
      "Resolves once no event has waited for longer than {{ $value | humanizeDuration }}, for {{ $labels.for }}.",
    remedy:
      "Slow receivers hold the slots, or the state is slow: see the delivery attempts and `svc_webhook_slow`.",
    runbook: RECEIVERS,
    promql: ({ queue_age_secs }) =>
      `svc_webhook_backpressure == 1 or svc_webhook_oldest_due_seconds > ${queue_age_secs} ` +
      `or time() - (svc_event_outbox_oldest_timestamp_seconds > 0) > ${queue_age_secs}`,
  },
  {
    id: "deliveries_dropped",
    name: "DeliveriesDropped",
    title: "Deliveries dropped",
    severity: "warning",
    scope: "node",
    isPublic: false,
    value: (figures) => figures.increase("webhook_dropped_total", 900),
    openForSecs: 0,
    resolveForSecs: 60,
    quietSecs: 900,
    sentence: "Deliveries were dropped: they waited too long, or the queue of a webhook was full.",
    remedy: "One receiver is too slow for its events; its owner sees it in the webhook's statistics.",
    runbook: RECEIVERS,
    promql: () => promRose("svc_webhook_dropped_total", 900),
  },
  {
    id: "events_skipped",
    name: "EventsSkipped",
    title: "Events skipped",
    severity: "critical",
    scope: "node",
    isPublic: true,
    value: (figures) => figures.increase("webhook_skipped_events_total", 3600),
    openForSecs: 0,
    resolveForSecs: 60,
    quietSecs: 3600,
    sentence: "Events were skipped because of a fault in the node. No webhook gets them.",
    remedy: "The log has the fault. Please report it.",
    runbook: "watch.md#health",
    promql: () => promRose("svc_webhook_skipped_events_total", 3600),
  },
  {
    id: "certificate_errors",
    name: "CertificateErrors",
    title: "Certificate errors",
    severity: "warning",
    scope: "node",
    isPublic: false,
    value(figures) {
      const webhooks = figures.increase("webhook_attempts_total", 900, { response: "tls" });
      const sends = figures.increase("send_failed_calls_total", 900, { class: "tls" });
      return webhooks === undefined && sends === undefined ? undefined : (webhooks ?? 0) + (sends ?? 0);
    },
    openForSecs: 0,
    resolveForSecs: 60,
    quietSecs: 900,
    sentence: "Calls to webhooks or clients fail because a certificate is not valid.",
    remedy: "If all fail, the clock or the certificates of this machine are old. If some do, theirs are.",
    runbook: "settings.md#reverse-proxy-and-tls",
    promql: () =>
      `${promRose(`svc_webhook_attempts_total{response="tls"}`, 900)} or ${promRose(`svc_send_failed_calls_total{class="tls"}`, 900)}`,
  },
  {
    id: "client_host_down",
    name: "ClientHostDown",
    title: "Client host down",
    severity: "warning",
    scope: "node",
    isPublic: false,
    value: (figures) => figures.max("send_hosts_down"),
    openForSecs: 900,
    resolveForSecs: 60,
    sentence: "{{ $value }} client hosts do not take notifications.",
    remedy: "The log names the host. If all are down, outgoing connections from this machine are blocked.",
    runbook: SENDING,
    promql: () => "svc_send_hosts_down > 0",
  },
  {
    id: "sends_wait",
    name: "SendQueueOld",
    title: "Sends wait",
    severity: "critical",
    scope: "shared",
    isPublic: true,
    value: (figures) => figures.max("send_queue_age_seconds"),
    opens: ({ queue_age_secs }) => ({ above: 2 * queue_age_secs }),
    openForSecs: 0,
    resolves: { below: RECOVERED_SECS },
    resolveForSecs: 300,
    sentence: "A campaign has waited for {{ $value | humanizeDuration }} to begin.",
    resolution:
      "Resolves once no campaign has waited for longer than {{ $value | humanizeDuration }}, for {{ $labels.for }}.",
    remedy: "There are more campaigns than the nodes can run: check the tokens per second and slow hosts.",
    runbook: SENDING,
    promql: ({ queue_age_secs }) => `svc_send_queue_age_seconds > ${2 * queue_age_secs}`,
  },
];
