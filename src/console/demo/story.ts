import { privateKeyToAccount } from "viem/accounts";
import { signOperation } from "../../auth/typed-data.ts";
import type { ServiceNames } from "../../config/names.ts";
import type { DemoKeys } from "../../demo/keys.ts";
import type { RpcClient } from "../../lib/port-rpc.ts";
import type { DemoRpc } from "./services.ts";
import type { Story, StoryStep } from "./story-report.ts";

export interface StoryDeps {
  readonly services: Pick<RpcClient<DemoRpc>, "keys" | "createReceiver" | "findReceiver" | "nextDeliveries">;
  /** The complete HTTP interface of this node. */
  readonly callNode: (request: Request) => Response | Promise<Response>;
  /** Lets the first people of the network add an app. */
  readonly addPeople: (appId: string, people: number) => Promise<{ readonly added: number }>;
  readonly names: ServiceNames;
  readonly nowSecs: () => number;
}

/** The sender: the network's first person with a bakery. */
const FID = 3;
const PEOPLE = 25;
const APP = { name: "Fresh bread", app_url: "https://bread.demo.example/" } as const;
const WEBHOOK_NAME = "Fresh bread: follows";
const TITLE = "Fresh bread";
const TEXT = "The oven is hot. First ten loaves are half price until noon.";
const DELIVERY_MS = 2_000;

/** The node refused a step of the story. */
export class StoryRefused extends Error {
  override name = "StoryRefused";
}

interface NodeCall {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly op?: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Runs a push from its app to the phones of 25 people and to the receiver of a webhook, with the calls that an owner makes, signed by a
 * demo person's custody key, which is public. Records from an earlier run are reused.
 *
 * @param publicKey the key of the page, which gets a session; undefined for none
 * @throws StoryRefused
 */
export async function runStory(
  deps: StoryDeps,
  publicKey: string | undefined,
  origin: string,
): Promise<Story> {
  const { services, names } = deps;
  const keys = await services.keys(FID);
  if (!keys) throw new StoryRefused(`fid ${FID} is not a person of the demo network`);
  const call = caller(deps, keys);
  const steps: StoryStep[] = [];
  async function step<T>(
    key: StoryStep["key"],
    shown: Pick<NodeCall, "method" | "path"> & { readonly body?: object },
    work: () => Promise<T>,
  ): Promise<T> {
    const startedMs = performance.now();
    const result = await work();
    const ms = Math.round((performance.now() - startedMs) * 10) / 10;
    steps.push({ key, call: `${shown.method} ${names.basePath}${shown.path}`, body: shown.body ?? null, ms });
    return result;
  }

  const open = {
    method: "POST",
    path: "/session",
    op: "session.create",
    body: { public_key: publicKey, access: "operate", label: "Demo story", origin },
  } as const;
  const opened =
    publicKey && (await step("session", open, () => call<{ session: NonNullable<Story["session"]> }>(open)));

  const register = { method: "POST", path: "/frame/app", op: "app.create", body: APP } as const;
  const app = await step("app", register, async () => {
    const list = { method: "GET", path: "/frame/app/list", op: "app.read" } as const;
    const { apps } = await call<{ apps: readonly DemoApp[] }>(list);
    const known = apps.find(({ name }) => name === APP.name);
    return known ?? (await call<{ app: DemoApp }>(register)).app;
  });

  const added = { method: "POST", path: `/frame/webhook/${app.app_id}` } as const;
  await step("people", added, () => deps.addPeople(app.app_id, PEOPLE));

  const notification = { title: TITLE, body: TEXT, target_url: APP.app_url };
  const send = {
    method: "POST",
    path: `/frame/notifications/${app.app_id}`,
    body: { notification },
  } as const;
  const secret = app.send_secrets.at(-1)?.value ?? "";
  const sent = await step("send", send, () =>
    call<{ campaign_id: string; success_count: number }>({ ...send, headers: { "x-api-key": secret } }),
  );

  const test = { method: "POST", path: "/webhook/test" } as const;
  const verified = await step("delivery", test, () => deliver(deps, call));
  return {
    fid: FID,
    address: keys.custody.address.toLowerCase(),
    session: opened ? opened.session : null,
    app_id: app.app_id,
    campaign_id: sent.campaign_id,
    notified: sent.success_count,
    verified,
    steps,
  };
}

interface DemoApp {
  readonly app_id: string;
  readonly name: string;
  readonly send_secrets: readonly { readonly value: string | null }[];
}

interface DemoWebhook {
  readonly webhook_id: string;
  readonly title: string;
  readonly target_url: string;
}

type CallNode = <T>(call: NodeCall) => Promise<T>;

/** Returns a function that makes calls as the owner. */
function caller({ callNode, names, nowSecs }: StoryDeps, { fid, custody }: DemoKeys): CallNode {
  const account = privateKeyToAccount(custody.privateKey);
  return async <T>({ method, path, op, body, headers = {} }: NodeCall): Promise<T> => {
    const text = body === undefined ? "" : JSON.stringify(body);
    const bytes = new TextEncoder().encode(text);
    const signed =
      op === undefined
        ? {}
        : await signOperation({ names, account, fid, op, body: bytes, signedAt: nowSecs() });
    const response = await callNode(
      new Request(`http://localhost${names.basePath}${path}`, {
        method,
        headers: { ...headers, ...signed, ...(body && { "content-type": "application/json" }) },
        ...(body && { body: text }),
      }),
    );
    const answer: unknown = await response.json();
    if (!response.ok)
      throw new StoryRefused(String((answer as { message?: unknown }).message ?? response.status));
    return answer as T;
  };
}

/** Sends a test event to a webhook with a demo receiver. Returns whether the receiver has verified it. */
async function deliver({ services }: StoryDeps, call: CallNode): Promise<boolean> {
  const { webhooks } = await call<{ webhooks: readonly DemoWebhook[] }>({
    method: "GET",
    path: "/webhook/list",
    op: "webhook.read",
  });
  const known = webhooks.find(({ title }) => title === WEBHOOK_NAME);
  const receiver = known ? await services.findReceiver(known.target_url.split("/").at(-1) ?? "") : undefined;
  const { id, url } = receiver ?? (await services.createReceiver(FID));
  const webhook =
    known && receiver
      ? known
      : (
          await call<{ webhook: DemoWebhook }>({
            method: "POST",
            path: `/webhook?owner_fid=${FID}`,
            op: "webhook.create",
            body: { name: WEBHOOK_NAME, url, subscription: { "follow.created": { target_fids: [FID] } } },
          })
        ).webhook;
  const { deliveries } = await call<{ deliveries: readonly { readonly message_id: string }[] }>({
    method: "POST",
    path: "/webhook/test",
    op: "webhook.update",
    body: { webhook_id: webhook.webhook_id },
  });
  const sent = new Set(deliveries.map(({ message_id: messageId }) => messageId));
  const late = Bun.sleep(DELIVERY_MS).then(() => undefined);
  for (let position = 0; ; ) {
    const page = await Promise.race([services.nextDeliveries(id, position), late]);
    if (!page) return false;
    const found = page.events.find(({ event }) => event.messageId !== null && sent.has(event.messageId));
    if (found) return found.event.signature === "valid";
    position = page.last;
  }
}
