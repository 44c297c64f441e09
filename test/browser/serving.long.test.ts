import { describe, expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { bundleWeb, packPage } from "../../src/console/bundle.ts";
import { IS_LONG } from "../support/long.ts";
import { consoleTest } from "./support/console-test.ts";
import { becomeDemoPerson } from "./support/demo-person.ts";
import { examplePages } from "./support/example-paths.ts";
import { shiftOf, watchShifts } from "./support/layout-shifts.ts";
import { type ConsolePage, settled } from "./support/page.ts";
import { sharedNode } from "./support/shared.ts";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

/** Budgets in bytes after gzip -9, as the console's specification has them. */
const MAX_FIRST_SCRIPT = 45_000;
const MAX_STYLE = 8_500;
const MAX_DOCUMENT = 4_000;
const MAX_CHUNK = 30_000;
const MAX_REQUESTS = 6;
const MAX_API_CALLS = 3;
/** What the page adds to the executable, in all languages. */
const MAX_EMBEDDED = 500_000;
const MAX_SET_UP = 14_000;
const MAX_LCP_MS = 1500;
/** Other programs take the CPU as well; what the page does itself takes as long each time. */
const PASSES = 5;

const gzipBytes = (body: Uint8Array) => Bun.gzipSync(new Uint8Array(body), { level: 9 }).byteLength;

/** Requests without the client's own decompression, on a connection of its own. */
const request = async (path: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch((await sharedNode()) + path, {
    method,
    headers: { connection: "close", ...headers },
    decompress: false,
  } as RequestInit);

describe("the compiled program", () => {
  consoleTest("check 1: gives browsers a document at /, and programs the paths of the API", async () => {
    const page = await request("/", { accept: BROWSER });
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    for (const accept of ["*/*", "application/json"]) {
      const response = await request("/", { accept });
      const message = "nothing is served at /; see /docs and /ready";
      expect([response.status, await response.text()]).toEqual([404, JSON.stringify({ message })]);
    }
  });

  consoleTest(
    "check 2: sends assets in three encodings for good, documents with an ETag, and nothing to POST",
    async () => {
      const document = await request("/console");
      const html = await document.text();
      const assets = [...html.matchAll(/(?:href|src)="(\/console\/a\/[^"]+)"/g)].map(([, path = ""]) => path);
      expect(assets.length).toBeGreaterThan(3);
      for (const path of assets) {
        const plain = await (await request(path, { "accept-encoding": "identity" })).bytes();
        for (const [coding, decode] of [
          ["br", brotliDecompressSync],
          ["gzip", gunzipSync],
        ] as const) {
          const response = await request(path, { "accept-encoding": coding });
          // A small icon is not worth it.
          const bytes = await response.bytes();
          const decoded = response.headers.get("content-encoding") === coding ? decode(bytes) : bytes;
          expect(Buffer.compare(decoded, plain)).toBe(0);
          expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
          if (plain.byteLength > 1000) expect(response.headers.get("content-encoding")).toBe(coding);
        }
        const head = await request(path, {}, "HEAD");
        expect([head.status, (await head.bytes()).byteLength]).toEqual([200, 0]);
        expect((await request(path, {}, "POST")).status).toBe(405);
      }
      const etag = document.headers.get("etag") ?? "";
      expect((await request("/console", { "if-none-match": etag })).status).toBe(304);
      expect((await request("/console", {}, "POST")).status).toBe(405);
      expect(await (await request("/console/a/licenses.txt")).text()).toContain("preact");
    },
  );

  consoleTest(
    "check 3: sends every document with the headers that keep it apart from other pages",
    async () => {
      const paths = (await examplePages(await sharedNode())).map(({ path }) => path);
      for (const path of [...paths, "/console/none", `/approve/${"1".repeat(44)}`]) {
        const { headers } = await request(path, { accept: BROWSER });
        const policy = headers.get("content-security-policy") ?? "";
        expect(policy).toStartWith(
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;",
        );
        expect(policy).toEndWith("base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
        expect([
          headers.get("x-frame-options"),
          headers.get("x-content-type-options"),
          headers.get("referrer-policy"),
          headers.get("cross-origin-opener-policy"),
          headers.get("cross-origin-resource-policy"),
        ]).toEqual(["DENY", "nosniff", "no-referrer", "same-origin-allow-popups", "same-origin"]);
        expect(headers.get("permissions-policy")).toStartWith("clipboard-write=(self)");
      }
    },
  );

  consoleTest("check 3: stays empty in a frame of another origin", async (open) => {
    const node = await sharedNode();
    using other = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () =>
        new Response(`<h1>Other</h1><iframe src="${node}/console"></iframe>`, {
          headers: { "content-type": "text/html" },
        }),
    });
    const { page, goto } = await open({
      origin: other.url.origin,
      trustedTypes: false,
      expects: [/\/console/, /favicon/, /frame/i],
    });
    await goto("/");
    const frame = page.frames().find((one) => one !== page.mainFrame());
    await frame?.waitForURL(/^chrome-error:/);
    expect(frame?.url()).toStartWith("chrome-error:");
  });

  consoleTest("without JavaScript every document says what needs it, and what does not", async (open) => {
    const { page, origin } = await open({ hasScripts: false });
    for (const { path } of await examplePages(origin)) {
      await page.goto(origin + path);
      expect([path, await page.locator("noscript p").isVisible()]).toEqual([path, true]);
      expect(await page.locator("noscript p").textContent()).toStartWith("This page needs JavaScript");
    }
  });

  consoleTest("check 4: serves the same page from each of its four workers", async () => {
    const responses = await Promise.all(Array.from({ length: 24 }, () => request("/console")));
    expect(new Set(responses.map(({ headers }) => headers.get("etag"))).size).toBe(1);
    const script = /src="([^"]+)"/.exec((await responses[0]?.text()) ?? "")?.[1] ?? "";
    const scripts = await Promise.all(
      Array.from({ length: 24 }, async () => Bun.hash(await (await request(script)).bytes())),
    );
    expect(new Set(scripts).size).toBe(1);
  });
});

