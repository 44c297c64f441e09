import { toUnixSecs } from "../../../protocol/time.ts";
import type { CastAddBody, Embed, MessageData } from "../../../protocol/wire/generated/message.ts";
import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";
import { firstCastId } from "./cast-id.ts";
import { addToChannel, dropFromChannel } from "./channels.ts";
import { addToThread, dropFromThread } from "./notifications.ts";
import { addReferences, dropReferences } from "./references.ts";

interface RootRow {
  root_fid: number | null;
  root_hash: Uint8Array | null;
  root_parent_url: string | null;
  parent_url: string | null;
}

/** A cast whose thread root changed. `mentions` is the JSON of its row. */
interface MovedRow {
  fid: number;
  timestamp: number;
  hash: Uint8Array;
  parentFid: number | null;
  mentions: string | null;
}

const MOVED = "fid, timestamp, hash, parent_fid AS parentFid, mentions";

const insertCast = statement<
  unknown,
  [
    id: number,
    hash: Uint8Array,
    fid: number,
    timestamp: number,
    text: string,
    parentFid: number | null,
    parentHash: Uint8Array | null,
    parentUrl: string | null,
    rootFid: number | null,
    rootHash: Uint8Array | null,
    rootParentUrl: string | null,
    mentions: string | null,
    embeds: string | null,
  ]
>(
  "project.casts.insert",
  `INSERT INTO casts (id, hash, fid, timestamp, text, parent_fid, parent_hash, parent_url,
     root_fid, root_hash, root_parent_url, mentions, embeds)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
   ON CONFLICT (id) DO NOTHING`,
);
const rowOf = statement<{ id: number; rootParentUrl: string | null }, [hash: Uint8Array]>(
  "project.casts.place-of",
  `SELECT id, CASE WHEN root_hash IS NULL THEN parent_url ELSE root_parent_url END AS rootParentUrl
   FROM casts WHERE hash = ?`,
);
const deleteCast = statement<unknown, [id: number]>("project.casts.delete", "DELETE FROM casts WHERE id = ?");
const rootOf = statement<RootRow, [hash: Uint8Array, fid: number]>(
  "project.casts.root-of",
  "SELECT root_fid, root_hash, root_parent_url, parent_url FROM casts WHERE hash = ? AND fid = ?",
);
const hasDangling = statement<{ one: number }, [hash: Uint8Array, fid: number]>(
  "project.casts.has-dangling",
  "SELECT 1 AS one FROM casts WHERE root_hash = ? AND root_fid = ? LIMIT 1",
);
const adoptDangling = statement<
  MovedRow,
  [rootFid: number, rootHash: Uint8Array, rootParentUrl: string | null, hash: Uint8Array, fid: number]
>(
  "project.casts.adopt-dangling",
  `UPDATE casts SET root_fid = ?1, root_hash = ?2, root_parent_url = ?3
   WHERE root_hash = ?4 AND root_fid = ?5 RETURNING ${MOVED}`,
);
const hasReply = statement<{ one: number }, [hash: Uint8Array, fid: number]>(
  "project.casts.has-reply",
  "SELECT 1 AS one FROM casts WHERE parent_hash = ? AND parent_fid = ? LIMIT 1",
);
const cutOffDescendants = statement<MovedRow, [hash: Uint8Array, fid: number]>(
  "project.casts.cut-off-descendants",
  `WITH RECURSIVE below (id, hash, fid) AS (
     SELECT id, hash, fid FROM casts WHERE parent_hash = ?1 AND parent_fid = ?2
     UNION ALL
     SELECT c.id, c.hash, c.fid FROM below b JOIN casts c ON c.parent_hash = b.hash AND c.parent_fid = b.fid
   )
   UPDATE casts SET root_fid = ?2, root_hash = ?1, root_parent_url = NULL
   WHERE id IN (SELECT id FROM below) RETURNING ${MOVED}`,
);
const addCounts = statement<
  unknown,
  [hash: Uint8Array, fid: number, likes: number, recasts: number, replies: number]
>(
  "project.cast-counts.add",
  `INSERT INTO cast_counts (hash, fid, likes, recasts, replies) VALUES (?1, ?2, ?3, ?4, ?5)
   ON CONFLICT (hash, fid) DO UPDATE SET
     likes = likes + ?3, recasts = recasts + ?4, replies = replies + ?5`,
);
const dropEmptyCounts = statement<unknown, [hash: Uint8Array, fid: number]>(
  "project.cast-counts.drop-empty",
  "DELETE FROM cast_counts WHERE hash = ? AND fid = ? AND likes = 0 AND recasts = 0 AND replies = 0",
);

/** The thread of a cast: its topmost known ancestor, null for a cast that starts a thread, and that ancestor's parent_url. */
export interface ThreadRoot {
  readonly hash: Uint8Array | null;
  readonly parentUrl: string | null;
}

/** The thread of a live cast as stored in its row. */
export function threadRootOf(
  db: IndexDatabase,
  data: MessageData,
  body: CastAddBody,
  hash: Uint8Array,
): ThreadRoot {
  if (body.parent?.$case !== "parentCastId") return { hash: null, parentUrl: body.parent?.value ?? null };
  const row = db.get(rootOf, hash, data.fid);
  return { hash: row?.root_hash ?? null, parentUrl: row?.root_parent_url ?? null };
}

