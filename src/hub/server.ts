import type { Settings } from "node:http2";
import type { Socket } from "node:net";
import { Server, ServerCredentials, type ServiceError } from "@grpc/grpc-js";
import { hubLogStatus } from "../db/index/log/hub-log.ts";
import type { Result } from "../lib/result.ts";
import type { Rejection } from "../protocol/rejection.ts";
import { HubServiceService } from "../protocol/wire/generated/hub.ts";
import type { Refusal } from "../read/hub/refusal.ts";
import { DUPLICATE_CODE, type SubmitResult } from "../writes/network.ts";
import { internalFault, toServiceError } from "./grpc-errors.ts";
import { createOwnMethods, type OwnMethods } from "./own-methods.ts";
import type { RawService } from "./raw-service.ts";
import { OrderedConnection } from "./receive/ordered-connection.ts";
import { ReceiveOrder } from "./receive/receive-order.ts";
import { limitReceiving, type ReceiveLimits } from "./receive-limits.ts";
import type { HubReply, HubRpc, HubStats } from "./rpc.ts";
import { CallStats } from "./running-call.ts";
import { adminService, type HubDeps, hubService, replicationService } from "./service.ts";
import { Intake } from "./submit/intake.ts";

/** The reference node's limit for a request. Requests other than bulk requests contain a single record. */
const MAX_BULK_BYTES = 4 * 1024 * 1024;
const MAX_REQUEST_BYTES = 256 * 1024;
/** A call with a stream of responses keeps the memory of its request as long as it lasts. */
const MAX_STREAM_REQUEST_BYTES = 1024;

const REQUEST_BYTES: ReadonlyMap<string, number> = new Map([
  [HubServiceService.submitBulkMessages.path, MAX_BULK_BYTES],
  [HubServiceService.subscribe.path, MAX_STREAM_REQUEST_BYTES],
  [HubServiceService.getBlocks.path, MAX_STREAM_REQUEST_BYTES],
]);

/**
 * The usual limit of gRPC for the headers of a call, which it keeps as long as it lasts. One byte on the wire can repeat a header of
 * kilobytes (RFC 7541, 7.3).
 */
const MAX_HEADER_LIST_BYTES = 8 * 1024;

const RECEIVE_LIMITS: ReceiveLimits = {
  requestBytes: (path) => REQUEST_BYTES.get(path) ?? MAX_REQUEST_BYTES,
  receiveTimeoutMs: 30_000,
  // Longer than the checks of a full bulk request, including those on a chain, should take.
  respondTimeoutMs: 120_000,
};

interface LoadedHubRpc extends HubRpc {
  stats(): Promise<HubStats>;
}

/** Serves gRPC on connections that `listenForHub` accepted. */
export type HubServer = ReturnType<typeof createHubServer>;

/** Creates the server of HubService and AdminService over plaintext gRPC. */
export function createHubServer(context: HubDeps, receiveLimits: ReceiveLimits = RECEIVE_LIMITS) {
  const server = new Server({
    interceptors: [
      limitReceiving(receiveLimits, {
        clients: context.clients,
        budget: context.budgets.hubRequests,
        calls: context.budgets.hubCalls,
        proxied: context.budgets.hubProxied,
      }),
    ],
    // Each stream costs a third of a millisecond, even one that waits. Clients queue those beyond the limit.
    "grpc.max_concurrent_streams": 128,
    // A client that vanished silently is detected and its connection closed.
    "grpc.keepalive_time_ms": 30_000,
    "grpc.keepalive_timeout_ms": 10_000,
  });
  limitHeaderLists(server);
  const { services, rpc } = createHub(context);
  for (const service of services) server.addService(service.definition, service.implementation);
  const order = new ReceiveOrder();
  const connections = server.createConnectionInjector(ServerCredentials.createInsecure());
  return {
    /** Closes the connection of a client that has too many: it may keep each open, without a call, as long as it responds to pings. */
    accept(socket: Socket): void {
      if (socket.destroyed) return;
      const { clients, budgets } = context;
      const { bucket } = clients.of(socket.remoteAddress, () => null);
      // A proxy may open a connection for each call of its clients, as nginx does, so only the total bounds it. Its clients have shares.
      const share = clients.isProxy(socket.remoteAddress) ? Number.POSITIVE_INFINITY : undefined;
      const place = budgets.hubConnections.open(bucket, share);
      if (place.grow(1) !== undefined) return void socket.destroy();
      socket.once("close", () => place.end());
      const connection = new OrderedConnection(socket, {
        order,
        key: clients.isProxy(socket.remoteAddress) ? socket : bucket,
        unsent: budgets.hubResponses.open(bucket, share),
        stallTimeoutMs: receiveLimits.respondTimeoutMs,
      });
      connections.injectConnection(connection);
    },
    /** The methods for other threads. */
    rpc,
    /** Stops accepting calls, waits for running calls up to `graceMs`, then cancels the rest. */
    stop(graceMs: number): Promise<void> {
      context.subscribers?.stop();
      return stop(server, graceMs);
    },
  };
}

