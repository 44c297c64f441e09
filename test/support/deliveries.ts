import { createHmac } from "node:crypto";
import { indexPath, openIndexReader } from "../../src/db/index/database.ts";
import type { StateDatabase } from "../../src/db/state/database.ts";
import type { Secret } from "../../src/db/state/secret.ts";
import type { OutboundClient } from "../../src/net/client.ts";
import { type RunningDelivery, startDelivery } from "../../src/node/compose/sending/delivery.ts";
import type { Gate } from "../../src/runtime/gate.ts";
import type { LoggedDelivery } from "../../src/webhooks/store/delivery-log.ts";
import type { QueuedEvent } from "../../src/webhooks/store/delivery-publications.ts";
import type { DeliveryQueue } from "../../src/webhooks/store/delivery-queue.ts";
import type { WebhookStore } from "../../src/webhooks/store/webhook-store.ts";
import { UNTRIED, type Webhook } from "../../src/webhooks/store/webhook-store.ts";
import { makeSecret } from "../management/owned-store-contract.ts";
import { configWith } from "../runtime/config.ts";
import { createState } from "./empty-databases.ts";
import { silentLog } from "./log.ts";
import { loopbackClient } from "./loopback-client.ts";
import { ManualTime, until } from "./manual-time.ts";
import { startMatching } from "./matching.ts";
import { startTestNode } from "./node.ts";
import type { ReceivedRequest } from "./receiver.ts";
import { localStores } from "./state-stores.ts";

export const START_SECS = 1_750_000_000;
const limits = { maxQueued: 100_000 };

export interface StartOptions {
  readonly client?: OutboundClient;
  readonly gate?: Gate;
  /** Methods of the queue that a test watches. */
  readonly watch?: (queue: DeliveryQueue) => Partial<DeliveryQueue>;
}

export interface DeliveryBench extends AsyncDisposable {
  readonly time: ManualTime;
  readonly state: StateDatabase;
  readonly webhooks: WebhookStore;
  /** Starts to deliver. After `stop`, starts again over the same state. */
  start(options?: StartOptions): Promise<RunningDelivery>;
  stop(graceMs?: number): Promise<void>;
  /** Adds a webhook whose calls go to a port of this machine. Returns its id. */
  addWebhook(name: string, port: number, input?: Partial<Webhook>): Promise<string>;
  /** Queues one event for each body, for all of the webhooks, without notifying the worker. */
  queue(webhookIds: readonly string[], ...bodies: string[]): Promise<void>;
  /** Queues, and notifies the worker. */
  publish(webhookIds: readonly string[], ...bodies: string[]): Promise<void>;
  list(webhookId: string): Promise<readonly LoggedDelivery[]>;
  /** Resolves when a webhook has this number of deliveries in a state. */
  settled(webhookId: string, count: number, state?: LoggedDelivery["state"]): Promise<void>;
}

/** The first secret of a webhook of the bench. */
export function secretOf(name: string): Secret {
  return { ...makeSecret(Bun.hash.crc32(name)), uid: `secret of ${name}` };
}

/** The delivery worker over real databases and real sockets, on a clock that a test advances. */
export function openDeliveryBench(...settings: string[]): DeliveryBench {
  const node = startTestNode();
  const index = openIndexReader(indexPath(node.dir));
  const state = createState(node.dir);
  const time = new ManualTime(START_SECS);
  const stores = localStores(state, { ...limits, clock: time });
  const { webhooks, deliveryLog: log, publications } = stores;
  let running: RunningDelivery | undefined;
  let events = 0;

  const list = async (webhookId: string) =>
    (await log.list({ webhookId, after: undefined, max: 1000 })).deliveries;
  const queue = async (webhookIds: readonly string[], ...bodies: string[]) => {
    const added = bodies.map(
      (body): QueuedEvent => ({
        eventId: `event-${events++}`,
        kind: "cast.created",
        createdAt: START_SECS,
        body,
        webhookIds,
      }),
    );
    const { version } = await publications.changesSince(0);
    await publications.publish({ version, nowSecs: Math.floor(time.nowMs() / 1000), events: added });
  };
  const stop = async (graceMs = 0) => {
    const stopping = running?.stop(graceMs);
    running = undefined;
    // The grace period ends at once.
    time.advanceMs(graceMs);
    await stopping;
  };

  return {
    time,
    state,
    webhooks,
    list,
    stop,
    async start(options = {}) {
      running = await startDelivery({
        common: { config: configWith(...settings), clock: time, log: silentLog },
        index,
        state: { ...stores, queue: { ...stores.queue, ...options.watch?.(stores.queue) } },
        outbox: { awaitEvents: () => new Promise(() => undefined), markPublished: async () => undefined },
        matching: { live: startMatching(), previews: startMatching() },
        client: options.client ?? loopbackClient(),
        ...(options.gate && { gate: options.gate }),
        after: time.after,
        random: () => 0.5,
      });
      return running;
    },
    async addWebhook(name, port, input = {}) {
      await webhooks.create(
        {
          webhookId: name,
          ownerFid: 3,
          title: name,
          targetUrl: `http://${name}.example:${port}/in?who=${name}`,
          description: null,
          active: true,
          subscription: { "cast.created": {} },
          compatPrefix: null,
          health: UNTRIED,
          secrets: [secretOf(name)],
          createdAt: START_SECS,
          updatedAt: START_SECS,
          ...input,
        },
        1000,
      );
      return name;
    },
    queue,
    async publish(webhookIds, ...bodies) {
      await queue(webhookIds, ...bodies);
      for (const webhookId of webhookIds) await running?.wake(webhookId);
    },
    settled: (webhookId, count, wanted = "delivered") =>
      until(async () => (await list(webhookId)).filter(({ state }) => state === wanted).length >= count),
    async [Symbol.asyncDispose]() {
      await stop();
      for (const database of [index, state]) database[Symbol.dispose]();
      node[Symbol.dispose]();
    },
  };
}

/** Returns whether a request is signed with these secrets and no others, newest last. */
export function verify({ headers, body }: ReceivedRequest, secrets: readonly string[]): boolean {
  const own = createHmac("sha512", secrets.at(-1) ?? "")
    .update(body)
    .digest("hex");
  const signed = `${headers.get("webhook-id")}.${headers.get("webhook-timestamp")}.${body}`;
  const standard = secrets.map((key) => `v1,${createHmac("sha256", key).update(signed).digest("base64")}`);
  return headers.get("x-svc-signature") === own && headers.get("webhook-signature") === standard.join(" ");
}
