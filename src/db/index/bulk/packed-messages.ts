import { Kind } from "../../../protocol/message/merge-rules.ts";
import { toUnixSecs } from "../../../protocol/time.ts";
import { MessageData } from "../../../protocol/wire/generated/message.ts";
import { firstCastId } from "../cast-id.ts";
import { type CastColumns, type SplitMessage, storedLinkType } from "../messages/columns.ts";
import { decodeRest } from "../messages/fields.ts";
import { searchText } from "../search/search-text.ts";
import type { PackedMessages } from "./bulk-state.ts";
import { ByteWriter } from "./byte-records.ts";

/**
 * The rows of the spool, by the first byte of each packed row. The values of a row follow in the order of the columns in
 * `spool.ts`. A row with an envelope starts with the envelope: signer, signature, data.
 */
export const RowKind = {
  Cast: 1,
  Reply: 2,
  Quote: 3,
  Mention: 4,
  EmbedUrl: 5,
  SearchText: 6,
  Reaction: 7,
  Link: 8,
  UserData: 9,
  /** A message of the generic table. The kinds of row below belong to the last message before them. */
  Message: 10,
  CastRemove: 11,
  ReactionRemove: 12,
  LinkRemove: 13,
  Compact: 14,
  Verification: 15,
  Lend: 16,
} as const;

/** Packs valid messages one by one. They are split by `splitEncoded` and `splitMessage`. */
export class MessagePacker {
  readonly #writer = new ByteWriter();
  #count = 0;

  add(message: SplitMessage): void {
    packMessage(this.#writer, message);
    this.#count += 1;
  }

  /** Bytes of the messages packed so far. */
  get size(): number {
    return this.#writer.size;
  }

  finish(): PackedMessages {
    return { count: this.#count, bytes: this.#writer.finish() };
  }
}

export function packMessages(messages: readonly SplitMessage[]): PackedMessages {
  const packer = new MessagePacker();
  for (const message of messages) packer.add(message);
  return packer.finish();
}

/** The kind of the row and the length of the key precede the key. */
const SIGNER_AT = 1 + 4;
const SIGNER_BYTES = 32;

/** Returns the signer of the message whose rows start at an offset, as a view. */
export function signerOfRow(rows: Uint8Array, at: number): Uint8Array {
  return rows.subarray(at + SIGNER_AT, at + SIGNER_AT + SIGNER_BYTES);
}

function packMessage(writer: ByteWriter, { columns, envelope, hash }: SplitMessage): void {
  const start = (kind: number) => {
    writer.byte(kind);
    writer.bytes(envelope.signer);
    writer.bytes(envelope.signature);
    writer.bytesOrNull(envelope.data);
  };
  switch (columns.table) {
    case "casts":
      start(RowKind.Cast);
      packCast(writer, columns, hash);
      break;
    case "reactions":
      start(RowKind.Reaction);
      writer.int(columns.fid);
      writer.int(columns.type);
      writer.int(columns.targetFid);
      writer.bytesOrNull(columns.targetHash);
      writer.textOrNull(columns.targetHash === null ? (columns.targetUrl ?? "") : null);
      writer.int(columns.timestamp);
      writer.int(rankOf(hash));
      break;
    case "links":
      start(RowKind.Link);
      writer.int(columns.fid);
      writer.intOrText(columns.type);
      writer.int(columns.targetFid);
      writer.int(columns.timestamp);
      writer.int(columns.displayedAt ?? NO_TIME);
      writer.int(rankOf(hash));
      break;
    case "user_data":
      start(RowKind.UserData);
      writer.int(columns.fid);
      writer.int(columns.type);
      writer.text(columns.value);
      writer.int(columns.timestamp);
      writer.int(rankOf(hash));
      break;
    case "messages": {
      const { fid, store, slot, kind, timestamp } = columns;
      start(RowKind.Message);
      writer.int(fid);
      writer.int(store);
      writer.bytes(slot);
      writer.int(kind);
      writer.int(timestamp);
      if (envelope.data) packGenericBody(writer, MessageData.decode(envelope.data), kind);
    }
  }
}

/** Stands for "no display time". */
export const NO_TIME = -1;

function packCast(writer: ByteWriter, cast: CastColumns, hash: Uint8Array): void {
  const { fid, text, parentFid, parentHash, parentUrl, rest } = cast;
  const firstId = firstCastId(cast.timestamp, hash);
  writer.int(firstId);
  writer.bytes(hash);
  writer.int(fid);
  writer.text(text);
  writer.textOrNull(parentUrl);
  writer.bytesOrNull(rest);
  const own = (kind: number) => {
    writer.byte(kind);
    writer.int(firstId);
    writer.bytes(hash);
  };
  if (parentHash) {
    own(RowKind.Reply);
    writer.int(fid);
    writer.bytes(parentHash);
    writer.int(parentFid ?? 0);
  }
  const searchable = searchText(text);
  if (searchable !== text) {
    own(RowKind.SearchText);
    writer.text(searchable);
  }
  if (rest === null) return;
  const body = decodeRest(rest);
  for (const mentionedFid of new Set(body.mentions)) {
    own(RowKind.Mention);
    writer.int(fid);
    writer.int(mentionedFid);
  }
  const urls = new Set(body.embedsDeprecated);
  for (const { embed } of body.embeds) {
    if (embed?.$case === "url") urls.add(embed.value);
    if (embed?.$case !== "castId") continue;
    own(RowKind.Quote);
    writer.bytes(embed.value.hash);
    writer.int(embed.value.fid);
  }
  for (const url of urls) {
    own(RowKind.EmbedUrl);
    writer.text(url);
  }
}

/** Writes what the build needs of a generic message besides its row. */
function packGenericBody(writer: ByteWriter, data: MessageData, kind: Kind): void {
  const { body, fid } = data;
  const timestamp = toUnixSecs(data.timestamp);
  switch (body?.$case) {
    case "castRemoveBody":
      writer.byte(RowKind.CastRemove);
      writer.int(fid);
      writer.bytes(body.value.targetHash);
      break;
    case "reactionBody": {
      const { target, type } = body.value;
      writer.byte(RowKind.ReactionRemove);
      writer.int(fid);
      writer.int(type);
      writer.int(target?.$case === "targetCastId" ? target.value.fid : 0);
      writer.bytesOrNull(target?.$case === "targetCastId" ? target.value.hash : null);
      writer.textOrNull(target?.$case === "targetUrl" ? target.value : null);
      writer.int(timestamp);
      break;
    }
    case "linkBody":
      writer.byte(RowKind.LinkRemove);
      writer.int(fid);
      writer.intOrText(storedLinkType(body.value.type));
      writer.int(body.value.target?.value ?? 0);
      writer.int(timestamp);
      break;
    case "linkCompactStateBody":
      writer.byte(RowKind.Compact);
      writer.int(fid);
      break;
    case "verificationAddBody":
      if (kind !== Kind.Add) break;
      writer.byte(RowKind.Verification);
      writer.int(fid);
      writer.bytes(body.value.address);
      writer.int(body.value.protocol);
      writer.int(timestamp);
      break;
    case "lendStorageBody":
      writer.byte(RowKind.Lend);
      writer.int(fid);
      writer.int(body.value.toFid);
      writer.int(body.value.unitType);
      writer.int(body.value.numUnits);
  }
}

/** Returns the first 48 bits of a hash, which decide between messages of one slot and second as the whole hash does. */
function rankOf(hash: Uint8Array): number {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.length).readUIntBE(0, 6);
}
