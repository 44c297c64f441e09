import type { OutboundClient, OutboundResult } from "../../net/client.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { ClaimedDelivery } from "../store/delivery-queue.ts";
import { MAX_LOGGED_RESPONSE_BYTES } from "./classify-outcome.ts";
import { plainHeaders, type SenderSettings, signatureHeadersOf } from "./sent-headers.ts";
import { signedHeaders } from "./sign.ts";

/** Signs a delivery and sends it to its receiver. A receiver's misbehaviour never makes it throw. */
export type CallReceiver = (delivery: ClaimedDelivery, signal: AbortSignal) => Promise<OutboundResult>;

const encoder = new TextEncoder();

export function createCallReceiver(parts: {
  readonly client: OutboundClient;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly sender: SenderSettings;
}): CallReceiver {
  const { client, clock, timeoutMs, sender } = parts;
  return async ({ messageId, body, ownerFid, targetUrl, compatPrefix, secrets }, signal) => {
    // Encoded once for both signatures and the request.
    const bytes = encoder.encode(body);
    const content = { messageId, timestamp: nowSecs(clock), body: bytes };
    return client.request({
      url: targetUrl,
      requester: `fid:${ownerFid}`,
      method: "POST",
      headers: {
        ...plainHeaders(sender),
        ...signedHeaders(content, secrets, signatureHeadersOf(sender, compatPrefix)),
      },
      body: bytes,
      timeoutMs,
      maxResponseBytes: MAX_LOGGED_RESPONSE_BYTES,
      signal,
    });
  };
}
