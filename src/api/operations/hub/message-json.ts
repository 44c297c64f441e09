import { encodeBase58 } from "../../../lib/base58.ts";
import {
  type CastAddBody,
  type CastId,
  HashScheme,
  type Message,
  MessageData,
  SignatureScheme,
  type UserNameProof,
  VerificationProtocol,
} from "../../../protocol/wire/generated/message.ts";
import type { StoredMessage } from "../../../read/hub/stored-message.ts";
import {
  base64,
  CAST_TYPES,
  CASTING_MODES,
  CHANNEL_MEMBER_ACTIONS,
  CHANNEL_MODERATE_ACTIONS,
  HASH_SCHEMES,
  hex,
  MEMBERSHIP_MODES,
  MESSAGE_TYPES,
  NETWORKS,
  nameOf,
  PROTOCOLS,
  REACTION_TYPES,
  SIGNATURE_SCHEMES,
  UNIT_TYPES,
  USER_DATA_TYPES,
  USERNAME_TYPES,
} from "./names.ts";

/** The JSON of messages, key by key like on the reference node. */

type Body = NonNullable<MessageData["body"]>;

/** The parts of a message that are shown in its JSON. */
interface ShownMessage {
  readonly data: MessageData;
  readonly hash: Uint8Array;
  readonly hashScheme: number;
  readonly signature: Uint8Array;
  readonly signatureScheme: number;
  readonly signer: Uint8Array;
  /** The signed bytes, without which the hash cannot be verified; shown if given. */
  readonly dataBytes: Uint8Array | undefined;
}

export function storedMessageJson(stored: StoredMessage, withDataBytes = false): object {
  return shownJson({
    data: stored.decodeData(),
    hash: stored.hash,
    hashScheme: HashScheme.HASH_SCHEME_BLAKE3,
    signature: stored.signature,
    signatureScheme: SignatureScheme.SIGNATURE_SCHEME_ED25519,
    signer: stored.signer,
    dataBytes: withDataBytes ? stored.data : undefined,
  });
}

/** The JSON of casts that the thread reads repeatedly (`CastMessages`). */
const castTexts = new WeakMap<StoredMessage, string>();

/** Returns a stored message as the text of its JSON. */
export function storedMessageText(stored: StoredMessage, withDataBytes: boolean): string {
  if (withDataBytes || stored.columns.table !== "casts")
    return JSON.stringify(storedMessageJson(stored, withDataBytes));
  const known = castTexts.get(stored);
  if (known !== undefined) return known;
  const text = JSON.stringify(storedMessageJson(stored));
  castTexts.set(stored, text);
  return text;
}

/** Returns a wire message as JSON. Its data is decoded from the bytes covered by the hash. */
export function messageJson({ dataBytes = new Uint8Array(), ...envelope }: Message): object {
  return shownJson({ ...envelope, data: MessageData.decode(dataBytes), dataBytes: undefined });
}

function shownJson(message: ShownMessage): object {
  const { type, fid, timestamp, network, body } = message.data;
  const { dataBytes } = message;
  return {
    data: {
      type: nameOf(MESSAGE_TYPES, type),
      fid,
      timestamp,
      network: nameOf(NETWORKS, network),
      ...(body === undefined ? {} : bodyJson(body)),
    },
    hash: hex(message.hash),
    hashScheme: nameOf(HASH_SCHEMES, message.hashScheme),
    signature: base64(message.signature),
    signatureScheme: nameOf(SIGNATURE_SCHEMES, message.signatureScheme),
    signer: hex(message.signer),
    ...(dataBytes === undefined ? {} : { dataBytes: base64(dataBytes) }),
  };
}

function castIdJson({ fid, hash }: CastId): object {
  return { fid, hash: hex(hash) };
}

export function proofJson({ timestamp, name, owner, signature, fid, type }: UserNameProof): object {
  return {
    timestamp,
    name: Buffer.from(name).toString("utf8"),
    owner: hex(owner),
    signature: base64(signature),
    fid,
    type: nameOf(USERNAME_TYPES, type),
  };
}

