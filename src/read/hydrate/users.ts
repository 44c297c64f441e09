import { type ScoreMode, scoresOf } from "../../db/index/counts/scores.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { statement } from "../../db/index/statement.ts";
import { authAddressOf } from "../../protocol/auth-address.ts";
import { UserDataType } from "../../protocol/wire/generated/message.ts";

/** The state of a User object. Times are in Unix seconds. */
export interface UserState {
  readonly fid: number;
  readonly custody: Uint8Array | null;
  readonly registeredAt: number | null;
  readonly followers: number;
  readonly following: number;
  readonly pro: { readonly subscribedAt: number; readonly expiresAt: number } | undefined;
  /** The USERNAME, while its proof is live and belongs to the fid. */
  readonly username: string | undefined;
  readonly data: ReadonlyMap<UserDataType, string>;
  /** Oldest first. */
  readonly verifications: readonly Verification[];
  /** The addresses that may sign in as the user, oldest first. */
  readonly authAddresses: readonly AuthAddress[];
  /** From 0 to 1; undefined while scores are off. */
  readonly score: number | undefined;
}

/**
 * What scores may affect: filters of webhooks and streams, audiences of sends, the order of user search, trending and
 * for_you feeds, the fold.
 */
export type ScoreUse = "webhooks" | "sends" | "search" | "feeds" | "fold";

/** Which scores are shown, and the score of an account that has none. */
export interface ScoreSource {
  readonly mode: ScoreMode;
  readonly unknown: number;
}

/** What scores affect, besides being shown. */
export interface ScorePolicy extends ScoreSource {
  /** Replies by accounts with a lower score are below the fold. */
  readonly foldBelow: number;
  /** Listed by the operator. */
  readonly enforced: ReadonlySet<ScoreUse>;
}

export interface AuthAddress {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** The fid of the app that requested the key; 0 if its metadata names none. */
  readonly appFid: number;
}

export interface Verification {
  readonly address: Uint8Array;
  readonly protocol: number;
  /** Time of the signature. */
  readonly timestamp: number;
}

interface UserRow {
  fid: number;
  custody: Uint8Array | null;
  registeredAt: number | null;
  followers: number | null;
  following: number | null;
  subscribedAt: number | null;
  expiresAt: number | null;
  username: string | null;
  /** `<key in hex>:<request fid>`, separated by spaces. */
  authKeys: string | null;
}

// The index of proofs by fid contains the name; a look-up by name would also read its row.
const userRows = statement<UserRow, [fidsJson: string]>(
  "hydrate.users",
  `SELECT f.fid, f.custody, f.registered_at AS registeredAt, c.followers, c.following,
     p.subscribed_at AS subscribedAt, p.expires_at AS expiresAt, n.name AS username,
     (SELECT group_concat(hex(s.key) || ':' || s.request_fid, ' ' ORDER BY s.added_at, s.key) FROM signers s
      WHERE s.fid = f.fid AND s.key_type = 2 AND s.state = 1) AS authKeys
   FROM json_each(?) j
   CROSS JOIN fids f ON f.fid = j.value
   LEFT JOIN follow_counts c ON c.fid = f.fid
   LEFT JOIN pro_tiers p ON p.fid = f.fid
   LEFT JOIN user_data u ON u.fid = f.fid AND u.type = ${UserDataType.USER_DATA_TYPE_USERNAME}
   LEFT JOIN username_proofs n INDEXED BY username_proofs_by_fid ON n.name = u.value AND n.fid = f.fid`,
);
const dataRows = statement<{ fid: number; type: UserDataType; value: string }, [fidsJson: string]>(
  "hydrate.user-data",
  `SELECT d.fid, d.type, d.value FROM json_each(?) j CROSS JOIN user_data d ON d.fid = j.value
   WHERE d.value != ''`,
);
const verificationRows = statement<Verification & { fid: number }, [fidsJson: string]>(
  "hydrate.verifications",
  `SELECT v.fid, v.address, v.protocol, v.timestamp FROM json_each(?) j CROSS JOIN verifications v ON v.fid = j.value
   ORDER BY v.fid, v.timestamp, v.address`,
);

/** Look-ups that load a user: by row id, and by keys that begin with the fid. */
const USER_ROWS = ["fids", "follow_counts", "pro_tiers"];
const USER_KEYS = ["user_data", "verifications", "signers", "username_proofs_by_fid"];

/** Loads the users among `fids` that exist, in three statements for any number of fids; at most four more for their scores. */
export function loadUsers(
  db: IndexDatabase,
  fids: Iterable<number>,
  scoreSource?: ScoreSource,
): Map<number, UserState> {
  const distinct = [...new Set(fids)];
  const users = new Map<number, UserState>();
  if (distinct.length === 0) return users;
  db.willRead(() => [
    ...USER_ROWS.map((tree) => ({ tree, keys: distinct })),
    ...USER_KEYS.map((tree) => ({ tree, keys: distinct.map((fid) => [fid]) })),
  ]);
  const json = JSON.stringify(distinct);
  const scores = scoreSource && scoresOf(db, scoreSource.mode, distinct);
  const data = new Map<number, Map<UserDataType, string>>();
  for (const row of db.all(dataRows, json)) entry(data, row.fid, newMap).set(row.type, row.value);
  const verifications = new Map<number, Verification[]>();
  for (const row of db.all(verificationRows, json)) entry(verifications, row.fid, newList).push(row);
  for (const row of db.all(userRows, json)) {
    users.set(row.fid, {
      fid: row.fid,
      custody: row.custody,
      registeredAt: row.registeredAt,
      followers: row.followers ?? 0,
      following: row.following ?? 0,
      pro:
        row.subscribedAt !== null && row.expiresAt !== null
          ? { subscribedAt: row.subscribedAt, expiresAt: row.expiresAt }
          : undefined,
      username: row.username ?? undefined,
      data: data.get(row.fid) ?? newMap(),
      verifications: verifications.get(row.fid) ?? [],
      authAddresses: row.authKeys === null ? [] : authAddressesIn(row.authKeys),
      score: scores && (scores.get(row.fid) ?? scoreSource.unknown),
    });
  }
  return users;
}

function authAddressesIn(authKeys: string): AuthAddress[] {
  return authKeys.split(" ").flatMap((authKey) => {
    const [hexKey = "", appFid] = authKey.split(":");
    const address = authAddressOf(Buffer.from(hexKey, "hex"));
    return address ? [{ address, appFid: Number(appFid) }] : [];
  });
}

const newMap = (): Map<UserDataType, string> => new Map();
const newList = (): Verification[] => [];

function entry<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}
