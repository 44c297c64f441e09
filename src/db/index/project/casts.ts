import type { CastAddBody, Embed } from "../../../protocol/wire/generated/message.ts";
import { firstCastId, firstCastIdAt, IDS_PER_SECOND, nextCastId, timestampOfCastId } from "../cast-id.ts";
import type { IndexDatabase } from "../database.ts";
import type { CastColumns } from "../messages/columns.ts";
import { decodeRest } from "../messages/fields.ts";
import { statement } from "../statement.ts";
import { castIdOf, findMissingCastId, keepMissingCast, urlIdOf, urlOf } from "./cast-references/named-ids.ts";
import { addReferences, dropReferences } from "./cast-references/references.ts";
import { repoint } from "./cast-references/repoints.ts";
import { adoptThread, cutOffThread, type Root, threadOf } from "./cast-references/threads.ts";
import { addToChannel, dropFromChannel } from "./channel-activity.ts";
import { isNotified, notificationsOfCast } from "./notifications.ts";

export interface CastRow {
  readonly id: number;
  readonly hash: Uint8Array;
  readonly fid: number;
  readonly text: string;
  readonly parentId: number | null;
  readonly parentFid: number | null;
  readonly parentHash: Uint8Array | null;
  readonly parentUrlId: number | null;
  readonly rootId: number | null;
  readonly rootHash: Uint8Array | null;
  readonly rootUrlId: number | null;
  readonly rest: Uint8Array | null;
  readonly envelopeId: number;
}

const COLUMNS = `id, hash, fid, text, parent_id AS parentId, parent_fid AS parentFid, parent_hash AS parentHash,
  parent_url_id AS parentUrlId, root_id AS rootId, root_hash AS rootHash, root_url_id AS rootUrlId, rest,
  envelope_id AS envelopeId`;

/** The values of an inserted row that follow its id. */
type CastValues = [
  hash: Uint8Array,
  fid: number,
  text: string,
  parentId: number | null,
  parentFid: number | null,
  parentHash: Uint8Array | null,
  parentUrlId: number | null,
  rootId: number | null,
  rootFid: number | null,
  rootHash: Uint8Array | null,
  rootUrlId: number | null,
  rest: Uint8Array | null,
  envelopeId: number,
];

const insertCast = statement<unknown, [id: number, ...CastValues]>(
  "project.casts.insert",
  `INSERT INTO casts (id, hash, fid, text, parent_id, parent_fid, parent_hash, parent_url_id,
     root_id, root_fid, root_hash, root_url_id, rest, envelope_id)
   SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14
   WHERE NOT EXISTS (SELECT 1 FROM missing_casts WHERE id = ?1)
   ON CONFLICT (id) DO NOTHING`,
);
const idsOfSecond = statement<{ n: number }, [firstId: number, lastId: number]>(
  "project.casts.ids-of-second",
  `SELECT (SELECT count(*) FROM casts WHERE id BETWEEN ?1 AND ?2)
     + (SELECT count(*) FROM missing_casts WHERE id BETWEEN ?1 AND ?2) AS n`,
);
const isTaken = statement<{ one: number }, [id: number]>(
  "project.casts.is-taken",
  "SELECT 1 AS one FROM casts WHERE id = ?1 UNION ALL SELECT 1 FROM missing_casts WHERE id = ?1 LIMIT 1",
);
const dropMissing = statement<unknown, [id: number]>(
  "project.casts.drop-missing",
  "DELETE FROM missing_casts WHERE id = ?",
);
const castByHash = statement<CastRow, [hash: Uint8Array, fid: number]>(
  "project.casts.by-hash",
  `SELECT ${COLUMNS} FROM casts WHERE substr(hash, 1, 6) = substr(?1, 1, 6) AND hash = ?1 AND fid = ?2`,
);
const authorByHash = statement<{ fid: number }, [hash: Uint8Array]>(
  "project.casts.author-by-hash",
  "SELECT fid FROM casts WHERE substr(hash, 1, 6) = substr(?1, 1, 6) AND hash = ?1",
);
const deleteCast = statement<unknown, [id: number]>("project.casts.delete", "DELETE FROM casts WHERE id = ?");
const oldestCasts = statement<CastRow, [fid: number, isReply: number, maxId: number]>(
  "project.casts.oldest",
  `SELECT ${COLUMNS} FROM casts WHERE fid = ? AND (parent_id IS NOT NULL) = ? AND id <= ? ORDER BY id`,
);
const nthOldestCast = statement<{ id: number }, [fid: number, isReply: number, skipped: number]>(
  "project.casts.nth-oldest",
  "SELECT id FROM casts WHERE fid = ? AND (parent_id IS NOT NULL) = ? ORDER BY id LIMIT 1 OFFSET ?",
);

