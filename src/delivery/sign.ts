import { createHmac } from "node:crypto";
import type { Secret } from "../state/records.ts";

export interface SignedContent {
  readonly messageId: string;
  /** Of the attempt, unix seconds. */
  readonly timestamp: number;
  readonly body: string;
}

/**
 * The headers by which a receiver knows a delivery as genuine.
 *
 * The service's own: hex HMAC-SHA512 of the body under the newest secret. Beside it those of Standard Webhooks
 * (https://www.standardwebhooks.com, version 1): base64 HMAC-SHA256 of id, timestamp and body under every secret, so that
 * a receiver that still knows a rotated one alone can verify. Either way the key is the secret's text.
 *
 * @param secrets the unexpired ones, oldest first.
 * @param signatureHeader name of the service's own header.
 * @throws Error without any secret: nothing goes out unsigned.
 */
export function signatureHeaders(
  content: SignedContent,
  secrets: readonly Secret[],
  signatureHeader: string,
): Record<string, string> {
  const { messageId, timestamp, body } = content;
  const newest = secrets.at(-1);
  if (!newest) throw new Error("a webhook has no secret to sign with");
  return {
    [signatureHeader]: hmacSha512(newest.value, body),
    "webhook-id": messageId,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": secrets.map(({ value }) => standardSignature(value, content)).join(" "),
  };
}

/** The value of the service's own signature header. */
export function hmacSha512(key: string | Uint8Array, body: string | Uint8Array): string {
  return createHmac("sha512", key).update(body).digest("hex");
}

/** One entry of `webhook-signature`. */
export function standardSignature(
  key: string | Uint8Array,
  content: Pick<SignedContent, "messageId" | "timestamp"> & { readonly body: string | Uint8Array },
): string {
  const signed = createHmac("sha256", key).update(`${content.messageId}.${content.timestamp}.`);
  return `v1,${signed.update(content.body).digest("base64")}`;
}
