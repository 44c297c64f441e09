import { expect } from "bun:test";
import { settingMeanings } from "../../src/config/load.ts";
import { axeViolations } from "./support/axe.ts";
import { consoleTest } from "./support/console-test.ts";
import { cutTexts, sidewaysScroll } from "./support/layout.ts";
import { settled } from "./support/page.ts";

/** What the node says of settings, in English. */
const meanings = [...settingMeanings().values()];

consoleTest(
  "a German page of the settings shows no English meaning, and finds settings by German words",
  async (open) => {
    const { page, goto } = await open({ locale: "de-AT" });
    await goto("/console/operator/settings");
    await page.getByRole("checkbox", { name: "Nur gesetzte" }).uncheck();
    await page.getByRole("rowheader", { name: /log\.format/ }).waitFor();
    const text = (await page.locator("main").textContent()) ?? "";
    expect(text).toContain("Sekunden, die eine Verbindung ungenutzt sein darf");
    expect(meanings.filter((meaning) => text.includes(meaning))).toEqual([]);
    await page.getByLabel("Einstellung finden").fill("Sperren von SQLite");
    await page.getByRole("rowheader", { name: /data\.dir/ }).waitFor();
    expect(await page.getByRole("rowheader").count()).toBe(1);
  },
);

const PAGES = [
  ...["/", "/console", "/console/status", "/console/stream", "/console/call"],
  ...["/console/operator", "/console/manage"],
];

consoleTest(
  "console-next 9: the browser's languages choose the texts, and the switch another one, which stays",
  async (open) => {
    const { page, goto } = await open({ locale: "de-AT", width: 390, expects: [/\/login/] });
    const scripts: string[] = [];
    page.on("request", (request) => {
      if (request.resourceType() === "script") scripts.push(request.url());
    });
    for (const path of PAGES) {
      await goto(path);
      await page.getByRole("navigation", { name: "Hauptmenü" }).waitFor();
      await settled(page);
      const lang = await page.evaluate(() => document.documentElement.lang);
      const faults = [...(await sidewaysScroll(page)), ...(await cutTexts(page))];
      expect({ path, lang, faults }).toEqual({ path, lang: "de", faults: [] });
    }
    // English names of the node's own are shown in German.
    await goto("/console/status");
    await page.getByRole("heading", { name: "Anfragen pro Sekunde" }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    // So are the pages that the node writes itself, and what an error's code says.
    await goto("/login?client_id=none");
    await page.getByText("Diese App ist hier nicht registriert.").waitFor();
    await page.route("**/v2/*/feed/trending*", (route) =>
      route.fulfill({
        status: 429,
        headers: { "x-error-code": "rate_limited" },
        json: { message: "too many" },
      }),
    );
    await goto("/console");
    await page.getByText("zu viele Anfragen; versuche es gleich noch einmal").first().waitFor();
    await page.unroute("**/v2/*/feed/trending*");
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
