import { createKeyring } from "../../src/demo/keys.ts";
import { sealEnvelope } from "../../src/demo/push-client.ts";
import { clientFidsOf } from "../../src/demo/roster.ts";
import { newSessionKey, sessionHeaders, type TestSession } from "../../test/support/sessions.ts";
import { type NodeClient, OWNER } from "./node-client.ts";
import type { Behaviour, Receivers } from "./receivers.ts";
import type { Tally } from "./tally.ts";

/** An owner with webhooks, apps, keys and a session, and the recurring actions of the owner and the apps' users. */
export interface Owner {
  /** An API key that may read and write. */
  readonly writeKey: string;
  /** Sends a notification to the users whose clients work. */
  send(): Promise<void>;
  /** Sends a notification to users whose clients fail in every way. */
  sendToTroubled(): Promise<void>;
  /** Makes the users whose client called its tokens invalid add the app again. */
  renewTokens(): Promise<void>;
  renewSession(): Promise<void>;
  readBySession(): Promise<void>;
  /** Creates a webhook and a key, and deletes them. */
  manage(): Promise<void>;
}

interface CreatedKey {
  readonly secret: string;
  readonly api_key: { readonly api_key_id: string };
}

interface App {
  readonly appId: string;
  readonly secret: string;
}

const USERS = { first: 21, count: 60 };
const TROUBLED: readonly Behaviour[] = ["fail", "hang", "cut", "garbage", "invalid"];
const JSON_BODY = { "content-type": "application/json" };

export async function createOwner(deps: {
  readonly client: NodeClient;
  readonly receivers: Receivers;
  readonly tally: Tally;
}): Promise<Owner> {
  const { client, receivers, tally } = deps;
  const { call, signed } = client;
  const keyring = createKeyring();

  const createWebhook = (name: string, behaviour: Behaviour, subscription: object) =>
    signed<{ webhook: { webhook_id: string } }>("POST", `/webhook?owner_fid=${OWNER}`, {
      ...{ name, url: receivers.url(behaviour), subscription },
    });
  const createKey = (name: string, scopes: readonly string[]) =>
    signed<CreatedKey>("POST", "/api_key", { name, scopes });
  const createApp = async (name: string): Promise<App> => {
    const { app } = await signed<{ app: { app_id: string; send_secrets: { value: string }[] } }>(
      "POST",
      "/frame/app",
      { name, app_url: "https://localhost" },
    );
    return { appId: app.app_id, secret: app.send_secrets[0]?.value ?? "" };
  };
  const addApp = async ({ appId }: App, fid: number, behaviour: Behaviour) => {
    const envelope = sealEnvelope(fid, keyring.signer(fid, clientFidsOf(fid)[0] ?? fid), {
      event: "miniapp_added",
      notificationDetails: { url: receivers.url(behaviour), token: `${appId}-${fid}-${behaviour}` },
    });
    const init = { method: "POST", headers: JSON_BODY, body: JSON.stringify(envelope) };
    await (await call(`/v2/svc/frame/webhook/${appId}`, init)).arrayBuffer();
    tally.done("token events");
  };
  const send = async ({ appId, secret }: App, headers: Readonly<Record<string, string>> = {}) => {
    const notification = { title: "Bread", body: "The oven is hot.", target_url: "https://localhost/oven" };
    const response = await call(`/v2/svc/frame/notifications/${appId}`, {
      method: "POST",
      headers: { ...JSON_BODY, "x-api-key": secret, ...headers },
      body: JSON.stringify({ notification }),
    });
    await response.arrayBuffer();
  };

  const writeKey = (await createKey("soak", ["read", "write"])).secret;
  await createWebhook("casts", "accept", { "cast.created": {} });
  await createWebhook("all", "accept", { "cast.created": {}, "reaction.created": {}, "follow.created": {} });
  // Faulty receivers get few events, so that none falls behind at a fixed rate.
  const faulty: readonly Behaviour[] = ["fail", "hang", "redirect", "cut", "flood"];
  for (const [at, behaviour] of faulty.entries())
    await createWebhook(behaviour, behaviour, { "user.updated": { fids: [1 + at] } });
  const good = await createApp("Clients that work");
  const bad = await createApp("Clients in trouble");
  for (let at = 0; at < USERS.count; at += 1) {
    const fid = USERS.first + at;
    await Promise.all([
      addApp(good, fid, "accept"),
      addApp(bad, fid, TROUBLED[at % TROUBLED.length] ?? "fail"),
    ]);
  }
  let session: TestSession | undefined;

  return {
    writeKey,
    send: () => tally.timed("send", () => send(good)),
    sendToTroubled: () =>
      tally.timed("send to clients in trouble", () => send(bad, { prefer: "respond-async" })),
    async renewTokens() {
      for (const token of receivers.takeInvalidTokens().slice(0, USERS.count))
        await addApp(bad, Number(token.split("-").at(-2)), "invalid");
    },
    async renewSession() {
      const { privateKey, body } = newSessionKey();
      const created = await signed<{ session: { session_id: string } }>("POST", "/session", body);
      const former = session;
      session = { sessionId: created.session.session_id, fid: OWNER, privateKey };
      if (former) await signed("DELETE", `/session?session_id=${former.sessionId}`);
      tally.done("sessions");
    },
    async readBySession() {
      if (!session) return;
      const signedAt = Math.floor(Date.now() / 1000);
      const headers = sessionHeaders(session, { method: "GET", path: "/webhook/list", signedAt });
      await tally.timed("read by session", async () =>
        (await call("/v2/svc/webhook/list", { headers })).arrayBuffer(),
      );
    },
    async manage() {
      const text = "(?i)sourdough|lantern";
      const { webhook } = await createWebhook("brief", "accept", { "cast.created": { text } });
      await signed("POST", `/webhook/secret/rotate?webhook_id=${webhook.webhook_id}`);
      await signed("DELETE", `/webhook?webhook_id=${webhook.webhook_id}`);
      const key = await createKey("brief", ["read"]);
      await signed("DELETE", `/api_key?api_key_id=${key.api_key.api_key_id}`);
      tally.done("webhooks and keys created and deleted");
    },
  };
}
