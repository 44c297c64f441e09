import { afterAll, beforeAll, describe, expect } from "bun:test";
import { privateKeyToAccount } from "viem/accounts";
import { startCluster, type TestCluster } from "../support/cluster.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { registerEvent, rentEvent, transferEvent } from "../support/events.ts";
import { makeWallet } from "../support/messages.ts";
import { eventRecord } from "../support/node.ts";
import { HAS_POSTGRES } from "../support/postgres/server.ts";
import type { RunningNode } from "../support/program.ts";
import { custodyWallet } from "../support/signing.ts";
import { consoleTest } from "./support/console-test.ts";
import type { ConsolePage } from "./support/page.ts";
import { HAS_BROWSER } from "./support/shared.ts";
import { injectWallet } from "./support/wallet.ts";

/** Ends of sessions that no request asks for, on a node of two workers whose network keeps changing. */

const SOLD = 500;
const OVER = 501;
let block = 900_000;

describe.skipIf(!HAS_POSTGRES || !HAS_BROWSER)("check 22: without its owner's doing", () => {
  let cluster: TestCluster;
  let node: RunningNode;
  beforeAll(async () => {
    cluster = await startCluster({ seed: "ends of sessions", command: compiledProgram });
    const at = Math.floor(Date.now() / 1000) - 86_400;
    for (const fid of [SOLD, OVER]) {
      const events = [
        registerEvent(fid, custodyWallet(fid).address, { block: block++, at }),
        rentEvent(fid, 1, { block: block++, at }),
      ];
      cluster.act(events.map((event) => ({ fid, record: eventRecord(event) })));
    }
    node = await cluster.start("a", "http.workers=2");
  }, 180_000);
  afterAll(() => cluster?.[Symbol.asyncDispose]());

  /** Starts a session and types into a form that is not sent. */
  async function typeAKey({ page, goto }: ConsolePage, fid: number): Promise<void> {
    const key = Buffer.from(custodyWallet(fid).privateKey).toString("hex");
    await injectWallet(page, privateKeyToAccount(`0x${key}`));
    await goto("/console/manage");
    await page.getByRole("button", { name: "Test Wallet" }).click();
    await page.getByRole("button", { name: /^Start a session/ }).click();
    await page.getByText(/^This browser reads/).waitFor();
    await goto("/console/manage/keys");
    await page.getByLabel("Name").fill("A key for the bakery");
  }

  /** Refreshes again and again, so that both workers respond. The form keeps its text when the session has ended. */
  async function findsItEnded({ page }: ConsolePage, times: number): Promise<void> {
    const ended = page.getByRole("heading", { name: "Your session has ended" });
    for (let round = 0; round < times && !(await ended.isVisible()); round++) {
      await page.getByRole("heading", { name: "API keys" }).click();
      await page.keyboard.press("r");
      await page.waitForTimeout(100);
    }
    await ended.waitFor();
    expect(await page.getByLabel("Name").inputValue()).toBe("A key for the bakery");
  }

  consoleTest("the fid gets another custody address: the page asks again, its form stays", async (open) => {
    const one = await open({ origin: node.url });
    await typeAKey(one, SOLD);
    const { address } = custodyWallet(SOLD);
    const place = { block: block++, at: Math.floor(Date.now() / 1000) };
    const sold = transferEvent(SOLD, address, makeWallet("a buyer").address, place);
    cluster.act([{ fid: SOLD, record: eventRecord(sold) }]);
    await findsItEnded(one, 100);
  });

  consoleTest("its time is over: the page asks again, its form stays", async (open) => {
    const one = await open({ origin: node.url });
    await typeAKey(one, OVER);
    await cluster.database.query(`UPDATE svc.sessions SET expires_at = 1 WHERE owner_fid = ${OVER}`);
    await findsItEnded(one, 100);
    await one.page.getByRole("button", { name: "Start a new session" }).click();
    await one.page.getByRole("heading", { name: "Your session has ended" }).waitFor({ state: "detached" });
    expect(await one.page.getByLabel("Name").inputValue()).toBe("A key for the bakery");
  });
});
