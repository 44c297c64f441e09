import { type CcipRequestParameters, type Chain, createPublicClient, type Hex, http, isHex } from "viem";
import { mainnet } from "viem/chains";
import { createOutboundClient, type OutboundClient } from "../../net/client.ts";
import { createUrlGuard } from "../../net/guard.ts";
import { createOperatorFetch } from "../../net/operator-fetch.ts";
import { invalid, type Rejection, rejection } from "../../protocol/rejection.ts";
import type { ChainCheck } from "../../protocol/validate/requirements.ts";

const CALL_TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 1024 * 1024;

/** Calls to Ethereum mainnet over one RPC. */
export interface ChainCalls {
  /**
   * Checks a message against the chain. Returns undefined if the chain confirms it.
   *
   * @throws Error when the RPC does not respond.
   */
  confirm(need: ChainCheck): Promise<Rejection | undefined>;
}

/** @param l1RpcUrl the operator's RPC. */
export function createChainCalls(l1RpcUrl: string): ChainCalls {
  const clients = createClients(l1RpcUrl);
  return { confirm: (need) => runCheck(need, clients) };
}

type Clients = ReturnType<typeof createClients>;

/**
 * Creates the RPC clients. The operator trusts the RPC. Anyone can own a name under `.eth`, so the gateways of its resolver
 * are not called at all. Basenames all resolve through base.eth, whose gateway is called like any untrusted URL.
 */
function createClients(l1RpcUrl: string) {
  const chain: Chain = mainnet;
  const transport = http(l1RpcUrl, {
    timeout: CALL_TIMEOUT_MS,
    retryCount: 1,
    maxResponseBodySize: MAX_RESPONSE_BYTES,
    fetchFn: createOperatorFetch(l1RpcUrl),
  });
  const guard = createUrlGuard({ allowCidrs: [], allowHttp: false });
  const request = createGatewayRequest(createOutboundClient({ guard }));
  return {
    plain: createPublicClient({ chain, transport, ccipRead: false }),
    gateways: createPublicClient({ chain, transport, ccipRead: { request } }),
  };
}

async function runCheck(need: ChainCheck, clients: Clients): Promise<Rejection | undefined> {
  if (need.kind === "contract-verification") {
    if (need.chainId !== mainnet.id)
      return rejection("unavailable", `this node has no RPC for chain ${need.chainId}`);
    const accepted = await clients.plain.verifyHash({
      address: hex(need.address),
      hash: hex(need.claimHash),
      signature: hex(need.signature),
    });
    // viem reports a failed call as not accepted. A second call that succeeds shows that the RPC works and the result is
    // real.
    if (!accepted) await clients.plain.getChainId();
    return accepted ? undefined : invalid("the contract does not accept the claim signature");
  }
  const client = need.chainId === mainnet.id ? clients.plain : clients.gateways;
  const resolved = await client.getEnsAddress({ name: need.name });
  if (resolved?.toLowerCase() !== hex(need.owner))
    return invalid("name does not resolve to the owner of the proof");
  return undefined;
}

function hex(bytes: Uint8Array): `0x${string}` {
  return `0x${bytes.toHex()}`;
}

const MAX_GATEWAYS = 4;
const GATEWAY_TIMEOUT_MS = 5_000;
const MAX_GATEWAY_RESPONSE_BYTES = 256 * 1024;

/**
 * Requests data from the gateways that a contract names (EIP-3668), one after the other, through the guarded client, because
 * a contract could name any host inside the operator's network.
 *
 * @returns the function for viem's `ccipRead.request`; it throws if no gateway returns data.
 */
export function createGatewayRequest(client: OutboundClient) {
  return async ({ data, sender, urls }: CcipRequestParameters): Promise<Hex> => {
    for (const template of urls.slice(0, MAX_GATEWAYS)) {
      const byGet = template.includes("{data}");
      const result = await client.request({
        url: template.replace("{sender}", sender.toLowerCase()).replace("{data}", data),
        method: byGet ? "GET" : "POST",
        headers: byGet ? {} : { "content-type": "application/json" },
        body: byGet ? undefined : JSON.stringify({ data, sender }),
        timeoutMs: GATEWAY_TIMEOUT_MS,
        maxResponseBytes: MAX_GATEWAY_RESPONSE_BYTES,
      });
      if (!result.ok) continue;
      const response = result.value;
      if (response.status > 299) {
        // According to the standard, 4xx is final and 5xx means that the next gateway should be tried.
        if (response.status < 500) break;
        continue;
      }
      const found = dataOf(new TextDecoder().decode(response.body));
      if (found !== undefined) return found;
    }
    throw new Error("no gateway returned the data");
  };
}

function dataOf(text: string): Hex | undefined {
  try {
    const data: unknown = JSON.parse(text)?.data;
    return isHex(data) ? data : undefined;
  } catch {
    return undefined;
  }
}
