import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { axeViolations } from "./support/axe.ts";
import { consoleTest } from "./support/console-test.ts";
import { focusComesToHeading } from "./support/focus.ts";
import type { ConsolePage } from "./support/page.ts";
import { demoAccount, injectWallet, type TestWallet } from "./support/wallet.ts";

const APP_OWNER = 40;
const SENDER = 41;
const SCHEDULER = 43;
const SECRET = /\b[0-9a-f]{64}\b/;
/** What a session and a visit of an owner cost. */
const ENTERED = 2;

async function enter({ page, goto }: ConsolePage, fid: number): Promise<TestWallet> {
  const wallet = await injectWallet(page, demoAccount(fid));
  await goto("/console/manage");
  await page.getByRole("button", { name: "Test Wallet" }).click();
  await page.getByRole("button", { name: "Start a session" }).click();
  await page.getByText(/^This browser reads/).waitFor();
  return wallet;
}

const sign = (page: Page) => page.getByRole("button", { name: "Sign in the wallet" }).click();

/** Registers an app by its form. Returns the id and the secret that the page shows. */
async function register({ page, goto }: ConsolePage, name: string) {
  await goto("/console/manage/apps/new");
  await page.getByLabel("Name").fill(name);
  await page.getByText("any name under demo.example will do").waitFor();
  await page.getByLabel("URL", { exact: true }).fill("https://bread.demo.example");
  await page.getByRole("button", { name: "Sign and register" }).click();
  await sign(page);
  await focusComesToHeading(page, "Registered");
  const secret = (await page.locator("[data-secret]").textContent())?.trim() ?? "";
  const link = page.getByRole("link", { name: "Open the app" });
  const appId = (await link.getAttribute("href"))?.split("/").at(-1) ?? "";
  return { appId, secret };
}

/** Keeps polls from asking again, until the next load of the page. */
const stopPolls = (page: Page) =>
  page.evaluate((shortestPollMs) => {
    const { setTimeout } = globalThis;
    const withoutPolls = (run: () => void, ms = 0) => (ms < shortestPollMs ? setTimeout(run, ms) : 0);
    Object.assign(globalThis, { setTimeout: withoutPolls });
  }, 1_000);

/** The responses of the API to the page's requests about apps. */
function answersOf(page: Page): string[] {
  const answers: string[] = [];
  page.on("response", async (response) => {
    if (/\/v2\/svc\/frame\/app(\/list)?(\?|$)/.test(response.url()) && response.request().method() === "GET")
      answers.push(await response.text().catch(() => ""));
  });
  return answers;
}