interface FirstLoad {
  readonly scripts: number;
  readonly styles: number;
  readonly document: number;
  readonly requests: number;
  readonly apiCalls: number;
}

/** Opens a path and measures what the browser asked for until the page had its content. */
async function measure(page: Page, path: string): Promise<FirstLoad> {
  const load = { scripts: 0, styles: 0, document: 0, requests: 0, apiCalls: 0 };
  const bodies: Promise<void>[] = [];
  page.on("response", (response) => {
    const type = response.request().resourceType();
    if (type === "fetch" || type === "eventsource") {
      if (new URL(response.url()).pathname.startsWith("/v2/")) load.apiCalls += 1;
      return;
    }
    load.requests += 1;
    const part = ({ script: "scripts", stylesheet: "styles", document: "document" } as const)[type];
    if (part !== undefined)
      bodies.push(
        response.body().then((body) => {
          load[part] += gzipBytes(body);
        }),
      );
  });
  await page.goto(path);
  await settled(page);
  await Promise.all(bodies);
  return load;
}

/** Loads a path for the first time, over Lighthouse's slow 4G on a CPU that is four times slower. Returns its largest contentful paint. */
async function largestPaintMs({ page, context, origin }: ConsolePage, path: string): Promise<number> {
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 150,
    downloadThroughput: (1.6 * 1024 * 1024) / 8,
    uploadThroughput: (750 * 1024) / 8,
  });
  await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  await page.goto(origin + path);
  await settled(page);
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        new PerformanceObserver((list) => resolve(list.getEntries().at(-1)?.startTime ?? 0)).observe({
          type: "largest-contentful-paint",
          buffered: true,
        });
      }),
  );
}

