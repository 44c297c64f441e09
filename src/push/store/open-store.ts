import { sql } from "../../db/state/sql.ts";
import type { StateDb, Sweep, Tx } from "../../db/state/state-db.ts";
import { flag, index, key, nullable, type Row, table, text, whole } from "../../db/state/table.ts";

/** What a notification's link identifies: a campaign and the host of a client, never a person. */
export const openLinks = table(
  "open_links",
  {
    /** The value of the link's parameter. */
    token: key(text()),
    app_id: text(),
    /** The campaign's `seq`. */
    campaign: whole(),
    host: text(),
  },
  {
    indexes: [index("open_links_of_campaign", ["campaign", "token"])],
  },
);

/** Who opened which campaign, as reported by apps. Times are unix seconds. */
export const appOpens = table(
  "app_opens",
  {
    campaign: whole(),
    fid: whole(),
    app_id: text(),
    client_fid: whole(),
    opened_at: whole(),
    /** Whether the report had a Quick Auth token. */
    verified: flag(),
    goal: nullable(text()),
  },
  {
    key: ["campaign", "fid"],
    indexes: [index("app_opens_of_person", ["app_id", "fid", "opened_at"])],
  },
);

/** Opens by campaign, client and time since its start, so that no query has to count them. */
export const openCounts = table(
  "open_counts",
  {
    campaign: whole(),
    client_fid: whole(),
    /** Minutes since the campaign started; in whole hours from the second hour on. */
    age_minutes: whole(),
    opens: whole(),
    verified: whole(),
    goals: whole(),
  },
  {
    key: ["campaign", "client_fid", "age_minutes"],
  },
);

/**
 * The zone of a user's clock, as reported by an app. It changes at most once in two days, so that `zone_before` gives the zone at any
 * time of a send that takes a day.
 */
export const personZones = table(
  "person_zones",
  {
    app_id: text(),
    fid: whole(),
    zone: text(),
    /** Empty if there is none. */
    zone_before: text(),
    changed_at: whole(),
    reported_at: whole(),
  },
  {
    key: ["app_id", "fid"],
    indexes: [index("person_zones_by_report", ["reported_at"])],
  },
);

/** How long a reported zone is valid. */
export const ZONE_SECS = 90 * 86_400;
const ZONE_CHANGE_SECS = 2 * 86_400;

/** A report that someone has opened a notification. */
export interface Open {
  readonly appId: string;
  readonly token: string;
  readonly fid: number;
  /** 0: the client of the fid at the link's host. */
  readonly clientFid: number;
  readonly isVerified: boolean;
  readonly goal: string | null;
  readonly nowSecs: number;
}

/** Opens of one campaign in one client. */
export interface OpenCount {
  /** The campaign's `seq`. */
  readonly campaign: number;
  readonly clientFid: number;
  readonly ageMinutes: number;
  readonly opens: number;
  readonly verified: number;
  readonly goals: number;
}

export interface OpenLink {
  readonly token: string;
  readonly appId: string;
  /** The campaign's `seq`. */
  readonly campaign: number;
  readonly host: string;
}

/** Stores opens, and the zones in their reports. Every method is atomic. */
export interface OpenStore {
  /** Stores what a link identifies. Repeating it changes nothing. */
  addLink(link: OpenLink): Promise<void>;
  /**
   * Counts an open, once per campaign and fid, if the link is of the app and the fid has a token for it. A repetition may mark it as
   * verified and add its goal.
   */
  add(open: Open): Promise<void>;
  /** Returns the counts of some campaigns, ascending by time. */
  counts(campaigns: readonly number[]): Promise<OpenCount[]>;
  /** Returns which of some fids have opened a notification of the app since a time. */
  openedAmong(appId: string, fids: readonly number[], sinceSecs: number): Promise<ReadonlySet<number>>;
  /** Stores the zone of someone who has a token for the app. */
  setZone(zone: { appId: string; fid: number; zone: string; nowSecs: number }): Promise<void>;
  /** Returns the zones of some fids as of a time within the last day. */
  zonesAt(appId: string, fids: readonly number[], atSecs: number): Promise<ReadonlyMap<number, string>>;
}

