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

// Links by target are in two partial indexes.
const hasAny = statement<{ has: number }, [viewerFid: number]>(
  "rules.has-relations",
  `SELECT EXISTS (SELECT 1 FROM links WHERE fid = ?1 AND type IN (${LinkType.Block}, 'mute'))
     OR EXISTS (SELECT 1 FROM links WHERE target_fid = ?1 AND type = ${LinkType.Block} AND displayed_at IS NULL)
     OR EXISTS (SELECT 1 FROM links WHERE target_fid = ?1 AND type = ${LinkType.Block} AND displayed_at IS NOT NULL) AS has`,
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
  const hasLinks = viewerFid !== undefined && db.get(hasAny, viewerFid)?.has === 1;
  const muted = viewerFid === undefined ? undefined : owner?.muted.get(viewerFid);
  if (!hasLinks && muted === undefined && (owner?.banned.size ?? 0) === 0) return undefined;
  const known = new Map<number, HiddenReason | undefined>();
  const load = (fids: Iterable<number>): void => {
    const unknown = new Set<number>();
    for (const fid of fids) {
      if (known.has(fid)) continue;
      if (owner?.banned.has(fid)) known.set(fid, "banned");
      else if (fid === viewerFid) known.set(fid, undefined);
      else if (hasLinks) unknown.add(fid);
      else known.set(fid, muted?.has(fid) ? "muting" : undefined);
    }
    if (unknown.size === 0 || viewerFid === undefined) return;
    for (const row of db.all(relationRows, viewerFid, JSON.stringify([...unknown])))
      known.set(row.fid, reasonOf(row) ?? (muted?.has(row.fid) ? "muting" : undefined));
  };
  return {
    load,
    reasonFor(fid) {
      load([fid]);
      return known.get(fid);
    },
  };
}

function reasonOf(row: { blocking: number; blockedBy: number; muting: number }): HiddenReason | undefined {
  if (row.blocking === 1) return "blocking";
  if (row.blockedBy === 1) return "blockedBy";
  return row.muting === 1 ? "muting" : undefined;
}
