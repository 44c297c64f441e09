import type { IndexDatabase } from "../../db/index/database.ts";
import { LinkType } from "../../db/index/messages/columns.ts";
import { statement } from "../../db/index/statement.ts";
import type { GenerationCache } from "../../lib/generation-cache.ts";

/** Why a response leaves an account out: the app bans it, the viewer blocks it, it blocks the viewer, or the viewer mutes it. */
export type HiddenReason = "banned" | "blocking" | "blockedBy" | "muting";

/** The private lists of the owner of a request's API key. */
export interface OwnerRules {
  readonly banned: ReadonlySet<number>;
  /** Accounts that users have muted in the owner's app, by user. */
  readonly muted: ReadonlyMap<number, ReadonlySet<number>>;
}

/** Relations between a viewer and other accounts that hide them from each other. */
export interface Relations {
  /**
   * Returns why an account is hidden; undefined if it is shown. Accounts that were not passed to `load` are read on demand.
   */
  readonly reasonFor: (fid: number) => HiddenReason | undefined;
  /** Reads accounts ahead, in one statement. */
  readonly load: (fids: Iterable<number>) => void;
}

/** For a viewer with more such links, in both directions, they are looked up account by account. */
const MAX_LISTED = 1000;

/** What links make of an account for a viewer, as bits. */
export const Tie = { Blocking: 1, BlockedBy: 2, Muting: 4 } as const;

/** The ties of a viewer by account, for all accounts that have one; "many" if they are looked up account by account. */
export interface ViewerTies {
  readonly byFid: ReadonlyMap<number, number> | "many";
}

/** A connection in a snapshot, with what its earlier reads loaded. */
export interface TieSource {
  readonly db: IndexDatabase;
  readonly cache: { readonly ties: GenerationCache<number, ViewerTies> };
}

// Links by target are in two partial indexes.
const hidingLinks = statement<{ fid: number; tie: number }, [viewerFid: number]>(
  "rules.hiding-links",
  `SELECT target_fid AS fid, iif(type = ${LinkType.Block}, ${Tie.Blocking}, ${Tie.Muting}) AS tie FROM links
     WHERE fid = ?1 AND type IN (${LinkType.Block}, 'mute')
   UNION ALL
   SELECT fid, ${Tie.BlockedBy} FROM links
     WHERE target_fid = ?1 AND type = ${LinkType.Block} AND displayed_at IS NULL
   UNION ALL
   SELECT fid, ${Tie.BlockedBy} FROM links
     WHERE target_fid = ?1 AND type = ${LinkType.Block} AND displayed_at IS NOT NULL
   LIMIT ${MAX_LISTED + 1}`,
);
const link = (fid: string, type: string, targetFid: string) =>
  `EXISTS (SELECT 1 FROM links l WHERE l.fid = ${fid} AND l.type = ${type} AND l.target_fid = ${targetFid})`;
// Looks up by primary key, because some accounts are blocked by a hundred thousand others.
const tieRows = statement<{ fid: number; ties: number }, [viewerFid: number, fidsJson: string]>(
  "rules.relations",
  `SELECT j.value AS fid, ${Tie.Blocking} * ${link("?1", `${LinkType.Block}`, "j.value")}
     + ${Tie.BlockedBy} * ${link("j.value", `${LinkType.Block}`, "?1")}
     + ${Tie.Muting} * ${link("?1", "'mute'", "j.value")} AS ties
   FROM json_each(?2) j`,
);

/** Returns the ties of a viewer. A change of one of these links drops them from the cache. */
function tiesOf({ db, cache }: TieSource, viewerFid: number): ViewerTies["byFid"] {
  const cached = cache.ties.get(viewerFid);
  if (cached) return cached.byFid;
  const links = db.all(hidingLinks, viewerFid);
  const ties = new Map<number, number>();
  for (const { fid, tie } of links) ties.set(fid, (ties.get(fid) ?? 0) | tie);
  const byFid = links.length > MAX_LISTED ? "many" : ties;
  cache.ties.set(viewerFid, { byFid });
  return byFid;
}

/** Returns the ties of a viewer to accounts, at least for those that have one. */
export function tiesTo(
  source: TieSource,
  viewerFid: number,
  fids: Iterable<number>,
): ReadonlyMap<number, number> {
  const ties = tiesOf(source, viewerFid);
  if (ties !== "many") return ties;
  const rows = source.db.all(tieRows, viewerFid, JSON.stringify([...fids]));
  return new Map(rows.map((row) => [row.fid, row.ties]));
}

/**
 * Returns the reasons to hide accounts in a response, read on demand; undefined if nothing hides any. Links are public, so
 * the viewer need not be the caller; the owner's lists count only under a key of that owner. Viewers never hide themselves.
 */
export function openRelations(
  source: TieSource,
  viewerFid: number | undefined,
  owner: OwnerRules | undefined,
): Relations | undefined {
  const ties = viewerFid === undefined ? undefined : tiesOf(source, viewerFid);
  const muted = viewerFid === undefined ? undefined : owner?.muted.get(viewerFid);
  const hasTies = ties === "many" || (ties !== undefined && ties.size > 0);
  if (!hasTies && muted === undefined && (owner?.banned.size ?? 0) === 0) return undefined;
  const known = new Map<number, HiddenReason | undefined>();
  const reasonOf = (fid: number, tie: number) =>
    tieReason(tie) ?? (muted?.has(fid) ? ("muting" as const) : undefined);
  const load = (fids: Iterable<number>): void => {
    const unknown = new Set<number>();
    for (const fid of fids) {
      if (known.has(fid)) continue;
      if (owner?.banned.has(fid)) known.set(fid, "banned");
      else if (fid === viewerFid) known.set(fid, undefined);
      else if (ties === "many") unknown.add(fid);
      else known.set(fid, reasonOf(fid, ties?.get(fid) ?? 0));
    }
    if (unknown.size === 0 || viewerFid === undefined) return;
    const found = tiesTo(source, viewerFid, unknown);
    for (const fid of unknown) known.set(fid, reasonOf(fid, found.get(fid) ?? 0));
  };
  return {
    load,
    reasonFor(fid) {
      load([fid]);
      return known.get(fid);
    },
  };
}

/** If several reasons apply to an account, the first counts. */
function tieReason(tie: number): HiddenReason | undefined {
  if (tie & Tie.Blocking) return "blocking";
  if (tie & Tie.BlockedBy) return "blockedBy";
  return tie & Tie.Muting ? "muting" : undefined;
}
