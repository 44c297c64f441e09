import type { SQLQueryBindings } from "bun:sqlite";
import { timestampOfCastId } from "../../db/index/cast-id.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import {
  type CastColumns,
  type GenericColumns,
  type LinkColumns,
  type MessageColumns,
  type MessageEnvelope,
  type ReactionColumns,
  SELECT_CASTS,
  SELECT_GENERIC,
  SELECT_LINKS,
  SELECT_REACTIONS,
  SELECT_USER_DATA,
  type UserDataColumns,
} from "../../db/index/messages/columns.ts";
import { messageDataOf, rebuildData } from "../../db/index/messages/rebuild.ts";
import { statement } from "../../db/index/statement.ts";
import { messageHash } from "../../protocol/message/message-hash.ts";
import { toUnixSecs } from "../../protocol/time.ts";
import {
  type FarcasterNetwork,
  HashScheme,
  MessageData,
  SignatureScheme,
} from "../../protocol/wire/generated/message.ts";
import { encodeFields } from "./wire-bytes.ts";

/** Builds messages from the rows that statements select for each kind. */

/** The index and its network. */
export interface MessageDb {
  readonly db: IndexDatabase;
  readonly network: FarcasterNetwork;
}

export type CastRow = Omit<RowOf<CastColumns>, "timestamp"> & { id: number; hash: Uint8Array };
export type ReactionRow = RowOf<ReactionColumns> & { targetId: number };
export type LinkRow = RowOf<LinkColumns>;
export type GenericRow = RowOf<GenericColumns> & { id: number };

/** Returns how statements select the live messages of one table, and how a row becomes a message. */
const messagesOf = <Row>(
  select: string,
  messageOf: (row: Row, network: FarcasterNetwork) => StoredMessage,
) => ({
  /** Selects the columns of such a row from a table with the alias `t`. */
  select,
  message: ({ network }: Pick<MessageDb, "network">, row: Row) => messageOf(row, network),
  /** Declares the statement that reads the rows with a condition. */
  where: <Params extends readonly SQLQueryBindings[]>(name: string, condition: string) =>
    statement<Row, Params>(name, `${select} WHERE ${condition}`),
});

export const storedCasts = messagesOf<CastRow>(SELECT_CASTS, (row, network) => {
  const timestamp = timestampOfCastId(row.id);
  return new StoredMessage({ ...row, table: "casts", timestamp }, timestamp, row, network, row.hash);
});
export const storedReactions = messagesOf<ReactionRow>(
  SELECT_REACTIONS,
  (row, network) => new StoredMessage({ ...row, table: "reactions" }, row.timestamp, row, network),
);
export const storedLinks = messagesOf<LinkRow>(
  SELECT_LINKS,
  (row, network) => new StoredMessage({ ...row, table: "links" }, row.timestamp, row, network),
);
export const storedUserData = messagesOf<RowOf<UserDataColumns>>(
  SELECT_USER_DATA,
  (row, network) => new StoredMessage({ ...row, table: "user_data" }, row.timestamp, row, network),
);
/** Messages of the table for all other types. */
export const storedOthers = messagesOf<GenericRow>(
  SELECT_GENERIC,
  (row, network) => new StoredMessage({ ...row, table: "messages" }, toUnixSecs(row.timestamp), row, network),
);

/** A row of a live message with its envelope, as selected by the statements of this folder. */
type RowOf<Columns extends MessageColumns> = Omit<Columns, "table"> & MessageEnvelope;

/** A live message of a read. It is rebuilt once, when its hash or its wire form is first needed. */
export class StoredMessage {
  readonly fid: number;
  /** Unix seconds. */
  readonly at: number;
  readonly columns: MessageColumns;
  readonly #network: FarcasterNetwork;
  readonly #envelope: MessageEnvelope;
  #data: Uint8Array | undefined;
  #hash: Uint8Array | undefined;
  #encoded: Uint8Array | undefined;

  /** @param hash the hash, if the row contains it. */
  constructor(
    columns: MessageColumns,
    at: number,
    envelope: MessageEnvelope,
    network: FarcasterNetwork,
    hash?: Uint8Array,
  ) {
    this.fid = columns.fid;
    this.at = at;
    this.columns = columns;
    this.#envelope = envelope;
    this.#network = network;
    this.#hash = hash;
  }

  get data(): Uint8Array {
    this.#data ??= rebuildData(this.columns, this.#envelope, this.#network);
    return this.#data;
  }

  get hash(): Uint8Array {
    this.#hash ??= messageHash(this.data);
    return this.#hash;
  }

  get signature(): Uint8Array {
    return this.#envelope.signature;
  }

  get signer(): Uint8Array {
    return this.#envelope.signer;
  }

  /** Returns the decoded data, without encoding it if the columns contain all of it. */
  decodeData(): MessageData {
    const { columns } = this;
    const isRebuilt = this.#envelope.data === null && columns.table !== "messages";
    return isRebuilt ? messageDataOf(columns, this.#network) : MessageData.decode(this.data);
  }

  /**
   * Returns the message in the wire form of responses: its signed bytes are in `data_bytes` and also, because readers use
   * it, in `data`.
   */
  encode(): Uint8Array {
    this.#encoded ??= this.#encode();
    return this.#encoded;
  }

  #encode(): Uint8Array {
    const { data, hash } = this;
    const { signature, signer } = this.#envelope;
    return encodeFields([
      { field: 1, bytes: data },
      { field: 2, bytes: hash },
      { field: 3, value: HashScheme.HASH_SCHEME_BLAKE3 },
      { field: 4, bytes: signature },
      { field: 5, value: SignatureScheme.SIGNATURE_SCHEME_ED25519 },
      { field: 6, bytes: signer },
      { field: 7, bytes: data },
    ]);
  }
}
