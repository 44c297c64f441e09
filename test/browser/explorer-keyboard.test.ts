import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { axeViolations } from "./support/axe.ts";
import { consoleTest } from "./support/console-test.ts";
import { focusOf } from "./support/focus.ts";
import { demoCast, submit } from "./support/submit.ts";

/** Presses keys one after the other; the focus is visible after each. */
async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) {
    await page.keyboard.press(key);
    expect([key, (await focusOf(page)).hidden]).toEqual([key, undefined]);
  }
}

const focused = (page: Page, name: string) =>
  page.evaluate((attribute) => document.activeElement?.getAttribute(attribute), name);

consoleTest(
  "check 14: with only the keyboard a visitor finds a person, opens a cast and copies its curl",
  async (open) => {
    const { page, goto, origin } = await open();
    const cast = demoCast(41, { text: "found by the keyboard" });
    await submit(origin, [cast]);
    const { user } = (await (await fetch(`${origin}/v2/svc/user?fid=41`)).json()) as {
      user: { username: string };
    };
    await goto("/console");
    await page.locator("main [data-hash]").first().waitFor();

    await press(page, "/");
    await page.keyboard.type(user.username);
    await press(page, "Enter");
    await page.locator("main [data-fid='41']").waitFor();
    await page.locator("h1").focus();
    await press(page, "j");
    expect(await focused(page, "data-fid")).toBe("41");
    await press(page, "Enter");
    await page.waitForURL((url) => url.pathname.startsWith("/console/people/"));
    await page.locator(`main [data-hash="${cast.hash}"]`).waitFor();
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("H1");

    await press(page, "j");
    expect(await focused(page, "data-hash")).toBe(cast.hash);
    await press(page, "j", "k", ".");
    await page.locator(`main [data-hash="${cast.hash}"] .api`).waitFor();
    await press(page, "c");
    await page.getByText("Copied").first().waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      `curl '${origin}/v2/svc/cast?identifier=${cast.hash}'`,
    );
    await press(page, "Enter");
    await page.waitForURL((url) => url.pathname === `/console/casts/${cast.hash}`);
    await press(page, "u");
    await page.waitForURL((url) => url.pathname === "/console");
    await press(page, "g", "s");
    await page.waitForURL((url) => url.pathname === "/console/stream");
  },
);

consoleTest(
  "check 14: single keys do nothing while one types, or where they are switched off",
  async (open) => {
    const { page, goto } = await open();
    await goto("/console");
    await page.locator("main [data-hash]").first().waitFor();
    await press(page, "Control+k");
    await page.keyboard.type("jg?/");
    expect(await page.locator("header.bar input").inputValue()).toBe("jg?/");
    await page.locator("h1").click();
    await press(page, "?");
    await page.getByRole("checkbox", { name: "Single keys are shortcuts" }).uncheck();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.locator("h1").focus();
    await page.keyboard.press("j");
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("H1");
    await page.reload();
    await page.locator("main [data-hash]").first().waitFor();
    await page.keyboard.press("j");
    expect(await focused(page, "data-hash")).toBeNull();
  },
);

consoleTest(
  "a cast with a link shows what its page says about itself, and loads nothing from its host",
  async (open) => {
    const { page, goto, origin } = await open();
    const cast = demoCast(42, { text: "worth reading", embeds: ["https://demo.example/read/bread/7"] });
    await submit(origin, [cast]);
    await goto(`/console/casts/${cast.hash}`);
    const preview = page.locator(`main [data-hash="${cast.hash}"] .preview`);
    await preview.waitFor();
    expect(await preview.locator("b").textContent()).toBe("Bread, part 7");
    expect(await preview.locator("p").textContent()).toContain("notes on bread");
    expect(await preview.locator("img").count()).toBe(0);
    expect(await axeViolations(page)).toEqual([]);
  },
);
