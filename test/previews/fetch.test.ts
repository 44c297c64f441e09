import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { createOutboundClient, type OutboundClient } from "../../src/net/client.ts";
import { createUrlGuard } from "../../src/net/guard.ts";
import type { Resolve } from "../../src/net/resolve.ts";
import { type FetchOutcome, fetchPreview } from "../../src/previews/fetch-preview.ts";
import { previewUrlOf } from "../../src/previews/preview-url.ts";
import { type ReceivedRequest, startRawReceiver, startReceiver } from "../support/receiver.ts";

const MIB = 1024 * 1024;
const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452000004b000000320080200000000000000", "hex");
const html = (title: string) => `<head><title>${title}</title></head><body></body>`;
const page = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  new Response(body, { headers: { "content-type": "text/html; charset=utf-8", ...headers } });
const redirect = (location: string) => new Response(null, { status: 302, headers: { location } });

let sent = 0;
/** More bytes than any disk would hold, a MB at a time. */
const endless = () =>
  new ReadableStream({
    pull(controller) {
      sent += MIB;
      controller.enqueue(new Uint8Array(MIB).fill(32));
    },
  });

let bombBytes: Uint8Array<ArrayBuffer> | undefined;
/** 256 KB that expand to 256 MB. */
function bomb(): Uint8Array<ArrayBuffer> {
  bombBytes ??= gzipSync(
    Buffer.concat([Buffer.from("<head><title>Bomb</title>"), Buffer.alloc(256 * MIB, 32)]),
  );
  return bombBytes;
}

const PAGES: Readonly<Record<string, (request: ReceivedRequest) => Response>> = {
  "/plain": () => page(html("Plain")),
  "/gzip": () => page(gzipSync(html("Zipped")), { "content-encoding": "gzip" }),
  "/br": () => page(brotliCompressSync(html("Brotli")), { "content-encoding": "br" }),
  "/deflate": () => page(deflateSync(html("Deflated")), { "content-encoding": "deflate" }),
  "/garbage-gzip": () => page(html("x"), { "content-encoding": "gzip" }),
  "/twice-gzip": () => page(gzipSync(gzipSync(html("x"))), { "content-encoding": "gzip, gzip" }),
  "/bomb": () => page(bomb(), { "content-encoding": "gzip" }),
  "/endless": () => new Response(endless(), { headers: { "content-type": "text/html" } }),
  "/endless-video": () => new Response(endless(), { headers: { "content-type": "video/mp4" } }),
  "/picture.png": ({ headers }) =>
    new Response(PNG, {
      status: headers.get("range") === "bytes=0-65535" ? 206 : 200,
      headers: { "content-type": "image/png", "content-range": "bytes 0-31/123456" },
    }),
  "/broken.png": () => new Response("no image", { headers: { "content-type": "image/png" } }),
  "/hop": () => redirect("/hop2"),
  "/hop2": () => redirect("http://site.example/plain"),
  "/loop": () => redirect("/loop"),
  "/inward": () => redirect("https://internal.example/secret"),
  "/address": () => redirect("https://127.0.0.1/secret"),
  "/port": () => redirect("https://site.example:8443/plain"),
  "/file": () => redirect("file:///etc/passwd"),
  "/elsewhere": () => redirect("https://busy.example/plain"),
  "/gone": () => new Response(null, { status: 410 }),
  "/missing": () => new Response(null, { status: 404 }),
  "/broken": () => new Response(null, { status: 500 }),
  "/slow-down": () => new Response(null, { status: 429, headers: { "retry-after": "120" } }),
  "/cached": () => page(html("x"), { "cache-control": "public, max-age=7200" }),
  "/oembed-page": () =>
    page(`<head><link rel="alternate" type="application/json+oembed" href="/oembed.json"></head>`),
  "/oembed-foreign": () =>
    page(
      `<head><link rel="alternate" type="application/json+oembed" href="https://video.example/oembed.json"></head>`,
    ),
  "/oembed.json": () => Response.json({ type: "rich", version: "1.0", title: "Rich", html: "<b>x</b>" }),
};

