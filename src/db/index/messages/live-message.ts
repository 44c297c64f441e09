import { type Kind, type MessageSlot, type Store, slotOf } from "../../../protocol/merge-rules.ts";
import { messageHash } from "../../../protocol/message-hash.ts";
import type { SignedMessage } from "../../../protocol/signed-message.ts";
import { toFarcasterSecs } from "../../../protocol/time.ts";
import type { FarcasterNetwork } from "../../../protocol/wire/generated/message.ts";
import type { MessageColumns, MessageEnvelope } from "./columns.ts";
import { messageDataOf } from "./message-data-of.ts";
import { rebuildData, rebuildEncoded, rebuildMessage } from "./rebuild.ts";

/** A live message as it was read from its row. What the row does not hold is computed when it is first used. */
export class LiveMessage implements MessageSlot {
  readonly columns: MessageColumns;
  readonly store: Store;
  readonly slot: Uint8Array;
  readonly kind: Kind;
  readonly #network: FarcasterNetwork;
  readonly #readEnvelope: () => MessageEnvelope;
  #envelope: MessageEnvelope | undefined;
  #hash: Uint8Array | undefined;

  /** @param hash the hash, if the row has it. */
  constructor(
    columns: MessageColumns,
    network: FarcasterNetwork,
    readEnvelope: () => MessageEnvelope,
    hash?: Uint8Array,
  ) {
    const place = slotOfColumns(columns, network, hash);
    this.columns = columns;
    this.store = place.store;
    this.slot = place.slot;
    this.kind = place.kind;
    this.#network = network;
    this.#readEnvelope = readEnvelope;
    this.#hash = hash;
  }

  get fid(): number {
    return this.columns.fid;
  }

  /** Farcaster seconds. */
  get timestamp(): number {
    const { table, timestamp } = this.columns;
    return table === "messages" ? timestamp : toFarcasterSecs(timestamp);
  }

  get hash(): Uint8Array {
    this.#hash ??= messageHash(rebuildData(this.columns, this.envelope, this.#network));
    return this.#hash;
  }

  get envelope(): MessageEnvelope {
    this.#envelope ??= this.#readEnvelope();
    return this.#envelope;
  }

  /** Returns the message in the wire form of `encodeMessage`. */
  encode(): Uint8Array {
    return rebuildEncoded(this.columns, this.envelope, this.#network, this.#hash);
  }

  decode(): SignedMessage {
    return rebuildMessage(this.columns, this.envelope, this.#network, this.#hash);
  }
}

function slotOfColumns(
  columns: MessageColumns,
  network: FarcasterNetwork,
  hash: Uint8Array = new Uint8Array(),
): MessageSlot {
  // The hash is a part of the slot of casts only.
  return columns.table === "messages" ? columns : slotOf({ data: messageDataOf(columns, network), hash });
}
