import { UNTRIED, type Webhook } from "../../src/webhooks/store/webhook-store.ts";

/** A delivery with verified signatures. */
export interface ReceivedDelivery {
  /** Path of the URL, which identifies the webhook. */
  readonly path: string;
  readonly messageId: string;
  /** A short, unique description of the event. */
  readonly event: string;
  readonly body: {
    readonly type: string;
    readonly created_at: number;
    readonly data: Record<string, unknown>;
  };
  /** The time of arrival, in unix milliseconds. */
  readonly atMs: number;
}

export interface DeliveryReceiver extends AsyncDisposable {
  readonly port: number;
  /** In the order of their arrival. */
  readonly received: readonly ReceivedDelivery[];
  /** Those of them with a 2xx response. */
  readonly accepted: readonly ReceivedDelivery[];
  /** The defects of requests. */
  readonly violations: readonly string[];
  /** A webhook whose deliveries go to the receiver. */
  webhook(path: string, input?: Partial<Webhook>): Webhook;
}

const WEBHOOK_SECRET = "a5".repeat(32);

/** Called with each delivery. Returns the response, or undefined for 200. */
export type DeliveryResponder = (
  delivery: ReceivedDelivery,
) => Response | undefined | Promise<Response | undefined>;

/** A receiver on a loopback port that verifies both signatures over the received bytes. */
export async function startDeliveryReceiver(
  respond: DeliveryResponder = () => undefined,
): Promise<DeliveryReceiver> {
  const received: ReceivedDelivery[] = [];
  const accepted: ReceivedDelivery[] = [];
  const violations: string[] = [];
  const keys = { sha512: await hmacKey("SHA-512"), sha256: await hmacKey("SHA-256") };

  async function isGenuine(headers: Headers, body: Uint8Array): Promise<boolean> {
    const prefix = new TextEncoder().encode(
      `${headers.get("webhook-id")}.${headers.get("webhook-timestamp")}.`,
    );
    const own = Buffer.from(headers.get("x-svc-signature") ?? "", "hex");
    const [scheme, standard = ""] = headers.get("webhook-signature")?.split(",") ?? [];
    const isFresh = Math.abs(Number(headers.get("webhook-timestamp")) - Date.now() / 1000) < 30;
    return (
      isFresh &&
      scheme === "v1" &&
      (await crypto.subtle.verify("HMAC", keys.sha512, own, Uint8Array.from(body))) &&
      (await crypto.subtle.verify(
        "HMAC",
        keys.sha256,
        Buffer.from(standard, "base64"),
        Uint8Array.from([...prefix, ...body]),
      ))
    );
  }

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const atMs = Date.now();
      const bytes = new Uint8Array(await request.arrayBuffer());
      const { headers } = request;
      if (!(await isGenuine(headers, bytes))) violations.push(`not genuine: ${headers.get("webhook-id")}`);
      const body = JSON.parse(new TextDecoder().decode(bytes)) as ReceivedDelivery["body"];
      const delivery = {
        path: new URL(request.url).pathname,
        messageId: headers.get("webhook-id") ?? "",
        event: eventOf(body),
        body,
        atMs,
      };
      received.push(delivery);
      const response = (await respond(delivery)) ?? new Response("ok");
      if (response.ok) accepted.push(delivery);
      return response;
    },
  });
  return {
    port: server.port ?? 0,
    received,
    accepted,
    violations,
    webhook: (path, input) => webhookTo(`http://127.0.0.1:${server.port}${path}`, input),
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

/** A webhook for every new cast. */
export function webhookTo(targetUrl: string, input: Partial<Webhook> = {}): Webhook {
  return {
    webhookId: crypto.randomUUID(),
    ownerFid: 1,
    title: targetUrl,
    targetUrl,
    description: null,
    active: true,
    subscription: { "cast.created": {} },
    compatPrefix: null,
    health: UNTRIED,
    secrets: [{ uid: crypto.randomUUID(), value: WEBHOOK_SECRET, createdAt: 1, expiresAt: null }],
    createdAt: 1,
    updatedAt: 1,
    ...input,
  };
}

/** The key is the text of the secret, as its bytes. */
function hmacKey(hash: string): Promise<CryptoKey> {
  const key = new TextEncoder().encode(WEBHOOK_SECRET);
  return crypto.subtle.importKey("raw", key, { name: "HMAC", hash }, false, ["verify"]);
}

interface Data {
  readonly hash?: string;
  readonly cast_hash?: string;
  readonly user?: { readonly fid: number };
  readonly target_user?: { readonly fid: number };
  readonly cast?: { readonly hash: string };
}

function eventOf({ type, data }: { readonly type: string; readonly data: Data }): string {
  if (type.startsWith("channel.")) return `${type} ${data.cast_hash}`;
  const subject = data.hash ?? `${data.user?.fid} ${data.cast?.hash ?? data.target_user?.fid}`;
  return `${type} ${subject}`;
}
