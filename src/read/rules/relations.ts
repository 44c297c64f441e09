import type { IndexDatabase } from "../../db/index/database.ts";
import { LinkType } from "../../db/index/messages/columns.ts";
import { statement } from "../../db/index/statement.ts";

/** Why a response leaves an account out: the viewer blocks it, it blocks the viewer, or the viewer mutes it. */
export type HiddenReason = "blocking" | "blockedBy" | "muting";

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
 * Returns the relations of a viewer, read on demand; undefined where no link hides anyone. Links
 * are public, so the viewer need not be the caller. Accounts never hide themselves.
 */
export function openRelations(db: IndexDatabase, viewerFid: number): Relations | undefined {
  if (db.get(hasAny, viewerFid)?.has !== 1) return undefined;
  const known = new Map<number, HiddenReason | undefined>([[viewerFid, undefined]]);
  const load = (fids: Iterable<number>): void => {
    const unknown = new Set<number>();
    for (const fid of fids) if (!known.has(fid)) unknown.add(fid);
    if (unknown.size === 0) return;
    for (const row of db.all(relationRows, viewerFid, JSON.stringify([...unknown])))
      known.set(row.fid, reasonOf(row));
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
