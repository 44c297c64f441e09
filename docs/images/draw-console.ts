/**
 * Draws docs/images/console/*.webp, the pictures of the console, light and dark: `bun run docs:console [name …]`. It needs a Chromium,
 * which it finds as the tests do (CONTRIBUTING.md). The node is a demo node of its own, in which a person makes
 * an app and notifies the people who added it.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { type Hex, toBytes } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { becomeDemoPerson } from "../../test/browser/support/demo-person.ts";
import { type ConsolePage, consolePage, settled } from "../../test/browser/support/page.ts";
import { sharedNode } from "../../test/browser/support/shared.ts";
import { keysOfPerson } from "../../test/support/demo-calls.ts";
import { GASLESS_REQUEST_DOMAIN, signedKeyRequest } from "../../test/support/signed-key-request.ts";
import { type Method, signedHeaders } from "../../test/support/signing.ts";

const OUT = join(import.meta.dir, "console");
const OWNER = 13;
const PEOPLE = 120;
const SIZE = { width: 1280, height: 860 };
const QUALITY = 0.86;
/** For fonts, plots and the first events of a stream. */
const REST_MS = 700;

interface Shot {
  readonly name: string;
  readonly path: string;
  /** Whether the page belongs to the owner. */
  readonly isOwners?: boolean;
  /** Prepares the page. */
  readonly act?: (page: Page) => Promise<void>;
}

const NOTIFICATION = {
  title: "Fresh bread",
  body: "The oven is hot: rye, spelt and one surprise.",
  target_url: "https://bread.demo.example/today",
};
const HOUR_SECS = 3600;

const origin = await sharedNode();
const wanted = process.argv.slice(2);
const shots = (await allShots()).filter(({ name }) => wanted.length === 0 || wanted.includes(name));
mkdirSync(OUT, { recursive: true });
for (const theme of ["light", "dark"] as const) {
  const visitor = await consolePage({ ...SIZE, theme, origin });
  const owner = await consolePage({ ...SIZE, theme, origin });
  if (shots.some(({ isOwners }) => isOwners)) await becomeDemoPerson(owner, OWNER);
  for (const shot of shots) await draw(shot.isOwners ? owner : visitor, shot, theme);
  await Promise.all([visitor.context.close(), owner.context.close()]);
}
process.exit();

async function allShots(): Promise<Shot[]> {
  const { casts } = await get<{ casts: { hash: string; replies: { count: number } }[] }>(
    "/feed/trending?limit=10",
  );
  const [busiest] = casts.toSorted((a, b) => b.replies.count - a.replies.count);
  const { app, campaign, webhook, key, approval } = await fillAccount();
  const owners = { isOwners: true } as const;
  return [
    { name: "landing", path: "/" },
    { name: "explore", path: "/console" },
    { name: "thread", path: `/console/casts/${busiest?.hash}` },
    {
      name: "stream",
      path: "/console/stream",
      act: async () => void (await demo("POST", "/pulse", { seconds: 4, per_second: 5 })),
    },
    { name: "person", path: "/console/people/3" },
    { name: "search", path: "/console/search?q=coffee" },
    { name: "status", path: "/console/status" },
    { name: "operator", path: "/console/operator" },
    { name: "approve", path: approval },
    { ...owners, name: "app", path: `/console/manage/apps/${app}` },
    { ...owners, name: "campaign", path: `/console/manage/campaigns/${campaign}?app=${app}` },
    {
      ...owners,
      name: "send",
      path: `/console/manage/apps/${app}?tab=send`,
      async act(page) {
        await page.getByLabel("Title").fill(NOTIFICATION.title);
        await page.getByLabel("Text").fill(NOTIFICATION.body);
      },
    },
    { ...owners, name: "webhook", path: "/console/manage/webhooks/new" },
    { ...owners, name: "deliveries", path: `/console/manage/webhooks/${webhook}` },
    { ...owners, name: "key", path: `/console/manage/keys/${key}` },
    { ...owners, name: "signers", path: "/console/manage/signers" },
  ];
}

/** Makes what the owner's pages show. */
async function fillAccount(): Promise<Record<"app" | "campaign" | "webhook" | "key" | "approval", string>> {
  const { app } = await signed<{ app: { app_id: string } }>("POST", "/frame/app", {
    name: "Bread club",
    app_url: "https://bread.demo.example",
    description: "Who bakes today, and what comes out of the oven.",
  });
  await demo("POST", "/add-app", { app_id: app.app_id, people: PEOPLE });
  const sent = await signed<{ campaign_id: string }>("POST", "/frame/app/campaign", {
    app_id: app.app_id,
    notification: NOTIFICATION,
  });
  const { url } = await demo<{ url: string }>("POST", "/receiver", { fid: OWNER });
  const { webhook } = await signed<{ webhook: { webhook_id: string } }>(
    "POST",
    `/webhook?owner_fid=${OWNER}`,
    { name: "Everything about bread", url, subscription: { "cast.created": {}, "reaction.created": {} } },
  );
  await demo("POST", "/pulse", { seconds: 4, per_second: 5 });
  return {
    app: app.app_id,
    campaign: sent.campaign_id,
    webhook: webhook.webhook_id,
    ...(await fillKeys()),
  };
}

