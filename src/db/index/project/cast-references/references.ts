import type { CastAddBody } from "../../../../protocol/wire/generated/message.ts";
import type { IndexDatabase } from "../../database.ts";
import { statement } from "../../statement.ts";
import {
  addToThread,
  dropFromThread,
  type NotifyingCast,
  notificationsOfCast,
  notify,
  unnotify,
} from "../notifications.ts";
import { castIdOf, findCastId } from "./named-ids.ts";

type QuoteRow = [quotedId: number, castId: number];
type UrlRow = [url: string, castId: number];
type MentionRow = [mentionedFid: number, castId: number];

const insertQuote = statement<unknown, QuoteRow>(
  "project.quotes.insert",
  "INSERT OR IGNORE INTO cast_quotes (quoted_id, cast_id) VALUES (?, ?)",
);
const deleteQuote = statement<unknown, QuoteRow>(
  "project.quotes.delete",
  "DELETE FROM cast_quotes WHERE quoted_id = ? AND cast_id = ?",
);
const insertUrl = statement<unknown, UrlRow>(
  "project.embed-urls.insert",
  "INSERT OR IGNORE INTO cast_embed_urls (url, cast_id) VALUES (?, ?)",
);
const deleteUrl = statement<unknown, UrlRow>(
  "project.embed-urls.delete",
  "DELETE FROM cast_embed_urls WHERE url = ? AND cast_id = ?",
);
const insertMention = statement<unknown, [...MentionRow, fid: number]>(
  "project.mentions.insert",
  "INSERT OR IGNORE INTO cast_mentions (mentioned_fid, cast_id, fid) VALUES (?, ?, ?)",
);
const deleteMention = statement<unknown, MentionRow>(
  "project.mentions.delete",
  "DELETE FROM cast_mentions WHERE mentioned_fid = ? AND cast_id = ?",
);

/**
 * A cast that refers to other objects. `body` may lack text and parent. `timestamp` is in Unix seconds; `rootUrlId` is the
 * parent URL of its thread's root.
 */
interface Referrer {
  readonly id: number;
  readonly fid: number;
  readonly timestamp: number;
  readonly parentFid: number | null;
  readonly body: CastAddBody;
  readonly rootUrlId: number | null;
}

/** Records the embeds, quotes and mentions of a cast, and notifies the users that it mentions or replies to. */
export function addReferences(db: IndexDatabase, cast: Referrer): void {
  const { id, fid, body } = cast;
  for (const { embed } of body.embeds) {
    if (embed?.$case === "castId") db.run(insertQuote, castIdOf(db, embed.value.fid, embed.value.hash), id);
    else if (embed?.$case === "url") db.run(insertUrl, embed.value, id);
  }
  for (const url of body.embedsDeprecated) db.run(insertUrl, url, id);
  if (body.mentions.length === 0 && cast.parentFid === null) return;
  for (const mentioned of new Set(body.mentions)) db.run(insertMention, mentioned, id, fid);
  const notifying = notifyingFieldsOf(cast);
  for (const notification of notificationsOfCast(notifying)) notify(db, notification);
  addToThread(db, cast.rootUrlId, notifying);
}

/** Reverses `addReferences`. */
export function dropReferences(db: IndexDatabase, cast: Referrer): void {
  const { id, body } = cast;
  for (const { embed } of body.embeds) {
    if (embed?.$case === "castId") dropQuote(db, embed.value, id);
    else if (embed?.$case === "url") db.run(deleteUrl, embed.value, id);
  }
  for (const url of body.embedsDeprecated) db.run(deleteUrl, url, id);
  for (const mentioned of new Set(body.mentions)) db.run(deleteMention, mentioned, id);
  const notifying = notifyingFieldsOf(cast);
  for (const notification of notificationsOfCast(notifying)) unnotify(db, notification);
  dropFromThread(db, cast.rootUrlId, notifying);
}

function dropQuote(db: IndexDatabase, quoted: { fid: number; hash: Uint8Array }, castId: number): void {
  const quotedId = findCastId(db, quoted.fid, quoted.hash);
  // A cast can quote the same cast twice. Then the first embed has already removed the row.
  if (quotedId === undefined) return;
  const oldId = db.repoints.oldIdOf(db, quotedId);
  db.run(deleteQuote, quotedId, castId);
  if (oldId !== undefined) db.run(deleteQuote, oldId, castId);
  db.unnamed.cast(quotedId);
}

function notifyingFieldsOf({ id, fid, timestamp, body, parentFid }: Referrer): NotifyingCast {
  return { id, fid, timestamp, mentioned: body.mentions, parentFid };
}
