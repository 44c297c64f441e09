import { type Static, Type } from "@sinclair/typebox";
import { clientKeyOf, exchangeOf } from "../../../http/exchange.ts";
import { captureBody, parseBody, rawBody } from "../../../http/request/body.ts";
import { OPEN_READ } from "../../../http/route-terms.ts";
import { MAX_BATCH, type RegistryRpc, type RpcResponse } from "../../../sign-in/registry/registry-rpc.ts";
import { operationsOf } from "../../op.ts";

/** The dependencies of the operations under `/rpc`. */
export interface RpcDeps {
  readonly dialect?: undefined;
  readonly registryRpc: RegistryRpc;
}

const { op } = operationsOf<RpcDeps>({ surface: "rpc", tag: "Registry RPC" });

const RpcRequest = Type.Object({
  jsonrpc: Type.Literal("2.0"),
  id: Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Null()])),
  method: Type.String(),
  params: Type.Optional(Type.Array(Type.Unknown())),
});

const RpcReply = Type.Object({
  jsonrpc: Type.Literal("2.0"),
  id: Type.Union([Type.String(), Type.Number(), Type.Null()]),
  result: Type.Optional(Type.String()),
  error: Type.Optional(
    Type.Object({ code: Type.Integer(), message: Type.String(), data: Type.Optional(Type.String()) }),
  ),
});

const INVALID_REQUEST = -32_600;
const PARSE_ERROR = -32_700;

/** Optimism's registries, from the index: libraries that verify a sign-in accept this URL as that of an RPC. */
export const registryRpcOperations = [
  op({
    id: "registryRpc",
    method: "POST",
    path: "/10",
    summary: "JSON-RPC of Optimism's registries of fids and keys, from the index",
    description: `Batches have at most ${MAX_BATCH} calls. Errors of JSON-RPC are 200.`,
    access: OPEN_READ,
    body: Type.Union([RpcRequest, Type.Array(RpcRequest, { maxItems: MAX_BATCH })]),
    response: Type.Union([RpcReply, Type.Array(RpcReply)]),
    isRaw: true,
    parse: () => captureBody,
    run: ({ registryRpc }, { request }): Promise<Static<typeof RpcReply> | Static<typeof RpcReply>[]> =>
      answer(registryRpc, request),
  }),
];

async function answer(registryRpc: RegistryRpc, request: Request): Promise<RpcResponse | RpcResponse[]> {
  const exchange = exchangeOf(request);
  const client = clientKeyOf(exchange);
  const sent = parsed(rawBody(request));
  if (sent === undefined) return failure(PARSE_ERROR, "the body is not valid JSON");
  if (!Array.isArray(sent)) return registryRpc.call(sent, client);
  if (sent.length === 0 || sent.length > MAX_BATCH)
    return failure(INVALID_REQUEST, `a batch has 1 to ${MAX_BATCH} calls`);
  exchange.charge(sent.length - 1);
  return Promise.all(sent.map((call) => registryRpc.call(call, client)));
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return parseBody(bytes);
  } catch {
    return undefined;
  }
}

function failure(code: number, message: string): RpcResponse {
  return { jsonrpc: "2.0", id: null, error: { code, message } };
}
