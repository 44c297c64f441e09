import { Message, MessageType, type ReactionType } from "../../src/protocol/wire/generated/message.ts";
import { DEFAULT_TIMESTAMP, signMessage } from "./messages.ts";
import { accountSigner } from "./node.ts";

/** Short forms of common messages of the accounts of `accountRecords`. */

/** The hash of an encoded message, as in responses. */
export function hashOf(message: Uint8Array): `0x${string}` {
  return `0x${Message.decode(message).hash.toHex()}`;
}

export function reactionMessage(
  fid: number,
  type: ReactionType,
  target: { fid: number; hash: `0x${string}` },
  options: { remove?: boolean; at?: number } = {},
): Uint8Array {
  return signMessage(
    {
      type: options.remove ? MessageType.MESSAGE_TYPE_REACTION_REMOVE : MessageType.MESSAGE_TYPE_REACTION_ADD,
      fid,
      timestamp: options.at ?? DEFAULT_TIMESTAMP,
      body: {
        $case: "reactionBody",
        value: {
          type,
          target: {
            $case: "targetCastId",
            value: { fid: target.fid, hash: Buffer.from(target.hash.slice(2), "hex") },
          },
        },
      },
    },
    accountSigner(fid),
  );
}

export function linkMessage(
  fid: number,
  type: string,
  targetFid: number,
  options: { remove?: boolean; at?: number } = {},
): Uint8Array {
  return signMessage(
    {
      type: options.remove ? MessageType.MESSAGE_TYPE_LINK_REMOVE : MessageType.MESSAGE_TYPE_LINK_ADD,
      fid,
      timestamp: options.at ?? DEFAULT_TIMESTAMP,
      body: { $case: "linkBody", value: { type, target: { $case: "targetFid", value: targetFid } } },
    },
    accountSigner(fid),
  );
}
