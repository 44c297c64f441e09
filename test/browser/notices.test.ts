import { afterAll, beforeAll, expect } from "bun:test";
import { createBrowser, vapidClaims } from "../notices/push-service.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { type RunningNode, startNode, tempDir } from "../support/program.ts";
import { axeViolations } from "./support/axe.ts";
import { consoleTest } from "./support/console-test.ts";
import { HAS_BROWSER } from "./support/shared.ts";

const dir = tempDir();
const pushed: { readonly authorization: string; readonly body: Uint8Array }[] = [];
/** A push service on this machine: headless browsers have none. */
const service = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const authorization = request.headers.get("authorization") ?? "";
    pushed.push({ authorization, body: new Uint8Array(await request.arrayBuffer()) });
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
  ];
  node = await startNode({
    command: compiledProgram,
    dataDir: dir.path,
    args: ["--port", "0", ...settings.flatMap((setting) => ["--set", setting])],
  });
});
afterAll(async () => {
  if (HAS_BROWSER) await node[Symbol.asyncDispose]();
  await service.stop(true);
  dir[Symbol.dispose]();
});

async function link(): Promise<string> {
  const child = Bun.spawn([...compiledProgram, "--data-dir", dir.path, "console", node.url], {
    env: { PATH: process.env.PATH ?? "", HOME: dir.path },
    stdout: "pipe",
    stderr: "ignore",
  });
  // That of an empty node leads to its set-up.
  return (await new Response(child.stdout).text()).trim().replace("/setup#", "/operator#");
}

consoleTest(
  "a browser subscribes by the operator's session, gets a test that only it can read, and is removed",
  async (open) => {
    // The tests' policy refuses the URL of any worker, because it is a script.
    const { page } = await open({ origin: node.url, width: 390, trustedTypes: false });
    const browser = await createBrowser();
    await page.addInitScript(
      ({ endpoint, keys }) => {
        Object.defineProperty(Notification, "permission", { get: () => "default" });
        Notification.requestPermission = async () => "granted";
        PushManager.prototype.subscribe = async (options) => {
          Object.assign(window, { asked: options });
          return { toJSON: () => ({ endpoint, keys }) } as unknown as PushSubscription;
        };
      },
      { endpoint: `http://127.0.0.1:${service.port}/send/a`, keys: browser.keys },
    );
    await page.goto(await link());
    await page.getByText("No channels yet.").waitFor();
    await page.getByText("Add a channel").click();
    await page.getByLabel("Name").fill("the phone of Ann");
    await page.getByRole("button", { name: "Notify this browser" }).click();
    await page.getByText("This browser is subscribed.").waitFor();
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByText("delivered", { exact: true }).waitFor();

    const [message] = pushed;
    expect(JSON.parse(await browser.decrypt(message?.body ?? new Uint8Array()))).toEqual({
      title: "svc: A test",
      body: "Notices of svc arrive here.",
      tag: "test",
      path: "/console/operator",
    });
    const asked = await page.evaluate(() => (window as { asked?: PushSubscriptionOptionsInit }).asked);
    const { publicKey } = await vapidClaims(message?.authorization ?? "");
    expect(asked).toEqual({ userVisibleOnly: true, applicationServerKey: publicKey });
    expect(await page.evaluate(async () => (await navigator.serviceWorker.ready).active?.scriptURL)).toBe(
      `${node.url}/console/sw.js`,
    );
    expect(await axeViolations(page)).toEqual([]);
    expect(
      await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth),
    ).toBe(true);
    await page.getByRole("button", { name: "Edit" }).click();
    const form = page.getByRole("form", { name: "Edit" });
    expect(await form.getByLabel("Name").evaluate((field) => field === document.activeElement)).toBe(true);
    await form.getByLabel("Name").fill("the phone of Bob");
    await form.getByLabel("Warning and above").check();
    await form.getByLabel("Quiet hours").fill("22:00-07:00");
    expect(await axeViolations(page)).toEqual([]);
    await form.getByRole("button", { name: "Save" }).click();
    const row = page.getByRole("row").filter({ hasText: "the phone of Bob" });
    await row.getByText("Warning and above, quiet 22:00-07:00").waitFor();
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByText("No channels yet.").waitFor();
  },
);

consoleTest(
  "a hook shows its secret once, and a URL that may not be called is refused in words",
  async (open) => {
    const { page } = await open({ origin: node.url });
    await page.goto(await link());
    await page.getByText("Add a channel").click();
    await page.getByText("Give it a name first.").first().waitFor();
    await page.getByLabel("Name").fill("pager");
    await page.getByLabel("URL").fill("http://10.0.0.1/x");
    await page.getByRole("button", { name: "Add hook" }).click();
    // Beside its button, not above the list of channels.
    const hook = page.locator("form").filter({ has: page.getByRole("button", { name: "Add hook" }) });
    await hook.getByText("url must").waitFor();
    await page.getByLabel("URL").fill(`http://127.0.0.1:${service.port}/hook`);
    await page.getByRole("button", { name: "Add hook" }).click();
    await page.getByText("It is shown once:").waitFor();
    expect(await page.locator(".command").last().innerText()).toMatch(/[0-9a-f]{64}/);
    await page.reload();
    await page.getByRole("row").filter({ hasText: "pager" }).waitFor();
    expect(await page.getByText("It is shown once:").count()).toBe(0);
  },
);
