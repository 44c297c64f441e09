import type { Statement } from "../../sqlite/statement-registry.ts";
import { timestampOfCastId } from "../cast-id.ts";
import type { IndexDatabase } from "../database.ts";
import { bulkStatement } from "./bulk-state.ts";
import { ByteReader } from "./byte-records.ts";
import { NO_TIME, RowKind } from "./packed-messages.ts";
import { addWeek, weekTable } from "./spool-tables.ts";

type Bytes = Uint8Array;

const WEEK_SECS = 604_800;
/** Signers and URLs whose ids are cached. An fid's messages arrive together, so few others are needed. */
const MAX_CACHED_IDS = 50_000;

const insertEnvelope = bulkStatement<
  unknown,
  [id: number, signerId: number, signature: Bytes, data: Bytes | null]
>("bulk.spool.envelope", "INSERT INTO envelopes (id, signer_id, signature, data) VALUES (?, ?, ?, ?)");
const insertReply = bulkStatement<unknown, [number, Bytes, number, Bytes, number]>(
  "bulk.spool.reply",
  "INSERT INTO bulk_replies (first_id, hash, fid, parent_hash, parent_fid) VALUES (?, ?, ?, ?, ?)",
);
const insertQuote = bulkStatement<unknown, [number, Bytes, Bytes, number]>(
  "bulk.spool.quote",
  "INSERT INTO bulk_quotes (first_id, hash, quoted_hash, quoted_fid) VALUES (?, ?, ?, ?)",
);
const insertMention = bulkStatement<unknown, [number, Bytes, number, number]>(
  "bulk.spool.mention",
  "INSERT INTO bulk_mentions (first_id, hash, fid, mentioned_fid) VALUES (?, ?, ?, ?)",
);
const insertEmbedUrl = bulkStatement<unknown, [number, Bytes, string]>(
  "bulk.spool.embed-url",
  "INSERT INTO bulk_embed_urls (first_id, hash, url) VALUES (?, ?, ?)",
);
const insertSearchText = bulkStatement<unknown, [number, Bytes, string]>(
  "bulk.spool.search-text",
  "INSERT INTO bulk_search_texts (first_id, hash, text) VALUES (?, ?, ?)",
);
const insertReaction = bulkStatement<
  unknown,
  [number, number, number, Bytes | null, number | null, number, number, number]
>(
  "bulk.spool.reaction",
  `INSERT INTO bulk_reactions (fid, type, target_fid, target_hash, url_id, timestamp, rank, envelope_id)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
);
const insertLink = bulkStatement<
  unknown,
  [number, number | string, number, number, number | null, number, number]
>(
  "bulk.spool.link",
  `INSERT INTO bulk_links (fid, type, target_fid, timestamp, displayed_at, rank, envelope_id)
   VALUES (?, ?, ?, ?, ?, ?, ?)`,
);
const insertUserData = bulkStatement<unknown, [number, number, string, number, number, number]>(
  "bulk.spool.user-data",
  "INSERT INTO bulk_user_data (fid, type, value, timestamp, rank, envelope_id) VALUES (?, ?, ?, ?, ?, ?)",
);
const insertMessage = bulkStatement<
  unknown,
  [number, number, number, Bytes, number, number, number, Bytes, Bytes]
>(
  "bulk.spool.message",
  `INSERT INTO messages (id, fid, store, slot, kind, timestamp, signer_id, signature, data)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);
const insertCastRemove = bulkStatement<unknown, [number, number, Bytes]>(
  "bulk.spool.cast-remove",
  "INSERT INTO bulk_cast_removes (message_id, fid, hash) VALUES (?, ?, ?)",
);
const insertReactionRemove = bulkStatement<
  unknown,
  [number, number, number, number, Bytes | null, string | null, number]
