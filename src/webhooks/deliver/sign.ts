import { timingSafeEqual } from "node:crypto";
import type { Secret } from "../../db/state/secret.ts";

export interface SignedContent {
  readonly messageId: string;
  /** The time of the attempt, unix seconds. */
  readonly timestamp: number;
  readonly body: string | Uint8Array;
}

/**
 * Returns the headers with which a receiver verifies a delivery.
 *
 * The service's own header has the hex HMAC-SHA512 of the body under the newest secret. The headers of Standard Webhooks
 * (https://www.standardwebhooks.com, version 1) have the base64 HMAC-SHA256 of id, timestamp and body under every secret, so that a
 * receiver that has only a rotated secret can verify it. The key is the text of the secret in both cases.
 *
 * @param secrets the unexpired ones, oldest first.
 * @param signatureHeaders names of the headers with the service's own signature.
 * @throws Error if there is no secret: nothing is sent unsigned.
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

/** The signature header of the hosted API. */
export const COMPAT_SIGNATURE_HEADER = "X-Neynar-Signature";

const STANDARD_PREFIX = "whsec_";

/** Encodes a secret for Standard Webhooks libraries: `whsec_` and the base64 of its text. */
export function standardSecret(value: string): string {
  return STANDARD_PREFIX + Buffer.from(value, "utf8").toString("base64");
}

/** Returns the text of a secret in either form, plain or encoded for Standard Webhooks libraries. */
export function secretText(secret: string): string {
  if (!secret.startsWith(STANDARD_PREFIX)) return secret;
  return Buffer.from(secret.slice(STANDARD_PREFIX.length), "base64").toString("utf8");
}

/** Returns the value of the service's own signature header. */
export function hmacSha512(key: string | Uint8Array, body: string | Uint8Array): string {
  return new Bun.CryptoHasher("sha512", key).update(body).digest("hex");
}

/** Returns one entry of `webhook-signature`. */
export function standardSignature(key: string | Uint8Array, content: SignedContent): string {
  const signed = new Bun.CryptoHasher("sha256", key).update(`${content.messageId}.${content.timestamp}.`);
  return `v1,${signed.update(content.body).digest("base64")}`;
}

/** A delivery as the receiver got it. */
interface ReceivedDelivery {
  readonly headers: Headers;
  /** The raw bytes. */
  readonly body: Uint8Array;
}

/** Which secrets signed a delivery, by index; undefined if none of them did. */
export interface Verified {
  /** In the service's own signature header. */
  readonly own: number | undefined;
  /** In the Standard Webhooks header. */
  readonly standard: number | undefined;
  /** Seconds since it was signed; undefined without a valid timestamp. */
  readonly ageSecs: number | undefined;
}

const SIGNATURE_BYTES = 512;
/** Maximum number of secrets of a webhook. */
const MAX_SIGNATURES = 100;

/** Verifies both signatures of a delivery. */
export function verifyDelivery(
  { headers, body }: ReceivedDelivery,
  expected: {
    readonly secrets: readonly string[];
    readonly signatureHeader: string;
    readonly nowSecs: number;
  },
): Verified {
  const { secrets, signatureHeader, nowSecs } = expected;
  const own = headers.get(signatureHeader) ?? "";
  const messageId = headers.get("webhook-id") ?? "";
  const sentAt = headers.get("webhook-timestamp") ?? "";
  const signatures = (headers.get("webhook-signature") ?? "").split(" ").slice(0, MAX_SIGNATURES);
  const timestamp = /^\d{1,12}$/.test(sentAt) ? Number(sentAt) : undefined;
  return {
    own: indexOfSigner(secrets, (secret) => isSame(hmacSha512(secret, body), own)),
    standard:
      timestamp === undefined
        ? undefined
        : indexOfSigner(secrets, (secret) => {
            const signature = standardSignature(secret, { messageId, timestamp, body });
            return signatures.some((one) => isSame(signature, one));
          }),
    ageSecs: timestamp === undefined ? undefined : nowSecs - timestamp,
  };
}

/** Returns the last match, because the newest secret is last. */
function indexOfSigner(
  secrets: readonly string[],
  isSignedBy: (secret: string) => boolean,
): number | undefined {
  const index = secrets.findLastIndex(isSignedBy);
  return index === -1 ? undefined : index;
}

/** Compares in constant time. */
function isSame(expected: string, received: string): boolean {
  const padded = (text: string) => {
    const bytes = Buffer.alloc(SIGNATURE_BYTES);
    bytes.write(text, "latin1");
    return bytes;
  };
  return timingSafeEqual(padded(expected), padded(received)) && expected.length === received.length;
}
