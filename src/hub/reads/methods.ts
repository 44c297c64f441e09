import { mapOk, type Result } from "../../lib/result.ts";
import { UserNameProof } from "../../protocol/wire/generated/message.ts";
import { FidAddressTypeResponse, StorageLimitsResponse } from "../../protocol/wire/generated/reads.ts";
import {
  FidsResponse,
  SignersByFidResponse,
  UsernameProofsResponse,
} from "../../protocol/wire/generated/state.ts";
import type { ChainEvent } from "../../read/hub/chain-reads.ts";
import type { HubReads } from "../../read/hub/hub-reads.ts";
import { encodeKey } from "../../read/hub/key-reads.ts";
import type { Target } from "../../read/hub/lists/single-messages.ts";
import type { RowFormat } from "../../read/hub/page.ts";
import type { Refusal } from "../../read/hub/refusal.ts";
import type { StoredMessage } from "../../read/hub/stored-message.ts";
import { encodeFields, listedBytes } from "../../read/hub/wire-bytes.ts";
import type { RawMethod } from "../raw-service.ts";
import type { RawCall } from "../running-call.ts";
import { channelMethods } from "./channel-methods.ts";
import { encodePage, list, NOTHING, one, page, withFid } from "./method.ts";
import { bytes, castId, fid, fids, text, u32, u64 } from "./request.ts";

const MESSAGES: RowFormat<StoredMessage, Uint8Array> = {
  show: (message) => message.encode(),
  bytesOf: listedBytes,
};
const EVENTS: RowFormat<ChainEvent, Uint8Array> = { show: (event) => event.bytes, bytesOf: listedBytes };

const FID_PAGE = { fid: fid(1), ...page(2) };
const FID_TIMES = { ...FID_PAGE, startTimestamp: u64(5), stopTimestamp: u64(6) };
const BY_TARGET = { cast: castId(1), url: text(6), reactionType: u32(2), ...page(3) };

/** Metadata of responses over all fids from a node that follows only some. */
export const PARTIAL = { "x-partial": "fids" } as const;

