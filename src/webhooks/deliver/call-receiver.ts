import type { OutboundClient, OutboundResult } from "../../net/client.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { ClaimedDelivery } from "../store/delivery-queue.ts";
import { MAX_LOGGED_RESPONSE_BYTES } from "./classify-outcome.ts";
import { COMPAT_SIGNATURE_HEADER, signedHeaders } from "./sign.ts";

/** Signs a delivery and sends it to its receiver. A receiver's misbehaviour never makes it throw. */
export type CallReceiver = (delivery: ClaimedDelivery, signal: AbortSignal) => Promise<OutboundResult>;

const encoder = new TextEncoder();

export function createCallReceiver(parts: {
  readonly client: OutboundClient;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly userAgent: string;
  /** Name of the service's own signature header. */
  readonly signatureHeader: string;
}): CallReceiver {
  const { client, clock, timeoutMs, userAgent, signatureHeader } = parts;
  return async ({ messageId, body, ownerFid, targetUrl, compatPrefix, secrets }, signal) => {
    const ownHeaders = compatPrefix === null ? [signatureHeader] : [signatureHeader, COMPAT_SIGNATURE_HEADER];
    // Encoded once for both signatures and the request.
    const bytes = encoder.encode(body);
    const content = { messageId, timestamp: nowSecs(clock), body: bytes };
    return client.request({
      url: targetUrl,
      requester: `fid:${ownerFid}`,
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": userAgent,
        ...signedHeaders(content, secrets, ownHeaders),
      },
      body: bytes,
      timeoutMs,
      maxResponseBytes: MAX_LOGGED_RESPONSE_BYTES,
      signal,
    });
  };
}
