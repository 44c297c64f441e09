import type { Admission } from "../admission/admission.ts";
import type { ClientAddresses } from "../admission/client-address.ts";
import { err, mapOk } from "../lib/result.ts";
import { UserNameProof } from "../protocol/wire/generated/message.ts";
import { OnChainEvent } from "../protocol/wire/generated/on-chain.ts";
import { type EventReads, startHeaders } from "../read/hub/event-reads.ts";
import { encodeHubEvent, type HubEventRow } from "../read/hub/hub-event.ts";
import type { HubReads } from "../read/hub/hub-reads.ts";
import type { RowFormat } from "../read/hub/page.ts";
import { listedBytes } from "../read/hub/wire-bytes.ts";
import type { Spans } from "../runtime/trace/span.ts";
import type { Subscribers } from "./events/subscribers.ts";
import { permissionDenied, refusedWhileFollowing } from "./grpc-errors.ts";
import type { OwnMethodDeps, OwnMethods } from "./own-methods.ts";
import { type RawMethod, type RawStreamMethod, rawService } from "./raw-service.ts";
import type { BlockRelay } from "./reads/block-relay.ts";
import { encodePage } from "./reads/method.ts";
import { PARTIAL, readMethods } from "./reads/methods.ts";
import { bytes, flag, readRequest, u32, u64 } from "./reads/request.ts";
import { unservedMethods } from "./reads/unserved.ts";
import type { ReplicationMethods } from "./replication/replication-service.ts";
import type { CallStats } from "./running-call.ts";
import type { Intake } from "./submit/intake.ts";

/** Dependencies of the services. */
export interface HubDeps extends OwnMethodDeps {
  readonly admin: boolean;
  readonly clients: ClientAddresses;
  /** Budgets of this thread's memory that clients share. */
  readonly budgets: Pick<
    Admission["budgets"],
    "hubCalls" | "hubConnections" | "hubProxied" | "hubRequests" | "hubResponses"
  >;
  /** The reads; undefined while they are off. */
  readonly reads?: HubReads | undefined;
  /** The subscribers of hub events; undefined while the reads are off. */
  readonly subscribers?: Subscribers | undefined;
  /** The blocks of the upstream; undefined if the node does not relay them. */
  readonly blocks?: BlockRelay | undefined;
  /** Lets other nodes fill their index from this one; undefined while that is off. */
  readonly replication?: ReplicationMethods | undefined;
  /** Undefined while traces are off. */
  readonly spans?: Pick<Spans, "start"> | undefined;
  /** Called for a fault that the caller did not cause. */
  readonly onFault: (method: string, cause: unknown) => void;
}

/** Returns the methods of HubService that this node serves. The others are UNIMPLEMENTED. */
export function hubService(context: HubDeps, own: OwnMethods, calls: CallStats) {
  const { blocks, subscribers } = context;
  const methods: Record<string, RawMethod> = {
    ...unservedMethods(),
    ...(blocks === undefined ? {} : { GetShardChunks: blocks.getShardChunks }),
    ...(context.reads === undefined ? {} : { ...readMethods(context.reads), ...eventMethods(context.reads) }),
    ...context.replication?.hub,
    ...own,
    // A node that follows this one must know that it does not have everything.
    GetInfo: (request, call) => {
      if (context.reads?.isPartial) call.sendMetadata(PARTIAL);
      return own.GetInfo(request);
    },
  };
  const streams: Record<string, RawStreamMethod> = {
    ...(blocks === undefined ? {} : { GetBlocks: blocks.getBlocks }),
    ...(subscribers === undefined ? {} : { Subscribe: subscribers.subscribe }),
  };
  return rawService(
    { name: "HubService", methods, streams },
    { ...context, calls, responses: context.budgets.hubResponses },
  );
}

/** Returns the ReplicationService; undefined while it is off. */
export function replicationService(context: HubDeps, calls: CallStats) {
  if (!context.replication) return undefined;
  return rawService(
    { name: "ReplicationService", methods: context.replication.replication },
    { ...context, calls, responses: context.budgets.hubResponses },
  );
}

/**
 * Returns the AdminService. It is trusted like the operator, so it accepts calls only from this machine, and none while it
 * is off.
 */
export function adminService(context: HubDeps, intake: Intake, calls: CallStats) {
  const guarded = (method: RawMethod): RawMethod => {
    return async (request, call) => {
      if (!context.admin)
        return err(permissionDenied("AdminService is off; it is turned on by [hub] admin = true"));
      if (context.upstream)
        return err(
          refusedWhileFollowing("the node follows an upstream, which decides about on-chain events"),
        );
      if (!isLoopback(call.peer) || !isLoopback(call.client.address))
        return err(permissionDenied("AdminService accepts the loopback address only"));
      return method(request, call);
    };
  };
  const methods = {
    SubmitOnChainEvent: guarded(async (request) => {
      const record = await intake.mergeAdminRecord("onChainEvent", request);
      return mapOk(record, ({ event }) => OnChainEvent.encode(event).finish());
    }),
    SubmitUserNameProof: guarded(async (request) => {
      const record = await intake.mergeAdminRecord("usernameProof", request);
      return mapOk(record, ({ proof }) => UserNameProof.encode(proof).finish());
    }),
  };
  return rawService(
    { name: "AdminService", methods },
    { ...context, calls, responses: context.budgets.hubResponses },
  );
}

function isLoopback(address: string): boolean {
  return address === "::1" || /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(address);
}

const EVENT = { id: u64(1), shardIndex: u32(5) };
const EVENTS = {
  startId: u64(1),
  shardIndex: u32(2),
  stopId: u64(3),
  pageSize: u32(4),
  pageToken: bytes(5),
  reverse: flag(6),
};

const HUB_EVENTS: RowFormat<HubEventRow, Uint8Array> = { show: encodeHubEvent, bytesOf: listedBytes };

/** Returns the unary methods of HubService over the log of hub events. */
function eventMethods(reads: EventReads): Readonly<Record<string, RawMethod>> {
  return {
    async GetEvent(encoded) {
      const request = readRequest(encoded, EVENT);
      if (!request.ok) return err(request.error);
      const { id = 0, shardIndex } = request.value;
      return mapOk(reads.event({ id, shardIndex }), encodeHubEvent);
    },
    async GetEvents(encoded, call) {
      const request = readRequest(encoded, EVENTS);
      if (!request.ok) return err(request.error);
      const { startId = 0, shardIndex, ...query } = request.value;
      const isStrict = call.metadata("x-strict-from-id") === "1";
      const start = reads.startEvents({ fromId: startId, shardIndex, isStrict });
      if (!start.ok) return start;
      call.sendMetadata(startHeaders(start.value));
      const found = await reads.events(start.value, query, HUB_EVENTS, call);
      return mapOk(found, encodePage);
    },
  };
}