/** The thread of a cast: its topmost known ancestor, null if the cast starts the thread, and that one's parent_url. */
export interface ThreadRoot {
  readonly hash: Uint8Array | null;
  readonly parentUrl: string | null;
}

/** Returns the thread of a live cast as stored in its row. */
export function threadRootOf(db: IndexDatabase, cast: CastRow): ThreadRoot {
  const urlId = cast.rootId === null ? cast.parentUrlId : cast.rootUrlId;
  return { hash: cast.rootHash, parentUrl: urlId === null ? null : urlOf(db, urlId) };
}

/** Returns the row of a live cast. */
export function findCast(db: IndexDatabase, fid: number, hash: Uint8Array): CastRow | undefined {
  return db.get(castByHash, hash, fid);
}

/** Returns the author of a live cast; undefined if no live cast has the hash. */
export function authorOfCast(db: IndexDatabase, hash: Uint8Array): number | undefined {
  return db.get(authorByHash, hash)?.fid;
}

/** Returns at least the `count` oldest casts of an fid, plus all others of the same seconds. */
export function oldestCastsOf(db: IndexDatabase, fid: number, count: number): CastRow[] {
  return [0, 1].flatMap((isReply) => {
    const last = db.get(nthOldestCast, fid, isReply, count - 1)?.id;
    const maxId =
      last === undefined ? Number.MAX_SAFE_INTEGER : firstCastIdAt(timestampOfCastId(last) + 1) - 1;
    return db.all(oldestCasts, fid, isReply, maxId);
  });
}

/**
 * Makes a live cast visible. Its thread root is taken from its parent's row. Rows that named it while it was missing now
 * name its row, and its replies get the root of this cast.
 */
export function addCast(db: IndexDatabase, cast: CastColumns, hash: Uint8Array, envelopeId: number): void {
  const { fid, timestamp, parentFid, parentHash } = cast;
  const hasParent = parentFid !== null && parentHash !== null;
  const parent = hasParent ? parentOf(db, parentFid, parentHash) : undefined;
  const parentUrlId = cast.parentUrl === null ? null : urlIdOf(db, cast.parentUrl);
  const missingId = findMissingCastId(db, fid, hash);
  const returns = missingId !== undefined && missingId > 0;
  if (returns) db.run(dropMissing, missingId);
  const first = returns ? missingId : firstCastId(timestamp, hash);
  const id = insertAtFreeId(db, first, [
    hash,
    fid,
    cast.text,
    parent?.id ?? null,
    parentFid,
    parentHash,
    parentUrlId,
    parent?.root.id ?? null,
    parent?.root.fid ?? null,
    parent?.root.hash ?? null,
    parent?.root.urlId ?? null,
    cast.rest,
    envelopeId,
  ]);
  db.recentCasts.add(id, fid, hash);
  db.invalidations.cast(id);
  if (returns) adoptThread(db, id);
  else if (missingId !== undefined) repoint(db, missingId, id);
  if (parent && hasParent) countOnCast(db, parent.id, parentFid, { replies: 1 });
  if (cast.parentUrl !== null) addToChannel(db, cast.parentUrl, fid, timestamp);
  const body = decodeRest(cast.rest);
  const rootUrlId = parent ? parent.root.urlId : parentUrlId;
  addReferences(db, { id, fid, timestamp, parentFid, body, rootUrlId });
  db.search.add(id, cast.text);
}

/** Returns the row that a cast had before the disk lost it. */
function lostCast(
  db: IndexDatabase,
  { fid, timestamp, text, parentFid, parentHash, parentUrl, rest }: CastColumns,
  hash: Uint8Array,
): CastRow {
  const parent = parentFid !== null && parentHash !== null ? parentOf(db, parentFid, parentHash) : undefined;
  let id = firstCastId(timestamp, hash);
  while (db.get(isTaken, id)) id = nextCastId(id, hash);
  return {
    id,
    hash,
    fid,
    text,
    parentId: parent?.id ?? null,
    parentFid,
    parentHash,
    parentUrlId: parentUrl === null ? null : urlIdOf(db, parentUrl),
    rootId: parent?.root.id ?? null,
    rootHash: parent?.root.hash ?? null,
    rootUrlId: parent?.root.urlId ?? null,
    rest,
    envelopeId: 0,
  };
}

/** Reports whether the counts include a cast without a row; undefined if neither words nor notifications show it. */
export function isCastCounted(db: IndexDatabase, cast: CastColumns, hash: Uint8Array): boolean | undefined {
  const { id, fid, parentFid, rest } = lostCast(db, cast, hash);
  if (db.search.isOn) return db.search.has(db, id);
  const mentioned = decodeRest(rest).mentions;
  const notifications = notificationsOfCast({ id, fid, timestamp: cast.timestamp, mentioned, parentFid });
  return notifications.map((one) => isNotified(db, one)).find((one) => one !== undefined);
}

