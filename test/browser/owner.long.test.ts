import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { privateKeyToAccount } from "viem/accounts";
import { demoKeys } from "../../src/demo/keys.ts";
import { IS_LONG } from "../support/long.ts";
import { signedHeaders } from "../support/signing.ts";
import { axeViolations } from "./support/axe.ts";
import { consoleTest } from "./support/console-test.ts";
import type { ConsolePage } from "./support/page.ts";
import { demoAccount, injectWallet, type TestWallet, type WalletOptions } from "./support/wallet.ts";

const MANAGE = "/console/manage";
const ACTIVITY = "/console/manage/activity";

const connect = (page: Page) => page.getByRole("button", { name: "Test Wallet" }).click();
const startSession = (page: Page) => page.getByRole("button", { name: /^Start a session/ }).click();
const isReading = (page: Page) => page.getByText(/^This browser reads/).waitFor();

/** Opens the overview with a wallet, connects it and starts a session: the first visit of an owner. */
async function enter({ page, goto }: ConsolePage, fid: number, options?: WalletOptions): Promise<TestWallet> {
  const wallet = await injectWallet(page, demoAccount(fid), options);
  await goto(MANAGE);
  await connect(page);
  await startSession(page);
  await isReading(page);
  return wallet;
}

/** Ends the sessions of a person from elsewhere, as the command line does. */
async function endAllSessions(origin: string, fid: number): Promise<void> {
  const path = "/session?all=true";
  const wallet = {
    privateKey: Buffer.from(demoKeys(fid)?.custody.privateKey.slice(2) ?? "", "hex"),
    address: new Uint8Array(),
  };
  const signedAt = Math.floor(Date.now() / 1000);
  const headers = await signedHeaders({ method: "DELETE", path, fid, signedAt, wallet });
  expect((await fetch(`${origin}/v2/svc${path}`, { method: "DELETE", headers })).status).toBe(200);
}

/** The requests of the native API that the page has made, by method and path, without reads of public data. */
function requestsOf(page: Page): string[] {
  const requests: string[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (/^\/v2\/svc\/(session|audit|frame|webhook|api_key|managed_signer)/.test(pathname))
      requests.push(`${request.method()} ${pathname}`);
  });
  return requests;
}

describe("connecting a wallet", () => {
  consoleTest(
    "check 17: two wallets and a legacy one are offered; without any, three other ways",
    async (open) => {
      const { page, goto } = await open();
      const account = demoAccount(11);
      for (const name of ["First", "Second"]) await injectWallet(page, account, { name });
      await injectWallet(page, account, { legacy: true });
      await goto(MANAGE);
      const offered = page.locator(".btn.wallet");
      await offered.nth(3).waitFor();
      const names = (await offered.allInnerTexts()).filter((name) => !name.includes("demo"));
      expect(names).toEqual(["First", "Second", "The wallet of this browser"]);
      for (const way of [
        "Try it as a demo person",
        "Sign on the command line with a key file",
        "My custody address is",
      ])
        await page.getByText(way).waitFor();
    },
  );

  consoleTest(
    "check 18: connecting and a session are two prompts; 30 reads cost none, and a reload keeps it",
    async (open) => {
      const one = await open();
      const { page, goto } = one;
      const wallet = await enter(one, 12);
      expect(wallet.prompts).toEqual(["eth_requestAccounts", "SvcSignedOp"]);
      const requests = requestsOf(page);
      await goto(ACTIVITY);
      await page.getByText("A session was started").waitFor();
      while (requests.length < 30) await page.keyboard.press("r");
      await page.reload();
      await page.getByText("A session was started").waitFor();
      expect(requests.length).toBeGreaterThanOrEqual(30);
      expect(wallet.prompts).toHaveLength(2);
    },
  );

  consoleTest("check 18: from another chain it is a third prompt", async (open) => {
    const { page, goto } = await open();
    const wallet = await injectWallet(page, demoAccount(13), { chainId: 1 });
    await goto(MANAGE);
    await connect(page);
    await startSession(page);
    await isReading(page);
    expect(wallet.prompts).toEqual(["eth_requestAccounts", "wallet_switchEthereumChain", "SvcSignedOp"]);
    expect(wallet.signed[0]?.message).toMatchObject({ op: "session.create", fid: 13 });
  });
});