describe("a mini app", () => {
  consoleTest(
    "check 20: its secret is shown once, copied, and cleared after leaving; sessions never see it; a reveal is one prompt",
    async (open) => {
      const one = await open();
      const { page } = one;
      const wallet = await enter(one, APP_OWNER);
      const { appId, secret } = await register(one, "Bread club");
      expect(secret).toMatch(SECRET);
      await page.getByRole("button", { name: "Copy", exact: true }).click();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret);
      expect(wallet.prompts).toHaveLength(ENTERED + 1);

      const answers = answersOf(page);
      await page.getByRole("link", { name: "Open the app" }).click();
      await page.getByRole("heading", { name: "Bread club" }).waitFor();
      await page.getByText("Clients cannot reach this URL from outside.").waitFor();
      await page.goBack();
      await page.getByRole("heading", { name: "Register a mini app" }).waitFor();
      expect(await page.content()).not.toMatch(SECRET);
      await one.goto(`/console/manage/apps/${appId}?tab=secrets`);
      await page.locator("li[data-secret]").waitFor();
      expect(await page.content()).not.toMatch(SECRET);
      expect(answers.length).toBeGreaterThan(1);
      for (const answer of answers) {
        expect(answer).toContain('"value":null');
        expect(answer).not.toMatch(SECRET);
      }
      expect(wallet.prompts).toHaveLength(ENTERED + 1);

      await page.getByRole("button", { name: "Reveal" }).click();
      await sign(page);
      await page.getByText(secret).waitFor();
      expect(wallet.prompts).toHaveLength(ENTERED + 2);
      wallet.declines = ["eth_signTypedData_v4"];
      await page.getByRole("button", { name: "Rotate" }).click();
      await sign(page);
      await page.getByText(/You declined in the wallet. Nothing was sent/).waitFor();
      await page.getByRole("button", { name: "Cancel" }).click();
      wallet.declines = [];
      await page.getByRole("button", { name: "Rotate" }).click();
      await sign(page);
      await page.locator("li[data-secret]").nth(1).waitFor();
      expect((await page.locator("[data-secret] code").last().textContent())?.trim()).not.toBe(secret);
      expect(await axeViolations(page)).toEqual([]);
      const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
      expect(stored).not.toMatch(SECRET);

      await page.getByRole("tab", { name: "Settings" }).click();
      await page.getByRole("button", { name: "Delete the app" }).click();
      const confirm = page.getByRole("button", { name: "Sign in the wallet" });
      expect(await confirm.isDisabled()).toBe(true);
      await page.getByLabel("Type Bread club to confirm").fill("Bread club");
      await confirm.click();
      await page.getByText("No mini apps yet.").waitFor();
    },
  );

  consoleTest(
    "check 27: the preview is what the phones show, the estimate what was sent, for one prompt",
    async (open) => {
      const one = await open();
      const { page } = one;
      const wallet = await enter(one, SENDER);
      const { appId } = await register(one, "Bread club");
      await one.goto(`/console/manage/apps/${appId}`);
      await page.getByText(`/frame/webhook/${appId}`).waitFor();
      await page.getByRole("button", { name: "Add 25 demo people" }).click();
      await page.locator('[data-total="25"]').waitFor();
      await page.getByRole("tab", { name: "Send" }).click();

      const title = "🍞".repeat(32);
      const body = "é".repeat(128);
      await page.getByLabel("Title").fill(`${title}!`);
      await page.getByText("1 too many: at most 32 characters.").waitFor();
      await page.getByLabel("Title").fill(title);
      await page.getByLabel("Text").fill(body);
      expect(await page.locator("[data-count]").allInnerTexts()).toEqual([
        "32 of 32 characters",
        "128 of 128 characters",
      ]);
      const estimate = Number(await page.locator("[data-estimate]").getAttribute("data-estimate"));
      const preview = await page.locator("[data-preview] [data-toast]").innerText();
      expect(await axeViolations(page)).toEqual([]);

      const before = wallet.prompts.length;
      await page.getByRole("button", { name: "Sign and send to 25" }).click();
      await page.getByRole("dialog").getByText("25 people (25 tokens)").waitFor();
      await sign(page);
      await page.getByText("Completed").waitFor();
      expect(wallet.prompts).toHaveLength(before + 1);
      const figures = await page.locator("[data-figure]").allInnerTexts();
      expect(figures.reduce((sum, figure) => sum + Number(figure), 0)).toBe(estimate);

      const phones = page.getByLabel("Demo phones").locator("[data-toast]");
      await phones.waitFor();
      const plain = (text: string) => text.split("\n").filter((line) => !/^(now|\d+ s)?$/.test(line));
      expect(plain(await phones.innerText())).toEqual(plain(preview));
      expect(plain(preview)).toEqual(["B", title, body]);
      // The people of the second client whose notification is late have not been shown it.
      const shown = Number(await page.locator("[data-notified]").getAttribute("data-notified"));
      const half = Math.ceil(shown / 2);
      await page.getByRole("button", { name: `Open it on ${half} phones` }).click();
      await page.getByText(`Opened on ${half} phones`).waitFor();
      await page.locator(`[data-figure="opened"]`).getByText(String(half)).waitFor();
      const face = page.getByRole("button", { name: /^Open it on @.*'s phone/ }).first();
      const person = (await face.getAttribute("aria-label"))?.match(/@[^']+/)?.[0];
      await face.click();
      await page.getByRole("button", { name: `Opened by ${person}`, pressed: true }).waitFor();
      await page
        .locator(`[data-figure="opened"]`)
        .getByText(String(half + 1))
        .waitFor();
      expect(await axeViolations(page)).toEqual([]);
    },
  );

  consoleTest(
    "a send to a saved segment is drafted, scheduled with one prompt, listed and cancelled by the session",
    async (open) => {
      const one = await open();
      const { page } = one;
      const wallet = await enter(one, SCHEDULER);
      const { appId } = await register(one, "Bread club");
      await one.goto(`/console/manage/apps/${appId}?tab=segments`);
      await page.getByText("No segments.").waitFor();
      await page.getByText("Name it first.").waitFor();
      await page.getByLabel("Name").fill("Followers of 3");
      await page.getByText("Set at least one condition.").waitFor();
      await page.getByRole("textbox", { name: "Followers of" }).fill("3");
      await page.getByText("Set at least one condition.").waitFor();
      await page.keyboard.press("Enter");
      await page.getByRole("list", { name: "Followers of" }).getByRole("button").waitFor();
      const before = wallet.prompts.length;
      await page.getByRole("button", { name: "Save segment" }).click();
      const saved = page.getByRole("row").filter({ hasText: "Followers of 3" });
      await saved.getByText("Followers of: 3").waitFor();
      await saved.getByRole("button", { name: "Edit" }).click();
      expect(await page.getByLabel("Name").inputValue()).toBe("Followers of 3");
      await page.getByLabel("Added the app after").fill("2026-01-02");
      await page.getByRole("button", { name: "Save segment" }).click();
      await saved.getByText("Added the app after: 2026-01-02").waitFor();
      await saved.getByText("Followers of: 3").waitFor();
      expect(await page.getByRole("row").filter({ hasText: "Followers of" }).count()).toBe(1);
      expect(await axeViolations(page)).toEqual([]);

      await page.getByRole("tab", { name: "Scheduled" }).click();
      await page.getByText("Nothing is scheduled.").waitFor();
      await page.getByRole("tab", { name: "Send" }).click();
      await page.getByLabel("Title").fill("Fresh bread");
      await page.getByLabel("Text").fill("The oven is hot.");
      await page.getByLabel("At a time on each person").check();
      const day = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
      await page.getByLabel("Time", { exact: true }).fill(`${day}T07:01`);
      await page.getByText("A quarter hour, such as 07:15.").waitFor();
      await page.getByLabel("Time", { exact: true }).fill(`${day}T07:15`);
      await page.getByLabel("Segment").selectOption({ label: "Followers of 3" });
      await page.getByLabel("Everyone in the segment “Followers of 3”").waitFor();
      expect(await page.getByLabel("Everyone who has the app").count()).toBe(0);
      await page.getByText("More options").click();
      await page.getByLabel("Quiet from").fill("22:00");
      await page.getByLabel("Quiet to").fill("08:00");
      await page.getByLabel("Compare two versions").check();
      await page.getByLabel("Second title").fill("Warm bread");
      await page.getByRole("button", { name: "Save draft" }).click();
      await page.getByText("Draft saved").waitFor();
      expect(await axeViolations(page)).toEqual([]);
      await page.reload();
      await page.getByRole("button", { name: "Open", exact: true }).click();
      expect(await page.getByLabel("Time", { exact: true }).inputValue()).toBe(`${day}T07:15`);

      await page.getByRole("button", { name: "Sign and schedule" }).click();
      const sheet = page.getByRole("dialog");
      await sheet.getByText(`${day} 07:15 on each person's clock`).waitFor();
      await sheet.getByText("0 people (0 tokens) as of now, in the segment “Followers of 3”").waitFor();
      await sheet.getByText("Half of them get “Warm bread” instead.").waitFor();
      // The page asks again for the list of the visit before at once, not after its five seconds: those never pass here.
      await stopPolls(page);
      await Promise.all([page.waitForRequest(/frame\/app\/schedule\?/), sign(page)]);
      const row = page.locator("tr").filter({ hasText: "Fresh bread" });
      await row.getByText("Due").waitFor();
      expect(wallet.prompts).toHaveLength(before + 1);
      expect(await axeViolations(page)).toEqual([]);
      await row.getByRole("button", { name: "Cancel" }).click();
      await row.getByText("Cancelled").waitFor();

      await one.goto(`/console/manage/apps/${appId}?tab=send`);
      await page.getByLabel("Title", { exact: true }).fill("Rye bread");
      await page.getByLabel("Text", { exact: true }).fill("It is dark.");
      await page.getByText("More options").click();
      await page.getByText("Compare two versions").click();
      await page.getByLabel("Second title").fill("Wheat bread");
      await page.getByRole("button", { name: /^Sign and s/ }).click();
      await sign(page);
      const compared = page.locator("tr").filter({ hasText: "Rye bread" });
      // The page asks for the outcome each 5 seconds.
      await compared.getByText("2 of 2 parts sent").waitFor({ timeout: 90_000 });
      await page.getByRole("tab", { name: "Campaigns" }).click();
      await compared.getByText("in 2 parts").waitFor();
      await compared.getByRole("link", { name: "Rye bread" }).click();
      await page.getByRole("heading", { name: "Results", exact: true }).waitFor();
      await page.locator('[data-figure="not-attempted"]').waitFor();
      await page.getByText("No clear difference yet. It takes 100 opens of each text.").waitFor();
      await page.getByRole("row").filter({ hasText: "Wheat bread" }).first().waitFor();
      expect(await axeViolations(page)).toEqual([]);
      await page.getByLabel("Parts").getByRole("link").first().click();
      await page.getByRole("link", { name: "a scheduled send" }).click();
      await page.getByRole("heading", { name: "Parts" }).waitFor();
    },
    180_000,
  );
});
