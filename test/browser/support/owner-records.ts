import { type Campaign, isUnderWay } from "../../../src/console/web/manage/apps/campaign.ts";
import { pages } from "../../../src/console/web/routes.ts";
import { fetchAsPerson, postAsPerson } from "../../support/demo-calls.ts";
import { until } from "../../support/manual-time.ts";
import { newSessionKey } from "../../support/sessions.ts";
import type { ExamplePage } from "./example-paths.ts";

const NOTIFICATION = {
  title: "Fresh bread",
  body: "The oven is hot",
  target_url: "https://bread.demo.example/",
};

/**
 * Makes one record of each kind for a person of a demo network.
 *
 * @returns every page of an owner in the table, with the path of a record of theirs
 * @throws Error for a page with a parameter that has no record: add it here.
 */
export async function ownerPages(origin: string, fid: number): Promise<ExamplePage[]> {
  const node = { url: origin };
  const demo = async (path: string, value: object) => {
    const response = await fetch(`${origin}/console/demo${path}`, {
      method: "POST",
      body: JSON.stringify(value),
    });
    return (await response.json()) as Record<string, unknown>;
  };
  const request = { name: "Bread club", app_url: "https://bread.demo.example/" };
  const { app } = (await postAsPerson(node, fid, "/frame/app", request)) as { app: { app_id: string } };
  await demo("/add-app", { app_id: app.app_id, people: 5 });
  const send = { app_id: app.app_id, notification: NOTIFICATION };
  const { campaign_id: campaign } = await postAsPerson(node, fid, "/frame/app/campaign", send);
  const { schedule: scheduled } = (await postAsPerson(node, fid, "/frame/app/campaign", {
    ...send,
    send_at: Math.floor(Date.now() / 1000) + 86_400,
  })) as { schedule: { schedule_id: string } };
  // The page of a running one asks each second.
  await until(async () => {
    const path = `/frame/app/campaign?campaign_id=${campaign}`;
    const response = await fetchAsPerson(node, fid, { method: "GET", path });
    const { campaign: now } = (await response.json()) as { campaign: Campaign };
    return !isUnderWay(now);
  });
  const receiver = await demo("/receiver", { fid });
  const { webhook } = (await postAsPerson(node, fid, `/webhook?owner_fid=${fid}`, {
    name: "Casts about bread",
    url: receiver.url,
    subscription: { "cast.created": { text: "bread" } },
  })) as { webhook: { webhook_id: string } };
  const { webhook_id: webhookId } = webhook;
  const tested = await postAsPerson(node, fid, "/webhook/test", { webhook_id: webhookId });
  const [test] = tested.deliveries as { message_id: string }[];
  const { api_key: key } = (await postAsPerson(node, fid, "/api_key", {
    name: "Bot",
    scopes: ["read"],
  })) as { api_key: { api_key_id: string } };
  const { login_client: client } = (await postAsPerson(node, fid, "/login_client", {
    name: "Bread club",
    origins: ["https://bread.demo.example"],
    permissions: "read",
  })) as { login_client: { client_id: string } };
  await postAsPerson(node, fid, "/session", newSessionKey({ origin, label: "Another browser" }).body);
  const records: Readonly<Record<string, readonly unknown[] | undefined>> = {
    "/console/manage/apps/:id": [app.app_id],
    "/console/manage/apps/:id/schedules/:schedule": [app.app_id, scheduled.schedule_id],
    "/console/manage/campaigns/:id": [campaign],
    "/console/manage/keys/:id": [key.api_key_id],
    "/console/manage/login/:id": [client.client_id],
    "/console/manage/webhooks/:id": [webhookId],
    "/console/manage/webhooks/:id/:message": [webhookId, test?.message_id],
  };
  const own = pages.filter(({ path }) => path.startsWith("/console/manage"));
  return own.map(({ path: template }) => {
    let at = 0;
    const path = template.replaceAll(/:\w+/g, (parameter) => {
      const value = records[template]?.[at++];
      if (typeof value !== "string") throw new Error(`${template} needs a record for ${parameter}`);
      return value;
    });
    return { template, path };
  });
}
