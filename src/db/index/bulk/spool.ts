import type { Statement } from "../../sqlite/statement-registry.ts";
import { timestampOfCastId } from "../cast-id.ts";
import type { IndexDatabase } from "../database.ts";
import { ByteReader } from "./byte-records.ts";
import { NO_TIME, RowKind } from "./packed-messages.ts";
import {
  addSigner,
  addUrl,
  type Bytes,
  findSigner,
  findUrl,
  insertCastRemove,
  insertCompact,
  insertEmbedUrl,
  insertEnvelope,
  insertLend,
  insertLink,
  insertLinkRemove,
  insertMention,
  insertMessage,
  insertQuote,
  insertReaction,
  insertReactionRemove,
  insertReply,
  insertSearchText,
  insertUserData,
  insertVerification,
  lastEnvelope,
  lastMessage,
  WEEK_SECS,
} from "./spool-statements.ts";
import { addWeek, weekTable } from "./spool-tables.ts";

/**
 * Number of signers and of URLs whose ids are cached. An fid's messages arrive together, so few other look-ups are needed.
 */
const MAX_CACHED_IDS = 50_000;

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

  /** Discards cached ids that a rolled-back transaction may have added. */
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
