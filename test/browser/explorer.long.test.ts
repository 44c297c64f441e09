import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { keysOfPerson } from "../support/demo-calls.ts";
import { IS_LONG } from "../support/long.ts";
import { consoleTest } from "./support/console-test.ts";
import { type IdKind, idsIn, pageSnippets, runSnippets } from "./support/snippets.ts";
import { demoCast, submit } from "./support/submit.ts";

const FID = 24;
const ATTRIBUTE = { casts: "data-hash", people: "data-fid", channels: "data-id" } as const;

/** The ids that a list of the page shows, from top to bottom. */
async function shownIds(page: Page, kind: IdKind, list: string): Promise<string[]> {
  await page.locator(`${list} [${ATTRIBUTE[kind]}]`).first().waitFor();
  return page
    .locator(`${list} [${ATTRIBUTE[kind]}]`)
    .evaluateAll((rows, name) => rows.map((row) => row.getAttribute(name) ?? ""), ATTRIBUTE[kind]);
}

consoleTest(
  "check 7, check 8: each explorer page has the ids of the API in its order, and its snippets give the same",
  async (open) => {
    const { page, goto, origin } = await open();
    const root = demoCast(FID, { text: "fresh bread of the explorer test", agoSecs: 30 });
    const reply = demoCast(FID, { text: "a reply", parent: root, agoSecs: 20 });
    const nested = demoCast(25, { text: "a nested reply", parent: reply, agoSecs: 10 });
    await submit(origin, [root, reply, nested, demoCast(25, { text: "another", parent: root, agoSecs: 5 })]);
    const quoted = `/console/casts/${root.hash}`;
    const pages: readonly (readonly [path: string, kind: IdKind, list?: string])[] = [
      ["/console", "casts"],
      ...(IS_LONG ? ["casts", "replies", "popular", "likes"] : ["replies"]).map(
        (tab) => [`/console/people/${FID}?tab=${tab}`, "casts"] as const,
      ),
      ...(IS_LONG ? ["followers", "following", "mutuals"] : ["mutuals"]).map(
        (tab) => [`/console/people/3?tab=${tab}`, "people"] as const,
      ),
      ["/console/people/3?tab=channels", "channels"],
      [quoted, "casts", "main .stack:first-child"],
      ["/console/channels", "channels"],
      ["/console/channels?q=o", "channels"],
      ["/console/channels/coffee", "casts"],
      ["/console/channels/coffee?tab=members", "people"],
      ["/console/search?q=bread&in=casts", "casts"],
      // No bio has a word that begins so: the SDK's dialect searches bios, too.
      ["/console/search?q=mira&in=people", "people"],
      ["/console/search?q=c&in=channels", "channels"],
    ];
    for (const [path, kind, list = "main .list"] of pages) {
      await goto(path);
      const shown = await shownIds(page, kind, list);
      const bodies = await runSnippets(await pageSnippets(page));
      for (const [language, body] of bodies)
        expect([path, language, idsIn(kind, body)]).toEqual([path, language, shown]);
      expect([path, [...bodies.keys()]]).toEqual([path, ["curl", "TypeScript", "SDK"]]);
    }
  },
);

consoleTest(
  "check 9: the search opens an fid, a name, a hash, an address and a client's URL",
  async (open) => {
    const { page, goto, origin } = await open();
    const cast = demoCast(26, { text: "found by its hash" });
    await submit(origin, [cast]);
    const { user } = (await (await fetch(`${origin}/v2/svc/user?fid=26`)).json()) as {
      user: { username: string };
    };
    await goto("/console");
    await shownIds(page, "casts", "main .list");
    for (const [text, path] of [
      ["26", "/console/people/26"],
      ["@mirawren", "/console/people/mirawren"],
      [cast.hash, `/console/casts/${cast.hash}`],
      [keysOfPerson(26).custody.address, "/console/people/"],
      ["https://farcaster.xyz/~/channel/coffee", "/console/channels/coffee"],
      [`https://warpcast.com/${user.username}/${cast.hash.slice(0, 12)}`, `/console/casts/${cast.hash}`],
    ] as const) {
      await page.keyboard.press("/");
      await page.keyboard.type(text);
      await page.keyboard.press("Enter");
      await page.waitForURL((url) => url.pathname.startsWith(path));
      await page.locator("h1").waitFor();
      await page.locator("h1").click();
    }
  },
);

