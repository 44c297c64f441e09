import { readFileSync, statSync } from "node:fs";
import type { IndexDatabase } from "../../db/index/database.ts";
import { statement } from "../../db/index/statement.ts";
import { reasonOf, UserError } from "../../lib/failure.ts";
import { type BadRow, type RegisteredChannel, readRegistry } from "./registry-file.ts";

/** What an import did, in rows. */
export interface RegistryImport {
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly badRows: readonly BadRow[];
}

/** The public registry has some 30 MB; the text and its parsed form stand in memory at once. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;

type Row = [
  registryId: string,
  url: string | null,
  name: string,
  nameKey: string,
  imageUrl: string | null,
  description: string | null,
  leadFid: number | null,
  moderatorFids: string,
  followerCount: number,
  createdAt: number | null,
  pinnedCastHash: string | null,
];

const COLUMNS =
  "registry_id, url, name, name_key, image_url, description, lead_fid, moderator_fids, follower_count, created_at, pinned_cast_hash";

const isThere = statement<{ one: number }, [id: string]>(
  "channels.registry.is-there",
  "SELECT 1 AS one FROM channel_registry WHERE id = ?",
);
const deleteMoved = statement<unknown, [registryId: string, id: string]>(
  "channels.registry.delete-moved",
  "DELETE FROM channel_registry WHERE registry_id = ? AND id != ?",
);
const put = statement<unknown, [id: string, ...Row]>(
  "channels.registry.put",
  `INSERT INTO channel_registry (id, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
   ON CONFLICT (id) DO UPDATE SET (${COLUMNS}) = (${excluded()})
   WHERE (${COLUMNS}) IS NOT (${excluded()})`,
);

function excluded(): string {
  return COLUMNS.split(", ")
    .map((column) => `excluded.${column}`)
    .join(", ");
}

/**
 * Takes a registry file into the index, in one transaction. Rows of earlier imports that the file does not name stay; a
 * channel that the file names has what the file says and nothing older.
 *
 * @throws UserError when the file cannot be read, is no registry, or holds not a single good row.
 */
export function importRegistry(db: IndexDatabase, path: string): RegistryImport {
  const rows = readRegistry(parsedFile(path));
  if (!rows) throw new UserError(`${path} holds no list of channels`);
  const { channels, badRows } = rows;
  const [worst] = badRows;
  if (worst && channels.length === 0)
    throw new UserError(`${path} holds no good row; row ${worst.index}: ${worst.reason}`);
  return db.transaction(() => {
    const done = { added: 0, changed: 0, unchanged: 0 };
    for (const channel of channels) done[putChannel(db, channel)] += 1;
    db.invalidations.everything();
    return { ...done, badRows };
  });
}

function putChannel(db: IndexDatabase, channel: RegisteredChannel): "added" | "changed" | "unchanged" {
  const { id, registryId, url, name, imageUrl, description, leadFid, followerCount, createdAt } = channel;
  // The registry gave the channel another URL.
  const moved = db.run(deleteMoved, registryId, id) > 0;
  const known = moved || db.get(isThere, id) !== undefined;
  const moderatorFids = JSON.stringify(channel.moderatorFids);
  const changes = db.run(
    put,
    id,
    registryId,
    url,
    name,
    name.toLowerCase(),
    imageUrl,
    description,
    leadFid,
    moderatorFids,
    followerCount,
    createdAt,
    channel.pinnedCastHash,
  );
  if (!known) return "added";
  return changes > 0 ? "changed" : "unchanged";
}

function parsedFile(path: string): unknown {
  const { size, isFile } = fileFacts(path);
  if (!isFile) throw new UserError(`${path} is no file`);
  if (size > MAX_FILE_BYTES) throw new UserError(`${path} has ${size} bytes, more than ${MAX_FILE_BYTES}`);
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new UserError(`${path} is no JSON: ${reasonOf(cause)}`, { cause });
  }
}

function fileFacts(path: string): { size: number; isFile: boolean } {
  try {
    const stat = statSync(path);
    return { size: stat.size, isFile: stat.isFile() };
  } catch (cause) {
    throw new UserError(`${path} cannot be read: ${reasonOf(cause)}`, { cause });
  }
}
