import { expect } from "bun:test";
import { axeViolations } from "./support/axe.ts";
import { consoleTest } from "./support/console-test.ts";

const PAGES = ["/", "/console", "/console/status", "/console/stream", "/console/manage"];

consoleTest(
  "console-next 9: the browser's languages choose the texts, and the switch another one, which stays",
  async (open) => {
    const { page, goto } = await open({ locale: "de-AT", width: 390 });
    const scripts: string[] = [];
    page.on("request", (request) => {
      if (request.resourceType() === "script") scripts.push(request.url());
    });
    for (const path of PAGES) {
      await goto(path);
      await page.getByRole("navigation", { name: "Hauptmenü" }).waitFor();
      const { lang, sideways } = await page.evaluate(() => ({
        lang: document.documentElement.lang,
        sideways: document.documentElement.scrollWidth > innerWidth,
      }));
      expect({ path, lang, sideways }).toEqual({ path, lang: "de", sideways: false });
    }
    expect(await axeViolations(page)).toEqual([]);
    // The texts of the other language are loaded only on need.
    const english = await page.evaluate(
      () =>
        JSON.parse(document.querySelector<HTMLMetaElement>('meta[name="console-scripts"]')?.content ?? "").en,
    );
    expect(scripts.some((url) => url.endsWith(english))).toBe(false);

    await goto("/console/stream");
    await page.locator("main summary", { hasText: "Filter" }).click();
    expect(await page.locator("main details details > summary").allTextContents()).toContain("Kanäle");

    await goto("/");
    await page.getByRole("combobox", { name: "Sprache" }).selectOption("en");
    await page.getByRole("navigation", { name: "Main" }).waitFor();
    expect(await page.evaluate(() => document.documentElement.lang)).toBe("en");
    // The document is still in the language that the browser asks for.
    await goto("/console");
    await page.getByRole("navigation", { name: "Main" }).waitFor();
    await page.getByRole("combobox", { name: "Language" }).selectOption("de");
    await page.getByRole("navigation", { name: "Hauptmenü" }).waitFor();
  },
);
