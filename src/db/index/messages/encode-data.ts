import { type FarcasterNetwork, MessageData } from "../../../protocol/wire/generated/message.ts";
import type { TypedColumns } from "./columns.ts";
import { messageDataOf } from "./message-data-of.ts";

/** Encodes the data of a message from its columns, in the canonical form of the generated encoder. */
export function encodeData(columns: TypedColumns, network: FarcasterNetwork): Uint8Array {
  return MessageData.encode(messageDataOf(columns, network)).finish();
}
