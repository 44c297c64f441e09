import { afterAll, describe, expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { createWebAssets } from "../../src/console/assets.ts";
import { bundleWeb } from "../../src/console/bundle.ts";
import { consoleRoutes, pageSettingsOf } from "../../src/console/routes.ts";
import { brotliFile, type WebBuild } from "../../src/console/web-build.ts";
import { configWith } from "../runtime/config.ts";
import { runHttp } from "../support/http.ts";

const bundled = await bundleWeb();
const build: WebBuild = { ...bundled, assets: bundled.assets.map((file) => brotliFile(file, 5)) };
let loads = 0;

function serve(...settings: string[]) {
  const config = configWith(...settings);
  const load = async () => {
    loads += 1;
    return build;
  };
  const assets = createWebAssets(load, pageSettingsOf(config, { isDemo: false, hasMasterKey: false }));
  return runHttp({ pages: [consoleRoutes({ assets, ...config.console })] });
}

const http = serve();
afterAll(() => http[Symbol.asyncDispose]());

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  // The client of the test would decompress what it asked for.
  fetch(http.url + path, { method, headers, decompress: false } as RequestInit);
const scriptOf = async () => /src="([^"]+\.js)"/.exec(await (await get("/console")).text())?.[1] ?? "";

describe("check 1: the document at /", () => {
  test.each([BROWSER, "text/html", "application/json, text/html;q=0.1", "TEXT/HTML"])(
    "is for those who accept %p",
    async (accept) => {
      const response = await get("/", { accept });
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(response.headers.get("vary")).toBe("accept-encoding, accept-language, accept");
      expect(await response.text()).toMatch(/<h1[ >]/);
    },
  );

  test.each(["*/*", "application/json", "text/html;q=0", "text/*", "", "text/htmlx"])(
    "is not for %p, which gets JSON that names /docs and /ready",
    async (accept) => {
      const [response, missing] = await Promise.all([get("/", { accept }), get("/nothing", { accept })]);
      expect(response.status).toBe(404);
      expect(await response.json()).toEqual({ message: expect.stringMatching(/\/docs.*\/ready/) });
      const headersOf = ({ headers }: Response) =>
        [...headers].filter(([name]) => !["x-request-id", "date", "content-length"].includes(name));
      expect(headersOf(response)).toEqual(headersOf(missing));
    },
  );
});