/**
 * Limits the headers of each call. The library has no option for that.
 *
 * @throws Error if this version of the library sets up its connections in a different way.
 */
function limitHeaderLists(server: Server): void {
  const { commonServerOptions: options } = server as unknown as {
    readonly commonServerOptions?: { readonly settings?: Settings };
  };
  if (options?.settings === undefined)
    throw new Error("this version of grpc-js has no known hook for limiting headers");
  options.settings.maxHeaderListSize = MAX_HEADER_LIST_BYTES;
}

/** Creates the services and the methods for other threads, which share one intake. */
export function createHub(context: HubDeps): {
  readonly services: readonly RawService[];
  readonly rpc: LoadedHubRpc;
} {
  const intake = new Intake(context, context.check);
  const own = createOwnMethods(context, intake);
  const calls = new CallStats();
  const replication = replicationService(context, calls);
  const { db, reads, subscribers, onFault, upstream } = context;
  return {
    services: [
      hubService(context, own, calls),
      adminService(context, intake, calls),
      ...(replication ? [replication] : []),
    ],
    rpc: hubRpc(own, {
      onFault,
      submitWrite: (messages) =>
        upstream ? upstream.submits.submitWrite(messages) : mergeWrite(intake, messages, onFault),
      isUpstreamReady: async (timeoutMs) => (await upstream?.isReady(timeoutMs)) ?? true,
      drain: async (ms) => subscribers?.drain(ms),
      stats: () => ({
        methods: calls.read(),
        events: reads && subscribers ? { subscribers: subscribers.stats(), log: hubLogStatus(db) } : null,
      }),
    }),
  };
}

function stop(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => {
      server.forceShutdown();
      resolve();
    }, graceMs);
    server.tryShutdown(() => {
      clearTimeout(cut);
      resolve();
    });
  });
}

interface HubRpcDeps extends Pick<HubRpc, "submitWrite" | "isUpstreamReady" | "drain"> {
  readonly onFault: (method: string, cause: unknown) => void;
  readonly stats: () => HubStats;
}

/** Returns the methods of the hub's port, which are those of the gRPC service. */
function hubRpc(
  methods: OwnMethods,
  { onFault, stats, submitWrite, isUpstreamReady, drain }: HubRpcDeps,
): LoadedHubRpc {
  const reply = async (
    name: keyof OwnMethods,
    request: Uint8Array = new Uint8Array(),
    clientKey?: string,
  ) => {
    try {
      return toReply(await methods[name](Buffer.from(request), { clientKey }));
    } catch (cause) {
      onFault(name, cause);
      return toReply({ ok: false, error: internalFault() });
    }
  };
  return {
    submitMessage: (request, client) => reply("SubmitMessage", request, client),
    submitBulkMessages: (request, client) => reply("SubmitBulkMessages", request, client),
    validateMessage: (request, client) => reply("ValidateMessage", request, client),
    getInfo: () => reply("GetInfo"),
    submitWrite,
    isUpstreamReady,
    stats: async () => stats(),
    drain,
  };
}

function toReply(result: Result<Uint8Array, Rejection | Refusal | ServiceError>): HubReply {
  if (result.ok) return { ok: true, bytes: result.value };
  const { code, details, metadata } =
    result.error instanceof Error ? result.error : toServiceError(result.error);
  return { ok: false, code, errCode: String(metadata.get("x-err-code")[0] ?? "unknown"), details };
}

/** Merges the messages of one write into the node's own index. After a fault, it is unknown which of them were merged. */
async function mergeWrite(
  intake: Intake,
  messages: readonly Uint8Array[],
  onFault: (method: string, cause: unknown) => void,
): Promise<readonly SubmitResult[]> {
  try {
    const [only] = messages;
    if (messages.length === 1 && only) {
      const merged = await intake.merge(only);
      return [merged.ok ? MERGED : refused(merged.error)];
    }
    const results = await intake.mergeBulk(messages);
    if (!results.ok) return messages.map(() => refused(results.error));
    return results.value.map(({ response }) =>
      response?.$case === "messageError"
        ? refused({ code: response.value.errCode, reason: response.value.message })
        : MERGED,
    );
  } catch (cause) {
    onFault("submitWrite", cause);
    return messages.map(() => ({ kind: "unknown", reason: "the node failed" }));
  }
}

const MERGED: SubmitResult = { kind: "merged" };

function refused({ code, reason }: { readonly code: string; readonly reason: string }) {
  return code === DUPLICATE_CODE ? MERGED : ({ kind: "refused", code, reason } as const);
}
