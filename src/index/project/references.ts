import type { CastAddBody } from "../../protocol/wire/generated/message.ts";
import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";
import { type Notification, NotificationKind, notify, unnotify } from "./notifications.ts";

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

/** A cast as what refers to others. `timestamp`: unix seconds. */
interface Referrer {
  readonly fid: number;
  readonly timestamp: number;
  readonly hash: Uint8Array;
  readonly body: CastAddBody;
}

/** Notes what a cast embeds and whom it quotes, mentions and answers, and tells them. */
export function addReferences(db: IndexDatabase, cast: Referrer): void {
  const { fid, timestamp, hash } = cast;
  for (const quoted of quotedBy(cast)) db.run(insertQuote, quoted.hash, quoted.fid, timestamp, hash);
  for (const url of urlsIn(cast)) db.run(insertUrl, url, timestamp, hash);
  for (const mentioned of new Set(cast.body.mentions)) db.run(insertMention, fid, mentioned, hash);
  for (const notification of notificationsOf(cast)) notify(db, notification);
}

/** The reverse of `addReferences`. */
export function dropReferences(db: IndexDatabase, cast: Referrer): void {
  const { fid, timestamp, hash } = cast;
  for (const quoted of quotedBy(cast)) db.run(deleteQuote, quoted.hash, quoted.fid, timestamp, hash);
  for (const url of urlsIn(cast)) db.run(deleteUrl, url, timestamp, hash);
  for (const mentioned of new Set(cast.body.mentions)) db.run(deleteMention, fid, mentioned, hash);
  for (const notification of notificationsOf(cast)) unnotify(db, notification);
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

/** One for each person: a reply that also mentions the one it answers is a reply. */
function notificationsOf({ fid, timestamp, hash, body }: Referrer): Notification[] {
  const kinds = new Map<number, NotificationKind>();
  for (const mentioned of body.mentions) kinds.set(mentioned, NotificationKind.Mention);
  if (body.parent?.$case === "parentCastId") kinds.set(body.parent.value.fid, NotificationKind.Reply);
  return [...kinds].map(([told, kind]) => ({ fid: told, timestamp, kind, actorFid: fid, ref: hash }));
}