consoleTest("check 9: fifty fast keystrokes leave one result, the last", async (open) => {
  const { page, goto, origin } = await open();
  const word = "sourdough".repeat(5);
  await submit(origin, [demoCast(27, { text: `${word}bread is one word` })]);
  await goto("/console/search?q=x");
  let asked = 0;
  page.on("request", (request) => {
    if (request.url().includes("/cast/search")) asked++;
  });
  const box = page.getByRole("searchbox").or(page.locator("header.bar input"));
  await box.first().fill("");
  await page.keyboard.type(`${word}bread`, { delay: 8 });
  await page.waitForURL((url) => url.searchParams.get("q") === `${word}bread`);
  // The response to the last keystrokes. Those of earlier ones, which show this cast among others, stay until it has come.
  await page.waitForFunction(
    ([selector, text]) => {
      const shown = [...document.querySelectorAll(selector)];
      return shown.length === 1 && shown[0]?.textContent?.includes(text);
    },
    ["main .list [data-hash]", `${word}bread`] as const,
  );
  // No person has this name: the call is that of the casts.
  await page.locator("[data-call]", { hasText: "/cast/search?" }).waitFor();
  expect(asked).toBeLessThan(12);
});

consoleTest("a name, a cast and a channel that are not here say so, and what to do", async (open) => {
  const { page, goto } = await open();
  await goto("/console/people/mirawrenn");
  await page.locator("main [data-fid='3']").waitFor();
  await goto(`/console/casts/0x${"12".repeat(20)}`);
  await page.getByText("removed, pruned, or this node has never seen it").waitFor();
  await goto("/console/channels/nothing-here");
  await page.getByText("begins with the first cast").waitFor();
  await goto("/console/search?q=zzzzqq");
  await page.getByText("No casts found.").waitFor();
});

consoleTest("lists say how much is newer and never move their rows by themselves", async (open) => {
  const { page, goto, origin } = await open();
  await page.clock.install();
  await goto("/console/people/28");
  const before = await shownIds(page, "casts", "main .list");
  await submit(origin, [demoCast(28, { text: "newer" }), demoCast(28, { text: "newest" })]);
  await page.clock.runFor(61_000);
  const pill = page.getByRole("button", { name: "2 newer" });
  await pill.waitFor();
  expect(await shownIds(page, "casts", "main .list")).toEqual(before);
  await pill.click();
  await page.getByText("newest").waitFor();
  expect((await shownIds(page, "casts", "main .list")).length).toBeGreaterThan(0);

  const thread = demoCast(28, { text: "newest of all" });
  await submit(origin, [thread]);
  await goto(`/console/casts/${thread.hash}`);
  await page.getByText("No replies yet.").waitFor();
  await submit(origin, [demoCast(28, { text: "a new reply", parent: thread })]);
  await page.clock.runFor(61_000);
  await page.getByRole("button", { name: "1 newer" }).click();
  await page.getByText("a new reply").waitFor();
});

consoleTest("going back restores rows, tab and scroll position", async (open) => {
  const { page, goto } = await open();
  await goto("/console/people/3?tab=followers");
  await page.getByRole("button", { name: "Load 25 more" }).click();
  await page.waitForFunction(() => document.querySelectorAll("main .list [data-fid]").length > 30);
  await page.locator("main .list [data-fid]").nth(30).scrollIntoViewIfNeeded();
  await page.waitForFunction(() => scrollY > 0 && history.state?.scrollTop === Math.round(scrollY));
  const scrolled = await page.evaluate(() => scrollY);
  await page.locator("main .list [data-fid] a").nth(30).click();
  await page.waitForFunction(() => scrollY === 0);
  await page.goBack();
  await page.waitForFunction((y) => Math.abs(scrollY - y) < 3, scrolled);
  expect(new URL(page.url()).search).toBe("?tab=followers");
  expect(await page.locator("main .list [data-fid]").count()).toBeGreaterThan(30);
  await page.reload();
  await page.locator("main .list [data-fid]").first().waitFor();
});