describe("check 19: what a wallet refuses is said in a sentence, and nothing is sent", () => {
  const declined = /^You declined in the wallet\. Nothing was sent\.$/;

  consoleTest("the change of the chain, then the signature was declined", async (open) => {
    const { page, goto } = await open();
    const requests = requestsOf(page);
    const wallet = await injectWallet(page, demoAccount(14), {
      chainId: 1,
      declines: ["wallet_switchEthereumChain"],
    });
    await goto(MANAGE);
    await connect(page);
    await startSession(page);
    await page.getByRole("alert").filter({ hasText: declined }).waitFor();
    wallet.declines = ["eth_signTypedData_v4"];
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("alert").filter({ hasText: declined }).waitFor();
    expect(wallet.prompts).toHaveLength(4);
    expect(requests).toEqual([]);
    wallet.declines = [];
    await page.getByRole("button", { name: "Try again" }).click();
    await isReading(page);
  });

  consoleTest("the wallet does not know the chain", async (open) => {
    const { page, goto } = await open();
    const requests = requestsOf(page);
    await injectWallet(page, demoAccount(16), { chainId: 1, knownChains: [1] });
    await goto(MANAGE);
    await connect(page);
    await startSession(page);
    await page.getByText(/does not know OP Mainnet .* Nothing was sent\.$/).waitFor();
    expect(requests).toEqual([]);
  });

  consoleTest("the address has no fid, or the connection was declined", async (open) => {
    const { page, goto } = await open();
    const stranger = privateKeyToAccount(`0x${"77".repeat(32)}`);
    await injectWallet(page, stranger, { name: "Stranger" });
    await injectWallet(page, demoAccount(16), { declines: ["eth_requestAccounts"] });
    await goto(MANAGE);
    await page.getByRole("button", { name: "Stranger" }).click();
    await page
      .getByText(/is not the custody address of any fid that this node knows\..*Nothing was sent\.$/)
      .waitFor();
    await connect(page);
    await page.getByText("You declined in the wallet. Nothing was sent.").waitFor();
  });

  consoleTest("the wallet has another account than the owner", async (open) => {
    const one = await open();
    const { page, goto } = one;
    const wallet = await enter(one, 17, { isSilent: true });
    await goto(ACTIVITY);
    await wallet.switchAccount(demoAccount(18));
    await page.getByRole("button", { name: "End all" }).click();
    const dialog = page.getByRole("dialog");
    // Check 29: no hex before the visitor unfolds it.
    expect(await dialog.getByText("requestHash").isVisible()).toBe(false);
    await dialog.getByText("Technical details").click();
    await dialog.getByText("requestHash").waitFor();
    const requests = requestsOf(page);
    await dialog.getByRole("button", { name: "Sign in the wallet" }).click();
    await dialog.getByText(/but fid 17 belongs to .*Nothing was sent\.$/).waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect(requests).toEqual([]);
  });

  consoleTest("another account is chosen while a sheet is open, which closes", async (open) => {
    const one = await open();
    const { page, goto } = one;
    const wallet = await enter(one, 18);
    await goto(ACTIVITY);
    await page.getByRole("button", { name: "End all" }).click();
    await page.getByRole("dialog").waitFor();
    const requests = requestsOf(page);
    await wallet.switchAccount(demoAccount(26));
    await page.getByText("this is now fid 26").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(requests).toEqual([]);
  });
});

describe("a page without WebCrypto, as when loaded from another machine over plain http", () => {
  consoleTest(
    "has no session, says why, and needs a signature for each view that someone asks for",
    async (open) => {
      const { page, goto } = await open();
      await page.addInitScript(() => Object.defineProperty(globalThis, "isSecureContext", { value: false }));
      const wallet = await injectWallet(page, demoAccount(28));
      await goto(ACTIVITY);
      await connect(page);
      await page
        .getByText(/was loaded over plain http from another machine.*each request needs your wallet/)
        .waitFor();
      expect(wallet.prompts).toEqual(["eth_requestAccounts"]);
      const requests = requestsOf(page);
      await page.getByRole("button", { name: "Sign and show" }).click();
      await page.getByText("No entries yet.").waitFor();
      await page.keyboard.press("r");
      await page.keyboard.press("r");
      expect(wallet.signed.map(({ message }) => message.op)).toEqual(["audit.read"]);
      expect(requests).toEqual(["GET /v2/svc/audit"]);
    },
  );
});

describe("changes in the wallet", () => {
  consoleTest(
    "another account is another fid, and the session of the first one waits for it",
    async (open) => {
      const one = await open();
      const { page } = one;
      const wallet = await enter(one, 19);
      await wallet.switchAccount(demoAccount(20));
      await page.getByText("this is now fid 20").waitFor();
      await page.getByRole("button", { name: /^Start a session/ }).waitFor();
      await wallet.switchAccount(demoAccount(19));
      await isReading(page);
      expect(wallet.prompts).toHaveLength(2);
    },
  );
});

