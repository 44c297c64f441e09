import { afterAll, beforeAll, expect } from "bun:test";
import { openState, statePath } from "../../src/db/state/database.ts";
import { UNTRIED } from "../../src/webhooks/store/webhook-store.ts";
import { createBrowser } from "../notices/push-service.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { type RunningNode, startNode, tempDir } from "../support/program.ts";
import { localStores } from "../support/state-stores.ts";
import { axeViolations } from "./support/axe.ts";
import { consoleTest } from "./support/console-test.ts";
import { becomeDemoPerson } from "./support/demo-person.ts";
import { sidewaysScroll } from "./support/layout.ts";
import type { ConsolePage } from "./support/page.ts";
import { HAS_BROWSER } from "./support/shared.ts";

const OWNER = 31;
const OTHER = 32;
const HOLDER = 33;
const dir = tempDir();
const called: { readonly path: string; readonly body: Uint8Array }[] = [];
/** A hook and a push service on this machine. */
const service = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    called.push({ path: new URL(request.url).pathname, body: new Uint8Array(await request.arrayBuffer()) });
    return new Response(null, { status: 201 });
  },
});
let node: RunningNode;

beforeAll(async () => {
  if (!HAS_BROWSER) return;
  const settings = [
    "net.allow_http=true",
    'net.allow_cidrs=["127.0.0.0/8"]',
    'notify.push_hosts=["127.0.0.1"]',
    "notify.max_channels_per_owner=2",
  ];
  node = await startNode({
    command: compiledProgram,
    dataDir: dir.path,
    demo: true,
    args: ["--port", "0", ...settings.flatMap((setting) => ["--set", setting])],
  });
}, 120_000);
afterAll(async () => {
  if (HAS_BROWSER) await node[Symbol.asyncDispose]();
  await service.stop(true);
  dir[Symbol.dispose]();
});

const confirm = ({ page }: ConsolePage) => page.getByRole("button", { name: "Sign in the wallet" }).click();

async function addHook(one: ConsolePage, name: string, url: string): Promise<void> {
  const { page } = one;
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("URL").fill(url);
  await page.getByRole("button", { name: "Add hook" }).click();
  await confirm(one);
}

consoleTest(
  "an owner adds a hook by one signature, tests it by the session, and removes it; another owner sees nothing of it",
  async (open) => {
    const one = await open({ origin: node.url, width: 390 });
    const { page, goto } = one;
    await becomeDemoPerson(one, OWNER);
    await goto("/console/manage/notices");
    await page.getByText("No incidents.").waitFor();
    await page.getByText("No channels yet.").waitFor();
    await page.getByText("Add a channel").click();
    await page.getByLabel("URL").fill("ftp://hooks.example/x");
    await page.getByText("An https URL.").waitFor();
    expect(await page.getByRole("button", { name: "Add hook" }).isDisabled()).toBe(true);
    await addHook(one, "pager", "http://10.0.0.1/x");
    await page.getByText("url must").waitFor();
    await addHook(one, "pager", `http://127.0.0.1:${service.port}/own`);
    await page.getByText("The hook was added.").waitFor();
    expect(await page.locator(".command").last().innerText()).toMatch(/[0-9a-f]{64}/);
    await page.getByRole("row").filter({ hasText: "pager" }).getByText("All").waitFor();
    expect(await axeViolations(page)).toEqual([]);
    expect(await sidewaysScroll(page)).toEqual([]);

    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByText("delivered", { exact: true }).waitFor();
    expect(called.map(({ path }) => path)).toEqual(["/own"]);
    expect(JSON.parse(Buffer.from(called[0]?.body ?? []).toString())).toMatchObject({
      type: "incident.test",
      text: "Notices of svc arrive here.",
    });
    await page.getByRole("button", { name: "Edit" }).click();
    const form = page.getByRole("form", { name: "Edit" });
    await form.getByLabel("Quiet hours").fill("22:00-07:00");
    await form.getByText("Kinds of incident: all").click();
    await form.getByLabel("Webhook failing").check();
    await form.getByText("Kinds of incident: 1 of 6").waitFor();
    await form.getByRole("button", { name: "Save" }).click();
    await page
      .getByRole("row")
      .filter({ hasText: "pager" })
      .getByText("All, only Webhook failing, quiet 22:00-07:00")
      .waitFor();

    const other = await open({ origin: node.url });
    await becomeDemoPerson(other, OTHER);
    await other.goto("/console/manage/notices");
    await other.page.getByText("No channels yet.").waitFor();

    await page.getByRole("button", { name: "Remove" }).click();
    await confirm(one);
    await page.getByText("No channels yet.").waitFor();
    await goto("/console/manage/activity");
    await page.getByText("A notice channel was deleted").waitFor();
  },
  120_000,
);

