import { afterAll, expect } from "bun:test";
import type { Page } from "playwright-core";
import { createWebAssets } from "../../src/console/assets.ts";
import { bundleWeb } from "../../src/console/bundle.ts";
import { consoleRoutes, pageSettingsOf } from "../../src/console/routes.ts";
import { brotliFile } from "../../src/console/web-build.ts";
import { UserDataType } from "../../src/protocol/wire/generated/message.ts";
import { configWith } from "../runtime/config.ts";
import { postAsPerson } from "../support/demo-calls.ts";
import { runHttp } from "../support/http.ts";
import { newSessionKey } from "../support/sessions.ts";
import { consoleTest } from "./support/console-test.ts";
import { becomeDemoPerson } from "./support/demo-person.ts";
import { settled } from "./support/page.ts";
import { demoCast, demoUserData, submit } from "./support/submit.ts";

const AUTHOR = 5;
const OTHER = 8;
/** Of marks that most fonts have: a missing one is drawn as a box beside the letter, and a letter with its marks does not wrap. */
const ZALGO = `Z${"\u0301\u0323\u0308".repeat(14)}a`;
const RTL = "\u202egnp.exe\u202c \u2067شلوم\u2069";
const HOSTILE = [
  "<img src=x onerror=\"document.title='pwned'\">",
  "javascript:alert(1) data:text/html,<script>alert(1)</script> //evil.example/x vbscript:x",
  "https://аррӏе.com/login https://bank.example@evil.example/ http://xn--80ak6aa92e.com",
  `https://a.example/${"x".repeat(238)}`,
  `${ZALGO} ${RTL} \u200b\u200d\ufeff end`,
];
const URLS = [
  "javascript:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "//evil.example/x.png",
  "https://аррӏе.com/x",
  `https://a.example/${"y".repeat(238)}`,
];

/** What of a page a stranger's content must never bring about. */
async function faultsOf(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const faults: string[] = [];
    const main = document.querySelector("main");
    for (const element of main?.querySelectorAll(
      "script, iframe, object, embed, img, video, base, [style*=url]",
    ) ?? [])
      faults.push(element.outerHTML.slice(0, 120));
    for (const element of main?.querySelectorAll("*") ?? [])
      for (const { name } of element.attributes)
        if (name.startsWith("on")) faults.push(`${name} of ${element.tagName}`);
    for (const link of main?.querySelectorAll<HTMLAnchorElement>("a[href]") ?? []) {
      if (link.origin === location.origin) continue;
      const isSafe =
        /^https?:$/.test(link.protocol) &&
        link.username === "" &&
        link.target === "_blank" &&
        link.rel === "noopener noreferrer nofollow ugc";
      if (!isSafe) faults.push(link.outerHTML.slice(0, 200));
    }
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth > clientWidth) faults.push(`${scrollWidth} px in ${clientWidth} px`);
    for (const row of main?.querySelectorAll<HTMLElement>("[data-row]:not(tr)") ?? []) {
      const style = getComputedStyle(row);
      if (!style.contain.includes("paint") && style.contentVisibility !== "auto")
        faults.push(`${row.className} is not clipped`);
      const box = row.getBoundingClientRect();
      // A line ends with an ellipsis at its own edge.
      for (const inner of row.querySelectorAll("*:not(.skip):not(.line *)")) {
        const { left, right } = inner.getBoundingClientRect();
        // Stacked marks have widths of their own in each font; the row clips what is beyond it.
        if (right - left > 0 && (left < box.left - 4 || right > box.right + 4))
          faults.push(`${inner.tagName}.${inner.className} is outside its row`);
      }
    }
    if (document.title === "pwned") faults.push("a script ran");
    return faults.slice(0, 8);
  });
}

