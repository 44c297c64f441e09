import { afterAll, beforeAll, describe, expect } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { compiledProgram } from "../support/compiled-program.ts";
import { type RunningNode, startNode, tempDir } from "../support/program.ts";
import { axeViolations } from "./support/axe.ts";
import { consoleTest } from "./support/console-test.ts";
import { shiftOf, watchShifts } from "./support/layout-shifts.ts";
import { settled, setVisibility } from "./support/page.ts";
import { HAS_BROWSER } from "./support/shared.ts";

/** A node that is not a demo network, which these tests stop and start. */
const dir = tempDir();
const dataDir = join(dir.path, "data");
const backups = join(dir.path, "backups");
let node: RunningNode;
const start = (port: number) =>
  startNode({
    command: compiledProgram,
    dataDir,
    args: [
      ...["--port", String(port)],
      ...[
        `backup.dir=${backups}`,
        "upstream.username=reader",
        // An incident that only the operator sees.
        'http.trusted_proxies=["0.0.0.0/0"]',
      ].flatMap((setting) => ["--set", setting]),
    ],
    env: { SVC_UPSTREAM_PASSWORD: "hidden-password" },
  });

beforeAll(async () => {
  if (!HAS_BROWSER) return;
  mkdirSync(backups);
  node = await start(0);
});
afterAll(async () => {
  if (HAS_BROWSER) await node[Symbol.asyncDispose]();
  dir[Symbol.dispose]();
});

/** The link that `svc console` prints. */
async function link(): Promise<string> {
  const child = Bun.spawn([...compiledProgram, "--data-dir", dataDir, "console", node.url], {
    env: { PATH: process.env.PATH ?? "", HOME: dir.path },
    stdout: "pipe",
    stderr: "ignore",
  });
  // That of an empty node leads to its set-up.
  return (await new Response(child.stdout).text()).trim().replace("/setup#", "/operator#");
}

const figure = (page: Page, label: string) =>
  page.locator(".stat", { hasText: label }).locator(".num").first().textContent();

const noSidewaysScroll = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);

consoleTest(
  "check 5: the counts of the landing and of the status page are those of /status",
  async (open) => {
    const { page, goto, origin } = await open();
    await goto("/");
    await page.getByText("Ready", { exact: true }).waitFor();
    const { index } = (await (await fetch(`${origin}/status`)).json()) as {
      index: { rows: Readonly<Record<string, number>> };
    };
    const counts = { People: "fids", Casts: "casts", Reactions: "reactions", Follows: "links" };
    const shown = async () =>
      Object.fromEntries(
        await Promise.all(Object.keys(counts).map(async (label) => [label, await figure(page, label)])),
      );
    const grouped = (count: number | undefined) => new Intl.NumberFormat("en").format(count ?? 0);
    const expected = Object.fromEntries(
      Object.entries(counts).map(([label, key]) => [label, grouped(index.rows[key])]),
    );
    expect(await shown()).toEqual(expected);
    await goto("/console/status");
    await page.getByText("Up to date.").waitFor();
    expect(await shown()).toEqual(expected);
  },
);

/** What a high-contrast theme takes away: the range that is selected, and the difference between two lines of a plot. */
const lostInForcedColors = (page: Page) =>
  page.evaluate(() => {
    const look = (selector: string) => {
      const style = getComputedStyle(document.querySelector(selector) ?? document.body);
      const { backgroundColor, borderTopStyle, borderTopColor, forcedColorAdjust } = style;
      const background = forcedColorAdjust === "none" ? backgroundColor : "of the theme";
      return { background, line: `${borderTopStyle} ${borderTopColor}`, borderTopColor };
    };
    const lost: string[] = [];
    const range = "nav[aria-label='Time range'] a";
    if (look(`${range}[aria-current]`).background === look(`${range}:not([aria-current])`).background)
      lost.push("the selected range");
    const figure = [...document.querySelectorAll(".plot")].find((one) => one.querySelector(".p2"));
    figure?.setAttribute("id", "lines");
    const [first, second] = [look("#lines .p1"), look("#lines .p2")];
    if (first.line === second.line) lost.push("the lines in the legend");
    const canvas = figure?.querySelector("canvas");
    const { width = 0, height = 0 } = canvas ?? {};
    const pixels = canvas?.getContext("2d")?.getImageData(0, 0, width, height).data ?? [];
    const drawn = new Set<string>();
    for (let at = 0; at < pixels.length; at += 4)
      if (pixels[at + 3] === 255) drawn.add(`rgb(${pixels[at]}, ${pixels[at + 1]}, ${pixels[at + 2]})`);
    for (const { borderTopColor } of [first, second])
      if (!drawn.has(borderTopColor)) lost.push(`the line in ${borderTopColor}`);
    return lost;
  });

