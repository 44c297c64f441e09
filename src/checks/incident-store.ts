import { type AuditEntry, addAuditEntry } from "../audit/audit-store.ts";
import { sql } from "../db/state/sql.ts";
import type { StateDb, Sweep, Tx } from "../db/state/state-db.ts";
import {
  index,
  key,
  nullable,
  type RecordOf,
  type Row,
  recordCodec,
  table,
  text,
  whole,
  withDefault,
} from "../db/state/table.ts";
import type { Severity } from "./check.ts";

/** Incidents that the checks of the nodes have found. Times are in Unix seconds. */
export const incidents = table(
  "incidents",
  {
    incident_id: key(text()),
    check_id: text(),
    /** The subject: a node, or the record of an owner's incident; empty for the state that nodes share. */
    node_id: text(),
    severity: text<Severity>(),
    sentence: text(),
    opened_at: whole(),
    /** When the node last saw it open, in steps of an hour. */
    seen_at: whole(),
    resolved_at: nullable(whole()),
    /** How often it reopened within `FLAP_SECS`. */
    flaps: whole(),
    acked_at: nullable(whole()),
    acked_by: nullable(text()),
    note: nullable(text()),
    muted_until: nullable(whole()),
    /** When to send it to the channels of notices; null while there is nothing to send. */
    unsent_at: nullable(whole()),
    /** The state that was sent to them last, and when. */
    sent_state: nullable(text<"open" | "resolved">()),
    sent_at: nullable(whole()),
    /** The fid that owns the record it concerns; 0 for the node's own. */
    owner_fid: withDefault(whole(), 0),
  },
  {
    indexes: [
      index("incidents_by_owner", ["owner_fid", "opened_at"]),
      index("incidents_unsent", ["unsent_at"], { where: "unsent_at IS NOT NULL" }),
      index("incidents_open", ["check_id", "node_id"], { isUnique: true, where: "resolved_at IS NULL" }),
      index("incidents_of_check", ["check_id", "node_id", "resolved_at"]),
      index("incidents_by_end", ["resolved_at"]),
    ],
  },
);

export type Incident = RecordOf<typeof incidents>;

/** An incident that reopens within this time is the same one. */
export const FLAP_SECS = 1800;
/** How often, in seconds, a node confirms that an incident is still open. */
export const SEEN_EVERY_SECS = 3600;
/** An incident that no node has seen for this long has ended together with its node. */
const UNSEEN_SECS = 3 * SEEN_EVERY_SECS;
/** Interval, in seconds, at which an open incident that no one has acknowledged is sent again. */
export const REMIND_SECS = 4 * 3600;
const KEPT_SECS = 400 * 86_400;
const MAX_UNSEEN = 100;

/** An incident to open: of a node, or of all (empty); for an owner's record, with the record's id. */
export type Opening = Pick<Incident, "incidentId" | "checkId" | "nodeId" | "severity" | "sentence"> &
  Partial<Pick<Incident, "ownerFid">>;

/** Maximum number of owners' incidents open at the same time, across all owners. */
export const MAX_OPEN_OF_OWNERS = 2000;
/** Maximum number of incidents per owner. The oldest resolved ones make room for new ones. */
export const MAX_OF_OWNER = 200;

/** The incidents of all nodes of a state, and those of owners' records. */
export interface IncidentStore {
  /**
   * Opens an incident. One that is already open stays as it is, and one that was resolved recently is reopened.
   *
   * @returns the incident, with the number of times it was reopened; `isChanged` is false if it was already open.
   */
  open(
    opening: Opening,
    nowSecs: number,
  ): Promise<{ readonly incident: Incident; readonly isChanged: boolean }>;
  /** Resolves the open incident of a check. Returns whether there was one. */
  resolve(checkId: string, nodeId: string, nowSecs: number): Promise<boolean>;
  /** Returns the open incidents of a node and of the shared state. */
  openOf(nodeId: string): Promise<readonly Incident[]>;
  /** Confirms that the open incidents of a check are still open. */
  see(checkId: string, nodeId: string, nowSecs: number): Promise<void>;
  /** Returns the open incidents of the nodes, and those opened after a time, newest first. */
  list(sinceSecs: number, limit: number): Promise<readonly Incident[]>;
  /** Returns the open incidents of all owners, at most `MAX_OPEN_OF_OWNERS`, in any order. */
  openOfOwners(): Promise<readonly Incident[]>;
  /** Returns the incidents of one owner that were opened after a time, newest first. */
  listOf(ownerFid: number, sinceSecs: number): Promise<readonly Incident[]>;
  /** Stops the reminders of an owner's own incident. Returns whether it exists. */
  acknowledgeOwn(ownerFid: number, id: string, nowSecs: number, audit: AuditEntry): Promise<boolean>;
  /** Acknowledges an incident. Like the methods below, returns false if there is no such incident. */
  acknowledge(id: string, by: string, note: string | null, nowSecs: number): Promise<boolean>;
  /** @param note null removes it. */
  note(id: string, note: string | null): Promise<boolean>;
  /** @param until null ends it. */
  mute(id: string, until: number | null): Promise<boolean>;
}