describe("budgets", () => {
  for (const path of ["/", "/console"])
    consoleTest(`check 4: the first load of ${path} stays within its bytes and requests`, async (open) => {
      const { page, origin } = await open({ trustedTypes: false });
      await watchShifts(page);
      const load = await measure(page, origin + path);
      const { sum: shift } = await shiftOf(page);
      console.info(`first load of ${path}: ${JSON.stringify({ ...load, shift })}`);
      expect(load.scripts).toBeWithin(1000, MAX_FIRST_SCRIPT);
      expect(load.styles).toBeWithin(1000, MAX_STYLE);
      expect(load.document).toBeWithin(100, MAX_DOCUMENT);
      expect(load.requests).toBeWithin(3, MAX_REQUESTS + 1);
      expect(load.apiCalls).toBeWithin(0, MAX_API_CALLS + 1);
      expect(shift).toBeLessThanOrEqual(0.02);
    });

  test("console-next 9: the first page in every language stays within the bytes of its scripts", async () => {
    const { assets, languages } = await bundleWeb();
    for (const [language, { documents, pages }] of Object.entries(languages)) {
      const html = new TextDecoder().decode(documents[0]?.body);
      const main = /src="\/console\/a\/([^"]+)"/.exec(html)?.[1] ?? "";
      const first = [main, ...(pages.find(({ path }) => path === "/")?.scripts ?? [])];
      const bytes = assets
        .filter(({ name }) => first.includes(name))
        .reduce((sum, { body }) => sum + gzipBytes(body), 0);
      expect({ language, fits: bytes < MAX_FIRST_SCRIPT, scripts: first.length }).toEqual({
        language,
        fits: true,
        scripts: 2,
      });
    }
  });

  consoleTest("check 4: no lazy chunk is too large, and the executable grows by little", async () => {
    const { assets, languages } = await bundleWeb();
    const first = new Set(
      Object.values(languages)
        .flatMap(({ documents }) => documents)
        .flatMap(({ body }) => [...new TextDecoder().decode(body).matchAll(/\/a\/([^"]+)/g)])
        .map(([, name]) => name),
    );
    const large = assets
      .filter(({ name }) => name.endsWith(".js") && !first.has(name))
      .map(({ name, body }) => ({ name, bytes: gzipBytes(body) }))
      .filter(({ bytes }) => bytes > MAX_CHUNK);
    expect(large).toEqual([]);
    const { byteLength: embedded } = await packPage();
    console.info(`embedded in ${Object.keys(languages).length} languages: ${embedded} bytes`);
    expect(embedded).toBeWithin(100_000, MAX_EMBEDDED);
  });

  test("console-next 11, check 40: what loads on need stays within its bytes in every language", async () => {
    const { assets, languages } = await bundleWeb();
    const sizes = new Map(assets.map(({ name, body }) => [name, gzipBytes(body)]));
    const sumOf = (names: readonly string[]) => names.reduce((sum, name) => sum + (sizes.get(name) ?? 0), 0);
    const containing = (text: string) =>
      assets.filter(
        ({ name, body }) => name.endsWith(".js") && new TextDecoder().decode(body).includes(text),
      );
    for (const { pages } of Object.values(languages)) {
      const scriptsOf = (path: string) => pages.find((page) => page.path === path)?.scripts ?? [];
      // What an owner's pages have loaded is there already.
      const owners = scriptsOf("/console/manage");
      expect(sumOf(scriptsOf("/console/setup"))).toBeWithin(1_000, MAX_SET_UP);
      expect(sumOf(scriptsOf("/console/call").filter((name) => !owners.includes(name)))).toBeWithin(
        1_000,
        16_000,
      );
    }
    const scrubbers = containing('"scrub pad"').map(({ name }) => sizes.get(name) ?? 0);
    expect(scrubbers).toHaveLength(Object.keys(languages).length);
    expect(Math.max(...scrubbers)).toBeLessThan(9_000);
    expect(sizes.get("sw.js")).toBeLessThan(2_000);
  });

  // On a busy machine these times say little, so they are measured in the long form only.
  if (IS_LONG)
    for (const path of ["/", "/console"])
      consoleTest(`check 4: ${path} is drawn in time over a slow network on a slow machine`, async (open) => {
        let fastestMs = Number.POSITIVE_INFINITY;
        for (let pass = 0; pass < PASSES && fastestMs > MAX_LCP_MS; pass++)
          fastestMs = Math.min(fastestMs, await largestPaintMs(await open({ trustedTypes: false }), path));
        console.info(`LCP of ${path}: ${Math.round(fastestMs)} ms`);
        expect(fastestMs).toBeLessThanOrEqual(MAX_LCP_MS);
      });
});

consoleTest(
  "a tab whose chunk is missing after an upgrade says so, and is the new page after a reload",
  async (open) => {
    const { page, goto } = await open({ expects: [/console\/a\//, /dynamically imported/] });
    await goto("/console");
    await settled(page);
    await page.route("**/console/a/stream-*.js", (route) => route.fulfill({ status: 404, body: "{}" }));
    await page.getByRole("navigation").first().getByRole("link", { name: "Stream" }).click();
    await page.getByText("The node was updated").waitFor();
    await page.unroute("**/console/a/stream-*.js");
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/console/stream");
  },
);

consoleTest(
  "a form of a tab whose chunks are missing after an upgrade keeps what was typed a moment ago",
  async (open) => {
    const one = await open({ expects: [/console\/a\//, /dynamically imported/] });
    const { page, goto } = one;
    await becomeDemoPerson(one, 26);
    await goto("/console/manage/apps/new");
    await page.getByLabel("URL").fill("https://bakery.example");
    await page.route("**/console/a/*.js", (route) => route.fulfill({ status: 404, body: "{}" }));
    await page.getByLabel("Name").fill("The bakery");
    await page.getByRole("link", { name: "Stream" }).first().click();
    await page.getByText("The node was updated").waitFor();
    await page.unroute("**/console/a/*.js");
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByRole("heading", { name: "Stream" }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "Register a mini app" }).waitFor();
    expect(await page.getByLabel("Name").inputValue()).toBe("The bakery");
    expect(await page.getByLabel("URL").inputValue()).toBe("https://bakery.example");
  },
);

consoleTest("a page requested while the node is down opens once it responds", async (open) => {
  const { page, goto } = await open({ expects: [/console/, /dynamically imported/] });
  await goto("/console");
  await settled(page);
  await page.route(/\/console(\/a\/stream-.*)?$/, (route) => route.abort("connectionrefused"));
  await page.getByRole("navigation").first().getByRole("link", { name: "Stream" }).click();
  await page.getByText("The node does not respond. The page opens once it does.").waitFor();
  await page.unroute(/\/console(\/a\/stream-.*)?$/);
  await page.getByRole("heading", { name: "Stream" }).waitFor();
});