/** A key that was used, and two signers, of which one waits for its user. */
async function fillKeys(): Promise<Record<"key" | "approval", string>> {
  const created = await signed<{ api_key: { api_key_id: string }; secret: string }>("POST", "/api_key", {
    name: "backend of the bread club",
    scopes: ["read", "signers"],
  });
  const headers = { "x-api-key": created.secret, "content-type": "application/json" };
  const call = async <T>(path: string, body?: unknown) => {
    const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
    return answerOf<T>(path, await fetch(`${origin}/v2/farcaster${path}`, init));
  };
  for (let at = 0; at < 30; at++) await call("/user/bulk?fids=3");
  for (let at = 0; at < 12; at++) await call("/feed/trending");
  const { custody } = keysOfPerson(OWNER);
  const links: string[] = [];
  for (let at = 0; at < 2; at++) {
    const made = await call<{ signer_uuid: string; public_key: Hex }>("/signer/", {});
    const deadline = Math.floor(Date.now() / 1000) + HOUR_SECS;
    const request = { requestFid: OWNER, key: made.public_key, deadline };
    const typed = signedKeyRequest({ domain: GASLESS_REQUEST_DOMAIN, ...request });
    const signature = await privateKeyToAccount(custody.privateKey).signTypedData(typed);
    const registered = await call<{ signer_approval_url: string }>("/signer/signed_key/", {
      signer_uuid: made.signer_uuid,
      app_fid: OWNER,
      deadline,
      signature,
    });
    links.push(new URL(registered.signer_approval_url).pathname);
  }
  const [approval = "", approved = ""] = links;
  const body = JSON.stringify({ fid: OWNER + 1 });
  await answerOf(approved, await fetch(`${origin}${approved}/demo`, { method: "POST", headers, body }));
  return { key: created.api_key.api_key_id, approval };
}

async function draw({ page, goto }: ConsolePage, { name, path, act }: Shot, theme: string): Promise<void> {
  await goto(path);
  await settled(page);
  await act?.(page);
  await page.waitForTimeout(REST_MS);
  const png = await page.screenshot({ animations: "disabled", caret: "hide" });
  const webp = await toWebp(page, png);
  const file = join(OUT, `${name}-${theme}.webp`);
  await Bun.write(file, webp);
  process.stdout.write(`${file}  ${(webp.byteLength / 1024).toFixed(0)} KB\n`);
}

/** The browser has an encoder; the page of the node allows no further code, so an empty one is used. */
async function toWebp(page: Page, png: Uint8Array): Promise<Uint8Array> {
  const blank = await page.context().newPage();
  const text = await blank.evaluate(
    async ([base64, quality]) => {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
      canvas.getContext("2d")?.drawImage(bitmap, 0, 0);
      const blob = await canvas.convertToBlob({ type: "image/webp", quality });
      const encoded = new Uint8Array(await blob.arrayBuffer());
      let characters = "";
      for (let at = 0; at < encoded.length; at += 8192)
        characters += String.fromCharCode(...encoded.subarray(at, at + 8192));
      return btoa(characters);
    },
    [Buffer.from(png).toString("base64"), QUALITY] as const,
  );
  await blank.close();
  return Buffer.from(text, "base64");
}

async function get<T>(path: string): Promise<T> {
  return (await fetch(`${origin}/v2/svc${path}`)).json() as Promise<T>;
}

async function signed<T>(method: Method, path: string, value: unknown): Promise<T> {
  const { custody } = keysOfPerson(OWNER);
  const wallet = { privateKey: toBytes(custody.privateKey), address: toBytes(custody.address) };
  const body = JSON.stringify(value);
  const signedAt = Math.floor(Date.now() / 1000);
  const headers = await signedHeaders({ method, path, fid: OWNER, signedAt, body, wallet });
  return answerOf<T>(path, await fetch(`${origin}/v2/svc${path}`, { method, headers, body }));
}

async function demo<T>(method: Method, path: string, value: unknown): Promise<T> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify(value);
  return answerOf<T>(path, await fetch(`${origin}/console/demo${path}`, { method, headers, body }));
}

async function answerOf<T>(path: string, response: Response): Promise<T> {
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}
