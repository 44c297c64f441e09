import { Kind, type Rank, Store } from "../../../protocol/message/merge-rules.ts";
import type { SignedMessage } from "../../../protocol/message/signed-message.ts";
import { toFarcasterSecs } from "../../../protocol/time.ts";
import type { FarcasterNetwork } from "../../../protocol/wire/generated/message.ts";
import { timestampOfCastId } from "../cast-id.ts";
import type { IndexDatabase } from "../database.ts";
import type { MessageColumns, MessageEnvelope } from "../messages/columns.ts";
import { rebuildMessage } from "../messages/rebuild.ts";
import { statement } from "../statement.ts";
import { urlOf } from "./cast-references/named-ids.ts";
import type { CastRow } from "./casts.ts";
import type { LinkRow } from "./links.ts";
import type { OtherMessageRow } from "./other-messages.ts";
import type { ReactionRow } from "./reactions.ts";
import type { UserDataRow } from "./user-data.ts";

/** The row of a live message, with the name of its table. */
export type MessageRow =
  | ({ readonly table: "casts" } & CastRow)
  | ({ readonly table: "reactions" } & ReactionRow)
  | ({ readonly table: "links" } & LinkRow)
  | ({ readonly table: "user_data" } & UserDataRow)
  | ({ readonly table: "messages" } & OtherMessageRow);

const STORES = {
  casts: Store.Casts,
  reactions: Store.Reactions,
  links: Store.Links,
  user_data: Store.UserData,
} as const;

const hashOfCast = statement<{ hash: Uint8Array }, [id: number]>(
  "stored-message.hash-of-cast",
  "SELECT hash FROM casts WHERE id = ?1 UNION ALL SELECT hash FROM missing_casts WHERE id = ?1",
);

/** A live message. The message, and the hash of all but casts, are rebuilt when first read. */
export class StoredMessage implements Rank {
  readonly row: MessageRow;
  readonly #db: IndexDatabase;
  readonly #network: FarcasterNetwork;
  #message: SignedMessage | undefined;

  constructor(db: IndexDatabase, network: FarcasterNetwork, row: MessageRow) {
    this.#db = db;
    this.#network = network;
    this.row = row;
  }

  get fid(): number {
    return this.row.fid;
  }

  get store(): Store {
    return this.row.table === "messages" ? this.row.store : STORES[this.row.table];
  }

  get kind(): Kind {
    return this.row.table === "messages" ? this.row.kind : Kind.Add;
  }

  /** Farcaster seconds. */
  get timestamp(): number {
    const { row } = this;
    if (row.table === "messages") return row.timestamp;
    return toFarcasterSecs(row.table === "casts" ? timestampOfCastId(row.id) : row.timestamp);
  }

  get hash(): Uint8Array {
    return this.row.table === "casts" ? this.row.hash : this.message.hash;
  }

  /** Reports whether it is that message. Compares the times first, because the hash may have to be computed. */
  is({ data, hash }: SignedMessage): boolean {
    return this.timestamp === data.timestamp && Buffer.compare(this.hash, hash) === 0;
  }

  get message(): SignedMessage {
    this.#message ??= this.#rebuild();
    return this.#message;
  }

  #rebuild(): SignedMessage {
    const { row } = this;
    const hash = row.table === "casts" ? row.hash : undefined;
    return rebuildMessage(this.#columns(), this.#envelope(), this.#network, hash);
  }

  #envelope(): MessageEnvelope {
    const { row } = this;
    if (row.table !== "messages") return readEnvelope(this.#db, row.envelopeId);
    return { signer: signerKeyOf(this.#db, row.signerId), signature: row.signature, data: row.data };
  }

  #columns(): MessageColumns {
    const { row } = this;
    switch (row.table) {
      case "casts": {
        const parentUrl = row.parentUrlId === null ? null : urlOf(this.#db, row.parentUrlId);
        return { ...row, timestamp: timestampOfCastId(row.id), parentUrl };
      }
      case "reactions": {
        const targetUrl = row.targetFid === 0 ? urlOf(this.#db, row.targetId) : null;
        return { ...row, targetUrl, targetHash: targetUrl === null ? this.#hashOf(row.targetId) : null };
      }
      default:
        return row;
    }
  }

  #hashOf(castId: number): Uint8Array {
    const row = this.#db.get(hashOfCast, castId);
    if (!row) throw new Error("a reaction names a cast that has no row");
    return row.hash;
  }
}

const signerKey = statement<{ key: Uint8Array }, [id: number]>(
  "envelopes.signer-key",
  "SELECT key FROM message_signers WHERE id = ?",
);
const insertEnvelope = statement<unknown, [signerId: number, signature: Uint8Array, data: Uint8Array | null]>(
  "envelopes.insert",
  "INSERT INTO envelopes (signer_id, signature, data) VALUES (?, ?, ?)",
);
const envelopeById = statement<MessageEnvelope, [id: number]>(
  "envelopes.by-id",
  `SELECT s.key AS signer, e.signature, e.data
   FROM envelopes e CROSS JOIN message_signers s ON s.id = e.signer_id WHERE e.id = ?`,
);
const deleteEnvelope = statement<unknown, [id: number]>(
  "envelopes.delete",
  "DELETE FROM envelopes WHERE id = ?",
);

/** Stores the parts of a message that its columns do not contain. Returns the id of the row. */
export function putEnvelope(db: IndexDatabase, { signer, signature, data }: MessageEnvelope): number {
  return db.insert(insertEnvelope, db.signers.of(db, signer), signature, data);
}

function readEnvelope(db: IndexDatabase, id: number): MessageEnvelope {
  const row = db.get(envelopeById, id);
  if (!row) throw new Error("a live message has no envelope");
  return row;
}

export function dropEnvelope(db: IndexDatabase, id: number): void {
  db.run(deleteEnvelope, id);
}

function signerKeyOf(db: IndexDatabase, id: number): Uint8Array {
  const row = db.get(signerKey, id);
  if (!row) throw new Error("a live message has no signer");
  return row.key;
}
