import { timingSafeEqual } from "node:crypto";
import type { Secret } from "../../db/state/secret.ts";
import { randomBase58 } from "../../lib/base58.ts";
import type { SetTimer } from "../../runtime/clock.ts";
import { hmacSha512, standardSignature } from "../../webhooks/deliver/sign.ts";
import { EventFeed, type FeedPage } from "./event-feed.ts";

/** How a demo receiver responds to every delivery. `slow` responds after the sender has stopped waiting. */
export const RECEIVER_ANSWERS = [200, 500, 410, "slow"] as const;
export type ReceiverAnswer = (typeof RECEIVER_ANSWERS)[number];

/** A delivery as a demo receiver saw it. */
export interface ReceivedDelivery {
  readonly atMs: number;
  readonly messageId: string | null;
  readonly signature: SignatureCheck;
  readonly answer: ReceiverAnswer;
  readonly headers: Readonly<Record<string, string>>;
  /** Truncated at MAX_SHOWN_CHARS. */
  readonly body: string;
  readonly isCut: boolean;
}

export interface DemoReceiver {
  readonly id: string;
  readonly url: string;
  readonly answer: ReceiverAnswer;
}

export interface DemoReceiversDeps {
  /** Ends with a slash; the id is appended to it. */
  readonly baseUrl: string;
  /** Returns the unexpired secrets of an owner's webhooks that call a URL. */
  readonly secretsOf: (ownerFid: number, targetUrl: string) => Promise<readonly Secret[]>;
  readonly signatureHeader: string;
  readonly nowMs: () => number;
  readonly setTimer: SetTimer;
}

const MAX_RECEIVERS = 100;
const MAX_DELIVERIES = 40;
/** Total size of all deliveries in memory. */
export const MAX_HELD_CHARS = 4 * 1024 * 1024;
const MAX_BODY_BYTES = 256 * 1024;
export const MAX_SHOWN_CHARS = 16 * 1024;
const MAX_HEADERS = 40;
const MAX_HEADER_CHARS = 512;
/** Longer than any sender waits. */
const SLOW_MS = 120_000;
const MAX_SLOW = 32;
/** The owner is part of the id, so that the webhooks of an earlier run still reach a receiver. */
const ID = /^([1-9][0-9]{0,8})-[1-9A-HJ-NP-Za-km-z]{12}$/;

interface Held {
  readonly ownerFid: number;
  answer: ReceiverAnswer;
  readonly feed: EventFeed<ReceivedDelivery>;
}

/** Creates receivers for webhooks of the demo network. They hold the latest deliveries in memory, for the console. */
export function createDemoReceivers(deps: DemoReceiversDeps) {
  const { baseUrl, secretsOf, signatureHeader, nowMs, setTimer } = deps;
  /** Least recently used first. */
  const receivers = new Map<string, Held>();
  let slow = 0;
  let heldChars = 0;

  function keep(feed: Held["feed"], delivery: ReceivedDelivery): void {
    heldChars += sizeOf(delivery);
    forget(feed.push(delivery));
    // The receivers that were unused for the longest time lose their deliveries first.
    for (const { feed: oldest } of receivers.values()) {
      while (heldChars > MAX_HELD_CHARS && oldest.size > 0) forget(oldest.dropOldest());
    }
  }
  function forget(delivery: ReceivedDelivery | undefined): void {
    if (delivery) heldChars -= sizeOf(delivery);
  }

  const view = (id: string, { answer }: Held): DemoReceiver => ({ id, url: baseUrl + id, answer });

  function hold(id: string): Held | undefined {
    const ownerFid = Number(ID.exec(id)?.[1]);
    if (!ownerFid) return undefined;
    const held = receivers.get(id) ?? { ownerFid, answer: 200, feed: new EventFeed(MAX_DELIVERIES) };
    receivers.delete(id);
    receivers.set(id, held);
    const [oldest] = receivers.size > MAX_RECEIVERS ? receivers : [];
    if (oldest) {
      const [oldestId, { feed }] = oldest;
      receivers.delete(oldestId);
      while (feed.size > 0) forget(feed.dropOldest());
    }
    return held;
  }

  async function respond(answer: ReceiverAnswer, signal: AbortSignal): Promise<Response> {
    if (answer !== "slow") return new Response(`answer ${answer}`, { status: answer });
    if (slow >= MAX_SLOW) return new Response("too many slow answers", { status: 503 });
    slow += 1;
    await new Promise<void>((resolve) => {
      const cancel = setTimer(SLOW_MS, resolve);
      const stop = () => {
        cancel();
        resolve();
      };
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true });
    });
    slow -= 1;
    return new Response("slow");
  }

  return {
    /** @param ownerFid the owner of the webhooks that will call it */
    create(ownerFid: number): DemoReceiver {
      const id = `${ownerFid}-${randomBase58(12)}`;
      return view(id, hold(id) as Held);
    },

    /** Returns the receiver with an id that `create` made, even in an earlier run; undefined for any other text. */
    find(id: string): DemoReceiver | undefined {
      const held = hold(id);
      return held && view(id, held);
    },

    setAnswer(id: string, answer: ReceiverAnswer): DemoReceiver | undefined {
      const held = hold(id);
      if (!held) return undefined;
      held.answer = answer;
      return view(id, held);
    },

    async next(
      id: string,
      position: number,
      timeoutMs: number,
    ): Promise<FeedPage<ReceivedDelivery> | undefined> {
      return hold(id)?.feed.next(position, timeoutMs, setTimer);
    },

    /** Handles a sender's request. */
    async receive(id: string, request: Request): Promise<Response> {
      const ownerFid = hold(id)?.ownerFid;
      if (ownerFid === undefined) return new Response("no such receiver", { status: 404 });
      const body = new Uint8Array(await request.arrayBuffer());
      const secrets = await secretsOf(ownerFid, baseUrl + id);
      // Looked up again, because newer receivers may have displaced it meanwhile.
      const held = hold(id) as Held;
      const { answer } = held;
      const text = new TextDecoder().decode(body);
      keep(held.feed, {
        atMs: nowMs(),
        messageId: request.headers.get("webhook-id")?.slice(0, MAX_HEADER_CHARS) ?? null,
        signature: checkSignature({ headers: request.headers, body, secrets, signatureHeader }),
        answer,
        headers: shownHeaders(request.headers),
        body: text.slice(0, MAX_SHOWN_CHARS),
        isCut: text.length > MAX_SHOWN_CHARS,
      });
      return respond(answer, request.signal);
    },
  };
}

/** The maximum body that a listener for receivers accepts. */
export const MAX_RECEIVED_BYTES = MAX_BODY_BYTES;

function sizeOf({ body, headers }: ReceivedDelivery): number {
  return (
    body.length +
    Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length, 100)
  );
}

function shownHeaders(headers: Headers): Record<string, string> {
  const shown = [...headers].slice(0, MAX_HEADERS);
  return Object.fromEntries(
    shown.map(([name, value]) => [name.slice(0, MAX_HEADER_CHARS), value.slice(0, MAX_HEADER_CHARS)]),
  );
}

/**
 * - `valid`: both signatures are right;
 * - `missing`: the request has none;
 * - `invalid`: at least one is wrong;
 * - `unknown`: no webhook of the owner has this URL, so there is no secret to check with.
 */
type SignatureCheck = "valid" | "missing" | "invalid" | "unknown";

/** Checks a delivery as a receiver should: the service's own header, and those of Standard Webhooks. */
function checkSignature(delivery: {
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
