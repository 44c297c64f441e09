import { importSignerOfPerson, postAsPerson } from "./demo-calls.ts";
import type { RunningNode } from "./program.ts";

type Address = Pick<RunningNode, "url">;

export interface BusyNode {
  /** Publishes another cast, and waits until the webhook has had a delivery more. */
  publish(): Promise<void>;
}

/** Lets a demo node do a bit of everything: reads, a push, deliveries of a webhook, a write by a managed signer. */
export async function makeBusy(node: Address): Promise<BusyNode> {
  const post = async (path: string, value: unknown, headers: Record<string, string> = {}) => {
    const body = JSON.stringify(value);
    const response = await fetch(`${node.url}${path}`, { method: "POST", headers, body });
    return (await response.json()) as Record<string, never>;
  };
  await fetch(`${node.url}/v2/svc/user?fid=3`);
  const { app } = (await postAsPerson(node, 3, "/frame/app", {
    name: "Bread club",
    app_url: "https://bread.demo.example/",
  })) as { app: { app_id: string; send_secrets: { value: string }[] } };
  await post("/console/demo/add-app", { app_id: app.app_id, people: 5 });
  const notification = { title: "Fresh bread", body: "It is hot", target_url: "https://bread.demo.example/" };
  const secret = { "x-api-key": app.send_secrets[0]?.value ?? "" };
  await post(`/v2/svc/frame/notifications/${app.app_id}`, { notification, target_fids: [] }, secret);

  const receiver = (await post("/console/demo/receiver", { fid: 4 })) as unknown as { url: string };
  const hook = {
    name: "all",
    url: receiver.url,
    subscription: { "cast.created": {}, "reaction.created": {} },
  };
  await postAsPerson(node, 4, "/webhook?owner_fid=4", hook);

  const signer_uuid = await importSignerOfPerson(node, { user: 7, owner: 3 });
  const { secret: key } = await postAsPerson(node, 3, "/api_key", { name: "bot", scopes: ["write"] });
  const headers = { "x-api-key": `${key}`, "content-type": "application/json" };
  const attempts = async () =>
    valuesOf(await metricsOf(node), "svc_webhook_attempts_total").reduce((sum, count) => sum + count, 0);
  const publish = async () => {
    const before = await attempts();
    await post("/v2/farcaster/cast", { signer_uuid, text: `busy after ${before}` }, headers);
    while ((await attempts()) === before) await Bun.sleep(50);
  };
  await publish();
  return { publish };
}

export const metricsOf = async ({ url }: Address) => await (await fetch(`${url}/metrics`)).text();

/** The values of a metric's samples, of a page in the exposition format. For a histogram, those of its buckets. */
export function valuesOf(page: string, metric: string): number[] {
  return [...page.matchAll(new RegExp(`^${metric}(?:_bucket)?(?:\\{.*\\})? (\\S+)$`, "gm"))].map(
    ([, value]) => Number(value),
  );
}

/** Waits until a metric has a sample above 0. */
export async function untilPositive(node: Address, metric: string): Promise<void> {
  while (!valuesOf(await metricsOf(node), metric).some((value) => value > 0)) await Bun.sleep(50);
}