const putLink = sql<unknown, [token: string, appId: string, campaign: number, host: string]>(
  "open-links.put",
  `INSERT INTO open_links (token, app_id, campaign, host) VALUES ($1, $2, $3, $4) ON CONFLICT (token) DO NOTHING`,
);
const campaignOfLink = sql<
  { campaign: number; host: string; started_at: number },
  [token: string, appId: string]
>(
  "open-links.campaign",
  `SELECT l.campaign, l.host, coalesce(c.started_at, c.created_at) AS started_at FROM open_links l
   JOIN campaigns c ON c.seq = l.campaign WHERE l.token = $1 AND l.app_id = $2`,
);
const hasToken = sql<{ one: number }, [appId: string, fid: number]>(
  "app-opens.has-token",
  "SELECT 1 AS one FROM tokens WHERE app_id = $1 AND fid = $2 LIMIT 1",
);
/** More client apps than anyone has. */
const MAX_CLIENTS = 100;
const clientsOf = sql<{ client_fid: number; host: string | null }, [appId: string, fid: number]>(
  "app-opens.clients",
  `SELECT client_fid, host FROM tokens WHERE app_id = $1 AND fid = $2 ORDER BY client_fid LIMIT ${MAX_CLIENTS}`,
);
const lockOpen = sql<
  { client_fid: number; opened_at: number; verified: boolean | number; goal: string | null },
  [campaign: number, fid: number]
>(
  "app-opens.lock",
  "SELECT client_fid, opened_at, verified, goal FROM app_opens WHERE campaign = $1 AND fid = $2 FOR UPDATE",
);
const insertOpen = sql<
  unknown,
  [
    campaign: number,
    fid: number,
    appId: string,
    clientFid: number,
    openedAt: number,
    verified: boolean,
    goal: string | null,
  ]
>(
  "app-opens.insert",
  `INSERT INTO app_opens (campaign, fid, app_id, client_fid, opened_at, verified, goal)
   VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (campaign, fid) DO NOTHING`,
);
const updateOpen = sql<unknown, [campaign: number, fid: number, verified: boolean, goal: string | null]>(
  "app-opens.update",
  "UPDATE app_opens SET verified = $3, goal = $4 WHERE campaign = $1 AND fid = $2",
);
const count = sql<
  unknown,
  [campaign: number, clientFid: number, age: number, opens: number, verified: number, goals: number]
>(
  "open-counts.add",
  `INSERT INTO open_counts AS k (campaign, client_fid, age_minutes, opens, verified, goals)
   VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (campaign, client_fid, age_minutes) DO UPDATE SET
     opens = k.opens + excluded.opens, verified = k.verified + excluded.verified, goals = k.goals + excluded.goals`,
);
const countsOf = sql<Row<typeof openCounts>, [campaigns: readonly number[]]>(
  "open-counts.of",
  `SELECT campaign, client_fid, age_minutes, opens, verified, goals FROM open_counts
   WHERE campaign = ANY ($1::bigint[]) ORDER BY age_minutes`,
);
const openedAmong = sql<{ fid: number }, [appId: string, fids: readonly number[], since: number]>(
  "app-opens.among",
  `SELECT DISTINCT fid FROM app_opens WHERE app_id = $1 AND fid = ANY ($2::bigint[]) AND opened_at >= $3`,
);
const putZone = sql<
  unknown,
  [appId: string, fid: number, zone: string, nowSecs: number, staleAt: number, settledAt: number]
>(
  "person-zones.put",
  `INSERT INTO person_zones AS p (app_id, fid, zone, zone_before, changed_at, reported_at)
   VALUES ($1, $2, $3, '', $4, $4) ON CONFLICT (app_id, fid) DO UPDATE SET
     zone = excluded.zone, reported_at = excluded.reported_at,
     zone_before = CASE WHEN p.reported_at <= $5 THEN '' WHEN p.zone <> excluded.zone THEN p.zone ELSE p.zone_before END,
     changed_at = CASE WHEN p.reported_at <= $5 OR p.zone <> excluded.zone THEN $4 ELSE p.changed_at END
   WHERE p.zone = excluded.zone OR p.changed_at <= $6`,
);
const zonesAt = sql<
  { fid: number; zone: string },
  [appId: string, fids: readonly number[], at: number, staleAt: number]
