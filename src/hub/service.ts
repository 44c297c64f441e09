import type { IndexDatabase } from "../index/database.ts";
import { readTotals } from "../index/totals.ts";
import { admit } from "../ingest/admit.ts";
import { nowSecs } from "../process/clock.ts";
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
import { permissionDenied } from "./grpc-errors.ts";
import type { Intake, IntakeContext } from "./intake.ts";
import { answerWith, encodeAnswer, splitBulkRequest } from "./messages-on-the-wire.ts";
import { type RawMethod, rawService } from "./raw-service.ts";

/** What the services work with. */
export interface HubContext extends IntakeContext {
  readonly db: IndexDatabase;
  readonly version: string;
  readonly admin: boolean;
  /** Told of a fault that is no fault of the caller. */
  readonly onFault: (method: string, cause: unknown) => void;
}

/** The methods of the HubService that this node serves; the others answer UNIMPLEMENTED. */
export function hubService(context: HubContext, intake: Intake) {
  return rawService(context.onFault, HubServiceService, {
    submitMessage: async (request) => {
      const record = await intake.merge("message", request);
      return record instanceof Rejection ? record : encodeAnswer(record.message);
    },
    submitBulkMessages: async (request) => {
      const received = splitBulkRequest(request);
      if (received instanceof Rejection) return received;
      const messages = await intake.mergeBulk(received);
      return SubmitBulkMessagesResponse.encode({ messages }).finish();
    },
    validateMessage: async (request) => {
      const record = await intake.validate("message", request);
      if (record instanceof Rejection) return record;
      const { db, network, clock } = context;
      const refusal = admit({ db, network, nowSecs: nowSecs(clock) }, record.message);
      if (refusal) return refusal;
      return ValidationResponse.encode({ valid: true, message: answerWith(record.message) }).finish();
    },
    getInfo: async () => GetInfoResponse.encode(nodeInfo(context)).finish(),
  });
}

/** The AdminService: the operator's word, so it answers nobody but this machine, and nobody while it is off. */
export function adminService(context: HubContext, intake: Intake) {
  const guarded = (method: RawMethod): RawMethod => {
    return async (request, peer) => {
      if (!context.admin)
        return permissionDenied("AdminService is off; it is turned on by [hub] admin = true");
      if (!isLoopback(peer)) return permissionDenied("AdminService answers the loopback address only");
      return method(request, peer);
    };
  };
  return rawService(context.onFault, AdminServiceService, {
    submitOnChainEvent: guarded(async (request) => {
      const record = await intake.merge("onChainEvent", request);
      return record instanceof Rejection ? record : OnChainEvent.encode(record.event).finish();
    }),
    submitUserNameProof: guarded(async (request) => {
      const record = await intake.merge("usernameProof", request);
      return record instanceof Rejection ? record : UserNameProof.encode(record.proof).finish();
    }),
  });
}

/** `peer` is `address:port` as gRPC names it, IPv6 addresses in brackets. */
function isLoopback(peer: string): boolean {
  const address = peer.slice(0, peer.lastIndexOf(":")).replace(/^\[|\]$/g, "");
  return address === "::1" || /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(address);
}

/** One node is one shard here; it has no blocks, so its height is 0. */
function nodeInfo({ db, version }: HubContext): GetInfoResponse {
  const totals = readTotals(db);
  const stats = {
    numMessages: totals.messages,
    numFidRegistrations: totals.fids,
    approxSize: db.sizeBytes(),
  };
  return GetInfoResponse.fromPartial({
    version,
    dbStats: stats,
    numShards: 1,
    shardInfos: [{ shardId: 1, ...stats, numOnchainEvents: totals.on_chain_events }],
  });
}