export const incidentCodec = recordCodec(incidents);
const codec = incidentCodec;
type Stored = Row<typeof incidents>;
const { columns } = codec;

const findOpen = sql<Stored, [checkId: string, nodeId: string]>(
  "incidents.find-open",
  `SELECT ${columns} FROM incidents WHERE check_id = $1 AND node_id = $2 AND resolved_at IS NULL`,
);
const insert = sql<unknown, ReturnType<typeof codec.values>>(
  "incidents.insert",
  `${codec.insert} ON CONFLICT (check_id, node_id) WHERE resolved_at IS NULL DO NOTHING`,
);
const reopen = sql<
  { incident_id: string },
  [nowSecs: number, sentence: string, checkId: string, nodeId: string, since: number]
>(
  "incidents.reopen",
  `UPDATE incidents SET resolved_at = NULL, flaps = flaps + 1, seen_at = $1, sentence = $2, unsent_at = $1
   WHERE incident_id = (SELECT i.incident_id FROM incidents i
     WHERE i.check_id = $3 AND i.node_id = $4 AND i.resolved_at >= $5 ORDER BY i.resolved_at DESC LIMIT 1 FOR UPDATE)
   RETURNING incident_id`,
);
const end = sql<unknown, [nowSecs: number, checkId: string, nodeId: string]>(
  "incidents.resolve",
  "UPDATE incidents SET resolved_at = $1, unsent_at = $1 WHERE check_id = $2 AND node_id = $3 AND resolved_at IS NULL",
);
const seen = sql<unknown, [nowSecs: number, checkId: string, nodeId: string]>(
  "incidents.see",
  "UPDATE incidents SET seen_at = $1 WHERE check_id = $2 AND node_id = $3 AND resolved_at IS NULL",
);
const listOpen = sql<Stored, []>(
  "incidents.open",
  // No check has an empty id. The condition makes the query use the index of open incidents, of which there are few.
  `SELECT ${columns} FROM incidents WHERE resolved_at IS NULL AND check_id > '' AND owner_fid = 0`,
);
const listSince = sql<Stored, [sinceSecs: number, limit: number]>(
  "incidents.since",
  `SELECT ${columns} FROM incidents WHERE owner_fid = 0 AND opened_at >= $1 ORDER BY opened_at DESC LIMIT $2`,
);
const listOpenOfOwners = sql<Stored, [limit: number]>(
  "incidents.open-of-owners",
  `SELECT ${columns} FROM incidents WHERE resolved_at IS NULL AND check_id > '' AND owner_fid > 0 LIMIT $1`,
);
const listOfOwner = sql<Stored, [ownerFid: number, sinceSecs: number, limit: number]>(
  "incidents.of-owner",
  `SELECT ${columns} FROM incidents WHERE owner_fid = $1 AND opened_at >= $2
   ORDER BY opened_at DESC LIMIT $3`,
);
const countOfOwner = sql<{ count: number }, [ownerFid: number]>(
  "incidents.count-of-owner",
  "SELECT count(*) AS count FROM incidents WHERE owner_fid = $1",
);
const dropOfOwner = sql<unknown, [ownerFid: number, max: number]>(
  "incidents.drop-of-owner",
  `DELETE FROM incidents WHERE incident_id IN
     (SELECT i.incident_id FROM incidents i WHERE i.owner_fid = $1 AND i.resolved_at IS NOT NULL ORDER BY i.opened_at LIMIT $2 FOR UPDATE)`,
);
const setAckedByOwner = sql<unknown, [nowSecs: number, by: string, id: string, ownerFid: number]>(
  "incidents.acknowledge-own",
  "UPDATE incidents SET acked_at = $1, acked_by = $2 WHERE incident_id = $3 AND owner_fid = $4",
);
const setAcked = sql<unknown, [nowSecs: number, by: string, note: string | null, id: string]>(
  "incidents.acknowledge",
  "UPDATE incidents SET acked_at = $1, acked_by = $2, note = coalesce($3::text, note) WHERE incident_id = $4",
);
const setNote = sql<unknown, [note: string | null, id: string]>(
  "incidents.note",
  "UPDATE incidents SET note = $1 WHERE incident_id = $2",
);
const setMuted = sql<unknown, [until: number | null, id: string]>(
  "incidents.mute",
  "UPDATE incidents SET muted_until = $1 WHERE incident_id = $2",
);
const resolveUnseen = sql<unknown, [nowSecs: number, unseenSince: number, max: number]>(
  "incidents.resolve-unseen",
  `UPDATE incidents SET resolved_at = $1, unsent_at = $1 WHERE incident_id IN
     (SELECT i.incident_id FROM incidents i WHERE i.resolved_at IS NULL AND i.check_id > '' AND i.seen_at < $2 LIMIT $3 FOR UPDATE SKIP LOCKED)`,
);
const deleteOld = sql<unknown, [untilSecs: number, max: number]>(
  "incidents.sweep",
  `DELETE FROM incidents WHERE incident_id IN
     (SELECT i.incident_id FROM incidents i WHERE i.resolved_at < $1 ORDER BY i.resolved_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
);

async function openIn(tx: Tx, opening: Opening, nowSecs: number) {
  const { checkId, nodeId, sentence, ownerFid = 0 } = opening;
  const found = async () => {
    const row = await tx.get(findOpen, checkId, nodeId);
    return row && codec.toRecord(row);
  };
  const there = await found();
  if (there) return { incident: there, isChanged: false };
  const again = await tx.get(reopen, nowSecs, sentence, checkId, nodeId, nowSecs - FLAP_SECS);
  const added =
    !again &&
    (await tx.run(
      insert,
      ...codec.values({
        ...opening,
        ownerFid,
        openedAt: nowSecs,
        seenAt: nowSecs,
        resolvedAt: null,
        flaps: 0,
        ackedAt: null,
        ackedBy: null,
        note: null,
        mutedUntil: null,
        unsentAt: nowSecs,
        sentState: null,
        sentAt: null,
      }),
    )) === 1;
  if (added && ownerFid > 0) {
    const { count = 0 } = (await tx.get(countOfOwner, ownerFid)) ?? {};
    if (count > MAX_OF_OWNER) await tx.run(dropOfOwner, ownerFid, count - MAX_OF_OWNER);
  }
  const incident = await found();
  if (!incident) throw new Error("the incident was resolved while it opened");
  return { incident, isChanged: again !== undefined || added };
}

export function createIncidents(db: StateDb): IncidentStore {
  const changed = (rows: number) => rows === 1;
  return {
    open: db.decision("incidents.open", (tx, opening: Opening, nowSecs: number) =>
      openIn(tx, opening, nowSecs),
    ),
    resolve: db.decision<Parameters<IncidentStore["resolve"]>, boolean>(
      "incidents.resolve",
      async (tx, checkId, nodeId, nowSecs) => changed(await tx.run(end, nowSecs, checkId, nodeId)),
    ),
    async openOf(nodeId) {
      const rows = await db.all(listOpen);
      return rows.map(codec.toRecord).filter((incident) => ["", nodeId].includes(incident.nodeId));
    },
    see: db.decision<Parameters<IncidentStore["see"]>, void>(
      "incidents.see",
      async (tx, checkId, nodeId, nowSecs) => {
        await tx.run(seen, nowSecs, checkId, nodeId);
      },
      { isOneStatement: true, isSynced: false },
    ),
    async list(sinceSecs, limit) {
      const [open, recent] = await Promise.all([db.all(listOpen), db.all(listSince, sinceSecs, limit)]);
      const known = new Set(open.map((row) => row.incident_id));
      open.sort((a, b) => b.opened_at - a.opened_at);
      return [...open, ...recent.filter((row) => !known.has(row.incident_id))].map(codec.toRecord);
    },
    openOfOwners: async () => (await db.all(listOpenOfOwners, MAX_OPEN_OF_OWNERS)).map(codec.toRecord),
    listOf: async (ownerFid, sinceSecs) =>
      (await db.all(listOfOwner, ownerFid, sinceSecs, MAX_OF_OWNER)).map(codec.toRecord),
    acknowledgeOwn: db.decision<Parameters<IncidentStore["acknowledgeOwn"]>, boolean>(
      "incidents.acknowledgeOwn",
      async (tx, ownerFid, id, nowSecs, audit) => {
        if ((await tx.run(setAckedByOwner, nowSecs, `fid ${ownerFid}`, id, ownerFid)) !== 1) return false;
        await addAuditEntry(tx, audit);
        return true;
      },
    ),
    acknowledge: db.decision<Parameters<IncidentStore["acknowledge"]>, boolean>(
      "incidents.acknowledge",
      async (tx, id, by, note, nowSecs) => changed(await tx.run(setAcked, nowSecs, by, note, id)),
    ),
    note: db.decision<Parameters<IncidentStore["note"]>, boolean>("incidents.note", async (tx, id, note) =>
      changed(await tx.run(setNote, note, id)),
    ),
    mute: db.decision<Parameters<IncidentStore["mute"]>, boolean>("incidents.mute", async (tx, id, until) =>
      changed(await tx.run(setMuted, until, id)),
    ),
  };
}

/** Deletes incidents past their retention, and resolves those whose node has not reported them for hours. */
export function incidentSweep(db: StateDb): Sweep {
  return db.sweep("incidents", async (tx, maxRows) => {
    const nowSecs = tx.clock.sweepableSecs();
    await tx.run(resolveUnseen, nowSecs, nowSecs - UNSEEN_SECS, MAX_UNSEEN);
    return tx.run(deleteOld, nowSecs - KEPT_SECS, maxRows);
  });
}
