import type { OutboundClient, OutboundResult } from "../../net/client.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import { callEnd, calledHost } from "../../runtime/trace/call-span.ts";
import type { Spans } from "../../runtime/trace/span.ts";
import type { LoggedDelivery } from "../store/delivery-log.ts";
import type { ClaimedDelivery } from "../store/delivery-queue.ts";
import type { Webhook } from "../store/webhook-store.ts";
import { MAX_LOGGED_RESPONSE_BYTES } from "./classify-outcome.ts";
import { COMPAT_SIGNATURE_HEADER, signedHeaders } from "./sign.ts";

/** How deliveries identify themselves. */
export interface SenderSettings {
  readonly userAgent: string;
  /** Name of the service's own signature header. */
  readonly signatureHeader: string;
  /** Name of the header with the id of the replay that queued a delivery. */
  readonly replayHeader: string;
}

const MASK = "***";

/** Returns the headers of a delivery other than those of its content. */
function plainHeaders(
  { userAgent, replayHeader }: SenderSettings,
  replayId: string | null,
): Record<string, string> {
  return {
    "content-type": "application/json",
    "user-agent": userAgent,
    ...(replayId !== null && { [replayHeader]: replayId }),
  };
}

/** Returns the names of the headers with the service's own signature. */
function signatureHeadersOf(
  { signatureHeader }: SenderSettings,
  compatPrefix: string | null,
): readonly string[] {
  return compatPrefix === null ? [signatureHeader] : [signatureHeader, COMPAT_SIGNATURE_HEADER];
}

/** Returns the headers of the last attempt, or those that the first one will have, with masked signatures. */
export function sentHeaders({
  delivery,
  webhook,
  sender,
}: {
  readonly delivery: LoggedDelivery;
  readonly webhook: Webhook;
  readonly sender: SenderSettings;
}): Record<string, string> {
  const last = delivery.attempts.at(-1);
  return {
    ...plainHeaders(sender, delivery.replayId),
    ...Object.fromEntries(signatureHeadersOf(sender, webhook.compatPrefix).map((name) => [name, MASK])),
    "webhook-id": delivery.messageId,
    ...(last && { "webhook-timestamp": String(Math.floor(last.atMs / 1000)) }),
    "webhook-signature": webhook.secrets.map(() => `v1,${MASK}`).join(" "),
  };
}

/** Signs a delivery and sends it to its receiver. It never throws because of what a receiver does. */
export type CallReceiver = (delivery: ClaimedDelivery, signal: AbortSignal) => Promise<OutboundResult>;

const encoder = new TextEncoder();

export function createCallReceiver(parts: {
  readonly client: OutboundClient;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly sender: SenderSettings;
  /** Undefined while traces are off. */
  readonly spans?: Pick<Spans, "start"> | undefined;
}): CallReceiver {
  const { client, clock, sender, spans } = parts;
  return async (
    { messageId, replayId, attempts, body, ownerFid, targetUrl, compatPrefix, secrets },
    signal,
  ) => {
    const span = spans?.start({
      name: "deliver webhook",
      kind: "client",
      attributes: { ...calledHost(targetUrl), "svc.message_id": messageId, "svc.attempt": attempts + 1 },
    });
    // Encoded once for both signatures and the request.
    const bytes = encoder.encode(body);
    const content = { messageId, timestamp: nowSecs(clock), body: bytes };
    const outcome = await client.request({
      url: targetUrl,
      requester: `fid:${ownerFid}`,
      method: "POST",
      headers: {
        ...plainHeaders(sender, replayId),
        ...signedHeaders(content, secrets, signatureHeadersOf(sender, compatPrefix)),
      },
      body: bytes,
      timeoutMs: parts.timeoutMs,
      maxResponseBytes: MAX_LOGGED_RESPONSE_BYTES,
      signal,
    });
    span?.end(callEnd(outcome));
    return outcome;
  };
}
