import type { Secret } from "../../db/state/secret.ts";
import { createTexts } from "../../demo/contents/texts.ts";
import { type DemoKeys, demoKeys } from "../../demo/keys.ts";
import { demoPeople } from "../../demo/people.ts";
import { isPostedNotification } from "../../demo/push-client.ts";
import { LOOPBACK_HOST, type LoopbackTarget } from "../../net/guard.ts";
import type { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";
import type { SetTimer } from "../../runtime/clock.ts";
import type { FeedPage } from "./event-feed.ts";
import { type AddedApp, type Buzz, CLIENT_FIDS, createDemoPhones } from "./phones.ts";
import { createDemoPulse } from "./pulse.ts";
import {
  createDemoReceivers,
  type DemoReceiver,
  MAX_RECEIVED_BYTES,
  type ReceivedDelivery,
  type ReceiverAnswer,
} from "./receivers.ts";

/** A person of the demo network, whose wallet anyone may borrow. */
export interface DemoPerson {
  readonly fid: number;
  readonly username: string | null;
  readonly display_name: string;
}

/** Calls of the HTTP workers to the thread with the demo's phones and receivers. All arguments and results are plain data. */
export interface DemoRpc {
  people(): readonly DemoPerson[];
  keys(fid: number): DemoKeys | undefined;
  envelopes(appId: string, people: number): readonly AddedApp[];
  createReceiver(ownerFid: number): DemoReceiver;
  findReceiver(id: string): DemoReceiver | undefined;
  setAnswer(id: string, answer: ReceiverAnswer): DemoReceiver | undefined;
  /** Registers a stream of events. Returns the id of this run's feeds; undefined if there are too many streams. */
  openStream(): string | undefined;
  closeStream(): void;
  /** Waits for deliveries, for at most FEED_WAIT_MS; undefined for an unknown receiver. */
  nextDeliveries(id: string, position: number): Promise<FeedPage<ReceivedDelivery> | undefined>;
  /** Waits for notifications on phones, for at most FEED_WAIT_MS. */
  nextBuzzes(position: number): Promise<FeedPage<Buzz>>;
  /** Reports whether the story may run now: at most once in ten seconds. */
  mayRunStory(): boolean;
  /** Returns undefined if messages cannot be submitted. */
  pulse(
    seconds: number,
    perSecond: number,
  ): { readonly started: boolean; readonly endsAtMs: number } | undefined;
}

/** The demo's part of the process: its phones, its receivers and its people. One thread runs it. */
export interface DemoServices {
  readonly rpc: DemoRpc;
  /** The addresses that the node's own calls may reach. */
  readonly targets: readonly LoopbackTarget[];
  stop(): Promise<void>;
}

export interface DemoServicesDeps {
  /** The first of three ports on the loopback address; if they are taken, other free ones are used. 0 for any. */
  readonly wantedPort: number;
  readonly signatureHeader: string;
  readonly secretsOf: (ownerFid: number, targetUrl: string) => Promise<readonly Secret[]>;
  /** Undefined if the node accepts no messages. */
  readonly submit: ((message: Uint8Array) => Promise<unknown>) | undefined;
  readonly network: FarcasterNetwork;
  readonly nowMs: () => number;
  readonly setTimer: SetTimer;
  readonly onFault: (cause: unknown) => void;
}

/** How long a feed waits for an event. */
export const FEED_WAIT_MS = 15_000;
export const MAX_DEMO_STREAMS = 100;
const STORY_MS = 10_000;
/** Enough for a batch of 100 tokens. */
const MAX_BATCH_BYTES = 256 * 1024;

/** Opens the demo's listeners on the loopback address. */
export function startDemoServices(deps: DemoServicesDeps): DemoServices {
  const { wantedPort, signatureHeader, secretsOf, submit, network, nowMs, setTimer, onFault } = deps;
  const portAt = (offset: number) => (wantedPort === 0 ? 0 : wantedPort + offset);

  const receiverListener = startOwnListener({
    wantedPort: portAt(0),
    pathPrefix: "/receivers/",
    maxBodyBytes: MAX_RECEIVED_BYTES,
    receive: (id, request) => receivers.receive(id, request),
  });
  const receivers = createDemoReceivers({
    baseUrl: receiverListener.urlOf(""),
    secretsOf,
    signatureHeader,
    nowMs,
    setTimer,
  });

  // Each client has its own origin, like real ones.
  const clientListeners = CLIENT_FIDS.map((clientFid, index) => ({
    clientFid,
    listener: startOwnListener({
      wantedPort: portAt(1 + index),
      pathPrefix: "/clients/",
      maxBodyBytes: MAX_BATCH_BYTES,
      async receive(segment, request) {
        const posted: unknown = await request.json().catch(() => undefined);
        if (segment !== String(clientFid) || !isPostedNotification(posted))
          return new Response("not a notification", { status: 400 });
        return Response.json(phones.show(clientFid, posted));
      },
    }),
  }));
  const phones = createDemoPhones({
    urlOf(clientFid) {
      const client = clientListeners.find((one) => one.clientFid === clientFid);
      return client?.listener.urlOf(String(clientFid)) ?? "";
    },
    nowMs,
    setTimer,
  });
  const pulse = submit && createDemoPulse({ submit, network, nowMs, setTimer, onFault });
  const listeners = [receiverListener, ...clientListeners.map(({ listener }) => listener)];
  let people: readonly DemoPerson[] | undefined;
  const feed = crypto.randomUUID();
  let streams = 0;
  let storyAtMs = Number.NEGATIVE_INFINITY;

  return {
    targets: listeners.map(({ target }) => target),
    rpc: {
      people() {
        people ??= demoPeople(createTexts()).map(({ fid, fname, displayName }) => ({
          fid,
          username: fname ?? null,
          display_name: displayName,
        }));
        return people;
      },
      keys: demoKeys,
      envelopes: phones.envelopes,
      createReceiver: receivers.create,
      findReceiver: receivers.find,
      setAnswer: receivers.setAnswer,
      openStream() {
        if (streams >= MAX_DEMO_STREAMS) return undefined;
        streams += 1;
        return feed;
      },
      closeStream() {
        streams -= 1;
      },
      nextDeliveries: (id, position) => receivers.next(id, position, FEED_WAIT_MS),
      nextBuzzes: (position) => phones.next(position, FEED_WAIT_MS),
      mayRunStory() {
        const now = nowMs();
        if (now >= storyAtMs && now < storyAtMs + STORY_MS) return false;
        storyAtMs = now;
        return true;
      },
      pulse: (seconds, perSecond) => pulse?.start(seconds, perSecond),
    },
    async stop() {
      pulse?.stop();
      await Promise.all(listeners.map((listener) => listener.stop()));
    },
  };
}

/** A listener on a loopback port, only for calls of this node. */
interface OwnListener {
  readonly target: LoopbackTarget;
  /** Returns the URL for one segment. */
  urlOf(segment: string): string;
  stop(): Promise<void>;
}

const BROWSER_HEADERS = ["origin", "sec-fetch-site", "sec-fetch-mode"];

/**
 * Listens on the wanted port, or on a free one if it is taken.
 *
 * @param receive handles a POST for one segment after the prefix.
 */
function startOwnListener(options: {
  /** 0 for any free port. */
  readonly wantedPort: number;
  readonly pathPrefix: string;
  readonly maxBodyBytes: number;
  readonly receive: (segment: string, request: Request) => Promise<Response>;
}): OwnListener {
  const { wantedPort, pathPrefix, maxBodyBytes, receive } = options;
  const serve = (port: number) =>
    Bun.serve({
      hostname: LOOPBACK_HOST,
      port,
      development: false,
      maxRequestBodySize: maxBodyBytes,
      // Longer than a sender waits for a slow response.
      idleTimeout: 120,
      async fetch(request) {
        const { pathname } = new URL(request.url);
        if (request.method !== "POST" || !pathname.startsWith(pathPrefix))
          return new Response("not found", { status: 404 });
        // A page of another origin may send a POST to this machine without a preflight; the node itself sends none of these headers.
        if (BROWSER_HEADERS.some((name) => request.headers.has(name)))
          return new Response("not for browsers", { status: 403 });
        return receive(pathname.slice(pathPrefix.length), request);
      },
      error: () => new Response("fault", { status: 500 }),
    });
  const server = serveWanted(serve, wantedPort);
  const origin = `http://${LOOPBACK_HOST}:${server.port}`;
  return {
    target: { origin, pathPrefix },
    urlOf: (segment) => `${origin}${pathPrefix}${segment}`,
    stop: () => server.stop(true),
  };
}

function serveWanted<Server>(serve: (port: number) => Server, wantedPort: number): Server {
  try {
    return serve(wantedPort);
  } catch (cause) {
    if (wantedPort === 0) throw cause;
    return serve(0);
  }
}