>(
  "bulk.spool.reaction-remove",
  `INSERT INTO bulk_reaction_removes (message_id, fid, type, target_fid, target_hash, url, timestamp)
   VALUES (?, ?, ?, ?, ?, ?, ?)`,
);
const insertLinkRemove = bulkStatement<unknown, [number, number, number | string, number, number]>(
  "bulk.spool.link-remove",
  "INSERT INTO bulk_link_removes (message_id, fid, type, target_fid, timestamp) VALUES (?, ?, ?, ?, ?)",
);
const insertCompact = bulkStatement<unknown, [number, number]>(
  "bulk.spool.compact",
  "INSERT INTO bulk_compacts (message_id, fid) VALUES (?, ?)",
);
const insertVerification = bulkStatement<unknown, [number, number, Bytes, number, number]>(
  "bulk.spool.verification",
  "INSERT INTO bulk_verifications (message_id, fid, address, protocol, timestamp) VALUES (?, ?, ?, ?, ?)",
);
const insertLend = bulkStatement<unknown, [number, number, number, number, number]>(
  "bulk.spool.lend",
  "INSERT INTO bulk_lends (message_id, fid, to_fid, unit_type, units) VALUES (?, ?, ?, ?, ?)",
);
const lastEnvelope = bulkStatement<{ id: number | null }>(
  "bulk.spool.last-envelope",
  "SELECT max(id) AS id FROM envelopes",
);
const lastMessage = bulkStatement<{ id: number | null }>(
  "bulk.spool.last-message",
  "SELECT max(id) AS id FROM messages",
);
const findSigner = bulkStatement<{ id: number }, [key: Bytes]>(
  "bulk.spool.signer",
  "SELECT id FROM message_signers WHERE key = ?",
);
const addSigner = bulkStatement<{ id: number }, [key: Bytes]>(
  "bulk.spool.add-signer",
  "INSERT INTO message_signers (key) VALUES (?) RETURNING id",
);
const findUrl = bulkStatement<{ id: number }, [url: string]>(
  "bulk.spool.url",
  "SELECT id FROM urls WHERE url = ?",
);
const addUrl = bulkStatement<{ id: number }, [url: string]>(
  "bulk.spool.add-url",
  "INSERT INTO urls (url) VALUES (?) RETURNING id",
);

type CastInsert = Statement<unknown, [number, Bytes, number, string, number | null, Bytes | null, number]>;

/** Appends packed messages to the tables of the spool, inside a transaction. */
export class Spool {
  readonly #db: IndexDatabase;
  readonly #castInserts = new Map<number, CastInsert>();
  readonly #urls = new Map<string, number>();
  readonly #signers = new Map<string, number>();
  #lastSigner: { readonly key: Bytes; readonly id: number } | undefined;
  #nextEnvelope: number | undefined;
  #nextMessage: number | undefined;

  constructor(db: IndexDatabase) {
    this.#db = db;
  }

  /** Forgets what a transaction that was rolled back may have added. */
  reset(): void {
    this.#castInserts.clear();
    this.#urls.clear();
    this.#signers.clear();
    this.#lastSigner = undefined;
    this.#nextEnvelope = undefined;
    this.#nextMessage = undefined;
  }

  append(packed: Bytes): void {
    const reader = new ByteReader(packed);
    let message = 0;
    while (!reader.isAtEnd) {
      const kind = reader.byte();
      if (kind === RowKind.Message) message = this.#message(reader);
      else if (kind > RowKind.Message) this.#ofMessage(kind, message, reader);
      else this.#row(kind, reader);
    }
  }

  #row(kind: number, r: ByteReader): void {
    const db = this.#db;
    switch (kind) {
      case RowKind.Cast: {
        const envelope = this.#envelope(r);
        const firstId = r.int();
        const insert = this.#castInsert(Math.floor(timestampOfCastId(firstId) / WEEK_SECS));
        const [hash, fid, text, url, rest] = [r.bytes(), r.int(), r.text(), r.textOrNull(), r.bytesOrNull()];
        db.run(insert, firstId, hash, fid, text, url === null ? null : this.#urlId(url), rest, envelope);
        break;
      }
      case RowKind.Reply:
        db.run(insertReply, r.int(), r.bytes(), r.int(), r.bytes(), r.int());
        break;
      case RowKind.Quote:
        db.run(insertQuote, r.int(), r.bytes(), r.bytes(), r.int());
        break;
      case RowKind.Mention:
        db.run(insertMention, r.int(), r.bytes(), r.int(), r.int());
        break;
      case RowKind.EmbedUrl:
        db.run(insertEmbedUrl, r.int(), r.bytes(), r.text());
        break;
      case RowKind.SearchText:
        db.run(insertSearchText, r.int(), r.bytes(), r.text());
        break;
      case RowKind.Reaction: {
        const envelope = this.#envelope(r);
        const [fid, type, targetFid, hash, url] = [
          r.int(),
          r.int(),
          r.int(),
          r.bytesOrNull(),
          r.textOrNull(),
        ];
        const urlId = url === null ? null : this.#urlId(url);
        db.run(insertReaction, fid, type, targetFid, hash, urlId, r.int(), r.int(), envelope);
        break;
      }
      case RowKind.Link: {
        const envelope = this.#envelope(r);
        const [fid, type, target, timestamp, displayedAt] = [
          r.int(),
          r.intOrText(),
          r.int(),
          r.int(),
          r.int(),
        ];
        const displayed = displayedAt === NO_TIME ? null : displayedAt;
        db.run(insertLink, fid, type, target, timestamp, displayed, r.int(), envelope);
        break;
      }
      case RowKind.UserData: {
        const envelope = this.#envelope(r);
        db.run(insertUserData, r.int(), r.int(), r.text(), r.int(), r.int(), envelope);
        break;
      }
      default:
        throw new RangeError(`packed row of kind ${kind}`);
    }
  }

