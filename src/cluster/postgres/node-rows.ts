import { pgStatement } from "../../db/postgres/statement.ts";
import { flag, key, nullable, small, table, text, uuid, whole, withDefault } from "../../db/state/table.ts";

/** A node and its lease. A node whose lease has ended is not alive. */
export const nodes = table(
  "nodes",
  {
    node_id: key(text()),
    /** New at each start of the process. */
    boot: uuid(),
    /** 0 to 63, unique among the live nodes. Rows of totals are per slot. */
    slot: small(),
    started_at: whole(),
    ends_at_ms: whole(),
    /** Number of renewals of the lease. */
    beat: whole(),
    version: text(),
    /** The creation time of the last migration that the node knows, unix ms. */
    schema_version: whole(),
    /** Whether it has no upstream, so that no other node may join. */
    solo: flag(),
    /** JSON of the settings that nodes compare. */
    settings: text(),
    /** Since when the node has published the events of live blocks; null while it fills its index. */
    live_since: nullable(whole()),
    /** JSON of the applied block of each shard. */
    positions: nullable(text()),
    /** The epoch of keys that the node has taken over: it uses nothing that it knew about keys before. Null on an earlier release. */
    key_epoch: nullable(whole()),
  },
  {
    isCopied: false,
    only: "postgres",
  },
);

/** The values that all nodes agree on: one row, `id` 1. */
export const cluster = table(
  "cluster",
  {
    id: key(small()),
    /** JSON of the settings that must be the same on all nodes. */
    settings: text(),
    /** The oldest schema that may read, by the creation time of its migration, unix ms. */
    min_reader: withDefault(whole(), 0),
    /** Identifies the server of the last beat; a different one may be older. */
    system_identifier: nullable(text()),
    timeline: nullable(text()),
    /** Increases with each change that takes something away from an API key. */
    key_epoch: withDefault(whole(), 0),
    /** Where the state was moved to; starting on it is then refused. */
    moved_to: nullable(text()),
  },
  {
    isCopied: false,
    only: "postgres",
  },
);

/** Work that only one node does at a time. A lease only avoids duplicate work; correctness does not depend on it. */
export const leases = table(
  "leases",
  {
    name: key(text()),
    /** The boot of the node that holds it. */
    holder: uuid(),
    ends_at_ms: whole(),
  },
  {
    isCopied: false,
    only: "postgres",
  },
);

/** The time of PostgreSQL in unix ms at the moment of the call, not at the start of the transaction. */
const NOW_MS = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
/** Changes with the server, and with the promotion of a standby. */
const SERVER = `(SELECT system_identifier::text FROM pg_control_system())`;
const TIMELINE = "substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)";

/** A node in a list. */
export interface NodeRow {
  readonly nodeId: string;
  readonly boot: string;
  readonly slot: number;
  readonly startedAt: number;
  readonly endsAtMs: number;
  readonly beat: number;
  readonly version: string;
  readonly schemaVersion: number;
  readonly solo: boolean;
  readonly settings: string;
  readonly liveSince: number | null;
  readonly positions: string | null;
  readonly isLive: boolean;
}

export const listNodes = pgStatement<NodeRow>(
  "nodes.list",
  `SELECT node_id AS "nodeId", boot::text AS boot, slot, started_at AS "startedAt", ends_at_ms AS "endsAtMs", beat, version,
     schema_version AS "schemaVersion", solo, settings, live_since AS "liveSince", positions, ends_at_ms > ${NOW_MS} AS "isLive"
   FROM nodes ORDER BY node_id`,
);

export const readTime = pgStatement<{ nowMs: number }>("nodes.time", `SELECT ${NOW_MS} AS "nowMs"`);

/** The values that all nodes agree on, and the responding server. */
export interface ClusterRow {
  readonly settings: string;
  readonly minReader: number;
  readonly systemIdentifier: string | null;
  readonly timeline: string | null;
  readonly movedTo: string | null;
}
export const readCluster = pgStatement<ClusterRow>(
  "cluster.read",
  `SELECT settings, min_reader AS "minReader", system_identifier AS "systemIdentifier", timeline, moved_to AS "movedTo"
   FROM cluster WHERE id = 1`,
);
export const readServer = pgStatement<{ systemIdentifier: string; timeline: string }>(
  "cluster.server",
  `SELECT ${SERVER} AS "systemIdentifier", ${TIMELINE} AS timeline`,
);
/** Reads the last beat of a boot, and the server. */
export const readMark = pgStatement<
  { beat: number | null; systemIdentifier: string; timeline: string },
  [nodeId: string, boot: string]
>(
  "nodes.mark",
  `SELECT (SELECT beat FROM nodes WHERE node_id = $1 AND boot = $2) AS beat, ${SERVER} AS "systemIdentifier",
     ${TIMELINE} AS timeline`,
);
export const createCluster = pgStatement<unknown, [settings: string]>(
  "cluster.create",
  "INSERT INTO cluster (id, settings) VALUES (1, $1) ON CONFLICT (id) DO NOTHING",
);
export const changeSettings = pgStatement<unknown, [settings: string]>(
  "cluster.change-settings",
  "UPDATE cluster SET settings = $1 WHERE id = 1",
);
export const recordServer = pgStatement<unknown, [systemIdentifier: string, timeline: string]>(
  "cluster.record-server",
  "UPDATE cluster SET system_identifier = $1, timeline = $2 WHERE id = 1",
);

export const joinNode = pgStatement<
  { beat: number },
  [
    nodeId: string,
    boot: string,
    slot: number,
    leaseMs: number,
    version: string,
    schemaVersion: number,
    solo: boolean,
    settings: string,
  ]