describe("the end of a session", () => {
  consoleTest("check 22: ended elsewhere, the page asks again and keeps what it shows", async (open) => {
    const one = await open();
    const { page, goto } = one;
    const wallet = await enter(one, 21);
    await goto(ACTIVITY);
    await page.getByText("A session was started").first().waitFor();
    await page.getByRole("button", { name: "End all" }).click();
    await page.getByRole("button", { name: "Sign in the wallet" }).click();
    await page.getByRole("heading", { name: "Your session has ended" }).waitFor();
    await page.getByRole("button", { name: "Start a new session" }).click();
    await page.getByText("A session was ended").waitFor();
    expect(wallet.signed.map(({ message }) => message.op)).toEqual([
      "session.create",
      "session.delete",
      "session.create",
    ]);
  });

  consoleTest(
    "ended in another tab, a tab continues with the session that was started there",
    async (open) => {
      const one = await open();
      const { page, context, goto, origin } = one;
      await enter(one, 28);
      const other = await context.newPage();
      await other.goto(`${origin}/console/manage/apps`);
      await other.getByText("No mini apps yet.").waitFor();
      await goto(ACTIVITY);
      await page.getByRole("button", { name: "End the session" }).first().click();
      await page.getByRole("button", { name: "Start a new session" }).click();
      await page.getByText("A session was ended").waitFor();
      await other.getByRole("heading", { name: "Mini apps", exact: true }).click();
      // The request of the ended session is refused; that of the other tab's, which stays stored, succeeds.
      const answered = other.waitForResponse(
        (response) => response.url().includes("/frame/app/list") && response.status() === 200,
      );
      await other.keyboard.press("r");
      await answered;
      expect(await other.getByRole("heading", { name: "Your session has ended" }).count()).toBe(0);
      await other.reload();
      await other.getByText("No mini apps yet.").waitFor();
    },
  );

  consoleTest(
    "check 22: a form keeps its text when its session ends, and while a new one is started",
    async (open) => {
      const one = await open();
      const { page, goto, origin } = one;
      await enter(one, 27);
      await goto("/console/manage/keys");
      await page.getByLabel("Name").fill("A key for the bakery");
      await endAllSessions(origin, 27);
      await page.getByRole("heading", { name: "API keys" }).click();
      await page.keyboard.press("r");
      await page.getByRole("heading", { name: "Your session has ended" }).waitFor();
      expect(await page.getByLabel("Name").inputValue()).toBe("A key for the bakery");
      await page.getByRole("button", { name: "Start a new session" }).click();
      await page.getByRole("heading", { name: "Your session has ended" }).waitFor({ state: "detached" });
      expect(await page.getByLabel("Name").inputValue()).toBe("A key for the bakery");
    },
  );

  consoleTest("signing out ends it on the node and deletes the key", async (open) => {
    const one = await open();
    const { page } = one;
    await enter(one, 22);
    const requests = requestsOf(page);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Connect your wallet" }).waitFor();
    expect(requests).toEqual(["DELETE /v2/svc/session"]);
    expect(await storedKeys(page)).toEqual([]);
    await page.reload();
    await page.getByRole("heading", { name: "Connect your wallet" }).waitFor();
  });
});

interface StoredKey {
  readonly fid: number;
  readonly extractable: boolean;
  readonly exported: string;
}

/** What the browser has of session keys. */
function storedKeys(page: Page): Promise<StoredKey[]> {
  return page.evaluate(
    () =>
      new Promise<StoredKey[]>((resolve, reject) => {
        const opening = indexedDB.open("console", 1);
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
          const all = opening.result.transaction("sessions").objectStore("sessions").getAll();
          all.onsuccess = async () => {
            const keys = all.result.map(async ({ fid, privateKey }) => ({
              fid,
              extractable: privateKey.extractable,
              exported: await crypto.subtle.exportKey("pkcs8", privateKey).then(
                () => "exported",
                (cause) => cause.name,
              ),
            }));
            opening.result.close();
            resolve(await Promise.all(keys));
          };
        };
      }),
  );
}

consoleTest(
  "check 25: the browser holds the key as not extractable, and nothing else of it",
  async (open) => {
    const one = await open();
    const { page, context } = one;
    await enter(one, 23);
    expect(await storedKeys(page)).toEqual([{ fid: 23, extractable: false, exported: "InvalidAccessError" }]);
    const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
    expect(JSON.parse(stored)).toEqual([
      { "console.owner": "23", seen: expect.stringMatching(/^\d+$/) },
      expect.any(Object),
    ]);
    expect(await context.cookies()).toEqual([]);
    expect(page.url()).not.toContain("session");
  },
);

// The pages below it are checked with those of every owner, the sheet of an operation with the dialogs.
consoleTest("check 15: connecting, in both themes", async (open) => {
  for (const theme of IS_LONG ? (["light", "dark"] as const) : (["dark"] as const)) {
    const { page, goto } = await open({ theme, width: theme === "light" ? 1280 : 390 });
    await injectWallet(page, demoAccount(24));
    await goto(MANAGE);
    await page.getByRole("button", { name: "Test Wallet" }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
  }
});
