import type { LoggedDelivery } from "../store/delivery-log.ts";
import type { Webhook } from "../store/webhook-store.ts";
import { COMPAT_SIGNATURE_HEADER } from "./sign.ts";

/** How deliveries introduce themselves. */
export interface SenderSettings {
  readonly userAgent: string;
  /** Name of the service's own signature header. */
  readonly signatureHeader: string;
}

const MASK = "***";

/** The headers of a delivery that do not depend on it. */
export function plainHeaders({ userAgent }: SenderSettings): Record<string, string> {
  return { "content-type": "application/json", "user-agent": userAgent };
}

/** The names of the headers with the service's own signature. */
export function signatureHeadersOf(
  { signatureHeader }: SenderSettings,
  compatPrefix: string | null,
): readonly string[] {
  return compatPrefix === null ? [signatureHeader] : [signatureHeader, COMPAT_SIGNATURE_HEADER];
}

/** Returns the headers of the last attempt, or of the first one before it is made, with masked signatures. */
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
    ...plainHeaders(sender),
    ...Object.fromEntries(signatureHeadersOf(sender, webhook.compatPrefix).map((name) => [name, MASK])),
    "webhook-id": delivery.messageId,
    ...(last && { "webhook-timestamp": String(Math.floor(last.atMs / 1000)) }),
    "webhook-signature": webhook.secrets.map(() => `v1,${MASK}`).join(" "),
  };
}
