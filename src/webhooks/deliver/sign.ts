import { createHmac } from "node:crypto";
import type { Secret } from "../../db/state/records.ts";

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
 * @param signatureHeaders names under which the service's own signature goes.
 * @throws Error without any secret: nothing goes out unsigned.
 */
export function signedHeaders(
  content: SignedContent,
  secrets: readonly Secret[],
  signatureHeaders: readonly string[],
): Record<string, string> {
  const { messageId, timestamp, body } = content;
  const newest = secrets.at(-1);
  if (!newest) throw new Error("a webhook has no secret to sign with");
  const own = hmacSha512(newest.value, body);
  return {
    ...Object.fromEntries(signatureHeaders.map((name) => [name, own])),
    "webhook-id": messageId,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": secrets.map(({ value }) => standardSignature(value, content)).join(" "),
  };
}

/** Under which receivers of the hosted API look for the service's own signature. */
export const COMPAT_SIGNATURE_HEADER = "X-Neynar-Signature";

const STANDARD_PREFIX = "whsec_";

/** A secret as Standard Webhooks libraries take it: `whsec_` and base64 of the bytes of its text. */
export function standardSecret(value: string): string {
  return STANDARD_PREFIX + Buffer.from(value, "utf8").toString("base64");
}

/** The text of a secret that is given as such, or as Standard Webhooks libraries take it. */
export function secretText(given: string): string {
  if (!given.startsWith(STANDARD_PREFIX)) return given;
  return Buffer.from(given.slice(STANDARD_PREFIX.length), "base64").toString("utf8");
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
