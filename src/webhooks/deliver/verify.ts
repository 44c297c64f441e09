import { timingSafeEqual } from "node:crypto";
import { hmacSha512, standardSignature } from "./sign.ts";

/** A delivery as it came. */
export interface ReceivedDelivery {
  readonly headers: Headers;
  /** Byte for byte. */
  readonly body: Uint8Array;
}

/** Which of the secrets signed a delivery, by their place; undefined where none of them did. */
export interface Verified {
  /** In the service's own signature header. */
  readonly own: number | undefined;
  /** In the Standard Webhooks header. */
  readonly standard: number | undefined;
  /** How long ago it was signed, in seconds; undefined where it does not say. */
  readonly ageSecs: number | undefined;
}

const SIGNATURE_BYTES = 512;
/** As many as a webhook can have secrets. */
const MAX_SIGNATURES = 100;

/** Looks at both signatures of a delivery, as every receiver should before it believes anything of it. */
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
  const given = (headers.get("webhook-signature") ?? "").split(" ").slice(0, MAX_SIGNATURES);
  const timestamp = /^\d{1,12}$/.test(sentAt) ? Number(sentAt) : undefined;
  return {
    own: placeOf(secrets, (secret) => isSame(hmacSha512(secret, body), own)),
    standard:
      timestamp === undefined
        ? undefined
        : placeOf(secrets, (secret) => {
            const signature = standardSignature(secret, { messageId, timestamp, body });
            return given.some((one) => isSame(signature, one));
          }),
    ageSecs: timestamp === undefined ? undefined : nowSecs - timestamp,
  };
}

/** The last one, since the newest secret stands there. */
function placeOf(secrets: readonly string[], isSignedBy: (secret: string) => boolean): number | undefined {
  const place = secrets.findLastIndex(isSignedBy);
  return place === -1 ? undefined : place;
}

/** Takes the same time wherever two texts differ. */
function isSame(expected: string, given: string): boolean {
  const padded = (text: string) => {
    const bytes = Buffer.alloc(SIGNATURE_BYTES);
    bytes.write(text, "latin1");
    return bytes;
  };
  return timingSafeEqual(padded(expected), padded(given)) && expected.length === given.length;
}