let receiver: ReturnType<typeof startReceiver>;
beforeAll(() => {
  receiver = startReceiver({
    respond: (request) => PAGES[request.path]?.(request) ?? new Response("secret"),
  });
});
afterAll(() => receiver[Symbol.asyncDispose]());

/** Names of the test are at a public address, which the client reaches by the receiver's port in plain HTTP; others are looked up as given. */
function clientOf(resolve: Resolve, port = receiver.port): OutboundClient {
  const guard = createUrlGuard({ allowCidrs: [], allowHttp: true, resolve, ownAddresses: () => [] });
  const toReceiver = createOutboundClient({
    guard: {
      async check(text, requester) {
        const checked = await guard.check(text.replace(/^http:\/\/([^/:]+):\d+/, "https://$1"), requester);
        if (!checked.ok) return checked;
        const address = { address: "127.0.0.1", family: 4 } as const;
        return { ok: true, value: { url: new URL(text), ...address, addresses: [address] } };
      },
    },
  });
  return {
    request: (call) =>
      toReceiver.request({ ...call, url: call.url.replace(/^https:\/\/([^/]+)/, `http://$1:${port}`) }),
  };
}

const publicNames: Resolve = async (name) =>
  name === "internal.example" ? ["127.0.0.1"] : ["93.184.216.34"];

async function fetched(
  path: string,
  {
    client = clientOf(publicNames),
    mayCall = (_: string): boolean => true,
    oembedHosts = new Set<string>(),
  } = {},
): Promise<FetchOutcome> {
  const url = previewUrlOf(`https://site.example${path}`);
  if (!url) throw new Error(path);
  return fetchPreview(url, { client, userAgent: "svc-preview/test", oembedHosts, mayCall });
}

const foundAt = async (path: string, options = {}) => {
  const outcome = await fetched(path, options);
  if (outcome.kind !== "found") throw new Error(`${path}: ${outcome.kind}`);
  return outcome.found;
};
const titleAt = async (path: string) => (await foundAt(path)).html?.ogTitle;
const kindAt = async (path: string, options = {}) => (await fetched(path, options)).kind;

describe("a page", () => {
  test("is asked for with the name of the program, and without cookies and referrer", async () => {
    expect(await titleAt("/plain")).toBe("Plain");
    const request = receiver.requests.findLast(({ path }) => path === "/plain");
    expect(request?.headers.get("user-agent")).toBe("svc-preview/test");
    expect(request?.headers.get("cookie")).toBeNull();
    expect(request?.headers.get("referer")).toBeNull();
  });

  test("is inflated, whatever way it was compressed", async () => {
    expect(await titleAt("/gzip")).toBe("Zipped");
    expect(await titleAt("/br")).toBe("Brotli");
    expect(await titleAt("/deflate")).toBe("Deflated");
    expect(await kindAt("/garbage-gzip")).toBe("failed");
    expect(await kindAt("/twice-gzip")).toBe("failed");
  });

  test("that expands to 256 MB is read in bounded memory", async () => {
    // Compressed before, which takes longer than a page may on a busy machine.
    bomb();
    const before = process.memoryUsage.rss();
    expect(await titleAt("/bomb")).toBe("Bomb");
    expect(process.memoryUsage.rss() - before).toBeLessThan(200 * MIB);
  });

  test("that never ends is left after half a MB, other files after their head", async () => {
    sent = 0;
    await foundAt("/endless");
    await foundAt("/endless-video");
    expect(sent).toBeLessThan(64 * MIB);
  });

  test("that drips is left, before it ends", async () => {
    await using slow = startRawReceiver((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\n");
      const timer = setInterval(() => socket.write("1\r\na\r\n"), 100);
      void slow.hungUp.then(() => clearInterval(timer));
    });
    expect(await kindAt("/plain", { client: clientOf(publicNames, slow.port) })).toBe("failed");
  });

  test("says how long it may be kept", async () => {
    expect((await foundAt("/cached")).maxAgeSecs).toBe(7200);
    expect((await foundAt("/plain")).maxAgeSecs).toBeUndefined();
  });
});