/** Returns the body of a message as JSON, under the name of its kind. */
export function bodyJson(body: Body): object {
  switch (body.$case) {
    case "castAddBody":
      return { castAddBody: castJson(body.value) };
    case "castRemoveBody":
      return { castRemoveBody: { targetHash: base64(body.value.targetHash) } };
    case "reactionBody": {
      const { type, target } = body.value;
      const named = { type: nameOf(REACTION_TYPES, type) };
      if (target === undefined) return { reactionBody: named };
      return {
        reactionBody:
          target.$case === "targetUrl"
            ? { ...named, targetUrl: target.value }
            : { ...named, targetCastId: castIdJson(target.value) },
      };
    }
    case "verificationAddBody": {
      const { address, claimSignature, blockHash, verificationType, chainId, protocol } = body.value;
      const inChain = textOfChain(protocol);
      return {
        verificationAddAddressBody: {
          address: inChain(address),
          claimSignature: base64(claimSignature),
          blockHash: inChain(blockHash),
          type: verificationType,
          // Clients of Hubble read this one.
          verificationType,
          chainId,
          protocol: nameOf(PROTOCOLS, protocol),
        },
      };
    }
    case "verificationRemoveBody": {
      const { address, protocol } = body.value;
      return {
        verificationRemoveBody: {
          address: textOfChain(protocol)(address),
          protocol: nameOf(PROTOCOLS, protocol),
        },
      };
    }
    case "userDataBody": {
      const { type, value } = body.value;
      return { userDataBody: { type: nameOf(USER_DATA_TYPES, type), value } };
    }
    case "linkBody": {
      const { type, displayTimestamp, target } = body.value;
      return {
        linkBody: { type, displayTimestamp: displayTimestamp ?? null, targetFid: target?.value ?? 0 },
      };
    }
    case "usernameProofBody":
      return { usernameProofBody: proofJson(body.value) };
    case "frameActionBody": {
      const { url, buttonIndex, castId, inputText, state, transactionId, address } = body.value;
      return {
        frameActionBody: {
          url: base64(url),
          buttonIndex,
          ...(castId === undefined ? {} : { castId: castIdJson(castId) }),
          inputText: base64(inputText),
          state: base64(state),
          transactionId: base64(transactionId),
          address: hex(address),
        },
      };
    }
    case "linkCompactStateBody":
      return { linkCompactStateBody: body.value };
    case "lendStorageBody": {
      const { toFid, numUnits, unitType } = body.value;
      return { lendStorageBody: { toFid, numUnits, unitType: nameOf(UNIT_TYPES, unitType) } };
    }
    case "keyAddBody": {
      const { key, custodySignature, metadata, registrationTxHash, scopes, ...rest } = body.value;
      return {
        keyAddBody: {
          ...rest,
          key: hex(key),
          custodySignature: hex(custodySignature),
          metadata: hex(metadata),
          registrationTxHash: hex(registrationTxHash),
          scopes: scopes.map((scope) => nameOf(MESSAGE_TYPES, scope)),
        },
      };
    }
    case "keyRemoveBody": {
      const { key, signature, ...rest } = body.value;
      return { keyRemoveBody: { ...rest, key: hex(key), signature: base64(signature) } };
    }
    case "channelUpdateBody":
    case "channelMemberBody":
    case "channelPinBody":
    case "channelModerateBody":
      return channelBodyJson(body);
  }
}

function castJson(body: CastAddBody): object {
  const { embedsDeprecated, mentions, parent, text, mentionsPositions, embeds, type } = body;
  return {
    embedsDeprecated,
    mentions,
    parentCastId: parent?.$case === "parentCastId" ? castIdJson(parent.value) : null,
    parentUrl: parent?.$case === "parentUrl" ? parent.value : null,
    text,
    mentionsPositions,
    embeds: embeds.flatMap(({ embed }) => {
      if (embed === undefined) return [];
      return embed.$case === "url" ? { url: embed.value } : { castId: castIdJson(embed.value) };
    }),
    type: nameOf(CAST_TYPES, type),
  };
}

/** Ethereum addresses and block hashes are shown in hex, those of Solana in base58. */
function textOfChain(protocol: VerificationProtocol): (bytes: Uint8Array) => string {
  return protocol === VerificationProtocol.VERIFICATION_PROTOCOL_SOLANA ? encodeBase58 : hex;
}

/** The bodies of channel messages. */
type ChannelBody = Extract<
  Body,
  { $case: "channelUpdateBody" | "channelMemberBody" | "channelPinBody" | "channelModerateBody" }
>;

/** Returns the body of a channel message as JSON, key by key like on the reference node. Unset fields have no key. */
function channelBodyJson(body: ChannelBody): object {
  const channelId = hex(body.value.channelId);
  switch (body.$case) {
    case "channelUpdateBody": {
      const { channelId: _, castingMode, membershipMode, ...texts } = body.value;
      return {
        channelUpdateBody: {
          channelId,
          ...texts,
          ...(castingMode !== undefined && { castingMode: nameOf(CASTING_MODES, castingMode) }),
          ...(membershipMode !== undefined && { membershipMode: nameOf(MEMBERSHIP_MODES, membershipMode) }),
        },
      };
    }
    case "channelMemberBody": {
      const { fid, action } = body.value;
      return { channelMemberBody: { channelId, fid, action: nameOf(CHANNEL_MEMBER_ACTIONS, action) } };
    }
    case "channelPinBody":
      return { channelPinBody: { channelId, castHash: hex(body.value.castHash) } };
    case "channelModerateBody": {
      const { castHash, action } = body.value;
      return {
        channelModerateBody: {
          channelId,
          castHash: hex(castHash),
          action: nameOf(CHANNEL_MODERATE_ACTIONS, action),
        },
      };
    }
  }
}
