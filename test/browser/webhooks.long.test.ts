import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { IS_LONG } from "../support/long.ts";
import { axeViolations } from "./support/axe.ts";
import { consoleTest } from "./support/console-test.ts";
import { focusComesToHeading } from "./support/focus.ts";
import type { ConsolePage } from "./support/page.ts";
import { demoAccount, injectWallet } from "./support/wallet.ts";

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

/** Opens a page of the owner with a wallet and a session. */
async function enter({ page, goto }: ConsolePage, fid: number, path: string) {
  const wallet = await injectWallet(page, demoAccount(fid));
  await goto(path);
  await page.getByRole("button", { name: "Test Wallet" }).click();
  await button(page, "Start a session").click();
  await page.getByText("Sign in once").waitFor({ state: "detached" });
  return wallet;
}

/** Has people of the demo act for a moment. */
async function pulse(page: Page): Promise<void> {
  const answer = await page.request.post(`${new URL(page.url()).origin}/console/demo/pulse`, {
    headers: { origin: new URL(page.url()).origin },
    data: { seconds: 3, per_second: 5 },
  });
  expect(answer.status()).toBeLessThan(300);
}

/** Shows a delivery whose receiver responded with a page of its own, and whose body is larger than what is shown. */
async function seesHostileDelivery(page: Page): Promise<void> {
  const hostile = '<img src=x onerror="document.title=1"><script>document.title=1</script>';
  const address = "**/webhook/delivery?*";
  await page.route(address, async (route) => {
    const response = await route.fetch();
    const { delivery, request } = await response.json();
    const attempts = [{ ...delivery.attempts[0], status: null, error: hostile, response: hostile }];
    const headers = { ...request.headers, [hostile]: hostile };
    const body = `${hostile}${"x".repeat(40_000)}`;
    const json = { delivery: { ...delivery, attempts }, request: { headers, body } };
    await route.fulfill({ response, json });
  });
  await page.reload();
  const answer = page.getByLabel("Response to attempt 1");
  expect(await answer.textContent()).toBe(hostile);
  expect(await page.getByLabel("Headers of the request").textContent()).toContain(`${hostile}: ${hostile}`);
  const shown = page.getByLabel("Body of the request");
  expect((await shown.textContent())?.length).toBe(16_385);
  expect(await page.locator("main img, main script").count()).toBe(0);
  expect(await page.title()).toContain("Delivery");
  // A look of the page may be on its way.
  await page.unrouteAll({ behavior: "ignoreErrors" });
}

