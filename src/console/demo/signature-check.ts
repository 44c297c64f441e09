import { timingSafeEqual } from "node:crypto";
import type { Secret } from "../../db/state/secret.ts";
import { hmacSha512, standardSignature } from "../../webhooks/deliver/sign.ts";

/**
 * - `valid`: both signatures are right;
 * - `missing`: the request has none;
 * - `invalid`: at least one is wrong;
 * - `unknown`: no webhook of the owner has this URL, so there is no secret to check with.
 */
export type SignatureCheck = "valid" | "missing" | "invalid" | "unknown";

/** Checks a delivery as a receiver has to: the service's own header, and those of Standard Webhooks. */
export function checkSignature(delivery: {
  readonly headers: Headers;
  readonly body: Uint8Array;
  readonly secrets: readonly Secret[];
  readonly signatureHeader: string;
}): SignatureCheck {
  const { headers, body, secrets, signatureHeader } = delivery;
  const own = headers.get(signatureHeader);
  const standard = headers.get("webhook-signature");
  const messageId = headers.get("webhook-id");
  const timestamp = Number(headers.get("webhook-timestamp"));
  if (own === null || standard === null || messageId === null) return "missing";
  if (secrets.length === 0) return "unknown";
  const isOwn = secrets.some(({ value }) => isEqual(own, hmacSha512(value, body)));
  const given = standard.split(" ");
  const isStandard = secrets.some(({ value }) => {
    const expected = standardSignature(value, { messageId, timestamp, body });
    return given.some((signature) => isEqual(signature, expected));
  });
  return isOwn && isStandard ? "valid" : "invalid";
}

function isEqual(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