/** The read methods of HubService, by their names. */
export function readMethods(reads: HubReads): Readonly<Record<string, RawMethod>> {
  /** Marks the response of a list over all fids if the node follows only some. */
  const overAll = (call: RawCall): void => {
    if (reads.isPartial) call.sendMetadata(PARTIAL);
  };
  return {
    GetCast: one({ fid: fid(1), hash: bytes(2) }, ({ fid = 0, hash = NOTHING }) =>
      message(reads.cast({ fid, hash })),
    ),
    GetCastsByFid: list(FID_PAGE, (query, call) => reads.castsByFid(withFid(query), MESSAGES, call)),
    GetCastsByParent: list({ cast: castId(1), url: text(5), ...page(2) }, (query, call) => {
      overAll(call);
      return reads.castsByParent({ ...query, target: targetOf(query) }, MESSAGES, call);
    }),
    GetCastsByMention: list(FID_PAGE, (query, call) => {
      overAll(call);
      return reads.castsByMention(withFid(query), MESSAGES, call);
    }),
    GetReaction: one(
      { fid: fid(1), reactionType: u32(2), cast: castId(3), url: text(4) },
      ({ fid = 0, reactionType = 0, ...target }) =>
        message(reads.reaction({ fid, reactionType, target: targetOf(target) })),
    ),
    GetReactionsByFid: list({ fid: fid(1), reactionType: u32(2), ...page(3) }, (query, call) =>
      reads.reactionsByFid(withFid(query), MESSAGES, call),
    ),
    GetReactionsByTarget: list(BY_TARGET, (query, call) => {
      overAll(call);
      return reads.reactionsByTarget({ ...query, target: targetOf(query) }, MESSAGES, call);
    }),
    GetReactionsByCast: list(BY_TARGET, (query, call) => {
      overAll(call);
      return reads.reactionsByCast({ ...query, target: targetOf(query) }, MESSAGES, call);
    }),
    GetLink: one(
      { fid: fid(1), linkType: text(2), targetFid: fid(3) },
      ({ fid = 0, linkType = "", targetFid }) => message(reads.link({ fid, linkType, targetFid })),
    ),
    GetLinksByFid: list({ fid: fid(1), linkType: text(2), ...page(3) }, (query, call) =>
      reads.linksByFid(withFid(query), MESSAGES, call),
    ),
    GetLinksByTarget: list({ targetFid: fid(1), linkType: text(2), ...page(3) }, (query, call) => {
      overAll(call);
      return reads.linksByTarget(query, MESSAGES, call);
    }),
    GetLinkCompactStateMessageByFid: list(FID_PAGE, (query, call) =>
      reads.compactLinkStatesByFid(withFid(query), MESSAGES, call),
    ),
    GetUserData: one({ fid: fid(1), userDataType: u32(2) }, ({ fid = 0, userDataType = 0 }) =>
      message(reads.userData({ fid, userDataType })),
    ),
    GetUserDataByFid: list(FID_PAGE, (query, call) => reads.userDataByFid(withFid(query), MESSAGES, call)),
    GetVerification: one({ fid: fid(1), address: bytes(2) }, ({ fid = 0, address = NOTHING }) =>
      message(reads.verification({ fid, address })),
    ),
    GetVerificationsByFid: list(FID_PAGE, (query, call) =>
      reads.verificationsByFid(withFid(query), MESSAGES, call),
    ),
    GetAllCastMessagesByFid: list(FID_TIMES, (query, call) =>
      reads.allCastMessagesByFid(withFid(query), MESSAGES, call),
    ),
    GetAllReactionMessagesByFid: list(FID_TIMES, (query, call) =>
      reads.allReactionMessagesByFid(withFid(query), MESSAGES, call),
    ),
    GetAllLinkMessagesByFid: list(FID_TIMES, (query, call) =>
      reads.allLinkMessagesByFid(withFid(query), MESSAGES, call),
    ),
    GetAllVerificationMessagesByFid: list(FID_TIMES, (query, call) =>
      reads.allVerificationMessagesByFid(withFid(query), MESSAGES, call),
    ),
    GetAllUserDataMessagesByFid: list(FID_TIMES, (query, call) =>
      reads.allUserDataMessagesByFid(withFid(query), MESSAGES, call),
    ),
    GetAllLendStorageMessagesByFid: list(FID_TIMES, (query, call) =>
      reads.allLendStorageMessagesByFid(withFid(query), MESSAGES, call),
    ),
    GetUsernameProof: one({ name: bytes(1) }, ({ name = NOTHING }) =>
      mapOk(reads.usernameProof({ name }), (proof) => UserNameProof.encode(proof).finish()),
    ),
    GetUserNameProofsByFid: one({ fid: fid(1) }, (query) =>
      mapOk(reads.usernameProofsByFid(withFid(query)), (proofs) =>
        UsernameProofsResponse.encode({ proofs: [...proofs] }).finish(),
      ),
    ),
    GetOnChainSigner: one({ fid: fid(1), signer: bytes(2) }, ({ fid = 0, signer = NOTHING }) =>
      mapOk(reads.onChainSigner({ fid, signer }), (event) => event.bytes),
    ),
    GetOnChainSignersByFid: list(FID_PAGE, (query, call) =>
      reads.onChainSignersByFid(withFid(query), EVENTS, call),
    ),
    GetSigner: one({ fid: fid(1), signer: bytes(2) }, ({ fid = 0, signer = NOTHING }) =>
      mapOk(reads.signer({ fid, signer }), (key) => encodeFields([{ field: 1, bytes: encodeKey(key) }])),
    ),
    GetSignersByFid: one({ ...FID_PAGE, requesterFids: fids(5) }, async (query, call) => {
      const { fid = 0, requesterFids = [] } = query;
      const keys = { show: encodeKey, bytesOf: listedBytes };
      const found = await reads.signersByFid({ ...query, fid, requesterFids }, keys, call);
      return mapOk(found, (keysPage) => {
        const summary = SignersByFidResponse.encode({
          signers: [],
          nextPageToken: undefined,
          ...keysPage.summary,
        }).finish();
        return Buffer.concat([encodePage(keysPage), summary]);
      });
    }),
    GetOnChainEvents: list({ fid: fid(1), eventType: u32(2), ...page(3) }, (query, call) =>
      reads.onChainEvents({ ...withFid(query), eventType: query.eventType ?? 0 }, EVENTS, call),
    ),
    GetIdRegistryOnChainEvent: one({ fid: fid(1) }, (query) =>
      mapOk(reads.idRegistryEvent(withFid(query)), (event) => event.bytes),
    ),
    GetIdRegistryOnChainEventByAddress: one({ address: bytes(1) }, ({ address = NOTHING }) =>
      mapOk(reads.idRegistryEventByAddress({ address }), (event) => event.bytes),
    ),
    GetFidAddressType: one({ fid: fid(1), address: bytes(2) }, ({ fid = 0, address = NOTHING }) =>
      mapOk(reads.fidAddressType({ fid, address }), (types) => FidAddressTypeResponse.encode(types).finish()),
    ),
    GetCurrentStorageLimitsByFid: one({ fid: fid(1) }, (query) =>
      mapOk(reads.storageLimits(withFid(query)), (limits) => StorageLimitsResponse.encode(limits).finish()),
    ),
    GetFids: one({ ...page(1), shardId: u32(4) }, async (query, call) => {
      overAll(call);
      const fids = { show: (fid: number) => fid, bytesOf: () => FID_BYTES };
      const found = await reads.fids(query, fids, call);
      return mapOk(found, ({ items, nextToken }) =>
        FidsResponse.encode({ fids: [...items], nextPageToken: nextToken }).finish(),
      );
    }),
    ...channelMethods(reads),
    // The node has no gossip, so it has no peers.
    GetConnectedPeers: one({}, () => ({ ok: true, value: NOTHING })),
  };
}

/** The largest encoded fid. */
const FID_BYTES = 8;

function message(found: Result<StoredMessage, Refusal>): Result<Uint8Array, Refusal> {
  return mapOk(found, (stored) => stored.encode());
}

function targetOf({
  cast,
  url,
}: {
  readonly cast: { fid: number; hash: Uint8Array } | undefined;
  readonly url: string | undefined;
}): Target | undefined {
  return cast ?? (url === undefined ? undefined : { url });
}
