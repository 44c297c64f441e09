import { listenFault } from "../../net/listen-address.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import { type Verified, verifyDelivery } from "../../webhooks/deliver/sign.ts";

/** Larger than any delivery. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
const HOST = "127.0.0.1";
const IDLE_TIMEOUT_SECS = 30;
/** How many recent delivery ids are remembered, to detect repeated deliveries. */
const MAX_KNOWN_IDS = 1_000;

/** A received delivery, genuine or not. */
export interface IncomingDelivery {
  readonly messageId: string | null;
  readonly body: string;
  readonly verified: Verified;
  /** Whether a delivery with the same id was received before. */
  readonly isAgain: boolean;
}

export interface Listener {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Receives deliveries on this machine.
 *
 * @param options.status the response status for a genuine delivery; any other gets 401.
 * @throws RetryableError if the port is in use.
 */
export function startListener(options: {
  readonly port: number;
  readonly secrets: readonly string[];
  readonly signatureHeader: string;
  readonly status: number;
  readonly clock: Clock;
  readonly show: (delivery: IncomingDelivery) => void;
}): Listener {
  const { port, secrets, signatureHeader, status, clock, show } = options;
  const knownIds = new Set<string>();

  async function take(request: Request): Promise<Response> {
    if (request.method !== "POST") return new Response("deliveries are POST requests\n", { status: 405 });
    const body = new Uint8Array(await request.arrayBuffer());
    const { headers } = request;
    const expected = { secrets, signatureHeader, nowSecs: nowSecs(clock) };
    const verified = verifyDelivery({ headers, body }, expected);
    const messageId = headers.get("webhook-id");
    const isGenuine = verified.own !== undefined && verified.standard !== undefined;
    show({
      messageId,
      body: new TextDecoder().decode(body),
      verified,
      isAgain: messageId !== null && isGenuine && isKnown(messageId),
    });
    return isGenuine ? new Response(null, { status }) : new Response("not genuine\n", { status: 401 });
  }

  function isKnown(id: string): boolean {
    if (knownIds.has(id)) return true;
    knownIds.add(id);
    const [oldest = ""] = knownIds;
    if (knownIds.size > MAX_KNOWN_IDS) knownIds.delete(oldest);
    return false;
  }

  const server = listen(port, take);
  return { url: `http://${server.hostname}:${server.port}/`, stop: () => server.stop(true) };
}

function listen(port: number, handle: (request: Request) => Promise<Response>) {
  try {
    return Bun.serve({
      hostname: HOST,
      port,
      maxRequestBodySize: MAX_BODY_BYTES,
      idleTimeout: IDLE_TIMEOUT_SECS,
      fetch: handle,
    });
  } catch (cause) {
    throw listenFault({ host: HOST, port, setting: "--port" }, cause);
  }
}
