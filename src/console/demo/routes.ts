import { Type } from "@sinclair/typebox";
import type { ServiceNames } from "../../config/names.ts";
import { ApiError } from "../../http/errors.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { captureBody, jsonBodyDecoder, rawBody } from "../../http/request/body.ts";
import type { OwnOrigin } from "../../http/request/own-origin.ts";
import type { RpcClient } from "../../lib/port-rpc.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import { privateRoutes } from "../routes.ts";
import { FEED_HEADERS, type FeedPage, feedResponse } from "./event-feed.ts";
import type { AddedApp, Buzz } from "./phones.ts";
import { RECEIVER_ANSWERS, type ReceivedDelivery } from "./receivers.ts";
import type { DemoRpc } from "./services.ts";
import { runStory, StoryRefused } from "./story.ts";

/** Maximum duration of a pulse, and maximum messages per second. */
const MAX_PULSE_SECS = 60;
const MAX_PULSE_RATE = 5;

/** The number of people in the demo network. */
const MAX_ADDED_PEOPLE = 200;
/** Concurrent reports: each is stored in a commit, which they share. */
const CONCURRENCY = 16;

interface AddedApps {
  /** People whose report the node has accepted. */
  readonly added: number;
  readonly clients: readonly { readonly client_fid: number; readonly added: number }[];
  /** The first refusal, in the node's words; null if there was none. */
  readonly refusal: string | null;
}

