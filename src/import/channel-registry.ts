import { readFileSync, statSync } from "node:fs";
import type { IndexDatabase } from "../db/index/database.ts";
import { statement } from "../db/index/statement.ts";
import { reasonOf, UserError } from "../lib/failure.ts";
import { channelIdOf } from "../protocol/channel-url.ts";

/** Number of rows in a registry file by outcome. */
export interface RegistryImport {
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly badRows: readonly BadRow[];
}

/** The public registry takes about 30 MB. The text and its parsed form are in memory at the same time. */
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
 * Imports a registry file into the index in one transaction. Channels that are not in the file stay unchanged; a
 * channel in the file is replaced as a whole.
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

/** A validated channel of the registry. Times are unix seconds. */
interface RegisteredChannel {
  /** Id of the channel in responses, derived from its URL. */
  readonly id: string;
  /** Id of the channel in the registry. */
  readonly registryId: string;
  readonly url: string | null;
  readonly name: string;
  readonly imageUrl: string | null;
  readonly description: string | null;
  readonly leadFid: number | null;
  readonly moderatorFids: readonly number[];
  readonly followerCount: number;
  readonly createdAt: number | null;
  readonly pinnedCastHash: string | null;
}

/** An invalid row of the file. `index` is its position in the file's list, from 0. */
export interface BadRow {
  readonly index: number;
  readonly reason: string;
}

interface RegistryRows {
  readonly channels: readonly RegisteredChannel[];
  readonly badRows: readonly BadRow[];
}

/** The protocol's limit for a parent URL. It also applies to ids, because an id may be a URL itself. */
const MAX_URL_BYTES = 256;
const MAX_NAME_CHARS = 256;
const MAX_IMAGE_URL_CHARS = 4096;
const MAX_DESCRIPTION_CHARS = 16_384;
const MAX_MODERATORS = 1000;
/** A larger time is in milliseconds: in seconds it would be after the year 5138. */
const MAX_SECONDS = 99_999_999_999;
const MAX_MILLISECONDS = 8.64e15;

/**
 * Validates the parsed text of a registry file: `{ result: { channels: [...] } }`, the response of the public `all-channels`
 * endpoint, `{ channels: [...] }`, or a bare list. Keys may be in camelCase or snake_case. Unknown keys are ignored.
 *
 * @returns undefined if the value has none of these shapes.
 */
export function readRegistry(value: unknown): RegistryRows | undefined {
  const rows = listIn(value);
  if (!rows) return undefined;
  const channels: RegisteredChannel[] = [];
  const badRows: BadRow[] = [];
  const seen = new Map<string, number>();
  rows.forEach((row, index) => {
    try {
      const channel = readChannel(row);
      // Two rows of one channel would overwrite each other on every import.
      const keys = [`id ${channel.id}`, `registry ${channel.registryId}`];
      const duplicated = keys.map((key) => seen.get(key)).find((at) => at !== undefined);
      if (duplicated !== undefined) throw new BadRowError(`it is a duplicate of row ${duplicated}`);
      for (const key of keys) seen.set(key, index);
      channels.push(channel);
    } catch (cause) {
      if (!(cause instanceof BadRowError)) throw cause;
      badRows.push({ index, reason: cause.message });
    }
  });
  return { channels, badRows };
}

class BadRowError extends Error {}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function listIn(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (!isFields(value)) return undefined;
  return listIn(value.result) ?? (Array.isArray(value.channels) ? value.channels : undefined);
}

function readChannel(row: unknown): RegisteredChannel {
  if (!isFields(row)) throw new BadRowError("it is not an object");
  const registryId = readText(row, "id", MAX_URL_BYTES);
  if (registryId === null || registryId === "") throw new BadRowError("id is missing");
  const url = readText(row, "url", MAX_URL_BYTES) || null;
  for (const [key, text] of [["id", registryId] as const, ["url", url] as const]) {
    if (text !== null && Buffer.byteLength(text) > MAX_URL_BYTES)
      throw new BadRowError(`${key} is longer than ${MAX_URL_BYTES} bytes`);
  }
  const id = channelIdOf(url ?? registryId);
  return {
    id,
    registryId,
    url,
    name: readText(row, "name", MAX_NAME_CHARS) || registryId,
    imageUrl: readText(row, "imageUrl", MAX_IMAGE_URL_CHARS) || null,
    description: readText(row, "description", MAX_DESCRIPTION_CHARS) || null,
    leadFid: readInteger(row, "leadFid") || null,
    moderatorFids: readFids(row, "moderatorFids"),
    followerCount: readInteger(row, "followerCount") ?? 0,
    createdAt: readTime(row, "createdAt"),
    pinnedCastHash: readHash(row, "pinnedCastHash"),
  };
}

function field(row: Fields, name: string): unknown {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return row[name] ?? row[snake] ?? null;
}

function readText(row: Fields, name: string, maxChars: number): string | null {
  const value = field(row, name);
  if (value === null) return null;
  if (typeof value !== "string") throw new BadRowError(`${name} is not text`);
  if (value.length > maxChars) throw new BadRowError(`${name} is longer than ${maxChars} characters`);
  if (!value.isWellFormed()) throw new BadRowError(`${name} is not valid Unicode`);
  return value;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function readInteger(row: Fields, name: string): number | null {
  const value = field(row, name);
  if (value === null) return null;
  if (!isCount(value)) throw new BadRowError(`${name} is not an unsigned integer`);
  return value;
}

function readTime(row: Fields, name: string): number | null {
  const value = readInteger(row, name);
  if (value === null || value <= MAX_SECONDS) return value || null;
  if (value > MAX_MILLISECONDS) throw new BadRowError(`${name} is not a time`);
  return Math.floor(value / 1000);
}

function readFids(row: Fields, name: string): number[] {
  const value = field(row, name);
  if (value === null) return [];
  if (!Array.isArray(value) || !value.every(isCount)) throw new BadRowError(`${name} is not a list of fids`);
  if (value.length > MAX_MODERATORS)
    throw new BadRowError(`${name} contains more than ${MAX_MODERATORS} fids`);
  return [...new Set(value)];
}

function readHash(row: Fields, name: string): string | null {
  const value = readText(row, name, MAX_URL_BYTES);
  if (value === null || value === "") return null;
  if (!/^0x[0-9a-f]{40}$/i.test(value)) throw new BadRowError(`${name} is not a cast hash`);
  return value.toLowerCase();
}
