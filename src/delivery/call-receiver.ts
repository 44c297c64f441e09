import type { OutboundAnswer, OutboundClient, OutboundFailure } from "../net/client.ts";
import { type Clock, nowSecs } from "../process/clock.ts";
import type { ClaimedDelivery } from "../state/deliveries.ts";
import { MAX_LOGGED_ANSWER_BYTES } from "./judge.ts";
import { COMPAT_SIGNATURE_HEADER, signedHeaders } from "./sign.ts";

/** Sends a delivery to its receiver, signed anew. It never throws for what a receiver does. */
export type CallReceiver = (
  delivery: ClaimedDelivery,
  signal: AbortSignal,
) => Promise<OutboundAnswer | OutboundFailure>;

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
    const content = { messageId, timestamp: nowSecs(clock), body };
    return client.request({
      url: targetUrl,
      requester: `fid:${ownerFid}`,
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": userAgent,
        ...signedHeaders(content, secrets, ownHeaders),
      },
      body,
      timeoutMs,
      maxAnswerBytes: MAX_LOGGED_ANSWER_BYTES,
      signal,
    });
  };
}
