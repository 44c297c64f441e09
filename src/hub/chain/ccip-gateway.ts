import { type CcipRequestParameters, type Hex, isHex } from "viem";
import type { OutboundClient } from "../../net/client.ts";

const MAX_GATEWAYS = 4;
const GATEWAY_TIMEOUT_MS = 5_000;
const MAX_RESPONSE_BYTES = 256 * 1024;

/**
 * Requests data from the gateways that a contract names (EIP-3668), one after the other, through the guarded client:
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
        maxResponseBytes: MAX_RESPONSE_BYTES,
      });
      if (!result.ok) continue;
      const response = result.value;
      if (response.status > 299) {
        // By the standard, 4xx is final and 5xx means that the next gateway should be tried.
        if (response.status < 500) break;
        continue;
      }
      const found = dataOf(new TextDecoder().decode(response.body));
      if (found !== undefined) return found;
    }
    throw new Error("no gateway gave the data");
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
