import { decodeMessage } from "../../../protocol/signed-message.ts";
import {
  type FarcasterNetwork,
  HashScheme,
  SignatureScheme,
} from "../../../protocol/wire/generated/message.ts";
import type { SplitMessage } from "./columns.ts";
import { encodesTo } from "./encode-data.ts";
import { MessageTag } from "./fields.ts";
import { readColumns } from "./read-data.ts";
import { splitMessage } from "./split.ts";
import { WireReader } from "./wire-reader.ts";

// Reading is synchronous, so all calls share one reader.
const reader = new WireReader();

/**
 * Splits a valid message in wire form, without decoding it where `readColumns` can read it. Blobs of the result are views of
 * `bytes`. The result is that of `splitMessage`; neither checks the hash.
 *
 * @throws Error when the bytes are not a message.
 */
export function splitEncoded(bytes: Uint8Array, network: FarcasterNetwork): SplitMessage {
  const envelope = readEnvelope(bytes);
  const columns = envelope && readColumns(envelope.dataBytes);
  if (!envelope || !columns) return splitDecoded(bytes, network);
  const { hash, signature, signer, dataBytes } = envelope;
  const data = encodesTo(columns, network, dataBytes) ? null : dataBytes;
  return { columns, envelope: { signer, signature, data }, hash };
}

function splitDecoded(bytes: Uint8Array, network: FarcasterNetwork): SplitMessage {
  const message = decodeMessage(bytes);
  if (!message.ok) throw new Error(`message is unreadable: ${message.error.reason}`);
  return splitMessage(message.value, network);
}

/** Reads the form that `encodeMessage` gives; undefined for any other. */
function readEnvelope(bytes: Uint8Array) {
  reader.reset(bytes);
  const hash = readBytes(MessageTag.Hash);
  const hashScheme = reader.uint32(MessageTag.HashScheme);
  const signature = readBytes(MessageTag.Signature);
  const signatureScheme = reader.uint32(MessageTag.SignatureScheme);
  const signer = readBytes(MessageTag.Signer);
  const dataBytes = readBytes(MessageTag.DataBytes);
  const isUsual =
    !reader.failed &&
    reader.left === 0 &&
    hashScheme === HashScheme.HASH_SCHEME_BLAKE3 &&
    signatureScheme === SignatureScheme.SIGNATURE_SCHEME_ED25519;
  return isUsual ? { hash, signature, signer, dataBytes } : undefined;
}

function readBytes(tag: number): Uint8Array {
  if (reader.take(tag)) return reader.bytes();
  reader.failed = true;
  return new Uint8Array();
}