consoleTest(
  "a browser subscribes for an owner, and more channels than an owner may have are refused in words, also in German",
  async (open) => {
    // The tests' policy refuses the URL of any worker, because it is a script.
    const one = await open({ origin: node.url, trustedTypes: false });
    const { page, goto } = one;
    const browser = await createBrowser();
    await page.addInitScript(
      ({ endpoint, keys }) => {
        Object.defineProperty(Notification, "permission", { get: () => "default" });
        Notification.requestPermission = async () => "granted";
        PushManager.prototype.subscribe = async () =>
          ({ toJSON: () => ({ endpoint, keys }) }) as unknown as PushSubscription;
      },
      { endpoint: `http://127.0.0.1:${service.port}/send/a`, keys: browser.keys },
    );
    await becomeDemoPerson(one, OTHER);
    await goto("/console/manage/notices");
    await page.getByText("Add a channel").click();
    await page.getByLabel("Name").fill("the phone of Ann");
    await page.getByRole("button", { name: "Notify this browser" }).click();
    await confirm(one);
    await page.getByText("This browser is subscribed.").waitFor();
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByText("delivered", { exact: true }).waitFor();
    expect(JSON.parse(await browser.decrypt(called.at(-1)?.body ?? new Uint8Array()))).toEqual({
      title: "svc: A test",
      body: "Notices of svc arrive here.",
      tag: "test",
      path: "/console/manage/notices",
    });
    await addHook(one, "pager", `http://127.0.0.1:${service.port}/own`);
    await page.getByText("The hook was added.").waitFor();
    await addHook(one, "one more", `http://127.0.0.1:${service.port}/own`);
    await page.getByText("at most 2 channels").waitFor();
    await page.getByLabel("Language").selectOption("de");
    await page.getByRole("heading", { name: "Mitteilungen", level: 1 }).waitFor();
    await page.getByText("Keine Vorfälle.").waitFor();
  },
  120_000,
);

consoleTest(
  "an owner's open incident is in the lane of incidents of the owner's pages and says when it resolves; a stranger sees none of it",
  async (open) => {
    const opening = {
      incidentId: "heldOne",
      checkId: "send_held",
      nodeId: "app/schedule",
      ownerFid: HOLDER,
      severity: "warning",
      sentence: "A scheduled send was not sent: it could not begin in time.",
    } as const;
    {
      using state = openState(statePath(dir.path));
      const stores = localStores(state);
      await stores.incidents.open(opening, Math.floor(Date.now() / 1000));
      await stores.webhooks.create(
        {
          ...{ webhookId: "HeLdHook", ownerFid: HOLDER, title: "Hook", description: null, active: true },
          targetUrl: "https://hook.example/events",
          ...{ subscription: { "cast.created": {} }, compatPrefix: null, health: UNTRIED, secrets: [] },
          ...{ createdAt: 1_800_000_000, updatedAt: 1_800_000_000 },
        },
        10,
      );
    }
    const name = /^Scheduled send held/;
    const stranger = await open({ origin: node.url });
    await stranger.goto("/console/status");
    await stranger.page.getByText("Public: none open").waitFor();
    expect(await stranger.page.getByText("Yours").count()).toBe(0);

    const one = await open({ origin: node.url, width: 390 });
    const { page, goto } = one;
    await becomeDemoPerson(one, HOLDER);
    await goto("/console/status");
    await page.getByText("Public: none open").waitFor();
    for (const path of ["/console/status", "/console/stream", "/console/manage/webhooks/HeLdHook"]) {
      await goto(path);
      await page.getByRole("button", { name }).waitFor();
    }
    await goto("/console/manage");
    await page.getByRole("link", { name: "1 open incident" }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await goto("/console/status");
    await page.getByRole("link", { name: "Yours: 1 open" }).click();
    await page.getByText("Resolves after a day.").waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await stranger.goto("/console/stream");
    await stranger.page.getByRole("slider", { name: "Start of the selection" }).waitFor();
    expect(await stranger.page.getByRole("button", { name }).count()).toBe(0);
  },
  120_000,
);
