import type { PgSettings } from "../../db/postgres/pools.ts";
import { onWholeState } from "../../db/postgres/whole-state.ts";
import { openStateReader, type StateDatabase, statePath } from "../../db/state/database.ts";
import { printable } from "../../lib/text.ts";

/** The API keys and managed signers of a restored state. Those that were deleted after the copy was made are valid again. */
export interface RestoredKeys {
  readonly count: number;
  /** At most 100. */
  readonly listed: readonly RestoredKey[];
}

export interface RestoredKey {
  readonly kind: "API key" | "signer";
  readonly id: string;
  readonly ownerFid: number;
  /** The name of an API key, or the fid of a signer's user; may be empty. */
  readonly of: string;
}

interface KeyRow {
  readonly kind: RestoredKey["kind"];
  readonly id: string;
  readonly owner_fid: number | string;
  readonly of_whom: string;
}

const MAX_LISTED = 100;
const COUNT = "SELECT (SELECT count(*) FROM api_keys) + (SELECT count(*) FROM managed_signers) AS n";
const LIST = `SELECT * FROM (
    SELECT 'API key' AS kind, api_key_id AS id, owner_fid, name AS of_whom FROM api_keys
    UNION ALL
    SELECT 'signer' AS kind, signer_uuid AS id, owner_fid, coalesce('fid ' || fid, '') AS of_whom FROM managed_signers
  ) k ORDER BY kind, owner_fid, id LIMIT ${MAX_LISTED}`;

/** Reads the keys of a state.db. */
export function restoredSqliteKeys(dataDir: string): RestoredKeys {
  using db = openStateReader(statePath(dataDir));
  return restoredKeysOf(db);
}

/** Reads the keys of an open state.db. */
export function restoredKeysOf(db: StateDatabase): RestoredKeys {
  return db.snapshot(() => {
    const count = db.sqlite.query<{ n: number }, []>(COUNT).get()?.n ?? 0;
    return { count, listed: db.sqlite.query<KeyRow, []>(LIST).all().map(toKey) };
  });
}

/** Reads the keys of a state in PostgreSQL. */
export function restoredPostgresKeys(settings: PgSettings): Promise<RestoredKeys> {
  return onWholeState(settings, async (runner) => {
    const [counted] = await runner.runText(COUNT);
    const rows = (await runner.runText(LIST)) as readonly unknown[] as readonly KeyRow[];
    return { count: Number(counted?.n ?? 0), listed: rows.map(toKey) };
  });
}

function toKey({ kind, id, owner_fid, of_whom }: KeyRow): RestoredKey {
  return { kind, id, ownerFid: Number(owner_fid), of: of_whom };
}

/** Returns what to do about the keys, as lines of text. */
export function restoredKeysText({ count, listed }: RestoredKeys): string {
  const head =
    "Apps, webhooks, secrets, API keys and signers that were deleted after the backup are back: list them, and delete them again.\n";
  if (count === 0) return head;
  const lines = listed.map(
    ({ kind, id, ownerFid, of }) =>
      `  ${kind} ${id} of fid ${ownerFid}${of === "" ? "" : `: ${printable(of)}`}`,
  );
  const more = count > listed.length ? [`  and ${count - listed.length} more`] : [];
  return `${head}These API keys and signers work:\n${[...lines, ...more].join("\n")}\n`;
}