consoleTest(
  "check 10: 500 replies, 10,000 bytes, stacked marks, right-to-left and zero-width names stay in their rows at 320 px",
  async (open) => {
    const { page, goto, origin } = await open({ width: 320 });
    const root = demoCast(AUTHOR, { text: "wide ".repeat(1999), agoSecs: 900 });
    const replies = Array.from({ length: 50 }, (_, at) =>
      demoCast(OTHER, {
        text: at % 2 === 0 ? `${at} ${ZALGO}` : "字".repeat(100),
        parent: root,
        agoSecs: 800 - at,
      }),
    );
    const nested = replies.flatMap((parent, at) =>
      Array.from({ length: 9 }, (_, n) =>
        demoCast(AUTHOR, { text: `${at} ${n} ${RTL}`, parent, agoSecs: 700 - at - n }),
      ),
    );
    await submit(origin, [
      demoUserData(
        OTHER,
        UserDataType.USER_DATA_TYPE_DISPLAY,
        "\u202eab\u200b\u0301\u0301\u0301\u0301\u0301",
      ),
      root,
      ...replies,
      ...nested,
    ]);
    await goto(`/console/casts/${root.hash}`);
    await page.locator("main .thread [data-hash]").nth(499).waitFor({ state: "attached" });
    expect(await faultsOf(page)).toEqual([]);
    const cast = page.locator("main [data-hash]").first();
    const folded = (await cast.boundingBox())?.height ?? 0;
    await cast.getByRole("button", { name: "Show all" }).click();
    expect((await cast.boundingBox())?.height ?? 0).toBeGreaterThan(folded * 3);
    expect(await page.locator("main .thread .mark").first().getAttribute("title")).toBe(
      "U+202E right-to-left override",
    );
  },
);

consoleTest(
  "check 11: nothing that a stranger wrote runs, loads or leads elsewhere than it says",
  async (open) => {
    const { page, goto, origin } = await open({ width: 390 });
    const channels = ["<img src=x onerror=alert(1)>", "javascript:alert(1)", "https://аррӏе.com/~/channel/x"];
    const casts = [
      ...HOSTILE.map((text, at) => demoCast(AUTHOR, { text, embeds: URLS.slice(at, at + 2) })),
      ...channels.map((parent) => demoCast(AUTHOR, { text: "in a channel", parent })),
    ];
    await submit(origin, [
      ...casts,
      demoUserData(AUTHOR, UserDataType.USER_DATA_TYPE_BIO, HOSTILE.slice(0, 2).join(" ").slice(0, 200)),
      demoUserData(AUTHOR, UserDataType.USER_DATA_TYPE_DISPLAY, "<img src=x onerror=x>"),
      demoUserData(AUTHOR, UserDataType.USER_DATA_TYPE_URL, "javascript:alert(1)"),
      demoUserData(AUTHOR, UserDataType.USER_DATA_TYPE_PFP, "javascript:alert(1)"),
    ]);
    for (const path of [
      `/console/people/${AUTHOR}`,
      `/console/people/${AUTHOR}?tab=channels`,
      ...casts.slice(0, 3).map(({ hash }) => `/console/casts/${hash}`),
      `/console/casts/${casts[0]?.hash}?tab=json`,
      ...channels.map((id) => `/console/channels/${encodeURIComponent(id)}`),
      `/console/search?q=${encodeURIComponent(HOSTILE[0] ?? "")}`,
      `/console/people/${encodeURIComponent("<img src=x onerror=alert(1)>")}`,
      "/console/channels/%3Cimg%20src%3Dx%3E?tab=members",
    ]) {
      await goto(path);
      await page.locator("main .api").first().waitFor();
      await page
        .locator("main [data-row], main .empty, main p.measure, main .measure p, main pre")
        .first()
        .waitFor();
      expect([path, await faultsOf(page)]).toEqual([path, []]);
    }
    await goto(`/console/casts/${casts[2]?.hash}`);
    const shown = page.locator("main [data-hash] .text");
    await shown.waitFor();
    expect(await shown.textContent()).toBe("xn--80ak6aa92e.com/login evil.example xn--80ak6aa92e.com");
  },
);

/** Whose records have hostile names; other tests have other people. */
const OWNER = 61;
const NAME = `${RTL}<img src=x onerror=x>${ZALGO}`.slice(0, 64);

