/** The backend of a mini app: registers it, and sends a push to everybody who has added it when `POST /announce` asks for one. */

import { createHash, timingSafeEqual } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { privateKeyToAccount } from "viem/accounts";
import { createClient } from "../../client/src/index.ts";

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is missing`);
  return value;
}

const baseUrl = process.env.BASE_URL ?? "http://127.0.0.1:8080";
const appUrl = setting("APP_URL");
const token = setting("ANNOUNCE_TOKEN");
const storedIn = process.env.APP_FILE ?? "app.json";

interface StoredApp {
  readonly appId: string;
  readonly secret: string;
}

/** The app is registered once; its id and send secret are in a file that only this user reads. */
async function registeredApp(): Promise<StoredApp> {
  if (existsSync(storedIn)) return JSON.parse(readFileSync(storedIn, "utf8")) as StoredApp;
  const signer = privateKeyToAccount(readFileSync(setting("KEY_FILE"), "utf8").trim() as `0x${string}`);
  const client = createClient({ baseUrl, owner: { fid: Number(setting("FID")), signer } });
  const { data } = await client.POST("/v2/svc/frame/app", { body: { name: "Bread club", app_url: appUrl } });
  const secret = data?.app.send_secrets?.at(-1)?.value;
  if (!data || !secret) throw new Error("the node gave no send secret");
  const app = { appId: data.app.app_id, secret };
  writeFileSync(storedIn, JSON.stringify(app), { mode: 0o600 });
  return app;
}

const { appId, secret } = await registeredApp();

/** Sends one notification. With the same uuid it can be repeated: each person gets it once. */
async function announce(uuid: string, title: string, body: string): Promise<Response> {
  const response = await fetch(`${baseUrl}/v2/svc/frame/notifications/${appId}`, {
    method: "POST",
    headers: { "x-api-key": secret, "content-type": "application/json" },
    body: JSON.stringify({ notification: { uuid, title, body, target_url: appUrl }, target_fids: [] }),
  });
  return Response.json(await response.json(), { status: response.status });
}

const digest = (text: string) => createHash("sha256").update(text).digest();
const isAllowed = (request: Request) =>
  timingSafeEqual(digest(request.headers.get("authorization") ?? ""), digest(`Bearer ${token}`));

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT ?? 9600),
  routes: {
    // What clients of the protocol read to learn where to report who added the app. Yours also has your `accountAssociation`.
    "/.well-known/farcaster.json": () =>
      Response.json({
        miniapp: {
          version: "1",
          name: "Bread club",
          homeUrl: appUrl,
          iconUrl: new URL("/icon.png", appUrl).href,
          webhookUrl: `${process.env.PUBLIC_NODE_URL ?? baseUrl}/v2/svc/frame/webhook/${appId}`,
        },
      }),
    "/announce": {
      async POST(request) {
        if (!isAllowed(request)) return new Response(null, { status: 401 });
        const { uuid, title, body } = (await request.json()) as Record<string, string>;
        return await announce(`${uuid}`, `${title}`, `${body}`);
      },
    },
  },
});
console.log(`listening on port ${server.port}`);
