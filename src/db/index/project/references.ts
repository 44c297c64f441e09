import type { CastAddBody } from "../../../protocol/wire/generated/message.ts";
import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";
import {
  addToThread,
  dropFromThread,
  type NotifyingCast,
  notificationsOfCast,
  notify,
  unnotify,
} from "./notifications.ts";

type QuoteRow = [quotedHash: Uint8Array, quotedFid: number, timestamp: number, hash: Uint8Array];
type UrlRow = [url: string, timestamp: number, hash: Uint8Array];
type MentionRow = [fid: number, mentionedFid: number, hash: Uint8Array];

const insertQuote = statement<unknown, QuoteRow>(
  "project.quotes.insert",
  "INSERT OR IGNORE INTO cast_quotes (quoted_hash, quoted_fid, timestamp, hash) VALUES (?, ?, ?, ?)",
);
const deleteQuote = statement<unknown, QuoteRow>(
  "project.quotes.delete",
  "DELETE FROM cast_quotes WHERE quoted_hash = ? AND quoted_fid = ? AND timestamp = ? AND hash = ?",
);
const insertUrl = statement<unknown, UrlRow>(
  "project.embed-urls.insert",
  "INSERT OR IGNORE INTO cast_embed_urls (url, timestamp, hash) VALUES (?, ?, ?)",
);
const deleteUrl = statement<unknown, UrlRow>(
  "project.embed-urls.delete",
  "DELETE FROM cast_embed_urls WHERE url = ? AND timestamp = ? AND hash = ?",
);
const insertMention = statement<unknown, MentionRow>(
  "project.mentions.insert",
  "INSERT OR IGNORE INTO cast_mentions (fid, mentioned_fid, hash) VALUES (?, ?, ?)",
);
const deleteMention = statement<unknown, MentionRow>(
  "project.mentions.delete",
  "DELETE FROM cast_mentions WHERE fid = ? AND mentioned_fid = ? AND hash = ?",
);

/** A cast that refers to others. `timestamp`: unix seconds; `rootParentUrl`: the parent URL of its thread's root. */
interface Referrer {
  readonly fid: number;
  readonly timestamp: number;
  readonly hash: Uint8Array;
  readonly body: CastAddBody;
  readonly rootParentUrl: string | null;
}

/** Records the embeds, quotes and mentions of a cast, and notifies the users that it mentions or replies to. */
export function addReferences(db: IndexDatabase, cast: Referrer): void {
  const { fid, timestamp, hash } = cast;
  for (const quoted of quotedBy(cast)) db.run(insertQuote, quoted.hash, quoted.fid, timestamp, hash);
  for (const url of urlsIn(cast)) db.run(insertUrl, url, timestamp, hash);
  for (const mentioned of new Set(cast.body.mentions)) db.run(insertMention, fid, mentioned, hash);
  const notifying = notifyingFieldsOf(cast);
  for (const notification of notificationsOfCast(notifying)) notify(db, notification);
  addToThread(db, cast.rootParentUrl, notifying);
}

/** The reverse of `addReferences`. */
export function dropReferences(db: IndexDatabase, cast: Referrer): void {
  const { fid, timestamp, hash } = cast;
  for (const quoted of quotedBy(cast)) db.run(deleteQuote, quoted.hash, quoted.fid, timestamp, hash);
  for (const url of urlsIn(cast)) db.run(deleteUrl, url, timestamp, hash);
  for (const mentioned of new Set(cast.body.mentions)) db.run(deleteMention, fid, mentioned, hash);
  const notifying = notifyingFieldsOf(cast);
  for (const notification of notificationsOfCast(notifying)) unnotify(db, notification);
  dropFromThread(db, cast.rootParentUrl, notifying);
}

function quotedBy({ body }: Referrer): { fid: number; hash: Uint8Array }[] {
  return body.embeds.flatMap(({ embed }) => (embed?.$case === "castId" ? [embed.value] : []));
}

function urlsIn({ body }: Referrer): string[] {
  return [
    ...body.embedsDeprecated,
    ...body.embeds.flatMap(({ embed }) => (embed?.$case === "url" ? [embed.value] : [])),
  ];
}

function notifyingFieldsOf({ fid, timestamp, hash, body }: Referrer): NotifyingCast {
  const parentFid = body.parent?.$case === "parentCastId" ? body.parent.value.fid : null;
  return { fid, timestamp, hash, mentioned: body.mentions, parentFid };
}