  #message(r: ByteReader): number {
    this.#nextMessage ??= (this.#db.get(lastMessage)?.id ?? 0) + 1;
    const id = this.#nextMessage++;
    const signerId = this.#signerId(r.bytes());
    const [signature, data] = [r.bytes(), r.bytes()];
    const [fid, store, slot, kind, timestamp] = [r.int(), r.int(), r.bytes(), r.int(), r.int()];
    this.#db.run(insertMessage, id, fid, store, slot, kind, timestamp, signerId, signature, data);
    return id;
  }

  /** Appends a row that belongs to a generic message. */
  #ofMessage(kind: number, id: number, r: ByteReader): void {
    const db = this.#db;
    switch (kind) {
      case RowKind.CastRemove:
        db.run(insertCastRemove, id, r.int(), r.bytes());
        break;
      case RowKind.ReactionRemove:
        db.run(insertReactionRemove, id, r.int(), r.int(), r.int(), r.bytesOrNull(), r.textOrNull(), r.int());
        break;
      case RowKind.LinkRemove:
        db.run(insertLinkRemove, id, r.int(), r.intOrText(), r.int(), r.int());
        break;
      case RowKind.Compact:
        db.run(insertCompact, id, r.int());
        break;
      case RowKind.Verification:
        db.run(insertVerification, id, r.int(), r.bytes(), r.int(), r.int());
        break;
      case RowKind.Lend:
        db.run(insertLend, id, r.int(), r.int(), r.int(), r.int());
        break;
      default:
        throw new RangeError(`packed row of kind ${kind}`);
    }
  }

  #envelope(r: ByteReader): number {
    this.#nextEnvelope ??= (this.#db.get(lastEnvelope)?.id ?? 0) + 1;
    const id = this.#nextEnvelope++;
    const signerId = this.#signerId(r.bytes());
    this.#db.run(insertEnvelope, id, signerId, r.bytes(), r.bytesOrNull());
    return id;
  }

  #castInsert(week: number): CastInsert {
    const known = this.#castInserts.get(week);
    if (known) return known;
    addWeek(this.#db, week);
    const insert: CastInsert = {
      name: "bulk.spool.cast",
      sql: `INSERT INTO ${weekTable(week)} (first_id, hash, fid, text, parent_url_id, rest, envelope_id)
            VALUES (?, ?, ?, ?, ?, ?, ?)`,
    };
    this.#castInserts.set(week, insert);
    return insert;
  }

  #signerId(key: Bytes): number {
    if (this.#lastSigner && Buffer.compare(this.#lastSigner.key, key) === 0) return this.#lastSigner.id;
    const text = Buffer.from(key.buffer, key.byteOffset, key.length).toString("latin1");
    const id = cachedId(this.#signers, text, () => {
      const found = this.#db.get(findSigner, key) ?? this.#db.get(addSigner, key);
      if (!found) throw new Error("a signer got no id");
      return found.id;
    });
    this.#lastSigner = { key: key.slice(), id };
    return id;
  }

  #urlId(url: string): number {
    return cachedId(this.#urls, url, () => {
      const found = this.#db.get(findUrl, url) ?? this.#db.get(addUrl, url);
      if (!found) throw new Error("a URL got no id");
      return found.id;
    });
  }
}

function cachedId(cache: Map<string, number>, key: string, find: () => number): number {
  const known = cache.get(key);
  if (known !== undefined) return known;
  if (cache.size >= MAX_CACHED_IDS) cache.clear();
  const id = find();
  cache.set(key, id);
  return id;
}