describe("webhooks", () => {
  consoleTest(
    "check 29: filters are built as a form or as JSON, tried as they change, and a bad expression is marked in the words of the API",
    async (open) => {
      const one = await open({ reducedMotion: true });
      const { page, goto } = one;
      await enter(one, 21, "/console/manage/webhooks");
      await page.getByText("No webhooks yet.").waitFor();
      await pulse(page);
      await goto("/console/stream?text=bread&author_fids=3,4");
      await page.getByRole("link", { name: "Make this a webhook" }).click();
      await page.getByText("@mirawren").waitFor();
      expect(await page.getByLabel("Text (RE2)").inputValue()).toBe("bread");
      await page.getByLabel("Text (RE2)").fill("(");
      await page.getByText("is not a valid RE2 regular expression").first().waitFor();
      const field = page.getByLabel("Text (RE2)");
      expect(await field.getAttribute("aria-invalid")).toBe("true");
      expect(await page.locator("#text-0-hint").textContent()).toBe("is not a valid RE2 regular expression");
      await button(page, "JSON").click();
      await page
        .getByLabel("Subscription as JSON")
        .fill('{"cast.created": {}, "follow.created": {"fids": [5]}}');
      await page.locator("[data-matched]").waitFor();
      expect(await page.getByLabel("Text (RE2)").first().inputValue()).toBe("");
      await page.getByText("Remove this filter").first().waitFor();
      // Whom the whole subscription leaves out, and the least score of authors, have fields.
      await page.getByText("Exclude", { exact: true }).click();
      await page.getByLabel("Users", { exact: true }).fill("7");
      await page.getByLabel("Users", { exact: true }).press("Enter");
      await page.getByLabel("Users you ban").check();
      await page.getByLabel("Minimum author score").first().fill("2");
      await page.getByText("2 is not a number from 0 to 1").waitFor();
      await page.getByLabel("Minimum author score").first().fill("0.5");
      await page.getByLabel("Text (RE2)").first().fill("tea");
      const json = async () => JSON.parse(await page.getByLabel("Subscription as JSON").inputValue());
      expect(await json()).toEqual({
        "cast.created": { text: "tea", minimum_author_score: 0.5 },
        "follow.created": { fids: [5] },
        exclude: { fids: [7], bans: true },
      });
      await page.getByText("has no effect on this node").first().waitFor();
      await page.getByLabel("Users you ban").uncheck();
      await page.getByLabel("Minimum author score").first().fill("");
      await page.locator("[data-matched]").waitFor();
      expect((await json()).exclude).toEqual({ fids: [7] });
      expect(await axeViolations(page)).toEqual([]);
      await page.getByLabel("Subscription as JSON").fill('{"cast.made": {}}');
      await page.getByText("cast.made is not a kind of event.").waitFor();
    },
  );

  consoleTest(
    "checks 11, 31: responses of a receiver, attempts and the next try are shown; test and replay cost no prompt; a deactivated webhook says why",
    async (open) => {
      const one = await open({ reducedMotion: true });
      const { page } = one;
      const wallet = await enter(one, 22, "/console/manage/webhooks/new");
      await button(page, "Use the demo receiver").click();
      await page.waitForFunction(() =>
        document.querySelector<HTMLInputElement>("#webhook-url")?.value.startsWith("http://127"),
      );
      await page.getByLabel("Name").fill("Bread <b>talk</b>");
      await button(page, "Sign and create").click();
      await button(page, "Sign in the wallet").click();
      await focusComesToHeading(page, "Copy its secret now");
      const secret = await page.locator("[data-secret] code").first().textContent();
      expect(secret).toMatch(/^[0-9a-f]{64}$/);
      await page.getByRole("link", { name: "Open the webhook" }).click();
      const prompts = wallet.prompts.length;

      await page.getByText("No deliveries yet.").waitFor();
      expect(await button(page, "Retry failed").count()).toBe(0);
      await page.getByLabel("500, fails").check();
      await button(page, "Send a test").click();
      await page.getByText("1 test event queued.").waitFor();
      await page.getByText("next attempt").first().waitFor();
      await page
        .locator("li[data-state]")
        .getByText(/^500, \d attempts/)
        .waitFor();
      await page.getByText("signature verified").first().waitFor();
      await page.locator("li[data-state] a.name").first().click();
      await page.locator(".pill").getByText("500", { exact: true }).nth(1).waitFor();
      await page.getByLabel("Breadcrumb").getByRole("link", { name: "Bread <b>talk</b>" }).waitFor();
      const headers = await page.getByLabel("Headers of the request").textContent();
      expect(headers).toContain("X-Svc-Signature: ***");
      expect(headers).not.toContain(secret);
      await seesHostileDelivery(page);
      await page.goBack();
      // The next try of one of the two gets the 410, and the other one stays in the queue.
      await button(page, "Send a test").click();
      await page.getByText("1 test event queued.").waitFor();
      await page.getByLabel("410, gone").check();
      await page.getByText("The node deactivated it").waitFor();
      await page.getByText("the receiver responded with 410 Gone").waitFor();
      await page.locator('li[data-state="queued"] a.name').first().click();
      await page.locator(".queued").getByText("waits until the webhook is enabled").waitFor();
      await page.goBack();
      // Links move while the page is filled.
      await page.locator('li[data-state="queued"]').first().waitFor();
      // One that is still shown may cover a link.
      await page.locator(".toasts > *").first().waitFor({ state: "detached" });
      expect(await axeViolations(page)).toEqual([]);
      await page.getByLabel("200, delivered").check();
      await button(page, "Enable").click();
      await page.getByText("Webhook enabled.").waitFor();
      await button(page, "Retry failed").click();
      await page.getByText(/deliver(y|ies) queued again\.$/).waitFor();
      await page.locator('li[data-state="delivered"]').first().waitFor();
      // As tall as the lists beside it.
      expect((await page.getByLabel("Find").boundingBox())?.height).toBeGreaterThanOrEqual(32);
      // As a person types: what is typed stays while the page is drawn again.
      await page.getByLabel("Find").pressSequentially("0xabcdef", { delay: 700 });
      expect(await page.getByLabel("Find").inputValue()).toBe("0xabcdef");
      await page.getByLabel("Find").press("Enter");
      await page.getByText("No deliveries match.").waitFor();
      await page.getByLabel("Find").fill("");
      await page.getByLabel("Find").press("Enter");
      // A time of it, by the scrubber that the other pages have.
      await page.getByLabel("Go to").fill("2 min ago");
      await page.getByLabel("Go to").press("Enter");
      await page.getByText(/^Viewing .+ to /).waitFor();
      await page.locator('li[data-state="delivered"]').first().waitFor();
      await button(page, "Count what is missing").click();
      const send = page.getByRole("button", { name: /^Send \d+ deliver/ });
      const nothing = page.getByText(/^Nothing is missing/);
      await send.or(nothing).waitFor();
      if (await send.isVisible()) {
        await send.click();
        await page.getByText(/will be sent in the background\.$|^Nothing is missing/).waitFor();
      }
      await button(page, "Back to live").click();
      expect(wallet.prompts).toHaveLength(prompts);

      // A receiver has 10 seconds.
      if (IS_LONG) {
        await page.getByLabel("timeout").check();
        await button(page, "Send a test").click();
        await page
          .locator("li[data-state]")
          .getByText(/^timeout/)
          .waitFor();
      }
      await page.getByRole("tab", { name: "Health" }).click();
      await page.getByText("Response time of the receiver").waitFor();
      expect(await axeViolations(page)).toEqual([]);
      await page.getByRole("tab", { name: "Settings" }).click();
      expect(await page.locator("[data-secret] code").count()).toBe(0);
      expect(await axeViolations(page)).toEqual([]);
      await button(page, "Reveal").click();
      await button(page, "Sign in the wallet").click();
      await page.locator("[data-secret] code").first().waitFor();
      expect(await page.locator("[data-secret] code").first().textContent()).toBe(secret);
      await button(page, "Delete the webhook").click();
      const sign = button(page, "Sign in the wallet");
      expect(await sign.isDisabled()).toBe(true);
      await page.getByLabel("Type Bread <b>talk</b> to confirm").fill("Bread <b>talk</b>");
      await sign.click();
      await page.getByText("No webhooks yet.").waitFor();
      expect(wallet.prompts).toHaveLength(prompts + 2);
    },
  );

  consoleTest(
    "a filter that is typed and not confirmed is taken or refused, never dropped; the sheet repeats it in words with the expected volume",
    async (open) => {
      const one = await open({ reducedMotion: true });
      const { page } = one;
      const wallet = await enter(one, 27, "/console/manage/webhooks/new");
      await pulse(page);
      const people = page.locator("#author_fids-0");
      const sheet = page.getByRole("dialog");
      await page.getByText("To complete: URL, Name.").waitFor();
      expect(await button(page, "Sign and create").isDisabled()).toBe(true);
      await page.locator("#webhook-url").fill("https://example.com/in");
      await page.locator("#webhook-name").fill("Typed");
      const prompts = wallet.prompts.length;

      // The beginning of a name is not the name of a person.
      await people.fill("mira");
      await page.locator("#webhook-name").focus();
      await page.getByText("“mira” is not in the filter").waitFor();
      await button(page, "Sign and create").click();
      await page.getByText("Nothing was sent").waitFor();
      expect(await page.evaluate(() => document.activeElement?.id)).toBe("author_fids-0");
      expect(await people.getAttribute("aria-invalid")).toBe("true");
      await page.reload();
      expect(await people.inputValue()).toBe("mira");
      await page.getByText("“mira” is not in the filter").waitFor();

      // JSON that cannot be read is as little a filter.
      await people.fill("");
      await button(page, "JSON").click();
      await page.getByLabel("Subscription as JSON").fill("{");
      await button(page, "Sign and create").click();
      expect(await page.evaluate(() => document.activeElement?.id)).toBe("subscription-json");
      await button(page, "JSON").click();

      await people.fill("@MiraWren");
      await page.locator("#webhook-name").focus();
      await button(page, "Remove Mira Wren").waitFor();
      await page.getByText("Where", { exact: true }).click();
      await page.locator("#parent_urls-0").fill("coffee");
      await page.locator("#webhook-name").focus();
      await button(page, "Remove /coffee").waitFor();
      await button(page, "Sign and create").click();
      await sheet.getByText("New casts by Mira Wren @mirawren and in").waitFor();
      await sheet.locator("[data-volume]").waitFor();
      expect(await sheet.locator("[data-volume]").textContent()).toMatch(
        /^Expect .+ of the last [\d,]+ events match/,
      );
      expect(await axeViolations(page)).toEqual([]);
      await button(page, "Cancel").click();

      for (const chip of ["Remove Mira Wren", "Remove /coffee"]) await button(page, chip).click();
      await button(page, "Sign and create").click();
      await sheet.getByText("All new casts of the network, without a filter").waitFor();
      expect(wallet.prompts).toHaveLength(prompts);
    },
  );

  consoleTest(
    "without a session each look is a prompt; people and channels are found by name; what the node refuses is shown at its field",
    async (open) => {
      const { page, goto } = await open({ reducedMotion: true });
      const wallet = await injectWallet(page, demoAccount(26));
      await goto("/console/manage/webhooks");
      await page.getByRole("button", { name: "Test Wallet" }).click();
      await button(page, "Sign and show").click();
      await page.getByText("No webhooks yet.").waitFor();
      expect(wallet.prompts).toEqual(["eth_requestAccounts", "SvcSignedOp"]);
      await page.getByRole("link", { name: "New webhook" }).click();
      const people = page.locator("#author_fids-0");
      await people.fill("mira");
      await button(page, "Add Mira Wren, @mirawren").waitFor();
      await people.press("Enter");
      await button(page, "Remove Mira Wren").waitFor();
      await people.fill("4");
      await people.press("Enter");
      await button(page, "Remove Tove Alder").waitFor();
      await page.getByText("Where", { exact: true }).click();
      await page.locator("#parent_urls-0").fill("cof");
      await page.getByRole("button", { name: "Add /coffee" }).click();
      await button(page, "JSON").click();
      const json = await page.getByLabel("Subscription as JSON").inputValue();
      expect(JSON.parse(json)).toEqual({
        "cast.created": { author_fids: [3, 4], parent_urls: [expect.stringContaining("coffee")] },
      });
      expect(wallet.prompts).toHaveLength(2);
      await page.locator("#webhook-url").fill("https://127.0.0.1/in");
      await page.locator("#webhook-name").fill("Coffee");
      await button(page, "Sign and create").click();
      await button(page, "Sign in the wallet").click();
      await page.locator("#webhook-url-hint .problem").waitFor();
      expect(await page.locator("#webhook-url-hint").textContent()).toContain("url must");
      // The form keeps its text over a reload, and the tab who uses it.
      const prompts = wallet.prompts.length;
      await page.reload();
      await button(page, "Remove Mira Wren").waitFor();
      expect(await page.locator("#webhook-name").inputValue()).toBe("Coffee");
      expect(wallet.prompts).toHaveLength(prompts);
    },
  );
});
