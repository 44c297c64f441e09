import type { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";
import type { IndexDatabase } from "./database.ts";
import { CAST_COLUMNS, type CastRow } from "./project/casts.ts";
import { LINK_COLUMNS, type LinkRow } from "./project/links.ts";
import { OTHER_MESSAGE_COLUMNS, type OtherMessageRow } from "./project/other-messages.ts";
import { REACTION_COLUMNS, type ReactionRow } from "./project/reactions.ts";
import { type MessageRow, StoredMessage } from "./project/stored-message.ts";
import { USER_DATA_COLUMNS, type UserDataRow } from "./project/user-data.ts";

/**
 * Iterates over all live messages, table by table. For tools that read the whole index: its queries scan tables, so they are
 * not declared with the statements that serve the node. Nothing may write meanwhile.
 */
export function* allMessages(db: IndexDatabase, network: FarcasterNetwork): Generator<StoredMessage> {
  for (const row of allRows(db)) yield new StoredMessage(db, network, row);
}

function* allRows({ sqlite }: IndexDatabase): Generator<MessageRow> {
  for (const row of sqlite.query<CastRow, []>(`SELECT ${CAST_COLUMNS} FROM casts`).iterate())
    yield { table: "casts", ...row };
  for (const row of sqlite.query<ReactionRow, []>(`SELECT ${REACTION_COLUMNS} FROM reactions`).iterate())
    yield { table: "reactions", ...row };
  for (const row of sqlite.query<LinkRow, []>(`SELECT ${LINK_COLUMNS} FROM links`).iterate())
    yield { table: "links", ...row };
  for (const row of sqlite.query<UserDataRow, []>(`SELECT ${USER_DATA_COLUMNS} FROM user_data`).iterate())
    yield { table: "user_data", ...row };
  const others = sqlite.query<OtherMessageRow, []>(`SELECT ${OTHER_MESSAGE_COLUMNS} FROM messages`);
  for (const row of others.iterate()) yield { table: "messages", ...row };
}
