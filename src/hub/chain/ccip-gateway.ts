import { type CcipRequestParameters, type Hex, isHex } from "viem";
import { type OutboundClient, OutboundError } from "../../net/client.ts";

const MAX_GATEWAYS = 4;
const GATEWAY_TIMEOUT_MS = 5_000;
const MAX_ANSWER_BYTES = 256 * 1024;

/**
 * Asks the gateways that a contract names (EIP-3668) for its data, one after the other, through the guarded way out: a
 * contract could name any host inside the operator's network.
 *
 * @returns the function that viem's `ccipRead.request` takes; it throws when none of the gateways gives data.
 */
export function createGatewayRequest(client: OutboundClient) {
  return async ({ data, sender, urls }: CcipRequestParameters): Promise<Hex> => {
    for (const template of urls.slice(0, MAX_GATEWAYS)) {
      const byGet = template.includes("{data}");
      const answer = await client.request({
        url: template.replace("{sender}", sender.toLowerCase()).replace("{data}", data),
        method: byGet ? "GET" : "POST",
        headers: byGet ? {} : { "content-type": "application/json" },
        body: byGet ? undefined : JSON.stringify({ data, sender }),
        timeoutMs: GATEWAY_TIMEOUT_MS,
        maxResponseBytes: MAX_ANSWER_BYTES,
      });
      if (answer instanceof OutboundError) continue;
      if (answer.status > 299) {
        // By the standard, 4xx is the gateway's last word and 5xx asks for the next one.
        if (answer.status < 500) break;
        continue;
      }
      const found = dataOf(new TextDecoder().decode(answer.body));
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
