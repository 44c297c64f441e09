import type { ServiceError } from "@grpc/grpc-js";
import type { Result } from "../lib/result.ts";
import type { Rejection } from "../protocol/rejection.ts";
import type { Refusal } from "../read/hub/refusal.ts";
import { internalFault, toServiceError } from "./grpc-errors.ts";
import type { OwnMethods } from "./own-methods.ts";
import type { HubReply, HubRpc, HubStats } from "./rpc.ts";

interface HubRpcDeps extends Pick<HubRpc, "submitWrite" | "isUpstreamReady" | "drain"> {
  readonly onFault: (method: string, cause: unknown) => void;
  readonly stats: () => HubStats;
}

/** Returns the methods of the hub's port, which are those of the gRPC service. */
export function hubRpc(
  methods: OwnMethods,
  { onFault, stats, submitWrite, isUpstreamReady, drain }: HubRpcDeps,
): HubRpc {
  const reply = async (name: keyof OwnMethods, request: Uint8Array = new Uint8Array()) => {
    try {
      return toReply(await methods[name](Buffer.from(request)));
    } catch (cause) {
      onFault(name, cause);
      return toReply({ ok: false, error: internalFault() });
    }
  };
  return {
    submitMessage: (request) => reply("SubmitMessage", request),
    submitBulkMessages: (request) => reply("SubmitBulkMessages", request),
    validateMessage: (request) => reply("ValidateMessage", request),
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
