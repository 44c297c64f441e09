import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { pages } from "../../src/console/web/routes.ts";
import { keysOfPerson } from "../support/demo-calls.ts";
import { IS_LONG } from "../support/long.ts";
import { consoleTest } from "./support/console-test.ts";
import { becomeDemoPerson } from "./support/demo-person.ts";
import { examplePages } from "./support/example-paths.ts";
import { ownerPages } from "./support/owner-records.ts";
import { settled } from "./support/page.ts";
import {
  pageSnippets,
  recordIds,
  regionSnippets,
  runSignedSnippets,
  runSnippets,
} from "./support/snippets.ts";

/** Pages that show nothing that one call returns, and why. */
const WITHOUT: Readonly<Record<string, string>> = {
  "/console/stream": "its call does not end",
  "/console/operator": "the routes of the operator are private to the page",
  "/console/operator/settings": "the routes of the operator are private to the page",
  "/console/call": "it runs nothing before a person says so",
  "/console/setup": "the routes of the operator are private to the page",
  "/console/manage": "it asks for nothing before a wallet connects",
  "/console/manage/apps/new": "it is a form",
  "/console/sign-in": "it makes its calls when a visitor tries a sign-in",
};
/** An empty search asks for nothing. */
const PATHS: Readonly<Record<string, string>> = { "/console/search": "/console/search?q=bread&in=casts" };
const views = pages.map(({ path }) => path).filter((path) => !WITHOUT[path]);
const isOfOwner = (path: string) => path.startsWith("/console/manage");
const OWNER = 86;
/** The suite tries each third page of an owner, the long form all. */
const TRIED_EVERY = 3;

/** Opens the first call of a page where its panel is not open already. */
async function openCall(page: Page): Promise<void> {
  const panel = page.locator("main .api").first();
  if (!(await panel.isVisible()))
    await page.locator("main").getByRole("button", { name: /call/i }).first().click();
  await panel.waitFor();
}

describe("check 8: the API call of every page of the table", () => {
  consoleTest(
    "check 8: its curl and TypeScript, executed as copied, get the same response",
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
    180_000,
  );

  consoleTest(
    "check 8: of an owner: every svc command, curl and TypeScript of its regions, executed as copied, shows the records of the view",
    async (open) => {
      const one = await open();
      const { page, goto, origin } = one;
      const own = await ownerPages(origin, OWNER);
      await becomeDemoPerson(one, OWNER);
      const shown = new Map<string, unknown>();
      page.on("response", async (response) => {
        const { pathname, search } = new URL(response.url());
        if (response.ok()) shown.set(`${pathname}${search}`, await response.json().catch(() => undefined));
      });
      const calls: { template: string; snippets: ReadonlyMap<string, string> }[] = [];
      for (const template of views.filter(isOfOwner).filter((_, n) => IS_LONG || n % TRIED_EVERY === 0)) {
        await goto(own.find((other) => other.template === template)?.path ?? "");
        await settled(page);
        const regions = await regionSnippets(page);
        expect([template, regions.length]).not.toEqual([template, 0]);
        for (const snippets of regions) expect([...snippets.keys()]).toEqual(["svc", "curl", "TypeScript"]);
        // Each starts the program twice.
        const tried = IS_LONG ? regions : regions.slice(0, 1);
        calls.push(...tried.map((snippets) => ({ template, snippets })));
      }
      const signer = { fid: OWNER, custodyKey: keysOfPerson(OWNER).custody.privateKey };
      const answers = await runSignedSnippets(
        calls.map(({ snippets }) => snippets),
        signer,
      );
      const faults: string[] = [];
      for (const [at, { template, snippets }] of calls.entries()) {
        const text = [...snippets.values()].join("\n");
        expect(text).toContain("$FID");
        expect(text).not.toMatch(/0x[0-9a-f]{64}/i);
        const [, path = ""] = /curl .*'https?:\/\/[^/]*([^']*)'/.exec(snippets.get("curl") ?? "") ?? [];
        const view = recordIds(shown.get(path));
        const bodies = answers[at];
        for (const language of ["curl", "TypeScript"])
          if (!Bun.deepEquals(recordIds(bodies?.get(language)), view))
            faults.push(`${template} ${path} ${language}: ${Bun.inspect(bodies?.get(language))}`);
        const printed = String(bodies?.get("svc"));
        if (!view.every((id) => printed.includes(id)))
          faults.push(`${template} ${path}: ${printed}, not ${view}`);
      }
      expect(faults).toEqual([]);
    },
    180_000,
  );
});