consoleTest("the first page of an empty node says that it is empty, and what to do", async (open) => {
  const { page, goto } = await open({ origin: node.url, width: 390 });
  await watchShifts(page);
  await goto("/");
  await page.getByText("This node is empty").waitFor();
  await page.locator("code", { hasText: "serve --set upstream.url=" }).waitFor();
  await settled(page);
  const text = await page.locator("main").innerText();
  expect(text).toContain("Empty");
  expect(text).not.toMatch(/\bReady\b|already|Explore|\b0\b/);
  expect(await axeViolations(page)).toEqual([]);
  expect(await noSidewaysScroll(page)).toBe(true);
  expect((await shiftOf(page)).sum).toBeLessThanOrEqual(0.02);
  await goto("/console");
  await page.getByRole("link", { name: "How to fill it" }).first().click();
  await page.getByText("This node is empty").waitFor();
});

describe("the status page", () => {
  consoleTest(
    "polls every 5 seconds, at once on its key, and at once when the tab is shown again",
    async (open) => {
      const { page, goto } = await open();
      await page.clock.install();
      await goto("/console/status");
      await page.locator(".plot canvas").first().waitFor();
      const answered = () => page.waitForResponse(/\/console\/api\/series/);
      const byTime = answered();
      await page.clock.fastForward(5_000);
      await (await byTime).finished();
      const byKey = answered();
      await page.keyboard.press("r");
      await byKey;
      // That a page does not ask more often, and hidden not at all, is check 4.
      await setVisibility(page, "hidden");
      await page.clock.fastForward(5_000);
      const shownAgain = answered();
      await setVisibility(page, "visible");
      await shownAgain;
    },
  );

  consoleTest("draws plots from the second point on, and its range is in the URL", async (open) => {
    const { page, goto, origin } = await open({ width: 390, theme: "dark" });
    const series = /\/console\/api\/series/;
    await page.route(series, async (route) => {
      const response = await route.fetch();
      const columns = (await response.json()) as { t: number[]; step_secs: number };
      await route.fulfill({ response, json: { ...columns, t: [Date.UTC(2026, 0, 1) / 1000], series: {} } });
    });
    await goto("/console/status");
    // One point would have the same time at each tick.
    await page.getByText("these curves begin at 00:00:05").waitFor();
    expect(await page.locator(".plot").count()).toBe(0);
    await page.unroute(series);
    await page.route(series, async (route) => {
      const response = await route.fetch();
      const columns = { t: [60, 120, 180], series: { p50_ms: [1, 5, 2], p99_ms: [9, 2, 8] } };
      await route.fulfill({ response, json: { ...(await response.json()), ...columns } });
    });
    await page.emulateMedia({ forcedColors: "active" });
    await goto("/console/status?w=6h");
    expect(await page.locator("nav[aria-label='Time range'] [aria-current]").textContent()).toBe("6 h");
    await page.locator(".plot canvas").first().waitFor();
    expect(await lostInForcedColors(page)).toEqual([]);
    await page.emulateMedia({ forcedColors: "none" });
    await page.getByRole("link", { name: "1 h", exact: true }).click();
    await page.waitForURL(`${origin}/console/status`);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.locator(".plot canvas").first().waitFor();
    await page.getByRole("link", { name: "24 h" }).click();
    await page.waitForURL(`${origin}/console/status?w=24h`);
    expect(await noSidewaysScroll(page)).toBe(true);
    expect(await axeViolations(page)).toEqual([]);
  });

  consoleTest(
    "draws plots in a browser without a locale, and leaves tables of the values where it cannot",
    async (open) => {
      const { page, goto } = await open({
        expects: [/plot-canvas/, /Failed to (fetch dynamically|load resource)/],
      });
      // As on Linux without a locale: no language that numbers are formatted in.
      await page.addInitScript(() => {
        Object.defineProperty(navigator, "language", { value: "en-US@posix", configurable: true });
      });
      await goto("/console/status");
      await page.locator(".plot canvas").first().waitFor();
      expect(await page.locator(".plot details[open]").count()).toBe(0);
      await page.route("**/plot-canvas*", (route) => route.abort());
      await page.reload();
      await page.locator(".plot details[open] table").first().waitFor();
      expect(await page.locator(".plot details[open]").count()).toBe(6);
      expect(await page.locator(".plot canvas").count()).toBe(0);
    },
  );

  consoleTest(
    "check 6: figures are grey with their age once the node was killed, then live without a reload",
    async (open) => {
      const { page, goto } = await open({ origin: node.url });
      await page.clock.install();
      await goto("/console/status");
      await page.getByText("It has no people").waitFor();
      await page.evaluate(() => {
        (globalThis as { isSame?: boolean }).isSame = true;
      });
      const port = Number(new URL(node.url).port);
      // A script that the kill cuts off would be a fault of the page.
      await page.waitForLoadState("networkidle");
      await node.kill();
      await page.clock.fastForward(6_000);
      await page.getByText(/The figures below are \d+ s old/).waitFor();
      // The history may have asked since the kill, too.
      expect(await page.locator(".card.old").count()).toBeGreaterThanOrEqual(3);
      const { isOld } = await page.evaluate(() => {
        const old = document.querySelector(".card.old");
        return { isOld: old !== null && getComputedStyle(old).filter.includes("grayscale") };
      });
      expect(isOld).toBe(true);
      // Each failure doubles the wait.
      await page.clock.fastForward(6_000);
      await page.getByText(/Retrying in (8|9|10) s/).waitFor();
      node = await start(port);
      await page.clock.fastForward(11_000);
      await page.getByText("It has no people").waitFor();
      // A card whose call was under way when the node was killed asks at a time of its own.
      while ((await page.locator(".card.old").count()) > 0) await page.clock.fastForward(1_000);
      expect(await page.evaluate(() => (globalThis as { isSame?: boolean }).isSame)).toBe(true);
    },
  );
});

