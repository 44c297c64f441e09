import { messageHash } from "../message/message-hash.ts";
import { MAX_DATA_BYTES_OF_ANY_TYPE, type SignedMessage } from "../message/signed-message.ts";
import { invalid, type Rejection } from "../rejection.ts";
import { toFarcasterSecs } from "../time.ts";
import { FarcasterNetwork, HashScheme, MessageType, SignatureScheme } from "../wire/generated/message.ts";
import { verifyEd25519 } from "./ed25519.ts";
import { equalBytes, MAX_CLOCK_SKEW_SECS } from "./fields.ts";

/** Size limit for messages without a larger limit of their own, and for casts of authors without Pro. */
export const MAX_DATA_BYTES = 2048;
const MAX_DATA_BYTES_OF_LARGE_TYPES = 16_384;

/** The inputs of a validation besides the message. */
export interface ValidationContext {
  /** The network of this node. Messages of other networks are refused. */
  readonly network: FarcasterNetwork;
  /** The current time in Unix seconds, for "too far in the future". */
  readonly nowUnixSecs: number;
  /** Whether the network accepted the message earlier, as with an import. A lend in it need not be recent. */
  readonly isHistory?: boolean;
  /** Whether a frame action is valid. It can be validated, but not stored. */
  readonly acceptsFrameActions?: boolean;
}

/** Checks the envelope in the order of the reference node: size, network, hash, signature, time. */
export function validateEnvelope(message: SignedMessage, ctx: ValidationContext): Rejection | undefined {
  const { data } = message;
  const maxBytes = maxDataBytes(data.type);
  if (message.dataBytes.length > maxBytes) return invalid(`data is larger than ${maxBytes} bytes`);
  if (data.network === FarcasterNetwork.FARCASTER_NETWORK_NONE || data.network !== ctx.network) {
    return invalid("network is not the one of this node");
  }
  if (message.hashScheme !== HashScheme.HASH_SCHEME_BLAKE3) return invalid("hash_scheme must be BLAKE3");
  if (!equalBytes(messageHash(message.dataBytes), message.hash)) {
    return invalid("hash is not that of the data");
  }
  if (message.signatureScheme !== SignatureScheme.SIGNATURE_SCHEME_ED25519) {
    return invalid("signature_scheme must be ED25519");
  }
  if (!verifyEd25519(message.signer, message.hash, message.signature)) return invalid("invalid signature");
  if (data.timestamp > toFarcasterSecs(ctx.nowUnixSecs) + MAX_CLOCK_SKEW_SECS) {
    return invalid(`timestamp is more than ${MAX_CLOCK_SKEW_SECS} seconds in the future`);
  }
  return undefined;
}

/**
 * Returns the maximum size of the data. A cast above 2048 bytes also requires Pro, which depends on the state (`needsPro`).
 */
function maxDataBytes(type: MessageType): number {
  switch (type) {
    case MessageType.MESSAGE_TYPE_CAST_ADD:
    case MessageType.MESSAGE_TYPE_USERNAME_PROOF:
    case MessageType.MESSAGE_TYPE_FRAME_ACTION:
      return MAX_DATA_BYTES_OF_LARGE_TYPES;
    case MessageType.MESSAGE_TYPE_LINK_COMPACT_STATE:
      return MAX_DATA_BYTES_OF_ANY_TYPE;
    default:
      return MAX_DATA_BYTES;
  }
}
