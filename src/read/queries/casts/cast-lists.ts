import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { type CastRef, castByHash, type Hash, hex } from "../../hydrate/casts.ts";
import { castList } from "../ordered-page.ts";
import { fidByUsername } from "../users/users.ts";

type From = [fid: number, below: number, limit: number];

// The index has the casts of an author in two ranges: those with a parent cast, and all others.
const castsOf = statement<CastRef, From>(
  "skeleton.casts-of-user",
  `SELECT id FROM casts WHERE fid = ?1 AND (parent_id IS NOT NULL) = 0 AND id < ?2
   UNION ALL
   SELECT id FROM casts WHERE fid = ?1 AND (parent_id IS NOT NULL) = 1 AND id < ?2
   ORDER BY id DESC LIMIT ?3`,
);
const repliesOf = statement<CastRef, From>(
  "skeleton.replies-of-user",
  `SELECT id FROM casts WHERE fid = ? AND (parent_id IS NOT NULL) = 1 AND id < ?
   ORDER BY id DESC LIMIT ?`,
);

/** Lists all live casts of an fid, replies included, newest first. */
export const castsOfUser = castList(
  "feed/user/casts",
  (db, { fid }: { readonly fid: number }) =>
    (below, maxRows) =>
      newestCastsOf(db, fid, below, maxRows),
);

/** Lists the live replies of an fid to casts, newest first. */
export const repliesOfUser = castList(
  "feed/user/replies_and_recasts",
  (db, { fid }: { readonly fid: number }) =>
    (below, maxRows) => {
      willReadCasts(db, [[fid, 1, below]]);
      return db.all(repliesOf, fid, below, maxRows);
    },
);

/** Returns the live casts of an fid below an id, greatest id first. */
export function newestCastsOf(db: IndexDatabase, fid: number, below: number, maxRows: number): CastRef[] {
  willReadCasts(db, [
    [fid, 0, below],
    [fid, 1, below],
  ]);
  return db.all(castsOf, fid, below, maxRows);
}

function willReadCasts(
  db: IndexDatabase,
  keys: readonly [fid: number, isReply: number, below: number][],
): void {
  db.willRead(() => [{ tree: "casts_by_author", keys }]);
}

// The id is that of a live cast by its author, because a quote with another author's fid names another id.
const quotesOf = statement<CastRef, [quotedId: number, below: number, limit: number]>(
  "skeleton.cast-quotes",
  "SELECT cast_id AS id FROM cast_quotes WHERE quoted_id = ? AND cast_id < ? ORDER BY cast_id DESC LIMIT ?",
);

/** Lists the live casts that quote a live cast, newest first; none for a cast that does not exist. */
export const castQuotes = castList("cast/quotes", (db, { hash }: { readonly hash: Hash | undefined }) => {
  const quoted = hash && castByHash(db, hash);
  return quoted && ((below, maxRows) => db.all(quotesOf, quoted.id, below, maxRows));
});

const byPrefix = statement<{ hash: Uint8Array }, [from: Uint8Array, to: Uint8Array, fid: number]>(
  "skeleton.casts.by-hash-prefix",
  // The index has the first 6 bytes of a hash, which is the selective condition. `+fid` prevents the planner from scanning
  // all casts of the author.
  `SELECT hash FROM casts
   WHERE substr(hash, 1, 6) >= substr(?1, 1, 6) AND substr(hash, 1, 6) <= substr(?2, 1, 6)
     AND hash >= ?1 AND hash <= ?2 AND +fid = ?3
   ORDER BY id >> 16 DESC, hash DESC LIMIT 1`,
);

const HOSTS = "https://(?:www\\.)?(?:warpcast\\.com|farcaster\\.xyz)";
const CONVERSATION_URL = new RegExp(`^${HOSTS}/~/conversations/(0x[0-9a-f]{40})/?$`, "i");
const CAST_URL = new RegExp(`^${HOSTS}/([^/~?#]+)/0x([0-9a-f]{8,40})/?$`, "i");

/** The parts of a client-style URL of a cast. */
type CastUrl = { readonly hash: Hash } | { readonly username: string; readonly hashPrefix: string };

/**
 * Parses `https://<client>/<username>/0x<at least 8 digits>` and `https://<client>/~/conversations/<hash>`; undefined for
 * any other URL.
 */
export function parseCastUrl(url: string): CastUrl | undefined {
  const conversation = CONVERSATION_URL.exec(url)?.[1];
  if (conversation !== undefined) return { hash: conversation.toLowerCase() as Hash };
  const [, username, hashPrefix] = CAST_URL.exec(url) ?? [];
  if (username === undefined || hashPrefix === undefined) return undefined;
  return { username: decodeName(username), hashPrefix: hashPrefix.toLowerCase() };
}

/** Returns the cast that a URL names, which is the author's newest cast whose hash has the prefix. */
export function castOfUrl(db: IndexDatabase, url: CastUrl): Hash | undefined {
  if ("hash" in url) return url.hash;
  const fid = fidByUsername(db, url.username) ?? fidOfFallbackName(url.username);
  if (fid === undefined) return undefined;
  const from = Buffer.from(url.hashPrefix.padEnd(40, "0"), "hex");
  const to = Buffer.from(url.hashPrefix.padEnd(40, "f"), "hex");
  const row = db.get(byPrefix, from, to, fid);
  return row && hex(row.hash);
}

/** Parses `!<fid>`, the username of an fid without a live name, which a URL may contain. */
function fidOfFallbackName(name: string): number | undefined {
  const digits = /^!([1-9][0-9]{0,15})$/.exec(name)?.[1];
  return digits !== undefined && Number.isSafeInteger(Number(digits)) ? Number(digits) : undefined;
}

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
