import type { IndexDatabase } from "../db/index/database.ts";
import { admit } from "../ingest/admit.ts";
import { err, mapOk, ok } from "../lib/result.ts";
import { rejection } from "../protocol/rejection.ts";
import {
  GetInfoResponse,
  SubmitBulkMessagesResponse,
  ValidationResponse,
} from "../protocol/wire/generated/hub.ts";
import { UserNameProof } from "../protocol/wire/generated/message.ts";
import { OnChainEvent } from "../protocol/wire/generated/on-chain.ts";
import type { HubReads } from "../read/hub/hub-reads.ts";
import { nowSecs } from "../runtime/clock.ts";
import { permissionDenied, refusedWhileFollowing } from "./grpc-errors.ts";
import { type FollowedShard, readInfo } from "./info.ts";
import type { Intake, IntakeDeps } from "./intake.ts";
import { encodeResponse, splitBulkRequest, toResponse } from "./message-responses.ts";
import { type RawMethod, type RawStreamMethod, rawService } from "./raw-service.ts";
import type { BlockRelay } from "./reads/block-relay.ts";
import { readMethods } from "./reads/methods.ts";
import { unservedMethods } from "./reads/unserved.ts";
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
  /** The reads; undefined while they are off. */
  readonly reads?: HubReads | undefined;
  /** The blocks of the upstream; undefined if the node does not relay them. */
  readonly blocks?: BlockRelay | undefined;
  /** Called for a fault that the caller did not cause. */
  readonly onFault: (method: string, cause: unknown) => void;
}

/** The part of the upstream that the services use. */
export interface HubUpstream {
  readonly submits: Pick<WriteThrough, "submit" | "submitBulk">;
  /** The progress of following each shard. */
  readonly shards: () => Promise<readonly FollowedShard[]>;
}

/** The methods of HubService that this node serves. The others are UNIMPLEMENTED. */
export function hubService(context: HubDeps, intake: Intake) {
  const { upstream, blocks } = context;
  const methods: Record<string, RawMethod> = {
    ...unservedMethods(),
    ...(blocks === undefined ? {} : { GetShardChunks: blocks.getShardChunks }),
    ...(context.reads === undefined ? {} : readMethods(context.reads)),
    SubmitMessage: async (request) => {
      const message = upstream ? await upstream.submits.submit(request) : await intake.merge(request);
      return mapOk(message, encodeResponse);
    },
    SubmitBulkMessages: async (request) => {
      const received = splitBulkRequest(request, context.check.maxMessages);
      if (!received.ok) return received;
      const results = upstream
        ? await upstream.submits.submitBulk(received.value)
        : await intake.mergeBulk(received.value);
      return mapOk(results, (messages) => SubmitBulkMessagesResponse.encode({ messages }).finish());
    },
    ValidateMessage: async (request) => {
      const message = await intake.validate(request);
      if (!message.ok) return message;
      const { db, network, clock } = context;
      const unavailable = context.unavailableReason?.();
      if (unavailable !== undefined) return err(rejection("unavailable", unavailable));
      const refusal = admit({ db, network, nowSecs: nowSecs(clock) }, message.value);
      if (refusal) return err(refusal);
      return ok(ValidationResponse.encode({ valid: true, message: toResponse(message.value) }).finish());
    },
    GetInfo: async () => ok(GetInfoResponse.encode(await readInfo(context)).finish()),
  };
  const streams: Record<string, RawStreamMethod> =
    blocks === undefined ? {} : { GetBlocks: blocks.getBlocks };
  return rawService(context.onFault, "HubService", methods, streams);
}

/**
 * The AdminService. It is trusted like the operator, so it accepts calls from this machine only, and none while it is
 * off.
 */
export function adminService(context: HubDeps, intake: Intake) {
  const guarded = (method: RawMethod): RawMethod => {
    return async (request, call) => {
      if (!context.admin)
        return err(permissionDenied("AdminService is off; it is turned on by [hub] admin = true"));
      if (context.upstream)
        return err(
          refusedWhileFollowing("the node follows an upstream, which decides about on-chain events"),
        );
      if (!isLoopback(call.peer))
        return err(permissionDenied("AdminService accepts the loopback address only"));
      return method(request, call);
    };
  };
  return rawService(context.onFault, "AdminService", {
    SubmitOnChainEvent: guarded(async (request) => {
      const record = await intake.mergeAdminRecord("onChainEvent", request);
      return mapOk(record, ({ event }) => OnChainEvent.encode(event).finish());
    }),
    SubmitUserNameProof: guarded(async (request) => {
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
