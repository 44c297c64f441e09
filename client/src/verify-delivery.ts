/** A delivery that is what the node sent. */
export interface Delivery {
  /** The same for every try; dedupe by it. */
  readonly id: string;
  /** Unix seconds of this try. */
  readonly timestamp: number;
  readonly event: {
    readonly created_at: number;
    readonly type: string;
    // biome-ignore lint/suspicious/noExplicitAny: its shape depends on the type
    readonly data: any;
  };
}

/** A delivery that is not to be trusted. */
export class DeliveryRefused extends Error {
  override readonly name = "DeliveryRefused";
}

export interface VerifyOptions {
  /** `standard_secret` of the webhook (`whsec_…`); several while a secret is replaced. */
  readonly secret: string | readonly string[];
  /** How far its time may be from this machine's, in seconds; 300 by default. */
  readonly toleranceSecs?: number;
  /** Unix seconds; now by default. */
  readonly nowSecs?: number;
}

/**
 * Verifies a delivery by the scheme of Standard Webhooks: HMAC-SHA256 over id, time and body. `body` is what was received, byte for byte.
 * @throws DeliveryRefused
 */
export async function verifyDelivery(
  headers: Headers | Readonly<Record<string, string | undefined>>,
  body: string | Uint8Array,
  { secret, toleranceSecs = 300, nowSecs = Date.now() / 1000 }: VerifyOptions,
): Promise<Delivery> {
  const header = (name: string) => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name];
    if (!value) throw new DeliveryRefused(`the header ${name} is missing`);
    return value;
  };
  const id = header("webhook-id");
  const timestamp = Number(header("webhook-timestamp"));
  const signatures = header("webhook-signature").split(" ");
  if (!Number.isSafeInteger(timestamp))
    throw new DeliveryRefused("the header webhook-timestamp is not a time");
  if (Math.abs(nowSecs - timestamp) > toleranceSecs)
    throw new DeliveryRefused("the delivery is too old, or from the future");

  const text = typeof body === "string" ? body : new TextDecoder("utf-8", { fatal: true }).decode(body);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  for (const one of typeof secret === "string" ? [secret] : secret) {
    const key = await crypto.subtle.importKey(
      "raw",
      fromBase64(one.replace(/^whsec_/, "")),
      { name: "HMAC", hash: "SHA-256" },
      false,
      ["verify"],
    );
    for (const signature of signatures) {
      const [version, value] = signature.split(",", 2);
      if (version !== "v1" || value === undefined) continue;
      // WebCrypto compares in constant time.
      if (await crypto.subtle.verify("HMAC", key, fromBase64(value), signed))
        return { id, timestamp, event: JSON.parse(text) };
    }
  }
  throw new DeliveryRefused("no signature of the delivery is valid");
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
