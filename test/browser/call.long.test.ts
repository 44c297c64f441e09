import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import type { OperationForm, OperationLine } from "../../src/console/web/call/operation.ts";
import { IS_LONG } from "../support/long.ts";
import { axeViolations } from "./support/axe.ts";
import { consoleTest } from "./support/console-test.ts";
import { becomeDemoPerson } from "./support/demo-person.ts";
import { settled } from "./support/page.ts";
import { pageSnippets, runSnippets } from "./support/snippets.ts";

/** The runner of calls (console-next 5). */

const OWNER = 87;
/** How many operations the suite runs in the page, from all over the list; the long form runs all. */
const TRIED = IS_LONG ? Number.POSITIVE_INFINITY : 4;
/** What two calls after each other may have differently. */
const CHANGES =
  /^\/(status|ready|health)|\/(history|feed\/trending|channel\/trending|frame\/catalog|manifest\/check|storage)/;

const runButton = (page: Page) => page.getByRole("button", { name: "Run", exact: true });
const responseCard = (page: Page) => page.getByRole("region", { name: "Response", exact: true });

async function run(page: Page): Promise<void> {
  await runButton(page).click();
  await page.locator('section[aria-label="Response"] .pill').waitFor();
}

async function rawBody(page: Page): Promise<string> {
  await page.getByRole("tab", { name: "Raw" }).click();
  const all = page.getByRole("button", { name: /^Show all/ });
  if (await all.isVisible()) await all.click();
  return (await responseCard(page).locator("pre").textContent()) ?? "";
}