describe("the documents of the console", () => {
  test("are read at the first request, once", async () => {
    const before = loads;
    const fresh = serve();
    await fetch(`${fresh.url}/console/api/none`);
    expect(loads).toBe(before);
    await Promise.all([1, 2, 3].map(() => fetch(`${fresh.url}/console`)));
    expect(loads).toBe(before + 1);
    await fresh[Symbol.asyncDispose]();
  });

  test("have the status of their page", async () => {
    for (const [path, status] of [
      ["/console", 200],
      ["/console/", 200],
      ["/console/nothing/of/this", 404],
      ["/console/%00", 404],
    ] as const) {
      const response = await get(path);
      expect([path, response.status]).toEqual([path, status]);
      expect(await response.text()).toContain("<title>");
    }
  });

  test("are not served below the paths of requests", async () => {
    for (const path of ["/console/api/x", "/console/op", "/console/demo/x", "/console/a/none-12345678.js"]) {
      const response = await get(path, { accept: BROWSER });
      expect(response.status).toBe(404);
      expect(await response.json()).toEqual({ message: "unknown route" });
    }
  });

  test("check 3: have the headers of a page that loads nothing from elsewhere", async () => {
    for (const path of ["/", "/console", "/console/none"]) {
      const { headers } = await get(path, { accept: BROWSER });
      const expected = {
        "content-security-policy":
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "x-frame-options": "DENY",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin-allow-popups",
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "no-cache",
      };
      for (const [name, value] of Object.entries(expected)) expect(headers.get(name)).toBe(value);
      expect(headers.get("permissions-policy")).toMatch(/^clipboard-write=\(self\)(, [a-z-]+=\(\))*$/);
    }
  });

  test("check 12: allow images of other hosts only where the reader and the settings do", async () => {
    const policy = async (url: string) =>
      /img-src ([^;]+)/.exec((await fetch(url)).headers.get("content-security-policy") ?? "")?.[1];
    expect(await policy(`${http.url}/console?images=1`)).toBe("'self' data: https:");
    expect(await policy(`${http.url}/console?images=0`)).toBe("'self' data:");
    const off = serve("console.images=off");
    expect(await policy(`${off.url}/console?images=1`)).toBe("'self' data:");
    await off[Symbol.asyncDispose]();
  });

  test("check 2: have a strong ETag, with which a known document is 304", async () => {
    const first = await get("/console", { "accept-encoding": "gzip" });
    const etag = first.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[\w-]+-gzip"$/);
    const known = await get("/console", { "accept-encoding": "gzip", "if-none-match": `"x", ${etag}` });
    expect([known.status, known.headers.get("etag"), (await known.bytes()).length]).toEqual([304, etag, 0]);
    expect(known.headers.get("content-security-policy")).toBe(first.headers.get("content-security-policy"));
    const plain = await get("/console", { "accept-encoding": "identity", "if-none-match": etag });
    expect(plain.status).toBe(200);
    expect(plain.headers.get("etag")).not.toBe(etag);
  });

  test("tell the page its settings, as text that cannot end the attribute", async () => {
    const named = serve("service.name=bread", "service.public_url=https://node.example/a&b");
    const html = await (await fetch(`${named.url}/console`)).text();
    const [, content = ""] = /<meta name="console-settings" content="([^"]*)">/.exec(html) ?? [];
    const settings = JSON.parse(content.replaceAll("&quot;", '"').replaceAll("&amp;", "&"));
    expect(settings).toMatchObject({
      service: "bread",
      headerPrefix: "X-Bread-",
      images: "ask",
      manage: true,
    });
    await named[Symbol.asyncDispose]();
  });

  test("are GET and HEAD only", async () => {
    for (const path of ["/", "/console", await scriptOf()]) {
      const [head, full] = await Promise.all([
        get(path, { accept: BROWSER }, "HEAD"),
        get(path, { accept: BROWSER }),
      ]);
      expect([head.status, await head.text()]).toEqual([200, ""]);
      expect(head.headers.get("content-type")).toBe(full.headers.get("content-type"));
      for (const method of ["POST", "PUT", "DELETE"]) {
        const refused = await get(path, { accept: BROWSER }, method);
        expect([refused.status, await refused.json()]).toEqual([405, { message: "method not allowed" }]);
      }
    }
  });
});

describe("check 2: the assets of the console", () => {
  test("are sent in the encodings that the client accepts, for good", async () => {
    const path = await scriptOf();
    const plain = await (await get(path, { "accept-encoding": "identity" })).bytes();
    for (const [acceptEncoding, coding, decode] of [
      ["gzip, deflate, br, zstd", "br", brotliDecompressSync],
      ["gzip", "gzip", gunzipSync],
      ["br;q=0, *", "gzip", gunzipSync],
    ] as const) {
      const response = await get(path, { "accept-encoding": acceptEncoding });
      expect(response.headers.get("content-encoding")).toBe(coding);
      expect(Buffer.compare(decode(await response.bytes()), plain)).toBe(0);
      expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(response.headers.get("vary")).toBe("accept-encoding");
      expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
    }
  });
});

describe("with the console off", () => {
  test("its pages are unknown, and the files of other pages stay", async () => {
    const off = serve("console.enabled=false");
    const asset = await scriptOf();
    for (const [path, message] of [
      ["/", expect.stringMatching(/\/docs.*\/ready/)],
      ["/console", "unknown route"],
      ["/console/x", "unknown route"],
    ] as const) {
      const response = await fetch(off.url + path, { headers: { accept: BROWSER } });
      expect([response.status, await response.json()]).toEqual([404, { message }]);
    }
    expect((await fetch(off.url + asset)).status).toBe(200);
    await off[Symbol.asyncDispose]();
  });
});

test("requests are counted by template, and have access lines at debug", async () => {
  await get("/", { accept: BROWSER });
  await get("/console/people/3");
  await get(await scriptOf());
  const metrics = await (await fetch(`${http.url}/metrics`)).text();
  for (const route of ["/", "/console/*", "/console/a/*"]) expect(metrics).toContain(`route="${route}"`);
  const lines = http.logLines.filter(({ route }) => route === "/console/a/*");
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.filter(({ status, level }) => status === 200 && level !== "debug")).toEqual([]);
});
