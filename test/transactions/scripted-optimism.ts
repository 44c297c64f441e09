import { idGatewayABI, keyGatewayABI, storageRegistryABI } from "@farcaster/core";
import { type Abi, decodeFunctionData, encodeFunctionResult } from "viem";
import type { Hex } from "../../src/protocol/validate/eth.ts";

/** An RPC of Optimism with the views of the gateways. */
export interface ScriptedOptimism {
  readonly url: string;
  /** The calls in their order, such as `price(2)`. */
  readonly calls: string[];
  stop(): void;
}

const abi = [...idGatewayABI, ...keyGatewayABI, ...storageRegistryABI] as unknown as Abi;

/** A price is 1,000 and the number of units; every nonce is 5. Other calls succeed without a result. */
export function startOptimismOfGateways({ nowSecs }: { readonly nowSecs: number }): ScriptedOptimism {
  const calls: string[] = [];
  const results: Readonly<Record<string, (arg: unknown) => bigint>> = {
    price: (units) => 1000n + (units as bigint),
    nonces: () => 5n,
    deprecationTimestamp: () => BigInt(nowSecs + 1),
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { id, params } = (await request.json()) as { id: number; params: [{ data: Hex }] };
      const { functionName, args = [] } = decodeFunctionData({ abi, data: params[0].data });
      calls.push(`${functionName}(${args.join(", ")})`);
      const result = results[functionName]?.(args[0]);
      const data =
        result === undefined
          ? "0x"
          : encodeFunctionResult({ abi: abi as Abi, functionName, result } as never);
      return Response.json({ jsonrpc: "2.0", id, result: data });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, calls, stop: () => void server.stop(true) };
}