/** Sends the reports to the app's token webhook, as the clients of these people would. */
async function addDemoApp(options: {
  readonly reports: readonly AddedApp[];
  readonly callNode: (request: Request) => Response | Promise<Response>;
  /** The path of the token webhook. */
  readonly path: string;
}): Promise<AddedApps> {
  const { reports, callNode, path } = options;
  const added = new Map<number, number>();
  let refusal: string | null = null;
  const waiting = reports[Symbol.iterator]();
  const work = async () => {
    for (const { clientFid, envelope } of waiting) {
      if (refusal !== null) return;
      const body = JSON.stringify(envelope);
      const headers = {
        "content-type": "application/json",
        "content-length": String(Buffer.byteLength(body)),
      };
      const response = await callNode(
        new Request(`http://localhost${path}`, { method: "POST", headers, body }),
      );
      if (response.ok) added.set(clientFid, (added.get(clientFid) ?? 0) + 1);
      else refusal ??= ((await response.json()) as { message: string }).message;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  const clients = [...added].map(([client_fid, count]) => ({ client_fid, added: count }));
  return { added: clients.reduce((sum, client) => sum + client.added, 0), clients, refusal };
}

export interface DemoRoutesDeps {
  readonly own: OwnOrigin;
  readonly services: RpcClient<DemoRpc>;
  /** The complete HTTP interface of this node, for calls that client apps would make. */
  readonly callNode: (request: Request) => Response | Promise<Response>;
  readonly names: ServiceNames;
  readonly clock: Clock;
  /** Aborts when the process starts to shut down. */
  readonly stopping: AbortSignal;
}

const Fid = Type.Integer({ minimum: 1, maximum: 999_999_999 });
const AppId = Type.String({ pattern: "^[1-9A-HJ-NP-Za-km-z]{1,32}$" });
const readAddApp = jsonBodyDecoder(
  Type.Object({ app_id: AppId, people: Type.Integer({ minimum: 1, maximum: MAX_ADDED_PEOPLE }) }),
);
const readReceiver = jsonBodyDecoder(Type.Object({ fid: Fid }));
const readStory = jsonBodyDecoder(
  Type.Object({ public_key: Type.Optional(Type.String({ pattern: "^0x[0-9a-f]{64}$" })) }),
);
const readAnswer = jsonBodyDecoder(Type.Object({ answer: Type.Unknown() }));
const readPulse = jsonBodyDecoder(
  Type.Object({
    seconds: Type.Integer({ minimum: 1, maximum: MAX_PULSE_SECS }),
    per_second: Type.Number({ minimum: 0.2, maximum: MAX_PULSE_RATE }),
  }),
);

const hidden = { detail: { hide: true } } as const;
const posted = { ...hidden, parse: captureBody } as const;

/**
 * What the console of a demo network can do beyond the API: lend the wallets of its people, let them add an app, receive pushes and
 * webhooks, and let them act. The keys are public. A node without a demo network has none of these routes.
 */
export function demoRoutes({ own, services, callNode, names, clock, stopping }: DemoRoutesDeps) {
  async function streamOf<Event>(
    request: Request,
    next: (position: number) => Promise<FeedPage<Event> | undefined>,
    present: (event: Event) => object,
    opening: object = {},
  ): Promise<Response> {
    if (request.method === "HEAD") return new Response(null, { headers: FEED_HEADERS });
    const feed = await services.openStream();
    if (feed === undefined) throw new ApiError("tooManyRequests", "too many pages watch the demo");
    const hello = { feed, ...opening };
    exchangeOf(request).setIdleTimeout(0);
    return feedResponse(request, {
      next,
      present,
      hello,
      stopping,
      onEnd: () => void services.closeStream(),
    });
  }

  const addPeople = async (appId: string, people: number) =>
    addDemoApp({
      reports: await services.envelopes(appId, people),
      callNode,
      path: `${names.basePath}/frame/webhook/${appId}`,
    });

  return privateRoutes("/console/demo", own)
    .post(
      "/story",
      async ({ request }) => {
        const { public_key: publicKey } = readStory(rawBody(request));
        if (!(await services.mayRunStory()))
          throw new ApiError("tooManyRequests", "the story ran a moment ago", { retryAfterSecs: 10 });
        const deps = { services, callNode, addPeople, names, nowSecs: () => nowSecs(clock) };
        const { origin } = new URL(request.url);
        try {
          return Response.json(await runStory(deps, publicKey, request.headers.get("origin") ?? origin));
        } catch (cause) {
          if (cause instanceof StoryRefused) throw new ApiError("conflict", cause.message);
          throw cause;
        }
      },
      posted,
    )
    .get("/people", async () => Response.json({ people: await services.people() }), hidden)
    .get(
      "/key",
      async ({ request }) => {
        const fid = Number(new URL(request.url).searchParams.get("fid"));
        const keys = Number.isSafeInteger(fid) ? await services.keys(fid) : undefined;
        if (!keys) throw new ApiError("notFound", "fid is not a person of the demo network");
        return Response.json(keys);
      },
      hidden,
    )
    .post(
      "/add-app",
      async ({ request }) => {
        const { app_id, people } = readAddApp(rawBody(request));
        return Response.json(await addPeople(app_id, people));
      },
      posted,
    )
    .post(
      "/receiver",
      async ({ request }) => {
        const { fid } = readReceiver(rawBody(request));
        return Response.json(await services.createReceiver(fid), { status: 201 });
      },
      posted,
    )
    .put(
      "/receiver/:id",
      async ({ request, params }) => {
        const { answer } = readAnswer(rawBody(request));
        const known = RECEIVER_ANSWERS.find((one) => one === answer);
        if (known === undefined) throw new ApiError("badRequest", 'answer must be 200, 500, 410 or "slow"');
        const receiver = await services.setAnswer(params.id, known);
        if (!receiver) throw noReceiver();
        return Response.json(receiver);
      },
      posted,
    )
    .get(
      "/receiver/:id",
      async ({ request, params: { id } }) => {
        const receiver = await services.findReceiver(id);
        if (!receiver) throw noReceiver();
        const next = (position: number) => services.nextDeliveries(id, position);
        return streamOf(request, next, presentDelivery, receiver);
      },
      hidden,
    )
    .get(
      "/inbox",
      ({ request }) => streamOf(request, (position) => services.nextBuzzes(position), presentBuzz),
      hidden,
    )
    .post(
      "/pulse",
      async ({ request }) => {
        const { seconds, per_second } = readPulse(rawBody(request));
        const pulse = await services.pulse(seconds, per_second);
        if (!pulse) throw new ApiError("unavailable", "this node accepts no messages: its hub is off");
        return Response.json(
          { started: pulse.started, ends_at: Math.ceil(pulse.endsAtMs / 1000) },
          { status: 202 },
        );
      },
      posted,
    );
}

function noReceiver(): ApiError {
  return new ApiError("notFound", "no such receiver");
}

function presentDelivery({ atMs, messageId, isCut, ...rest }: ReceivedDelivery) {
  return { at_ms: atMs, message_id: messageId, is_cut: isCut, ...rest };
}

function presentBuzz({ atMs, fid, clientFid, appId, notificationId, title, body, targetUrl, outcome }: Buzz) {
  return {
    at_ms: atMs,
    fid,
    client_fid: clientFid,
    app_id: appId,
    notification_id: notificationId,
    title,
    body,
    target_url: targetUrl,
    outcome,
  };
}
