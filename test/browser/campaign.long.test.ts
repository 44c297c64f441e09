import { afterAll, beforeAll, describe, expect } from "bun:test";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { openState, statePath } from "../../src/db/state/database.ts";
import { startDemoNode } from "../support/demo-node.ts";
import { IS_LONG } from "../support/long.ts";
import { type RunningNode, tempDir } from "../support/program.ts";
import { nested, type PushClient, startPushClient } from "../support/push-client.ts";
import { APP_ID, insertTokens, testApp } from "../support/send.ts";
import { localStores } from "../support/state-stores.ts";
import { axeViolations } from "./support/axe.ts";
import { consoleTest } from "./support/console-test.ts";
import type { ConsolePage } from "./support/page.ts";
import { HAS_BROWSER } from "./support/shared.ts";
import { demoAccount, injectWallet } from "./support/wallet.ts";

const OWNER = 42;
const TOKENS = IS_LONG ? 10_000 : 1000;
/** Tokens that the first client calls invalid, rate limited; the rest are shown. */
const INVALID = 7;
const LIMITED = 5;

/** Calls wait here until the test releases some of them. */
class Gate {
  #open = 0;
  readonly #waiting: (() => void)[] = [];

  async pass(): Promise<void> {
    if (this.#open > 0) this.#open -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  open(calls: number): void {
    this.#open += calls;
    while (this.#open > 0 && this.#waiting.length > 0) {
      this.#open -= 1;
      this.#waiting.shift()?.();
    }
  }
}

const dir = tempDir();
const gate = new Gate();
let node: RunningNode;
let client: PushClient;
let other: PushClient;

beforeAll(async () => {
  if (!HAS_BROWSER) return;
  client = startPushClient(async ({ tokens }) => {
    await gate.pass();
    const invalid = tokens.filter((token) => token.startsWith("gone"));
    const rateLimited = tokens.filter((token) => token.startsWith("later"));
    return nested({
      successful: tokens.filter((token) => /^t\d/.test(token)),
      invalid,
      rateLimited,
    });
  });
  other = startPushClient(() => new Response("", { status: 403 }));
  const dataDir = join(dir.path, "data");
  const args = ["--set", "net.allow_http=true", "--set", "net.allow_cidrs=127.0.0.0/8"];
  node = await startDemoNode({ dataDir, args });
  using state = openState(statePath(dataDir));
  await localStores(state).apps.create(testApp({ ownerFid: OWNER }), 10);
  // No one sends to it: the token is not enabled.
  const unused = `https://${"long".repeat(15)}.${"host".repeat(15)}.example/`;
  insertTokens(state, [{ fid: 900_000, clientFid: 3, url: unused, token: "off", enabled: false }]);
  const nameOf = (fid: number) => (fid < INVALID ? "gone" : fid < INVALID + LIMITED ? "later" : "t");
  const half = TOKENS / 2;
  insertTokens(
    state,
    Array.from({ length: TOKENS }, (_, at) => {
      const port = at < half ? client.port : other.port;
      return {
        fid: at + 1,
        url: `http://127.0.0.1:${port}/`,
        token: at < half ? `${nameOf(at)}${at}` : `o${at}`,
      };
    }),
  );
}, 180_000);
afterAll(async () => {
  if (!HAS_BROWSER) return;
  await node.kill();
  await Promise.all([client[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]);
  dir[Symbol.dispose]();
});

async function enter({ page, goto }: ConsolePage): Promise<void> {
  await injectWallet(page, demoAccount(OWNER));
  await goto("/console/manage");
  await page.getByRole("button", { name: "Test Wallet" }).click();
  await page.getByRole("button", { name: "Start a session" }).click();
  await page.getByText(/^This browser reads/).waitFor();
}

/** Notes whenever a figure of the page goes down. */
async function watchFigures(page: Page): Promise<void> {
  await page.evaluate(() => {
    const highest = new Map<string, number>();
    const downs: string[] = [];
    Object.assign(globalThis, { downs });
    const look = () => {
      for (const element of document.querySelectorAll<HTMLElement>("[data-figure]")) {
        const name = element.dataset.figure ?? "";
        if (name === "rate" || name === "remaining") continue;
        const value = Number(element.textContent?.replaceAll(",", ""));
        if (value < (highest.get(name) ?? 0)) downs.push(`${name} ${highest.get(name)} ${value}`);
        highest.set(name, value);
      }
    };
    new MutationObserver(look).observe(document.body, {
      subtree: true,
      childList: true,
      characterData: true,
    });
  });
}

const downsOf = (page: Page) => page.evaluate(() => (globalThis as unknown as { downs: string[] }).downs);
const figure = async (page: Page, name: string) =>
  Number((await page.locator(`[data-figure="${name}"]`).innerText()).replaceAll(",", ""));
const delivered = (page: Page, count: number) =>
  page.waitForFunction(
    (least) =>
      Number(document.querySelector('[data-figure="delivered"]')?.textContent?.replaceAll(",", "")) >= least,
    count,
  );

describe("a campaign", () => {
  consoleTest(
    `check 28: of ${TOKENS} tokens: figures never go back, the page closed and opened again; the end is the API's`,
    async (open) => {
      const one = await open({ origin: node.url });
      const { page } = one;
      await enter(one);
      await one.goto(`/console/manage/apps/${APP_ID}?tab=send`);
      await page.getByLabel("Title").fill("Fresh bread");
      await page.getByLabel("Text").fill("The oven is hot.");
      await page.getByRole("button", { name: `Sign and send to ${TOKENS.toLocaleString("en")}` }).click();
      await page.getByRole("button", { name: "Sign in the wallet" }).click();
      await page.getByText("You can close this page: the node continues.").waitFor();
      await watchFigures(page);
      gate.open(1);
      await delivered(page, 80);
      expect(await figure(page, "remaining")).toBeLessThan(TOKENS);
      expect(await downsOf(page)).toEqual([]);
      const path = new URL(page.url()).pathname;
      const seen = await figure(page, "delivered");

      await page.goto("about:blank");
      gate.open(1);
      await one.goto(path);
      await page.getByText("Running").waitFor();
      await watchFigures(page);
      await delivered(page, seen);
      gate.open(Number.MAX_SAFE_INTEGER);
      await page.getByText("Completed").waitFor();
      const half = TOKENS / 2;
      expect(await downsOf(page)).toEqual([]);
      expect([await figure(page, "delivered"), await figure(page, "failed")]).toEqual([
        half - INVALID - LIMITED,
        half + INVALID + LIMITED,
      ]);
      const rows = await page.getByLabel("Results by client host").locator("tbody tr").allInnerTexts();
      expect(rows.map((row) => row.replaceAll(/\s+/g, " ").trim()).sort()).toEqual(
        [
          `127.0.0.1:${client.port} ${(half - INVALID - LIMITED).toLocaleString("en")} ${INVALID + LIMITED} 0 ` +
            `${INVALID} the client no longer knows the token ${LIMITED} the client asked to send later`,
          `127.0.0.1:${other.port} 0 ${half.toLocaleString("en")} 0 ${half.toLocaleString("en")} the client responded with 403`,
        ].sort(),
      );
      await page.getByRole("button", { name: "Copy as CSV" }).click();
      const csv = await page.evaluate(() => navigator.clipboard.readText());
      expect(csv.split("\r\n")).toHaveLength(4);
      expect(csv).toContain(`127.0.0.1:${client.port},${half - INVALID - LIMITED},${INVALID + LIMITED},0,`);

      await page.getByRole("button", { name: "Retry" }).click();
      await page.getByText(`${LIMITED} people`, { exact: true }).first().waitFor();
      expect(await page.getByLabel("Their fids").inputValue()).toBe(
        Array.from({ length: LIMITED }, (_, at) => INVALID + 1 + at).join(", "),
      );
      await page.getByText("people who have it do not get it twice").waitFor();

      // Hosts are as long as others want them.
      await one.goto(`/console/manage/apps/${APP_ID}`);
      await page.locator("[data-total]").waitFor();
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 900 });
        const room = await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
        expect([width, room]).toEqual([width, true]);
      }
      expect(await axeViolations(page)).toEqual([]);
    },
  );
});