>(
  "nodes.join",
  `INSERT INTO nodes AS n (node_id, boot, slot, started_at, ends_at_ms, beat, version, schema_version, solo, settings, key_epoch)
   VALUES ($1, $2, $3, ${NOW_MS} / 1000, ${NOW_MS} + $4::bigint, 1, $5, $6, $7, $8, (SELECT key_epoch FROM cluster WHERE id = 1))
   ON CONFLICT (node_id) DO UPDATE SET boot = excluded.boot, slot = excluded.slot, ends_at_ms = excluded.ends_at_ms,
     started_at = CASE WHEN n.boot = excluded.boot THEN n.started_at ELSE excluded.started_at END,
     live_since = CASE WHEN n.boot = excluded.boot THEN n.live_since END,
     beat = n.beat + 1, version = excluded.version, schema_version = excluded.schema_version, solo = excluded.solo,
     settings = excluded.settings, key_epoch = excluded.key_epoch
   RETURNING beat`,
);

/** The result of a renewal of the lease. */
export interface BeatRow {
  /** Null if the lease has ended or belongs to another boot. */
  readonly beat: number | null;
  readonly nodes: number;
  /** JSON of the pauses. */
  readonly pauses: string;
  readonly minReader: number;
  /** The epoch of the cluster, and the one that this node has taken over. */
  readonly keyEpoch: number;
  readonly ownKeyEpoch: number | null;
  readonly movedTo: string | null;
  readonly systemIdentifier: string;
  readonly timeline: string;
  /** The live node that holds the maintenance lease. */
  readonly maintenance: string | null;
  readonly hasSynchronousStandby: boolean;
}
export const beatNode = pgStatement<
  BeatRow,
  [nodeId: string, boot: string, leaseMs: number, liveSince: number | null, positions: string | null]
>(
  "nodes.beat",
  `WITH mine AS (
     UPDATE nodes SET ends_at_ms = ${NOW_MS} + $3::bigint, beat = beat + 1, live_since = $4, positions = $5
     WHERE node_id = $1 AND boot = $2 AND ends_at_ms > ${NOW_MS} RETURNING beat, key_epoch
   ), kept AS (
     UPDATE leases SET ends_at_ms = ${NOW_MS} + $3::bigint WHERE holder = $2 AND ends_at_ms > ${NOW_MS}
   )
   SELECT (SELECT beat FROM mine) AS beat, (SELECT key_epoch FROM mine) AS "ownKeyEpoch",
     (SELECT key_epoch FROM cluster WHERE id = 1) AS "keyEpoch",
     (SELECT count(*) FROM nodes WHERE ends_at_ms > ${NOW_MS}) AS nodes,
     (SELECT coalesce(json_agg(json_build_object(
        'name', name, 'reason', reason, 'pausedBy', paused_by, 'pausedAt', paused_at) ORDER BY name), '[]')::text
      FROM switches) AS pauses,
     (SELECT min_reader FROM cluster WHERE id = 1) AS "minReader",
     (SELECT moved_to FROM cluster WHERE id = 1) AS "movedTo",
     ${SERVER} AS "systemIdentifier", ${TIMELINE} AS timeline,
     (SELECT n.node_id FROM leases l JOIN nodes n ON n.boot = l.holder
      WHERE l.name = 'maintenance' AND l.ends_at_ms > ${NOW_MS}) AS maintenance,
     current_setting('synchronous_standby_names') <> '' AS "hasSynchronousStandby"`,
);

/** Confirms that no thread of the node uses what it knew about keys before this epoch. */
export const takeOverKeyEpoch = pgStatement<unknown, [epoch: number, nodeId: string, boot: string]>(
  "nodes.take-over-key-epoch",
  "UPDATE nodes SET key_epoch = $1 WHERE node_id = $2 AND boot = $3",
);

/** Ends the lease of a boot at once. */
export const endLease = pgStatement<unknown, [nodeId: string, boot: string]>(
  "nodes.end",
  `UPDATE nodes SET ends_at_ms = ${NOW_MS} WHERE node_id = $1 AND boot = $2 AND ends_at_ms > ${NOW_MS}`,
);

/**
 * Refuses every request that was signed before now, and ends the sessions, because some may already have been ended. `windowSecs` is how
 * long a request is valid.
 */
export const refuseSignedUntilNow = pgStatement<unknown, [windowSecs: number]>(
  "cluster.refuse-signed",
  `WITH ended AS (DELETE FROM sessions WHERE expires_at > 0),
     forgotten AS (DELETE FROM sign_in_nonce_key WHERE id = 1), retired AS (DELETE FROM signin_keys WHERE current_at > 0),
     over AS (DELETE FROM one_time WHERE expires_at > 0)
   UPDATE state_clock SET nonce_floor = greatest(nonce_floor, ${NOW_MS} / 1000 + $1::bigint) WHERE id = 1`,
);

/** Takes or renews a work lease. Returns no row if another boot has it. */
export const takeWorkLease = pgStatement<{ name: string }, [name: string, boot: string, leaseMs: number]>(
  "leases.take",
  `INSERT INTO leases AS l (name, holder, ends_at_ms) VALUES ($1, $2, ${NOW_MS} + $3::bigint)
   ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, ends_at_ms = excluded.ends_at_ms
   WHERE l.holder = excluded.holder OR l.ends_at_ms <= ${NOW_MS} RETURNING name`,
);
export const endWorkLeases = pgStatement<unknown, [boot: string]>(
  "leases.end",
  `UPDATE leases SET ends_at_ms = ${NOW_MS} WHERE holder = $1`,
);
/** Deletes a node whose lease has ended. */
export const removeEnded = pgStatement<unknown, [nodeId: string]>(
  "nodes.remove",
  `DELETE FROM nodes WHERE node_id = $1 AND ends_at_ms <= ${NOW_MS}`,
);