/** Adds to the counts of a cast, which may not have arrived yet. Deletes the row when all counts are zero. */
export function countOnCast(
  db: IndexDatabase,
  target: { hash: Uint8Array; fid: number },
  change: { likes?: number; recasts?: number; replies?: number },
): void {
  const { likes = 0, recasts = 0, replies = 0 } = change;
  db.run(addCounts, target.hash, target.fid, likes, recasts, replies);
  db.invalidations.cast(target.hash);
  if (likes + recasts + replies < 0) db.run(dropEmptyCounts, target.hash, target.fid);
}

/**
 * Makes a live cast visible. Its thread root comes from its parent's row. Replies that arrived earlier had this cast as a
 * missing root; they get the root of this cast.
 */
export function addCast(db: IndexDatabase, data: MessageData, body: CastAddBody, hash: Uint8Array): void {
  const parent = body.parent?.$case === "parentCastId" ? body.parent.value : undefined;
  const parentUrl = body.parent?.$case === "parentUrl" ? body.parent.value : null;
  const root = parent && rootBelow(db, parent);
  const timestamp = toUnixSecs(data.timestamp);
  const columns = [
    hash,
    data.fid,
    timestamp,
    body.text,
    parent?.fid ?? null,
    parent?.hash ?? null,
    parentUrl,
    root?.fid ?? null,
    root?.hash ?? null,
    root?.parentUrl ?? null,
    jsonOf(mentionsOf(body)),
    jsonOf(embedsOf(body)),
  ] as const;
  let id = firstCastId(timestamp, hash);
  while (db.run(insertCast, id, ...columns) === 0) id++;
  const { fid: rootFid, hash: rootHash } = root ?? { fid: data.fid, hash };
  const rootParentUrl = root ? root.parentUrl : parentUrl;
  if (db.get(hasDangling, hash, data.fid)) {
    const adopted = db.all(adoptDangling, rootFid, rootHash, rootParentUrl, hash, data.fid);
    moveThreads(db, adopted, null, rootParentUrl);
  }
  if (parent) countOnCast(db, parent, { replies: 1 });
  if (parentUrl !== null) addToChannel(db, parentUrl, data.fid, timestamp);
  addReferences(db, { fid: data.fid, timestamp, hash, body, rootParentUrl });
  db.search.add(id, body.text);
}

/** Removes a cast. Its replies get the removed cast as their missing root. */
export function dropCast(db: IndexDatabase, data: MessageData, body: CastAddBody, hash: Uint8Array): void {
  const row = db.get(rowOf, hash);
  if (row === undefined) throw new Error("a live cast has no row");
  const { id, rootParentUrl } = row;
  db.search.drop(id);
  db.run(deleteCast, id);
  db.invalidations.cast(hash);
  if (db.get(hasReply, hash, data.fid)) {
    const cutOff = db.all(cutOffDescendants, hash, data.fid);
    moveThreads(db, cutOff, rootParentUrl, null);
  }
  if (body.parent?.$case === "parentCastId") countOnCast(db, body.parent.value, { replies: -1 });
  if (body.parent?.$case === "parentUrl") dropFromChannel(db, body.parent.value, data.fid);
  dropReferences(db, { fid: data.fid, timestamp: toUnixSecs(data.timestamp), hash, body, rootParentUrl });
}

/** Moves the thread notifications of these casts from one root URL to another. */
function moveThreads(
  db: IndexDatabase,
  casts: readonly MovedRow[],
  from: string | null,
  to: string | null,
): void {
  for (const { mentions, ...cast } of casts) {
    db.invalidations.cast(cast.hash);
    const pairs: [fid: number, byteOffset: number][] = JSON.parse(mentions ?? "[]");
    const notifying = { ...cast, mentioned: pairs.map(([fid]) => fid) };
    dropFromThread(db, from, notifying);
    addToThread(db, to, notifying);
  }
}

function rootBelow(
  db: IndexDatabase,
  parent: { fid: number; hash: Uint8Array },
): { fid: number; hash: Uint8Array; parentUrl: string | null } {
  const row = db.get(rootOf, parent.hash, parent.fid);
  if (!row) return { ...parent, parentUrl: null };
  if (row.root_hash === null || row.root_fid === null) return { ...parent, parentUrl: row.parent_url };
  return { fid: row.root_fid, hash: row.root_hash, parentUrl: row.root_parent_url };
}

/** The mentioned fids with their byte offsets, in text order. */
export function mentionsOf(body: CastAddBody): [fid: number, byteOffset: number][] {
  return body.mentions.map((fid, at) => [fid, body.mentionsPositions[at] ?? 0]);
}

/** The stored form of an embed: a URL, or the author and hash of a quoted cast. */
export type StoredEmbed = { url: string } | { fid: number; hash: `0x${string}` };

/** The embeds of a cast in their stored form, deprecated ones first. */
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

function jsonOf(list: readonly unknown[]): string | null {
  return list.length > 0 ? JSON.stringify(list) : null;
}