describe("an image", () => {
  test("is measured by its first bytes", async () => {
    expect(await foundAt("/picture.png")).toMatchObject({
      contentType: "image/png",
      contentLength: 123456,
      image: { width_px: 1200, height_px: 800 },
    });
  });

  test("of another type has no size", async () => {
    expect((await foundAt("/broken.png")).image).toBeUndefined();
  });

  test("of any bytes is measured in bounded CPU time", async () => {
    const { imageSize } = await import("image-size");
    const signatures = [
      "89504e470d0a1a0a",
      "ffd8ffe0",
      "474946383961",
      "52494646ffffffff57454250",
      "0000001c66747970617669660000",
      "424d",
      "00000100",
    ];
    const cpuBefore = process.threadCpuUsage();
    for (const signature of signatures)
      for (const fill of [0, 1, 0xff, 0xd8, 0x80]) {
        const bytes = Buffer.concat([Buffer.from(signature, "hex"), Buffer.alloc(65_000, fill)]);
        try {
          imageSize(bytes);
        } catch {
          // It says what is wrong with them.
        }
      }
    const { user, system } = process.threadCpuUsage(cpuBefore);
    expect((user + system) / 1000).toBeLessThan(2_000);
  });
});

describe("redirects", () => {
  test("are followed through the guard, http as https", async () => {
    expect(await titleAt("/hop")).toBe("Plain");
  });

  test("to another host are noted: such a page says nothing of the first one", async () => {
    expect((await foundAt("/elsewhere")).movedTo).toBe("busy.example");
    expect((await foundAt("/hop")).movedTo).toBeUndefined();
  });

  test("to this machine, to an address, another port or scheme are refused", async () => {
    const before = receiver.requests.length;
    for (const path of ["/inward", "/address", "/port", "/file"]) expect(await kindAt(path)).toBe("refused");
    expect(receiver.requests.slice(before).map(({ path }) => path)).not.toContain("/secret");
  });

  test("end after three", async () => {
    const before = receiver.requests.length;
    expect(await kindAt("/loop")).toBe("failed");
    expect(receiver.requests.length - before).toBe(4);
  });

  test("to a host that may not be called now are put off", async () => {
    const mayCall = (host: string) => host !== "busy.example";
    expect(await fetched("/elsewhere", { mayCall })).toEqual({
      kind: "rest",
      host: "busy.example",
      afterSecs: undefined,
    });
  });

  test("a name that leads to this machine at its second look-up is refused", async () => {
    let lookUps = 0;
    const rebinding: Resolve = async () => (lookUps++ === 0 ? ["93.184.216.34"] : ["127.0.0.1"]);
    expect(await kindAt("/hop", { client: clientOf(rebinding) })).toBe("refused");
  });
});

test("statuses that are not a page", async () => {
  expect(await kindAt("/gone")).toBe("missing");
  expect(await kindAt("/missing")).toBe("missing");
  expect(await kindAt("/broken")).toBe("failed");
  expect(await fetched("/slow-down")).toEqual({ kind: "rest", host: "site.example", afterSecs: 120 });
});

describe("oEmbed", () => {
  test("of the page's own host is read, without its HTML", async () => {
    expect((await foundAt("/oembed-page")).html?.oembed).toMatchObject({
      type: "rich",
      title: "Rich",
      html: null,
    });
  });

  test("of another host counts only where the operator says so", async () => {
    expect((await foundAt("/oembed-foreign")).html).toBeUndefined();
    const listed = await foundAt("/oembed-foreign", { oembedHosts: new Set(["video.example"]) });
    expect(listed.html?.oembed).toMatchObject({ title: "Rich" });
  });
});
