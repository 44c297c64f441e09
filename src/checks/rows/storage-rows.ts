import { type Check, promRose } from "../check.ts";

const DAY_SECS = 86_400;
const BACKLOG = 1000;
/** The check recovers once there is a fifth more room. */
const ROOM = 1.2;

/** Checks of disk, databases and backups. */
export const storageRows: readonly Check[] = [
  {
    id: "index_backlog",
    name: "IndexBacklog",
    title: "Index backlog",
    severity: "warning",
    scope: "node",
    isPublic: false,
    value: (figures) => figures.minOver("ingest_queue_records", 600),
    opens: { above: BACKLOG },
    openForSecs: 0,
    resolves: { below: BACKLOG },
    resolveForSecs: 60,
    sentence: "{{ $value }} or more records have waited 10 minutes to be written to the index.",
    resolution: "Resolves once fewer than {{ $value }} records have waited for {{ $labels.for }}.",
    remedy: "The disk or the CPU does not keep up with what is submitted.",
    runbook: "capacity.md#hardware",
    promql: () => `min_over_time(svc_ingest_queue_records[10m]) > ${BACKLOG}`,
  },
  {
    id: "cannot_write",
    name: "CannotWrite",
    title: "A database cannot be written",
    severity: "critical",
    scope: "node",
    isPublic: true,
    value(figures) {
      const bad = figures.samples("disk_write_fault")?.filter(([, isBad]) => isBad === 1);
      return (
        bad && {
          value: bad.length,
          labels: { database: bad.map(([{ database }]) => String(database)).join(", ") },
        }
      );
    },
    openForSecs: 60,
    resolveForSecs: 60,
    sentence: "The last write to the database {{ $labels.database }} failed, or it is damaged.",
    remedy:
      "`/ready` has the reason. Check the disk: full, read-only or failing. The node continues by itself once it can write; a damaged database needs a restore.",
    runbook: "watch.md#storage-faults",
    promql: () => "svc_disk_write_fault == 1",
  },
  {
    id: "disk_almost_full",
    name: "DiskAlmostFull",
    title: "Disk almost full",
    severity: "critical",
    scope: "node",
    isPublic: false,
    value: (figures) => figures.max("disk_free_bytes"),
    opens: ({ disk_free_bytes }) => ({ below: disk_free_bytes }),
    openForSecs: 300,
    resolves: ({ disk_free_bytes }) => ({ above: disk_free_bytes * ROOM }),
    resolveForSecs: 60,
    sentence: "The disk of the data directory is almost full.",
    resolution:
      "Resolves once a fifth more than `checks.disk_free_bytes` has been free for {{ $labels.for }}.",
    remedy: "Free some space or enlarge the disk. Without space, nothing is written.",
    runbook: "watch.md#storage-faults",
    promql: ({ disk_free_bytes }) => `svc_disk_free_bytes < ${disk_free_bytes}`,
  },
  {
    id: "disk_fills_up",
    name: "DiskFillsUp",
    title: "Disk full within two days",
    severity: "warning",
    scope: "node",
    isPublic: false,
    value: (figures) => figures.predict("disk_free_bytes", 6 * 3600, 2 * DAY_SECS),
    opens: { below: 0 },
    openForSecs: 3600,
    resolves: { above: 0 },
    resolveForSecs: 600,
    sentence: "At the rate of the last six hours, the disk will be full within two days.",
    resolution: "Resolves once the disk would last for more than two days, for {{ $labels.for }}.",
    remedy: "Enlarge the disk, or follow fewer fids.",
    runbook: "capacity.md#hardware",
    promql: () => `predict_linear(svc_disk_free_bytes[6h], 2 * ${DAY_SECS}) < 0`,
  },
  {
    id: "index_almost_full",
    name: "IndexAlmostFull",
    title: "Index almost full",
    severity: "warning",
    scope: "node",
    isPublic: false,
    value(figures) {
      const max = figures.max("index_max_bytes");
      const bytes = figures.max("index_bytes");
      if (max === undefined || bytes === undefined) return undefined;
      return max === 0 ? 0 : bytes / max;
    },
    opens: ({ index_percent }) => ({ above: index_percent / 100 }),
    openForSecs: 300,
    resolves: ({ index_percent }) => ({ below: (index_percent - 5) / 100 }),
    resolveForSecs: 60,
    sentence: "The index is close to `index.max_bytes`.",
    resolution:
      "Resolves once less than {{ $value | humanizePercentage }} of `index.max_bytes` have been in use for {{ $labels.for }}.",
    remedy: "Raise the limit, keep events for a shorter time, or follow fewer fids and compact the index.",
    runbook: "capacity.md#size-of-the-index",
    promql: ({ index_percent }) =>
      `svc_index_max_bytes > 0 and svc_index_bytes > ${index_percent / 100} * svc_index_max_bytes`,
  },
  {
    id: "index_full",
    name: "IndexFull",
    title: "Index full",
    severity: "critical",
    scope: "node",
    isPublic: true,
    value: (figures) => figures.max("index_full"),
    openForSecs: 60,
    resolveForSecs: 60,
    sentence: "The index is at `index.max_bytes`: nothing more is merged.",
    remedy: "Raise the limit and restart, or stop the node and compact the index.",
    runbook: "capacity.md#size-of-the-index",
    promql: () => "svc_index_full == 1",
  },
  {
    id: "state_not_written",
    name: "StateCannotBeWritten",
    title: "State cannot be written",
    severity: "critical",
    scope: "node",
    isPublic: true,
    value(figures) {
      const stalledSecs = figures.max("state_stalled_seconds");
      const expired = figures.increase("state_expired_writes_total", 300);
      if (stalledSecs === undefined && expired === undefined) return undefined;
      return Math.max((stalledSecs ?? 0) > 5 ? 1 : 0, expired ?? 0);
    },
    openForSecs: 0,
    resolveForSecs: 60,
    quietSecs: 300,
    sentence: "Writes to the state wait too long or failed with 503.",
    remedy: "Another process holds the lock of state.db, or the disk is slow.",
    runbook: "watch.md#storage-faults",
    promql: () => `svc_state_stalled_seconds > 5 or ${promRose("svc_state_expired_writes_total", 300)}`,
  },
  {
    id: "postgres_away",
    name: "PostgresAway",
    title: "PostgreSQL unreachable",
    severity: "critical",
    scope: "node",
    isPublic: true,
    value(figures) {
      const isUp = figures.max("state_up");
      return isUp === undefined ? undefined : 1 - isUp;
    },
    openForSecs: 60,
    resolveForSecs: 60,
    sentence: "PostgreSQL does not respond to this node.",
    remedy:
      "Reads continue; requests that need the state get 503. Check PostgreSQL and the network; the node reconnects by itself.",
    runbook: "../many-nodes.md#when-something-fails",
    promql: () => "svc_state_up == 0",
  },
  {
    id: "node_fenced",
    name: "NodeFenced",
    title: "Node fenced",
    severity: "critical",
    scope: "node",
    isPublic: false,
    value: (figures) => figures.max("node_fenced"),
    openForSecs: 60,
    resolveForSecs: 60,
    sentence: "The node starts no calls to webhooks and clients: its lease has ended.",
    remedy: "It has not reached PostgreSQL for several seconds. Other nodes have taken over its work.",
    runbook: "../many-nodes.md#when-something-fails",
    promql: () => "svc_node_fenced == 1",
  },
  {
    id: "state_went_back",
    name: "StateWentBack",
    title: "State rolled back",
    severity: "critical",
    scope: "node",
    isPublic: false,
    value: (figures) => figures.increase("state_rollbacks_total", 3600),
    openForSecs: 0,
    resolveForSecs: 60,
    quietSecs: 3600,
    sentence: "The state may have gone back to an earlier time.",
    remedy:
      "PostgreSQL was restored, or failed over to a standby that lagged. Requests that were signed before are refused.",
    runbook: "backup.md#with-the-state-in-postgresql",
    promql: () => promRose("svc_state_rollbacks_total", 3600),
  },
  {
    id: "backup_missing",
    name: "BackupMissing",
    title: "Backup missing",
    severity: "critical",
    scope: "node",
    isPublic: false,
    value(figures) {
      const lastAt = figures.max("backup_last_timestamp_seconds");
      return lastAt === undefined ? undefined : figures.nowSecs - lastAt;
    },
    opens: { above: 2 * DAY_SECS },
    openForSecs: 3600,
    resolves: { below: 2 * DAY_SECS },
    resolveForSecs: 0,
    sentence: "Backups are scheduled, and the newest is older than two days or there is none.",
    resolution: "Resolves with the next backup.",
    remedy: "See `backup` in `/status` and the log for why the last one failed.",
    runbook: "backup.md#backup-and-restore",
    promql: () => `time() - svc_backup_last_timestamp_seconds > 2 * ${DAY_SECS}`,
  },
  {
    id: "backup_fails",
    name: "BackupFails",
    title: "Backup failed",
    severity: "warning",
    scope: "node",
    isPublic: false,
    value: (figures) => figures.increase("backup_failures_total", 7200),
    openForSecs: 0,
    resolveForSecs: 60,
    quietSecs: 7200,
    sentence: "A scheduled backup failed.",
    remedy: "The log has the reason, often space or a permission. The node retries after ten minutes.",
    runbook: "backup.md#backup-and-restore",
    promql: () => promRose("svc_backup_failures_total", 7200),
  },
  {
    id: "maintenance_fails",
    name: "MaintenanceFails",
    title: "Maintenance fails",
    severity: "warning",
    scope: "node",
    isPublic: false,
    value: (figures) => figures.increase("maintenance_faults_total", 1800),
    openForSecs: 0,
    resolveForSecs: 60,
    quietSecs: 1800,
    sentence: "Expired rows of the state could not be deleted.",
    remedy: "The log has the reason. The state grows until it succeeds.",
    runbook: "watch.md#storage-faults",
    promql: () => promRose("svc_maintenance_faults_total", 1800),
  },
];
