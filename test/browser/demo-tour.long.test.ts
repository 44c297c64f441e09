import { describe, expect } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { IS_LONG } from "../support/long.ts";
import { axeViolations } from "./support/axe.ts";
import { consoleTest } from "./support/console-test.ts";
import { focusComesTo } from "./support/page.ts";

describe("the demo's wallet", () => {
  consoleTest(
    "is offered on the landing page, asks whose it is and what it signs, and can be signed out of",
    async (open) => {
      const { page, goto } = await open();
      await goto("/");
      await page.getByRole("link", { name: "Try it as a demo person" }).click();
      const pick = page.getByRole("dialog", { name: "Choose a demo person" });
      await pick.getByRole("textbox").fill("hawthorni");
      await pick.getByRole("button", { name: /Ingrid/ }).click();
      const banner = page.getByRole("complementary", { name: "Demo person" });
      await banner.getByText("Anyone who opens this page can too").waitFor();

      const start = page.getByRole("button", { name: "Start a session" });
      await start.click();
      const sheet = page.getByRole("dialog", { name: "Signature request" });
      await sheet.getByText("Technical details").click();
      await sheet.getByText("session.create").waitFor();
      await sheet.getByLabel("Do not ask again during this visit").uncheck();
      await sheet.getByRole("button", { name: "Decline" }).click();
      await page.getByText("Nothing was sent").waitFor();
      await page.getByRole("button", { name: /Sign in the wallet|Try again/ }).click();
      await sheet.getByRole("button", { name: "Sign", exact: true }).click();
      await page.getByText(/This browser reads/).waitFor();

      await page.reload();
      await page.getByText(/This browser reads/).waitFor();
      await banner.getByRole("button", { name: "Sign out of the demo wallet" }).click();
      await banner.waitFor({ state: "detached" });
    },
  );
});

/** A tour ends in so long at the pace of a person. */
const TOUR_MS = 120_000;
/** In the long form, how long a person looks before a click, and takes for a character. */
const LOOK_MS = 900;
const TYPE_MS = 60;

/** A visitor who looks before a click and types, in the long form. */
function visitorOf(page: Page) {
  const look = () => (IS_LONG ? page.waitForTimeout(LOOK_MS) : undefined);
  return {
    async click(target: Locator) {
      await target.waitFor();
      await look();
      await target.click();
    },
    async type(target: Locator, text: string) {
      await target.click();
      await target.pressSequentially(text, { delay: IS_LONG ? TYPE_MS : 0 });
    },
  };
}

describe("the tour of a demo network", () => {
  consoleTest(
    "check 33: from the landing page to a push on 25 phones and a verified delivery, without a wallet",
    async (open) => {
      const { page, goto } = await open();
      const { click, type } = visitorOf(page);
      const button = (name: string | RegExp) => page.getByRole("button", { name });
      const link = (name: string | RegExp) => page.getByRole("link", { name });
      const startedAtMs = performance.now();

      await goto("/");
      await click(link("Try it as a demo person"));
      await type(page.getByLabel("Find a person"), "petra");
      await click(button(/Petra Rushlight/));
      await click(button("Start a session"));
      await click(page.getByRole("button", { name: "Sign", exact: true }));
      await page.getByText(/This browser reads/).waitFor();

      await click(
        page
          .getByRole("main")
          .getByRole("link", { name: /Mini apps/ })
          .last(),
      );
      await click(link(/Register/).first());
      await type(page.getByLabel("Name", { exact: true }), "Bread club");
      await type(page.getByLabel("URL", { exact: true }), "https://bread.demo.example/");
      await click(button("Sign and register"));
      await click(button("Sign in the wallet"));
      await click(link("Open the app"));
      await click(button("Add 25 demo people"));
      await page.getByText("25 people added the app.").waitFor();
      // A button keeps the focus while it works, and afterwards.
      await focusComesTo(page, "Add 25 demo people");
      await click(page.getByRole("tab", { name: "Send" }));
      await type(page.getByLabel("Title"), "Fresh bread");
      await type(page.getByLabel("Text"), "The oven is hot");
      await click(button(/Sign and send to 25/));
      await click(button("Sign in the wallet"));
      await page.locator('[data-notified="25"]').waitFor();

      await click(page.getByRole("navigation", { name: "Manage" }).getByRole("link", { name: "Webhooks" }));
      await click(link(/New webhook/).first());
      await click(button("Use the demo receiver"));
      await type(page.getByLabel("Name", { exact: true }), "All casts");
      await click(button("Sign and create"));
      await click(button("Sign in the wallet"));
      await click(link("Open the webhook"));
      await click(button("Generate activity"));
      await page.getByText(/People cast, like and follow for/).waitFor();
      await focusComesTo(page, "Generate activity");
      await page.locator('[data-signature="valid"]').first().waitFor();
      expect(performance.now() - startedAtMs).toBeLessThan(TOUR_MS);

      await page.locator("summary:has([data-signature])").first().click();
      await page.setViewportSize({ width: 390, height: 900 });
      const overflow = await page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.documentElement;
        return Math.max(0, scrollWidth - clientWidth);
      });
      expect([overflow, await axeViolations(page)]).toEqual([0, []]);
    },
  );
});
