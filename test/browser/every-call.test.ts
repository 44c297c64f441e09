import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { pages } from "../../src/console/web/routes.ts";
import { consoleTest } from "./support/console-test.ts";
import { becomeDemoPerson } from "./support/demo-person.ts";
import { examplePages } from "./support/example-paths.ts";
import { ownerPages } from "./support/owner-records.ts";
import { settled } from "./support/page.ts";
import { pageSnippets, runSnippets } from "./support/snippets.ts";

/** Pages that show nothing that one call answers, and why. */
const WITHOUT: Readonly<Record<string, string>> = {
  "/console/stream": "its call does not end",
  "/console/operator": "the routes of the operator are private to the page",
  "/console/manage": "it asks for nothing before a wallet connects",
  "/console/manage/apps/new": "it is a form",
};
/** An empty search asks for nothing. */
const PATHS: Readonly<Record<string, string>> = { "/console/search": "/console/search?q=bread&in=casts" };
const views = pages.map(({ path }) => path).filter((path) => !WITHOUT[path]);
const isOfOwner = (path: string) => path.startsWith("/console/manage");
const OWNER = 86;

/** Opens the first call of a page where its panel is not open already. */
async function openCall(page: Page): Promise<void> {
  const panel = page.locator("main .api").first();
  if (!(await panel.isVisible()))
    await page.locator("main").getByRole("button", { name: /call/i }).first().click();
  await panel.waitFor();
}

describe("check 8: the call behind every page of the table", () => {
  consoleTest(
    "check 8: its curl and TypeScript, executed as copied, have the same answer",
    async (open) => {
      const { page, goto, origin } = await open();
      const examples = await examplePages(origin);
      for (const template of views.filter((view) => !isOfOwner(view))) {
        await goto(PATHS[template] ?? examples.find((one) => one.template === template)?.path ?? "");
        await settled(page);
        await openCall(page);
        const bodies = await runSnippets(await pageSnippets(page));
        const fields = (language: string) => Object.keys(Object(bodies.get(language)));
        expect([template, fields("TypeScript")]).toEqual([template, fields("curl")]);
        expect(fields("curl").length).toBeGreaterThan(0);
      }
    },
    60_000,
  );

  consoleTest(
    "check 8: of an owner is a command and code that sign, without a secret",
    async (open) => {
      const one = await open();
      const { page, goto, origin } = one;
      const own = await ownerPages(origin, OWNER);
      await becomeDemoPerson(one, OWNER);
      for (const template of views.filter(isOfOwner)) {
        await goto(own.find((other) => other.template === template)?.path ?? "");
        await settled(page);
        await openCall(page);
        const snippets = await pageSnippets(page);
        const text = [...snippets.values()].join("\n");
        // No command prints a campaign.
        const command = template.includes("/campaigns/") ? [] : ["svc"];
        expect([template, [...snippets.keys()]]).toEqual([template, [...command, "TypeScript"]]);
        expect(text).toContain("$");
        expect(text).not.toMatch(/0x[0-9a-f]{64}/i);
      }
    },
    60_000,
  );
});
