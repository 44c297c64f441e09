import type { IndexDatabase } from "../db/index/database.ts";
import { readTotals } from "../db/index/totals.ts";
import { admit } from "../ingest/admit.ts";
import { Rejection } from "../protocol/rejection.ts";
import {
  AdminServiceService,
  GetInfoResponse,
  HubServiceService,
  SubmitBulkMessagesResponse,
  ValidationResponse,
} from "../protocol/wire/generated/hub.ts";
import { UserNameProof } from "../protocol/wire/generated/message.ts";
import { OnChainEvent } from "../protocol/wire/generated/on-chain.ts";
import { nowSecs } from "../runtime/clock.ts";
import { permissionDenied, refusedWhileFollowing } from "./grpc-errors.ts";
import type { Intake, IntakeContext } from "./intake.ts";
import { encodeResponse, respondWith, splitBulkRequest } from "./messages-on-the-wire.ts";
import { type RawMethod, rawService } from "./raw-service.ts";
import type { SubmissionCheck } from "./submission-check.ts";
import type { WriteThrough } from "./write-through.ts";

/** What the services work with. */
export interface HubContext extends IntakeContext {
  readonly db: IndexDatabase;
  readonly version: string;
  readonly admin: boolean;
  /** Bounds and checks what is submitted. */
  readonly check: SubmissionCheck;
  /** The upstream that the node follows; messages are then forwarded to it. */
  readonly upstream?: HubUpstream;
  /** Told of a fault that is no fault of the caller. */
  readonly onFault: (method: string, cause: unknown) => void;
}

/** What the services need of a node that is followed. */
export interface HubUpstream {
  readonly submits: Pick<WriteThrough, "submit" | "submitBulk">;
  /** How far each shard has been followed. */
  readonly shards: () => Promise<readonly FollowedShard[]>;
}

interface FollowedShard {
  /** 0 is the shard of the network's own chain. */
  readonly shard: number;
  readonly appliedBlock: number;
  readonly lagSecs: number | undefined;
}

/** The methods of the HubService that this node serves; the others answer UNIMPLEMENTED. */
export function hubService(context: HubContext, intake: Intake) {
  const { upstream } = context;
  return rawService(context.onFault, HubServiceService, {
    submitMessage: async (request) => {
      if (upstream) {
        const forwarded = await upstream.submits.submit(request);
        return "dataBytes" in forwarded ? encodeResponse(forwarded) : forwarded;
      }
      const message = await intake.merge(request);
      return message instanceof Rejection ? message : encodeResponse(message);
    },
    submitBulkMessages: async (request) => {
      const received = splitBulkRequest(request, context.check.maxMessages);
      if (received instanceof Rejection) return received;
      const messages = await (upstream ? upstream.submits.submitBulk(received) : intake.mergeBulk(received));
      if (!Array.isArray(messages)) return messages;
      return SubmitBulkMessagesResponse.encode({ messages }).finish();
    },
    validateMessage: async (request) => {
      const message = await intake.validate(request);
      if (message instanceof Rejection) return message;
      const { db, network, clock } = context;
      const refusal = admit({ db, network, nowSecs: nowSecs(clock) }, message);
      if (refusal) return refusal;
      return ValidationResponse.encode({ valid: true, message: respondWith(message) }).finish();
    },
    getInfo: async () => GetInfoResponse.encode(await nodeInfo(context)).finish(),
  });
}

/** The AdminService: the operator's word, so it answers nobody but this machine, and nobody while it is off. */
export function adminService(context: HubContext, intake: Intake) {
  const guarded = (method: RawMethod): RawMethod => {
    return async (request, peer) => {
      if (!context.admin)
        return permissionDenied("AdminService is off; it is turned on by [hub] admin = true");
      if (context.upstream)
        return refusedWhileFollowing("the node follows an upstream, whose word about the chain counts");
      if (!isLoopback(peer)) return permissionDenied("AdminService answers the loopback address only");
      return method(request, peer);
    };
  };
  return rawService(context.onFault, AdminServiceService, {
    submitOnChainEvent: guarded(async (request) => {
      const record = await intake.mergeVouched("onChainEvent", request);
      return record instanceof Rejection ? record : OnChainEvent.encode(record.event).finish();
    }),
    submitUserNameProof: guarded(async (request) => {
      const record = await intake.mergeVouched("usernameProof", request);
      return record instanceof Rejection ? record : UserNameProof.encode(record.proof).finish();
    }),
  });
}

/** `peer` is `address:port` as gRPC names it, IPv6 addresses in brackets. */
function isLoopback(peer: string): boolean {
  const address = peer.slice(0, peer.lastIndexOf(":")).replace(/^\[|\]$/g, "");
  return address === "::1" || /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(address);
}

/**
 * A node by itself is one shard, and without blocks its height is 0. One that follows tells the upstream's shards and how
 * far it has come in each; what it holds, it counts over all of them.
 */
async function nodeInfo({ db, version, upstream }: HubContext): Promise<GetInfoResponse> {
  const totals = readTotals(db);
  const stats = {
    numMessages: totals.messages,
    numFidRegistrations: totals.fids,
    approxSize: db.sizeBytes(),
  };
  if (upstream) {
    const shards = await upstream.shards();
    return GetInfoResponse.fromPartial({
      version,
      dbStats: stats,
      numShards: shards.filter(({ shard }) => shard > 0).length,
      shardInfos: shards.map(({ shard, appliedBlock, lagSecs }) => ({
        shardId: shard,
        maxHeight: appliedBlock,
        blockDelay: lagSecs ?? 0,
      })),
    });
  }
  return GetInfoResponse.fromPartial({
    version,
    dbStats: stats,
    numShards: 1,
    shardInfos: [{ shardId: 1, ...stats, numOnchainEvents: totals.on_chain_events }],
  });
}