consoleTest(
  "check 11: names and texts of an owner's records run nothing, and stay in their places",
  async (open) => {
    const one = await open({ width: 320 });
    const { page, goto, origin } = one;
    const node = { url: origin };
    const paths: string[] = ["apps", "webhooks", "keys", "signers", "activity"];
    const name = NAME.slice(0, 32);
    const { app } = (await postAsPerson(node, OWNER, "/frame/app", {
      name,
      app_url: "https://hostile.demo.example/",
    })) as { app: { app_id: string } };
    await fetch(`${origin}/console/demo/add-app`, {
      method: "POST",
      body: JSON.stringify({ app_id: app.app_id, people: 3 }),
    });
    const { campaign_id } = await postAsPerson(node, OWNER, "/frame/app/campaign", {
      app_id: app.app_id,
      notification: {
        title: name,
        body: NAME,
        target_url: `https://hostile.demo.example/?q=${encodeURIComponent(NAME.slice(0, 20))}`,
      },
    });
    const receiver = await fetch(`${origin}/console/demo/receiver`, {
      method: "POST",
      body: JSON.stringify({ fid: OWNER }),
    });
    const { url } = (await receiver.json()) as { url: string };
    const { webhook } = (await postAsPerson(node, OWNER, `/webhook?owner_fid=${OWNER}`, {
      name: NAME,
      url,
      subscription: { "cast.created": { author_fids: [AUTHOR], text: "hostile" } },
    })) as { webhook: { webhook_id: string } };
    const { api_key: key } = (await postAsPerson(node, OWNER, "/api_key", {
      name: NAME,
      scopes: ["read"],
    })) as { api_key: { api_key_id: string } };
    await postAsPerson(node, OWNER, "/session", {
      ...newSessionKey({ label: NAME, origin: "https://xn--80ak6aa92e.com" }).body,
    });
    paths.push(
      ...["", "?tab=send", "?tab=campaigns"].map((tab) => `apps/${app.app_id}${tab}`),
      ...["", "?tab=settings"].map((tab) => `webhooks/${webhook.webhook_id}${tab}`),
      `campaigns/${campaign_id}`,
      `keys/${key.api_key_id}`,
    );
    await becomeDemoPerson(one, OWNER);
    for (const path of paths) {
      await goto(`/console/manage/${path}`);
      await settled(page);
      expect([path, await faultsOf(page)]).toEqual([path, []]);
      // A page elsewhere chooses the label of a session.
      if (path === "activity") expect(await page.locator("main .entries .mark").count()).toBeGreaterThan(0);
    }
  },
);

const PICTURES = [
  "https://pictures.example/cat.jpg",
  "http://plain.example/cat.jpg",
  "https://pictures.example/cat.svg",
  "https://pictures.example/cat.mp4",
];

consoleTest(
  "check 12: images load only after they are asked for, only over https, without a referrer",
  async (open) => {
    const { page, context, goto, origin } = await open({ expects: [/pictures\.example|demo\.example/] });
    const asked: { url: string; referrer: string | undefined }[] = [];
    await context.route(
      (url) => url.origin !== origin,
      (route, request) => {
        asked.push({ url: request.url(), referrer: request.headers().referer });
        return route.fulfill({ status: 404 });
      },
    );
    const casts = [PICTURES.slice(0, 2), PICTURES.slice(2)].map((embeds) =>
      demoCast(OTHER, { text: "look", embeds }),
    );
    await submit(origin, casts);
    await goto(`/console/people/${OTHER}`);
    await page.locator(`[data-hash="${casts[0]?.hash}"]`).waitFor();
    // A link of another person may name the parameter; it is the visitor who chooses.
    await goto(`/console/people/${OTHER}?images=1`);
    await page.locator(`[data-hash="${casts[0]?.hash}"]`).waitFor();
    expect(asked).toEqual([]);
    await page.getByRole("button", { name: "Load images" }).click();
    await page.waitForURL((url) => url.searchParams.get("images") === "1");
    await page.locator(`[data-hash="${casts[0]?.hash}"]`).waitFor();
    await page.waitForFunction(() => document.querySelector("main .picture") === null);
    expect(asked.filter(({ url }) => url.includes("example/cat"))).toEqual([
      { url: "https://pictures.example/cat.jpg", referrer: undefined },
    ]);
    // The choice stays in the browser.
    await goto("/console");
    await page.waitForURL((url) => url.searchParams.get("images") === "1");
    await page.getByRole("button", { name: "Hide images" }).click();
    await page.getByRole("button", { name: "Load images" }).waitFor();
  },
);

const config = configWith("console.images=off");
const assets = createWebAssets(
  async () => {
    const bundled = await bundleWeb();
    return { ...bundled, assets: bundled.assets.map((file) => brotliFile(file, 1)) };
  },
  pageSettingsOf(config, { isDemo: false, hasMasterKey: false }),
);
const withoutImages = runHttp({ pages: [consoleRoutes({ assets, ...config.console })] });
afterAll(() => withoutImages[Symbol.asyncDispose]());

consoleTest('check 12: with `images = "off"` the parameter changes nothing', async (open) => {
  const { page, goto } = await open({ origin: withoutImages.url });
  const response = await goto("/console?images=1");
  expect(response?.headers()["content-security-policy"]).toContain("img-src 'self' data:;");
  await page.getByRole("heading", { name: "Explore" }).waitFor();
  expect(await page.getByRole("button", { name: /images/ }).count()).toBe(0);
});