describe("the page that runs a call", () => {
  consoleTest(
    "check 30: every GET operation with an example runs, and responds as it does to curl",
    async (open) => {
      const { page, goto, origin } = await open();
      const ask = async (path: string) => (await fetch(origin + path)).json();
      const { operations } = (await ask("/console/api/operation")) as { operations: OperationLine[] };
      const reads = operations.filter(({ method }) => method === "GET");
      const open_: OperationForm[] = [];
      for (const { id } of reads) {
        const form = (await ask(`/console/api/operation?id=${id}`)) as OperationForm;
        // A link has no token, so its call is another one.
        const lacks = form.parameters.some(
          ({ name, required, example }) => name === "token" || (required && example === undefined),
        );
        if (form.access === "open" && !form.isStream && !lacks) open_.push(form);
      }
      expect(open_.length).toBeGreaterThan(60);
      const step = Math.max(1, Math.ceil(open_.length / TRIED));
      for (const form of open_.filter((_, at) => at % step === 0)) {
        await goto(`/console/call?id=${form.id}`);
        await run(page);
        const shown = await rawBody(page);
        const { call } = Object.fromEntries(new URLSearchParams(new URL(page.url()).hash.slice(1)));
        const response = await fetch(origin + String(call).replace(/^GET /, ""));
        const status = await page.locator('section[aria-label="Response"] .pill').textContent();
        expect([form.id, status]).toEqual([form.id, String(response.status)]);
        const body = await response.text();
        if (!CHANGES.test(form.path)) expect([form.id, shown]).toEqual([form.id, body]);
      }
    },
    IS_LONG ? 600_000 : 180_000,
  );

  consoleTest("check 31: its code, executed as copied, gets the same response", async (open) => {
    const { page, goto } = await open();
    await goto("/console/call?id=getFeedFollowing");
    await run(page);
    const shown: unknown = JSON.parse(await rawBody(page));
    const snippets = new Map(
      [...(await pageSnippets(page))].filter(([language]) => !["SDK", ".http"].includes(language)),
    );
    expect([...snippets.keys()]).toEqual(["curl", "TypeScript", "Client", "Python"]);
    for (const [language, body] of await runSnippets(snippets))
      expect([language, body]).toEqual([language, shown]);
  });

  consoleTest(
    "check 30: a link fills the form and runs nothing, and a call of a view leads to one",
    async (open) => {
      const { page, goto } = await open();
      const asked: string[] = [];
      page.on("request", (request) => asked.push(new URL(request.url()).pathname));
      await goto(`/console/call#${new URLSearchParams({ call: "GET /v2/svc/user?fid=5", body: "null" })}`);
      await settled(page);
      expect(await page.getByLabel("fid").inputValue()).toBe("5");
      expect(asked.filter((path) => path.startsWith("/v2/"))).toEqual([]);
      await goto("/console/people/6");
      await settled(page);
      await page.locator("main .api").first().getByRole("link", { name: "Edit and run" }).click();
      await page.getByRole("heading", { name: "Run a call" }).waitFor();
      await runButton(page).waitFor();
      expect(await page.locator("#operation").inputValue()).toBe("getFeedUserCasts");
      await goto("/console/call#call=GET%20/v2/svc/none");
      await page.getByText("does not have").waitFor();
    },
  );

  consoleTest("leads to the next page, to people and to a stream, and finds people by name", async (open) => {
    const { page, goto } = await open();
    await goto(`/console/call#${new URLSearchParams({ call: "GET /v2/svc/feed/following?fid=3&limit=5" })}`);
    await run(page);
    // The first items of a long list are open.
    const casts = responseCard(page)
      .locator("details details")
      .filter({ has: page.locator("> summary", { hasText: "casts[" }) });
    expect(await casts.evaluateAll((all) => all.map((one) => (one as HTMLDetailsElement).open))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    const first = await responseCard(page).locator('a[href^="/console/casts/"]').first().getAttribute("href");
    await page.getByRole("button", { name: "Next page" }).click();
    await page.waitForFunction(
      (before) =>
        document
          .querySelector('section[aria-label="Response"] a[href^="/console/casts/"]')
          ?.getAttribute("href") !== before,
      first,
    );
    expect(await page.getByLabel("cursor", { exact: true }).inputValue()).not.toBe("");
    await page.getByLabel("fid", { exact: true }).fill("mirawren");
    await page.getByRole("button", { name: "@mirawren 3" }).click();
    expect(await page.getByLabel("fid", { exact: true }).inputValue()).toBe("3");
    await goto("/console/call?id=getFeedUserCasts");
    await page.getByRole("link", { name: "Save as a webhook" }).waitFor();
    expect(await page.getByRole("link", { name: "Watch as a stream" }).getAttribute("href")).toMatch(
      /^\/console\/stream\?kinds=cast.created&author_fids=\d+$/,
    );
    expect(await axeViolations(page)).toEqual([]);
  });

  consoleTest("shows a refusal at its field, with its status", async (open) => {
    const { page, goto } = await open();
    await goto(`/console/call#${new URLSearchParams({ call: "GET /v2/svc/user?fid=999999999" })}`);
    await run(page);
    await responseCard(page).getByText("404").waitFor();
    await page.getByLabel("fid").fill("-4");
    await page.getByText("At least 0.").waitFor();
    expect(await runButton(page).isDisabled()).toBe(true);
  });

  consoleTest("shows a hostile response as text", async (open) => {
    const { page, goto } = await open();
    const deep = "[".repeat(300) + "]".repeat(300);
    const body = `{"username":"<img src=x onerror=alert(1)>","fid":3,"hash":"javascript:alert(1)","channel_id":"../../x?a=<b>","webhook_id":"//evil.example","text":"a\u202Eb\\u0000","__proto__":{"fid":4},"deep":${deep},"next":{"cursor":"c"}}`;
    await page.route("**/v2/svc/user?*", (route) =>
      route.fulfill({
        status: 200,
        contentType: "text/html",
        body,
        headers: { "x-evil": "<script>1</script>" },
      }),
    );
    await goto(`/console/call#${new URLSearchParams({ call: "GET /v2/svc/user?fid=3" })}`);
    await run(page);
    const card = responseCard(page);
    await card.getByText('"<img src=x onerror=alert(1)>"').waitFor();
    await card.getByText('"a\\u202eb\\u0000"').waitFor();
    const links = await card.locator("a").evaluateAll((all) => all.map((one) => one.getAttribute("href")));
    expect(links.every((href) => href?.startsWith("/console/"))).toBe(true);
    expect(links).toContain("/console/channels/..%2F..%2Fx%3Fa%3D%3Cb%3E");
    expect(links).toContain("/console/manage/webhooks/%2F%2Fevil.example");
    await page.getByRole("tab", { name: "Headers" }).click();
    await card.getByText("x-evil: <script>1</script>").waitFor();
    expect(await page.locator("main img, main script").count()).toBe(0);
  });

  consoleTest(
    "a signed call shows the sheet, a session signs reads, and no secret is in the address, the list or the storage",
    async (open) => {
      const one = await open();
      const { page, goto } = one;
      await goto("/console/call?id=createApp");
      await page.locator("main").getByRole("link", { name: "Connect a wallet" }).waitFor();
      await becomeDemoPerson(one, OWNER);
      await goto("/console/call?id=createApp");
      await page.getByLabel("name", { exact: true }).fill("Run by hand");
      await page.getByLabel("app_url").fill("https://run.demo.example");
      await page.getByRole("button", { name: "Sign and run" }).click();
      await page.getByText(`The node runs POST /v2/svc/frame/app for fid ${OWNER}.`).waitFor();
      await page.getByRole("button", { name: "Sign in the wallet" }).click();
      await responseCard(page).locator(".pill.ok").waitFor();
      const created = JSON.parse(await rawBody(page)) as { app: { send_secrets: { value: string }[] } };
      const secret = created.app.send_secrets[0]?.value ?? "";
      expect(secret.length).toBeGreaterThan(20);
      await goto("/console/call?id=listApps");
      await page.getByRole("button", { name: "Sign and run" }).click();
      await responseCard(page).getByText('"Run by hand"').waitFor();
      const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
      expect(stored).toContain("/frame/app/list");
      expect(stored).not.toContain(secret);
      await goto(
        `/console/call#${new URLSearchParams({ call: "GET /quick-auth/verify-jwt?domain=a.example&token=s3cret" })}`,
      );
      await settled(page);
      await page.waitForFunction(() => !location.hash.includes("s3cret"));
    },
  );
});
