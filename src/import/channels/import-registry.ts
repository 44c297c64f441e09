import { readFileSync, statSync } from "node:fs";
import type { IndexDatabase } from "../../db/index/database.ts";
import { statement } from "../../db/index/statement.ts";
import { reasonOf, UserError } from "../../lib/failure.ts";
import { type BadRow, type RegisteredChannel, readRegistry } from "./registry-file.ts";

/** Rows of a registry file by their outcome. */
export interface RegistryImport {
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly badRows: readonly BadRow[];
}

/** The public registry has about 30 MB. The text and its parsed form are in memory at the same time. */
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

const exists = statement<{ one: number }, [id: string]>(
  "channels.registry.exists",
  "SELECT 1 AS one FROM channel_registry WHERE id = ?",
);
const deleteMoved = statement<unknown, [registryId: string, id: string]>(
  "channels.registry.delete-moved",
  "DELETE FROM channel_registry WHERE registry_id = ? AND id != ?",
);
const upsert = statement<unknown, [id: string, ...Row]>(
  "channels.registry.upsert",
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
 * Imports a registry file into the index, in one transaction. Channels that the file does not contain are unchanged; a
 * channel that it contains is replaced as a whole.
 *
 * @throws UserError if the file cannot be read, is not a registry, or has no valid row.
 */
export function importRegistry(db: IndexDatabase, path: string): RegistryImport {
  const rows = readRegistry(parsedFile(path));
  if (!rows) throw new UserError(`${path} contains no list of channels`);
  const { channels, badRows } = rows;
  const [worst] = badRows;
  if (worst && channels.length === 0)
    throw new UserError(`${path} contains no valid row; row ${worst.index}: ${worst.reason}`);
  return db.transaction(() => {
    const done = { added: 0, changed: 0, unchanged: 0 };
    for (const channel of channels) done[upsertChannel(db, channel)] += 1;
    db.invalidations.everything();
    return { ...done, badRows };
  });
}

function upsertChannel(db: IndexDatabase, channel: RegisteredChannel): "added" | "changed" | "unchanged" {
  const { id, registryId, url, name, imageUrl, description, leadFid, followerCount, createdAt } = channel;
  // The registry gave the channel another URL.
  const moved = db.run(deleteMoved, registryId, id) > 0;
  const known = moved || db.get(exists, id) !== undefined;
  const moderatorFids = JSON.stringify(channel.moderatorFids);
  const changes = db.run(
    upsert,
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
  const { size, isFile } = statFile(path);
  if (!isFile) throw new UserError(`${path} is not a file`);
  if (size > MAX_FILE_BYTES) throw new UserError(`${path} has ${size} bytes, more than ${MAX_FILE_BYTES}`);
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new UserError(`${path} is not JSON: ${reasonOf(cause)}`, { cause });
  }
}

function statFile(path: string): { size: number; isFile: boolean } {
  try {
    const stat = statSync(path);
    return { size: stat.size, isFile: stat.isFile() };
  } catch (cause) {
    throw new UserError(`${path} cannot be read: ${reasonOf(cause)}`, { cause });
  }
}
