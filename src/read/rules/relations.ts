import type { IndexDatabase } from "../../db/index/database.ts";
import { LinkType } from "../../db/index/messages/columns.ts";
import { statement } from "../../db/index/statement.ts";

/** Why a response leaves an account out: the app bans it, the viewer blocks it, it blocks the viewer, or the viewer mutes it. */
export type HiddenReason = "banned" | "blocking" | "blockedBy" | "muting";

/** The private lists of the owner of a request's API key. */
export interface OwnerRules {
  readonly banned: ReadonlySet<number>;
  /** Whom users have muted in the owner's app, by user. */
  readonly muted: ReadonlyMap<number, ReadonlySet<number>>;
}

/** What a viewer and other accounts are to each other, as far as it hides them. */
export interface Relations {
  /** Returns why an account is hidden; undefined for one that is shown. Reads those that `load` has not named. */
  readonly reasonFor: (fid: number) => HiddenReason | undefined;
  /** Reads accounts ahead, in one statement. */
  readonly load: (fids: Iterable<number>) => void;
}

/** A viewer with more such links, in both directions, has them looked up account by account. */
const MAX_LISTED = 1000;

// Links by target are in two partial indexes.
const hidingLinks = statement<
  { fid: number; reason: "blocking" | "blockedBy" | "muting" },
  [viewerFid: number]
>(
  "rules.hiding-links",
  `SELECT target_fid AS fid, iif(type = ${LinkType.Block}, 'blocking', 'muting') AS reason FROM links
     WHERE fid = ?1 AND type IN (${LinkType.Block}, 'mute')
   UNION ALL
   SELECT fid, 'blockedBy' FROM links WHERE target_fid = ?1 AND type = ${LinkType.Block} AND displayed_at IS NULL
   UNION ALL
   SELECT fid, 'blockedBy' FROM links WHERE target_fid = ?1 AND type = ${LinkType.Block} AND displayed_at IS NOT NULL
   LIMIT ${MAX_LISTED + 1}`,
);
const link = (fid: string, type: string, targetFid: string) =>
  `EXISTS (SELECT 1 FROM links l WHERE l.fid = ${fid} AND l.type = ${type} AND l.target_fid = ${targetFid})`;
// Lookups by primary key: some accounts are blocked by a hundred thousand others.
const relationRows = statement<
  { fid: number; blocking: number; blockedBy: number; muting: number },
  [viewerFid: number, fidsJson: string]
>(
  "rules.relations",
  `SELECT j.value AS fid, ${link("?1", `${LinkType.Block}`, "j.value")} AS blocking,
     ${link("j.value", `${LinkType.Block}`, "?1")} AS blockedBy, ${link("?1", "'mute'", "j.value")} AS muting
   FROM json_each(?2) j`,
);

/**
 * Returns what hides accounts from a request, read on demand; undefined if nothing does. Links are public, so the viewer need not be the
 * caller; the owner's lists count only under a key of that owner. Viewers never hide themselves.
 */
export function openRelations(
  db: IndexDatabase,
  viewerFid: number | undefined,
  owner: OwnerRules | undefined,
): Relations | undefined {
  const links = viewerFid === undefined ? undefined : linksOf(db, viewerFid);
  const muted = viewerFid === undefined ? undefined : owner?.muted.get(viewerFid);
  if (!links && muted === undefined && (owner?.banned.size ?? 0) === 0) return undefined;
  const known = new Map<number, HiddenReason | undefined>();
  const ownReason = (fid: number) => (muted?.has(fid) ? ("muting" as const) : undefined);
  const load = (fids: Iterable<number>): void => {
    const unknown = new Set<number>();
    for (const fid of fids) {
      if (known.has(fid)) continue;
      if (owner?.banned.has(fid)) known.set(fid, "banned");
      else if (fid === viewerFid) known.set(fid, undefined);
      else if (links === "many") unknown.add(fid);
      else known.set(fid, links?.get(fid) ?? ownReason(fid));
    }
    if (unknown.size === 0 || viewerFid === undefined) return;
    for (const row of db.all(relationRows, viewerFid, JSON.stringify([...unknown])))
      known.set(row.fid, reasonOf(row) ?? ownReason(row.fid));
  };
  return {
    load,
    reasonFor(fid) {
      load([fid]);
      return known.get(fid);
    },
  };
}

/** Returns the accounts that links hide from a viewer, "many" of them, or undefined for none. */
function linksOf(
  db: IndexDatabase,
  viewerFid: number,
): ReadonlyMap<number, HiddenReason> | "many" | undefined {
  const links = db.all(hidingLinks, viewerFid);
  if (links.length > MAX_LISTED) return "many";
  if (links.length === 0) return undefined;
  const reasons = new Map<number, HiddenReason>();
  for (const { fid, reason } of links) {
    const other = reasons.get(fid);
    if (other === undefined || RANK[reason] < RANK[other]) reasons.set(fid, reason);
  }
  return reasons;
}

/** Of several reasons for one account, the first counts. */
const RANK: Readonly<Record<HiddenReason, number>> = { banned: 0, blocking: 1, blockedBy: 2, muting: 3 };

function reasonOf(row: { blocking: number; blockedBy: number; muting: number }): HiddenReason | undefined {
  if (row.blocking === 1) return "blocking";
  if (row.blockedBy === 1) return "blockedBy";
  return row.muting === 1 ? "muting" : undefined;
}
