/** A verified delivery. */
export interface Delivery {
  /** Identical for every attempt. Use it to detect duplicates. */
  readonly id: string;
  /** Time of this attempt, in unix seconds. */
  readonly timestamp: number;
  readonly event: {
    readonly created_at: number;
    readonly type: string;
    // biome-ignore lint/suspicious/noExplicitAny: its shape depends on the type
    readonly data: any;
  };
}

/** A delivery that must not be trusted. */
export class DeliveryRefused extends Error {
  override readonly name = "DeliveryRefused";
}

export interface VerifyOptions {
  /** `standard_secret` of the webhook (`whsec_…`). Several while a secret is rotated. */
  readonly secret: string | readonly string[];
  /** Maximum difference between the delivery's time and this machine's, in seconds. Default: 300. */
  readonly toleranceSecs?: number;
  /** Unix seconds. Default: now. */
  readonly nowSecs?: number;
}

/**
 * Verifies a delivery according to Standard Webhooks: HMAC-SHA256 over id, time and body. `body` is the received body, byte for byte;
 * `headers` may be those of a Node request.
 * @throws DeliveryRefused if the delivery is not from the node
 * @throws TypeError if a secret is missing, or does not have the form of `standard_secret`
 */
export async function verifyDelivery(
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>,
  body: string | Uint8Array,
  { secret, toleranceSecs = 300, nowSecs = Date.now() / 1000 }: VerifyOptions,
): Promise<Delivery> {
  const keys = (typeof secret === "string" ? [secret] : secret).map(keyOf);
  if (keys.length === 0) throw new TypeError("there is no secret to verify deliveries with");
  const header = (name: string) => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name];
    if (typeof value !== "string" || value === "") throw new DeliveryRefused(`the header ${name} is missing`);
    return value;
  };
  const id = header("webhook-id");
  const timestamp = Number(header("webhook-timestamp"));
  const signatures = header("webhook-signature").split(" ");
  if (!Number.isSafeInteger(timestamp))
    throw new DeliveryRefused("the header webhook-timestamp is not a time");
  if (Math.abs(nowSecs - timestamp) > toleranceSecs)
    throw new DeliveryRefused("the delivery is too old, or from the future");

  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const head = new TextEncoder().encode(`${id}.${header("webhook-timestamp")}.`);
  const signed = new Uint8Array(head.length + bytes.length);
  signed.set(head);
  signed.set(bytes, head.length);
  for (const raw of keys) {
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("raw", raw, algorithm, false, ["verify"]);
    for (const signature of signatures) {
      const [version, value] = signature.split(",", 2);
      if (version !== "v1" || value === undefined) continue;
      // WebCrypto compares in constant time.
      if (await crypto.subtle.verify("HMAC", key, fromBase64(value), signed))
        return { id, timestamp, event: JSON.parse(new TextDecoder().decode(bytes)) };
    }
  }
  throw new DeliveryRefused("no signature of the delivery is valid");
}

/** Decodes the key of a secret. Throws for an empty key, with which anyone could create valid signatures. */
function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const key = fromBase64(secret.replace(/^whsec_/, ""));
  if (key.length === 0) throw new TypeError("the secret is not the standard_secret of a webhook (whsec_…)");
  return key;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