consoleTest(
  "a form gives up on a node that hangs, keeps its text and says what may have happened",
  async (open) => {
    const { page, goto } = await open();
    await page.clock.install();
    await goto("/console/stream");
    await page.route("**/console/demo/pulse", () => new Promise(() => undefined));
    await page.getByRole("button", { name: "Generate activity" }).click();
    await page.clock.fastForward(10_000);
    await page.getByText("It may have succeeded").waitFor();
  },
);

describe("check 34: the operator's page", () => {
  consoleTest("is locked without a link, and says which command prints one", async (open) => {
    const { page, goto } = await open({ origin: node.url, width: 390 });
    await goto("/console/operator");
    await page.getByText("This page is locked").waitFor();
    expect(await page.locator(".command pre").allTextContents()).toEqual([
      "svc console",
      `svc console ${node.url}`,
    ]);
    expect(await axeViolations(page)).toEqual([]);
    // The link in the tab that has the page: only the fragment changes, so that nothing is loaded.
    await page.goto(`${node.url}/console/operator#code=wrong`);
    await page.getByText("It did not open:").waitFor();
    expect(page.url()).toBe(`${node.url}/console/operator`);
    expect(await page.getByText("requires an API key").count()).toBe(0);
  });

  consoleTest(
    "is opened by a link once, keeps the session over a reload, and shows no secret",
    async (open) => {
      const code = await link();
      const { page } = await open({ origin: node.url });
      await page.goto(code);
      await page.getByRole("heading", { name: "Threads" }).waitFor();
      expect(page.url()).toBe(`${node.url}/console/operator`);
      await page.reload();
      await page.getByRole("rowheader", { name: /^ingest/ }).waitFor();
      await page.getByRole("link", { name: "Settings" }).click();
      await page.getByLabel("Find a setting").fill("upstream.password");
      await page.getByText("SVC_UPSTREAM_PASSWORD", { exact: true }).waitFor();
      await page.getByText("the environment variable SVC_UPSTREAM_PASSWORD overrides this page").waitFor();
      expect(await page.content()).not.toContain("hidden-password");
      expect(new URL(page.url()).search).toBe("?setting=upstream.password");
      expect(await noSidewaysScroll(page)).toBe(true);
      expect(await axeViolations(page)).toEqual([]);

      // Neither the history nor what the browser stores has the code or a key that could be read.
      const stored = await page.evaluate(
        () =>
          new Promise<{ isExtractable: boolean; texts: string }>((resolve) => {
            const opening = indexedDB.open("console");
            opening.onsuccess = () => {
              const asked = opening.result.transaction("sessions").objectStore("sessions").getAll();
              asked.onsuccess = () =>
                resolve({
                  isExtractable: (asked.result[0] as { privateKey: CryptoKey }).privateKey.extractable,
                  texts: JSON.stringify([{ ...localStorage }, { ...sessionStorage }, asked.result]),
                });
            };
          }),
      );
      expect(stored.isExtractable).toBe(false);
      expect(stored.texts).not.toContain(code.split("=")[1] ?? "");

      const second = await open({ origin: node.url });
      await second.page.goto(code);
      await second.page.getByText("It did not open:").waitFor();
      await second.page.getByText("was used").waitFor();
    },
  );

  consoleTest("backs up, pauses visibly for everyone, resumes, and locks", async (open) => {
    const { page } = await open({ origin: node.url, theme: "dark" });
    await page.goto(await link());
    await page.getByRole("button", { name: "Back up now" }).click();
    await page.getByRole("cell", { name: "verified" }).waitFor();

    await page.getByLabel("Reason, which everyone sees").last().fill("the receiver is moving");
    await page.getByRole("button", { name: "Pause deliveries" }).click();
    await page.getByRole("button", { name: "Resume deliveries" }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    const isObeyed = async () =>
      (await (await fetch(`${node.url}/status`)).text()).includes("the receiver is moving");
    while (!(await isObeyed())) await Bun.sleep(20);
    const visitor = await open({ origin: node.url });
    await visitor.goto("/console/status");
    await visitor.page.getByText("The operator has paused webhook deliveries").waitFor();
    await visitor.goto("/console/manage");
    await visitor.page.getByText("The operator has paused webhook deliveries").waitFor();
    await page.getByRole("button", { name: "Resume deliveries" }).click();
    await page.getByRole("button", { name: "Pause deliveries" }).waitFor();

    await page.getByRole("button", { name: "Lock" }).click();
    await page.getByText("This page is locked").waitFor();
    await page.reload();
    await page.getByText("This page is locked").waitFor();
  });

  consoleTest(
    "checks 15, 20: an incident is explained and acknowledged; strangers see public ones",
    async (open) => {
      const { page } = await open({ origin: node.url });
      await page.goto(await link());
      await page.getByRole("heading", { name: "Risky settings" }).waitFor();
      await page.getByLabel("Note", { exact: true }).fill("The proxy is the only way in.");
      await page.getByRole("button", { name: "Save note" }).click();
      await page.getByRole("paragraph").filter({ hasText: "The proxy is the only way in." }).waitFor();
      await page.getByRole("button", { name: "Acknowledge" }).click();
      await page.getByText("Acknowledged by the console of").waitFor();
      expect(await page.getByRole("button", { name: "Acknowledge" }).count()).toBe(0);
      expect(await axeViolations(page)).toEqual([]);
      expect(await noSidewaysScroll(page)).toBe(true);

      const visitor = await open({ origin: node.url });
      await visitor.goto("/console/status");
      await visitor.page.getByText("No public incidents recorded in the last 24 hours.").waitFor();
      expect(await visitor.page.content()).not.toContain("Risky settings");
      const feed = await visitor.page.evaluate(
        () =>
          new Promise<unknown[]>((resolve) => {
            const request = new XMLHttpRequest();
            request.responseType = "document";
            request.open("GET", "/console/status.atom");
            request.onloadend = () => {
              const root = request.responseXML?.documentElement;
              resolve([root?.localName, root?.namespaceURI, root?.querySelectorAll("feed > updated").length]);
            };
            request.send();
          }),
      );
      expect(feed).toEqual(["feed", "http://www.w3.org/2005/Atom", 1]);
    },
  );

  consoleTest(
    "check 39: a setting is changed after its diff was shown, in the narrow page by keyboard, and undone with one click",
    async (open) => {
      const { page, goto } = await open({ origin: node.url, width: 390, expects: [/400/] });
      await page.goto(await link());
      await page.getByRole("heading", { name: "Threads" }).waitFor();
      await goto("/console/operator/settings?setting=max_connections");
      const row = page.getByRole("row", { name: /stream\.max_connections\b/ }).first();
      await row.getByRole("button", { name: "Change" }).press("Enter");
      const field = page.getByLabel("New value of stream.max_connections");
      const before = await field.inputValue();
      await field.fill("0");
      await field.press("Enter");
      await row.getByText("stream.max_connections must be an integer from 1 to 100000").waitFor();
      await field.fill("77");
      await row.getByText("+ max_connections = 77").waitFor();
      expect(await axeViolations(page)).toEqual([]);
      expect(await noSidewaysScroll(page)).toBe(true);
      await field.press("Enter");
      await row.getByText("stream.max_connections changed. It is in effect.").waitFor();
      expect(readFileSync(join(dataDir, "settings.toml"), "utf8")).toContain(
        "[stream]\nmax_connections = 77",
      );
      // The parts of a cell are below one another, not columns of a letter each.
      expect((await row.getByRole("button", { name: "Undo" }).boundingBox())?.height).toBeLessThan(48);
      // Both would do the same.
      expect(await row.getByRole("button", { name: "Reset" }).count()).toBe(0);
      await row.getByRole("button", { name: "Undo" }).click();
      await row.locator(".value", { hasText: "default" }).waitFor();
      await row.getByRole("button", { name: "Undo" }).waitFor({ state: "detached" });
      expect(await row.locator(".value").first().textContent()).toBe(before);
      expect(readFileSync(join(dataDir, "settings.toml"), "utf8")).not.toContain("max_connections");
      // A secret is not changed here, nor what a flag has set.
      await page.getByLabel("Find a setting").fill("upstream.username");
      await page.getByRole("rowheader", { name: /upstream\.username/ }).waitFor();
      expect(await page.getByRole("button", { name: "Change" }).count()).toBe(0);
    },
  );

  consoleTest("on a demo network everyone may look and no visitor may change anything", async (open) => {
    const { page, goto } = await open({ width: 390 });
    await goto("/console/operator");
    await page.getByText("anyone can look").waitFor();
    await page.getByRole("heading", { name: "Threads" }).waitFor();
    await page.getByText("This data directory holds the demo network").waitFor();
    expect(await page.getByRole("button", { name: "Back up now" }).isDisabled()).toBe(true);
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("heading", { name: "Settings in force" }).waitFor();
    expect(await page.getByRole("button", { name: /^(Change|Restart)/ }).count()).toBe(0);
    await page.goBack();
    expect(await page.getByRole("button", { name: /^(Pause|Resume) / }).count()).toBe(0);
    expect(await noSidewaysScroll(page)).toBe(true);
  });
});
