import { timingSafeEqual } from "node:crypto";
import { hmacSha512, standardSignature } from "./sign.ts";

/** A delivery as the receiver got it. */
export interface ReceivedDelivery {
  readonly headers: Headers;
  /** The raw bytes. */
  readonly body: Uint8Array;
}

/** Index of the secret that signed a delivery; undefined when none of them did. */
export interface Verified {
  /** In the service's own signature header. */
  readonly own: number | undefined;
  /** In the Standard Webhooks header. */
  readonly standard: number | undefined;
  /** Seconds since it was signed; undefined without a valid timestamp. */
  readonly ageSecs: number | undefined;
}

const SIGNATURE_BYTES = 512;
/** The most secrets that a webhook can have. */
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
