import { timestampOfCastId } from "../../db/index/cast-id.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import type {
  CastColumns,
  GenericColumns,
  LinkColumns,
  ReactionColumns,
  UserDataColumns,
} from "../../db/index/messages/columns.ts";
import { toUnixSecs } from "../../protocol/time.ts";
import type { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";
import { type RowOf, StoredMessage } from "./stored-message.ts";

/** What statements select of each kind of live message, and the messages of their rows. */

/** The index and its network. */
export interface MessageDb {
  readonly db: IndexDatabase;
  readonly network: FarcasterNetwork;
}

export const ENVELOPE = "s.key AS signer, e.signature, e.data";
export const JOIN_ENVELOPE = `CROSS JOIN envelopes e ON e.id = t.envelope_id
  CROSS JOIN message_signers s ON s.id = e.signer_id`;
export const CAST_COLUMNS = `t.id, t.hash, t.fid, t.text, t.parent_fid AS parentFid, t.parent_hash AS parentHash,
  u.url AS parentUrl, t.rest, ${ENVELOPE}`;
export const JOIN_CAST = `${JOIN_ENVELOPE} LEFT JOIN urls u ON u.id = t.parent_url_id`;
export const REACTION_COLUMNS = `t.fid, t.timestamp, t.type, t.target_fid AS targetFid, t.target_id AS targetId,
  coalesce(c.hash, m.hash) AS targetHash, u.url AS targetUrl, ${ENVELOPE}`;
export const JOIN_REACTION = `${JOIN_ENVELOPE} LEFT JOIN casts c ON c.id = t.target_id
  LEFT JOIN missing_casts m ON m.id = t.target_id LEFT JOIN urls u ON u.id = t.target_id`;
export const LINK_COLUMNS = `t.fid, t.timestamp, t.type, t.target_fid AS targetFid, t.displayed_at AS displayedAt,
  ${ENVELOPE}`;
export const GENERIC_COLUMNS =
  "t.id, t.fid, t.timestamp, t.store, t.slot, t.kind, s.key AS signer, t.signature, t.data";
export const JOIN_SIGNER = "CROSS JOIN message_signers s ON s.id = t.signer_id";

export type CastRow = Omit<RowOf<CastColumns>, "timestamp"> & { id: number; hash: Uint8Array };
export type ReactionRow = RowOf<ReactionColumns> & { targetId: number };
export type LinkRow = RowOf<LinkColumns>;
export type UserDataRow = RowOf<UserDataColumns>;
export type GenericRow = RowOf<GenericColumns> & { id: number };

export function castMessage({ network }: Pick<MessageDb, "network">, row: CastRow): StoredMessage {
  const timestamp = timestampOfCastId(row.id);
  return new StoredMessage({ ...row, table: "casts", timestamp }, timestamp, row, network, row.hash);
}

export function reactionMessage({ network }: MessageDb, row: ReactionRow): StoredMessage {
  return new StoredMessage({ ...row, table: "reactions" }, row.timestamp, row, network);
}

export function linkMessage({ network }: MessageDb, row: LinkRow): StoredMessage {
  return new StoredMessage({ ...row, table: "links" }, row.timestamp, row, network);
}

export function userDataMessage({ network }: MessageDb, row: UserDataRow): StoredMessage {
  return new StoredMessage({ ...row, table: "user_data" }, row.timestamp, row, network);
}

export function genericMessage({ network }: MessageDb, row: GenericRow): StoredMessage {
  return new StoredMessage({ ...row, table: "messages" }, toUnixSecs(row.timestamp), row, network);
}
