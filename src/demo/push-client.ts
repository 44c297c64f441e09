import { sign } from "node:crypto";
import type { Envelope } from "../auth/jfs.ts";
import { RetryableError, UserError } from "../lib/failure.ts";
import { listenFault } from "../net/listen-address.ts";
import { noResponseReason, type OperatorFetch } from "../net/operator-fetch.ts";
import type { Ed25519Key } from "../protocol/message/build-message.ts";
import { createKeyring } from "./keys.ts";
import { clientFidsOf, isDemoFid } from "./roster.ts";

/** Body that a node posts to a client's notification URL. */
export interface PostedNotification {
  readonly notificationId: string;
  readonly title: string;
  readonly body: string;
  readonly targetUrl: string;
  readonly tokens: readonly string[];
}

/** Reports whether the JSON of a request is a notification. */
export function isPostedNotification(value: unknown): value is PostedNotification {
  if (typeof value !== "object" || value === null) return false;
  const { notificationId, title, body, targetUrl, tokens } = value as Record<string, unknown>;
  const isText = [notificationId, title, body, targetUrl].every((field) => typeof field === "string");
  return isText && Array.isArray(tokens) && tokens.every((token) => typeof token === "string");
}

/** Seals a client's statement about a user, signed with the user's key that the client holds. */
export function sealEnvelope(fid: number, key: Ed25519Key, payload: object): Envelope {
  const header = encode({ fid, type: "app_key", key: `0x${key.publicKey.toHex()}` });
  const body = encode(payload);
  const signature = sign(null, Buffer.from(`${header}.${body}`), key.privateKey);
  return { header, payload: body, signature: signature.toString("base64url") };
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}

/** Response of the client to every notification. */
export type DemoResponse = "success" | "rate-limited" | "invalid" | "unavailable";

/** A notification that was shown to a user. */
export interface ShownNotification {
  readonly fid: number;
  readonly title: string;
  readonly body: string;
  readonly targetUrl: string;
}

/**
 * Starts a client of the protocol that supports only push: it reports users who add a mini app, and accepts notifications for them. Like
 * every client, it shows a user the same notification once, however often it is posted.
 */
export function startDemoPushClient(options: {
  readonly port: number;
  readonly response: DemoResponse;
  readonly show: (notification: ShownNotification) => void;
}) {
  const { port, response, show } = options;
  const fidByToken = new Map<string, number>();
  const shown = new Set<string>();

  function accept({ notificationId, title, body, targetUrl, tokens }: PostedNotification): Response {
    if (response === "unavailable") return new Response("unavailable", { status: 503 });
    const known = tokens.filter((token) => fidByToken.has(token));
    const unknown = tokens.filter((token) => !fidByToken.has(token));
    for (const token of response === "success" ? known : []) {
      const fid = fidByToken.get(token) ?? 0;
      if (!shown.has(`${notificationId} ${token}`)) show({ fid, title, body, targetUrl });
      shown.add(`${notificationId} ${token}`);
    }
    const successfulTokens = response === "success" ? known : [];
    const rateLimitedTokens = response === "rate-limited" ? known : [];
    const invalidTokens = response === "invalid" ? [...tokens] : unknown;
    return Response.json({ result: { successfulTokens, invalidTokens, rateLimitedTokens } });
  }

  const server = listen(port, async (request) => {
    const received: unknown = await request.json().catch(() => undefined);
    return isPostedNotification(received)
      ? accept(received)
      : new Response("not a notification", { status: 400 });
  });
  const url = `http://${server.hostname}:${server.port}/notify`;

  return {
    /** URL that accepts notifications. */
    url,
    /**
     * Adds a mini app for a user of the demo network, and reports it to the app's token webhook.
     * @throws UserError if the node refuses the event.
     */
    async addApp(fid: number, tokenWebhook: URL, call: OperatorFetch): Promise<void> {
      if (!isDemoFid(fid)) throw new UserError(`fid ${fid} is not a user of the demo network`);
      const [clientFid = 0] = clientFidsOf(fid);
      const token = `demo-${fid}-${crypto.randomUUID()}`;
      const envelope = sealEnvelope(fid, createKeyring().signer(fid, clientFid), {
        event: "miniapp_added",
        notificationDetails: { url, token },
      });
      fidByToken.set(token, fid);
      const response = await call(tokenWebhook, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(envelope),
        signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
      }).catch((cause: unknown) => {
        throw new RetryableError(noResponseReason(tokenWebhook, cause), { cause });
      });
      if (!response.ok)
        throw new UserError(`the node refused the event of fid ${fid}: ${await response.text()}`);
    },
    stop: (): Promise<void> => server.stop(true),
  };
}

const CALL_TIMEOUT_MS = 10_000;
const HOST = "127.0.0.1";

function listen(port: number, handle: (request: Request) => Promise<Response>) {
  try {
    return Bun.serve({ hostname: HOST, port, fetch: handle });
  } catch (cause) {
    throw listenFault({ host: HOST, port, setting: "--client-port" }, cause);
  }
}