/** Deletes the rows derived from a cast whose own row the disk lost. */
export function dropLostCast(db: IndexDatabase, cast: CastColumns, hash: Uint8Array): void {
  const row = lostCast(db, cast, hash);
  // Rows written since then name it by another id, from which they move. Older rows name the id that it gets again.
  if (findMissingCastId(db, row.fid, hash) !== undefined) dropDerived(db, row);
  else dropCast(db, row);
}

/** Removes a cast. It becomes the missing root of its replies. */
export function dropCast(db: IndexDatabase, cast: CastRow): void {
  const { id, fid, hash } = cast;
  db.run(deleteCast, id);
  db.recentCasts.drop(hash);
  db.invalidations.cast(id);
  keepMissingCast(db, id, fid, hash);
  db.unnamed.cast(id);
  cutOffThread(db, cast, rootUrlIdOf(cast));
  dropDerived(db, cast);
}

const rootUrlIdOf = (cast: CastRow) => (cast.rootId === null ? cast.parentUrlId : cast.rootUrlId);

/** Deletes the rows derived from a cast, after its row was deleted. */
function dropDerived(db: IndexDatabase, cast: CastRow): void {
  const { id, fid, parentId, parentFid, parentUrlId, rootId } = cast;
  db.search.drop(id);
  if (rootId !== null) db.unnamed.cast(rootId);
  if (parentId !== null && parentFid !== null) {
    countOnCast(db, parentId, parentFid, { replies: -1 });
    db.unnamed.cast(parentId);
  }
  if (parentUrlId !== null) {
    dropFromChannel(db, urlOf(db, parentUrlId), fid);
    db.unnamed.url(parentUrlId);
  }
  const [timestamp, body, rootUrlId] = [timestampOfCastId(id), decodeRest(cast.rest), rootUrlIdOf(cast)];
  dropReferences(db, { id, fid, timestamp, parentFid, body, rootUrlId });
}

/** Adds to the counts of a cast, which may not have arrived yet. */
export function countOnCast(
  db: IndexDatabase,
  id: number,
  fid: number,
  change: { likes?: number; recasts?: number; replies?: number },
): void {
  // While rows still name a cast by its old id, its counts are under the new one.
  const newId = id < 0 ? (db.repoints.newIdOf(db, id) ?? id) : id;
  db.counts.cast(newId, fid, change);
  db.invalidations.cast(newId);
}

/** Returns the id of a parent, and the root of its thread: the parent itself if it starts a thread or is missing. */
function parentOf(db: IndexDatabase, fid: number, hash: Uint8Array): { id: number; root: Root } {
  const id = castIdOf(db, fid, hash);
  return { id, root: id < 0 ? { id, fid, hash, urlId: null } : threadOf(db, id) };
}

/**
 * Inserts a cast under `first`, or under another id of its second that neither a cast nor a missing cast has. Call it only
 * after `hasFreeCastId`. Returns the id.
 */
function insertAtFreeId(db: IndexDatabase, first: number, values: CastValues): number {
  const [hash] = values;
  let id = first;
  while (db.run(insertCast, id, ...values) === 0) {
    id = nextCastId(id, hash);
    if (id === first) throw new Error("no id is free in this second");
  }
  return id;
}

/** Reports whether a cast can get an id: a second has 65,536 of them. A dropped cast that is still named has its own. */
export function hasFreeCastId(db: IndexDatabase, fid: number, timestamp: number, hash: Uint8Array): boolean {
  if (!db.get(isTaken, firstCastId(timestamp, hash))) return true;
  const ids = db.get(idsOfSecond, firstCastIdAt(timestamp), firstCastIdAt(timestamp + 1) - 1);
  return (ids?.n ?? 0) < IDS_PER_SECOND || (findMissingCastId(db, fid, hash) ?? 0) > 0;
}

/** Returns the mentioned fids with their byte offsets, in text order. */
export function mentionsOf(body: CastAddBody): [fid: number, byteOffset: number][] {
  return body.mentions.map((fid, at) => [fid, body.mentionsPositions[at] ?? 0]);
}

/** The stored form of an embed: a URL, or the author and hash of a quoted cast. */
export type StoredEmbed = { url: string } | { fid: number; hash: `0x${string}` };

/** Returns the embeds of a cast in their stored form, deprecated ones first. */
export function embedsOf(body: CastAddBody): StoredEmbed[] {
  const embeds: StoredEmbed[] = body.embedsDeprecated.map((url) => ({ url }));
  for (const embed of body.embeds) {
    const stored = storedEmbed(embed);
    if (stored) embeds.push(stored);
  }
  return embeds;
}

function storedEmbed({ embed }: Embed): StoredEmbed | undefined {
  if (embed?.$case === "url") return { url: embed.value };
  if (embed?.$case === "castId") return { fid: embed.value.fid, hash: `0x${embed.value.hash.toHex()}` };
  return undefined;
}
