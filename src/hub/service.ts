import type { IndexDatabase } from "../db/index/database.ts";
import { readTotals } from "../db/index/totals.ts";
import { admit } from "../ingest/admit.ts";
import { err, mapOk, ok } from "../lib/result.ts";
import { rejection } from "../protocol/rejection.ts";
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
import type { Intake, IntakeDeps } from "./intake.ts";
import { encodeResponse, splitBulkRequest, toResponse } from "./message-responses.ts";
import { type RawMethod, rawService } from "./raw-service.ts";
import type { SubmissionCheck } from "./submission-check.ts";
import type { WriteThrough } from "./write-through.ts";

/** Dependencies of the services. */
export interface HubDeps extends IntakeDeps {
  readonly db: IndexDatabase;
  readonly version: string;
  readonly admin: boolean;
  /** Limits and checks submitted messages. */
  readonly check: SubmissionCheck;
  /** The upstream that the node follows. Messages are then forwarded to it. */
  readonly upstream?: HubUpstream;
  /** Why the index cannot be read now; undefined while it can. Default: it always can. */
  readonly unavailableReason?: (() => string | undefined) | undefined;
  /** Called for a fault that the caller did not cause. */
  readonly onFault: (method: string, cause: unknown) => void;
}

/** The part of the upstream that the services use. */
export interface HubUpstream {
  readonly submits: Pick<WriteThrough, "submit" | "submitBulk">;
  /** The progress of following each shard. */
  readonly shards: () => Promise<readonly FollowedShard[]>;
}

interface FollowedShard {
  /** 0 is the shard of the block chain. */
  readonly shard: number;
  readonly appliedBlock: number;
  readonly lagSecs: number | undefined;
}

/** The methods of HubService that this node serves. The others are UNIMPLEMENTED. */
export function hubService(context: HubDeps, intake: Intake) {
  const { upstream } = context;
  return rawService(context.onFault, HubServiceService, {
    submitMessage: async (request) => {
      const message = upstream ? await upstream.submits.submit(request) : await intake.merge(request);
      return mapOk(message, encodeResponse);
    },
    submitBulkMessages: async (request) => {
      const received = splitBulkRequest(request, context.check.maxMessages);
      if (!received.ok) return received;
      const results = upstream
        ? await upstream.submits.submitBulk(received.value)
        : await intake.mergeBulk(received.value);
      return mapOk(results, (messages) => SubmitBulkMessagesResponse.encode({ messages }).finish());
    },
    validateMessage: async (request) => {
      const message = await intake.validate(request);
      if (!message.ok) return message;
      const { db, network, clock } = context;
      const unavailable = context.unavailableReason?.();
      if (unavailable !== undefined) return err(rejection("unavailable", unavailable));
      const refusal = admit({ db, network, nowSecs: nowSecs(clock) }, message.value);
      if (refusal) return err(refusal);
      return ok(ValidationResponse.encode({ valid: true, message: toResponse(message.value) }).finish());
    },
    getInfo: async () => ok(GetInfoResponse.encode(await nodeInfo(context)).finish()),
  });
}

/**
 * The AdminService. It is trusted like the operator, so it accepts calls from this machine only, and none while it is
 * off.
 */
export function adminService(context: HubDeps, intake: Intake) {
  const guarded = (method: RawMethod): RawMethod => {
    return async (request, peer) => {
      if (!context.admin)
        return err(permissionDenied("AdminService is off; it is turned on by [hub] admin = true"));
      if (context.upstream)
        return err(
          refusedWhileFollowing("the node follows an upstream, which decides about on-chain events"),
        );
      if (!isLoopback(peer)) return err(permissionDenied("AdminService accepts the loopback address only"));
      return method(request, peer);
    };
  };
  return rawService(context.onFault, AdminServiceService, {
    submitOnChainEvent: guarded(async (request) => {
      const record = await intake.mergeAdminRecord("onChainEvent", request);
      return mapOk(record, ({ event }) => OnChainEvent.encode(event).finish());
    }),
    submitUserNameProof: guarded(async (request) => {
      const record = await intake.mergeAdminRecord("usernameProof", request);
      return mapOk(record, ({ proof }) => UserNameProof.encode(proof).finish());
    }),
  });
}

/** `peer` is `address:port` as gRPC names it, IPv6 addresses in brackets. */
function isLoopback(peer: string): boolean {
  const address = peer.slice(0, peer.lastIndexOf(":")).replace(/^\[|\]$/g, "");
  return address === "::1" || /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(address);
}

/**
 * Without an upstream, the node is one shard of height 0, since it has no blocks. With an upstream, it reports the
 * upstream's shards and its progress in each. Counts are always those of the whole index.
 */
async function nodeInfo({ db, version, upstream }: HubDeps): Promise<GetInfoResponse> {
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