>(
  "person-zones.at",
  `SELECT fid, CASE WHEN changed_at <= $3 THEN zone ELSE zone_before END AS zone FROM person_zones
   WHERE app_id = $1 AND fid = ANY ($2::bigint[]) AND reported_at > $4`,
);
const sweepZones = sql<unknown, [until: number, max: number]>(
  "person-zones.sweep",
  `DELETE FROM person_zones WHERE (app_id, fid) IN
   (SELECT app_id, fid FROM person_zones WHERE reported_at <= $1 ORDER BY reported_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
);

/** Deletes zones that were reported too long ago to be used. */
export function zoneSweep(db: StateDb): Sweep {
  return db.sweep("person_zones", (tx, maxRows) =>
    tx.run(sweepZones, tx.clock.sweepableSecs() - ZONE_SECS - ZONE_CHANGE_SECS, maxRows),
  );
}

export function createOpens(db: StateDb): OpenStore {
  const addLink = db.decision(
    "opens.addLink",
    async (tx, { token, appId, campaign, host }: OpenLink) => {
      await tx.run(putLink, token, appId, campaign, host);
    },
    { isOneStatement: true },
  );
  const setZone = db.decision(
    "opens.setZone",
    async (tx, { appId, fid, zone, nowSecs }: Parameters<OpenStore["setZone"]>[0]) => {
      if (!(await tx.get(hasToken, appId, fid))) return;
      await tx.run(putZone, appId, fid, zone, nowSecs, nowSecs - ZONE_SECS, nowSecs - ZONE_CHANGE_SECS);
    },
  );
  return {
    addLink,
    setZone,
    add: db.decision("opens.add", addOpen),
    counts: async (campaigns) =>
      (await db.all(countsOf, campaigns)).map((row) => ({
        campaign: row.campaign,
        clientFid: row.client_fid,
        ageMinutes: row.age_minutes,
        opens: row.opens,
        verified: row.verified,
        goals: row.goals,
      })),
    openedAmong: async (appId, fids, sinceSecs) =>
      new Set((await db.all(openedAmong, appId, fids, sinceSecs)).map(({ fid }) => fid)),
    zonesAt: async (appId, fids, atSecs) => {
      const rows = await db.all(zonesAt, appId, fids, atSecs, atSecs - ZONE_SECS);
      return new Map(rows.filter(({ zone }) => zone !== "").map(({ fid, zone }) => [fid, zone]));
    },
  };
}

async function addOpen(tx: Tx, open: Open): Promise<void> {
  const { appId, token, fid, isVerified, goal, nowSecs } = open;
  const campaign = await tx.get(campaignOfLink, token, appId);
  const clients = campaign ? await tx.all(clientsOf, appId, fid) : [];
  if (!campaign || clients.length === 0) return;
  const { campaign: id, host, started_at: startedAt } = campaign;
  // The link identifies a client's host, so a report may omit the client.
  const clientFid = open.clientFid || (clients.find((client) => client.host === host)?.client_fid ?? 0);
  const first = await tx.run(insertOpen, id, fid, appId, clientFid, nowSecs, isVerified, goal);
  if (first === 1) {
    const age = ageMinutes(nowSecs - startedAt);
    return void (await tx.run(count, id, clientFid, age, 1, isVerified ? 1 : 0, goal === null ? 0 : 1));
  }
  const before = await tx.get(lockOpen, id, fid);
  if (!before) return;
  const isNewlyVerified = isVerified && !before.verified;
  const isNewGoal = goal !== null && before.goal === null;
  if (!isNewlyVerified && !isNewGoal) return;
  await tx.run(updateOpen, id, fid, isVerified || Boolean(before.verified), before.goal ?? goal);
  const age = ageMinutes(before.opened_at - startedAt);
  await tx.run(count, id, before.client_fid, age, 0, isNewlyVerified ? 1 : 0, isNewGoal ? 1 : 0);
}

function ageMinutes(secs: number): number {
  const minutes = Math.max(0, Math.floor(secs / 60));
  return minutes < 60 ? minutes : minutes - (minutes % 60);
}
