import type { TSchema } from "@sinclair/typebox";
import { type OperationHook, operation } from "../../http/operation.ts";
import type { QueryParams } from "../../http/params.ts";
import type { RouteCache } from "../../http/route-cache.ts";
import { HubError } from "./schemas.ts";

const tags = ["Hub"];

/** Describes a read of the hub. The ids of its operations start with `hub`. */
export function hubRead<const Q extends QueryParams>(spec: {
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly query: Q;
  readonly response: TSchema;
  readonly cache: RouteCache | undefined;
}): OperationHook<Q, undefined> {
  const { id, ...rest } = spec;
  return operation({
    ...rest,
    operationId: `hub${id}`,
    tags,
    errors: ["unavailable"],
    errorResponse: HubError,
  });
}
