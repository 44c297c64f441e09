import { beforeAll, describe, expect, test } from "bun:test";
import { getEventListeners } from "node:events";
import { createServer } from "node:tls";
import {
  createOutboundClient,
  type OutboundCall,
  type OutboundError,
  type OutboundResponse,
  type OutboundResult,
} from "../../src/net/client.ts";
import { createUrlGuard, type UrlGuardOptions } from "../../src/net/guard.ts";
import { CLOSED_PORT } from "../support/addresses.ts";
import { type CertificateAuthority, createCertificateAuthority } from "../support/certificates.ts";
import { startDnsServer } from "../support/dns.ts";
import { startConnectProxy, withProxy } from "../support/proxy.ts";
import { type RawReceiver, startRawReceiver, startReceiver } from "../support/receiver.ts";
import { expectErr, expectOk } from "../support/result.ts";

let authority: CertificateAuthority;
beforeAll(() => {
  authority = createCertificateAuthority();
});

/** A guard that allows 127.0.0.1; every name resolves to it by default. */
const guardOf = (options: Partial<UrlGuardOptions> = {}) =>
  createUrlGuard({
    allowCidrs: ["127.0.0.1/32", "::1/128"],
    allowHttp: false,
    resolve: async () => ["127.0.0.1"],
    ...options,
  });

/** A client that trusts only the test's authority. */
const clientOf = (options: Partial<UrlGuardOptions> = {}) =>
  createOutboundClient({ guard: guardOf(options), ca: authority.ca });

const call = (url: string, options: Partial<OutboundCall> = {}): OutboundCall => ({
  url,
  method: "POST",
  body: "{}",
  timeoutMs: 5_000,
  ...options,
});

const failureOf = async (outcome: Promise<OutboundResult>): Promise<OutboundError> =>
  expectErr(await outcome);
/**
 * Makes a call again with twice the time until one was connected: on a busy machine a short deadline passes before that, and
 * then no connection is there to be closed.
 */
async function failureOnceConnected(
  receiver: RawReceiver,
  timeoutMs: number,
  send: (timeoutMs: number) => Promise<OutboundResult>,
): Promise<OutboundError> {
  const failure = await failureOf(send(timeoutMs));
  return receiver.connections > 0 ? failure : failureOnceConnected(receiver, timeoutMs * 2, send);
}
const responseOf = async (outcome: Promise<OutboundResult>): Promise<OutboundResponse> =>
  expectOk(await outcome);

describe("a call over TLS", () => {
  test("calls the checked address, with the name in Host and TLS, and returns the response", async () => {
    await using receiver = startReceiver({
      tls: authority.issue(["hooks.example"]),
      respond: () => new Response("accepted", { status: 202, headers: { "x-seen": "yes" } }),
    });
    const url = `https://hooks.example:${receiver.port}/in?a=1#fragment`;
    const response = await responseOf(
      clientOf().request(call(url, { body: "ü", headers: { "x-sign": "1", host: "spoofed" } })),
    );
    expect(response.status).toBe(202);
    expect(response.headers.get("x-seen")).toBe("yes");
    expect(new TextDecoder().decode(response.body)).toBe("accepted");
    expect(response.truncated).toBe(false);
    expect(response.durationMs).toBeGreaterThan(0);
    const [request] = receiver.requests;
    expect(request).toMatchObject({ method: "POST", path: "/in", body: "ü" });
    expect(request?.headers.get("host")).toBe(`hooks.example:${receiver.port}`);
    expect(request?.headers.get("x-sign")).toBe("1");
    expect(request?.headers.get("accept-encoding")).toBe("identity");
  });

  test("returns error statuses as responses", async () => {
    await using receiver = startReceiver({
      tls: authority.issue(["hooks.example"]),
      respond: () => new Response(null, { status: 410 }),
    });
    expect(
      await responseOf(clientOf().request(call(`https://hooks.example:${receiver.port}/`))),
    ).toMatchObject({
      status: 410,
    });
  });

  test("calls literal addresses of both families that the certificate names", async () => {
    await using four = startReceiver({ tls: authority.issue(["127.0.0.1"]) });
    await using six = startReceiver({ tls: authority.issue(["::1"]), hostname: "::1" });
    const client = clientOf();
    expect(await responseOf(client.request(call(`https://127.0.0.1:${four.port}/`)))).toMatchObject({
      status: 200,
    });
    expect(await responseOf(client.request(call(`https://[::1]:${six.port}/`)))).toMatchObject({
      status: 200,
    });
  });

  test("sends a name to the server in TLS, and no address", async () => {
    const { cert, key } = authority.issue(["hooks.example", "127.0.0.1", "::1"]);
    const named: unknown[] = [];
    const server = createServer({ cert, key }, (socket) => {
      named.push(socket.servername);
      socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { readonly port: number };
    try {
      const client = clientOf();
      await responseOf(client.request(call(`https://hooks.example:${port}/`)));
      await responseOf(client.request(call(`https://127.0.0.1:${port}/`)));
    } finally {
      server.close();
    }
    expect(named).toEqual(["hooks.example", false]);
  });

  test("calls a name over IPv6, and without its trailing dot", async () => {
    await using receiver = startReceiver({ tls: authority.issue(["hooks.example"]), hostname: "::1" });
    const client = clientOf({ resolve: async () => ["::1"] });
    const response = await responseOf(client.request(call(`https://hooks.example.:${receiver.port}/`)));
    expect(response).toMatchObject({ status: 200 });
    expect(receiver.requests[0]?.headers.get("host")).toBe(`hooks.example:${receiver.port}`);
  });

  test("fails for a certificate of another name, an expired one and an untrusted one", async () => {
    await using other = startReceiver({ tls: authority.issue(["other.example", "127.0.0.1"]) });
    await using expired = startReceiver({ tls: authority.issue(["hooks.example"], { expired: true }) });
    await using stranger = startReceiver({ tls: createCertificateAuthority().issue(["hooks.example"]) });
    for (const receiver of [other, expired, stranger]) {
      const failure = await failureOf(clientOf().request(call(`https://hooks.example:${receiver.port}/`)));
      expect(failure.kind).toBe("tls");
      expect(receiver.requests).toEqual([]);
    }
    const failure = await failureOf(
      createOutboundClient({ guard: guardOf() }).request(call(`https://other.example:${other.port}/`)),
    );
    expect(failure.kind).toBe("tls");
  });

  test("verifies the certificate of another name on the same address", async () => {
    await using receiver = startReceiver({ tls: authority.issue(["one.example"]) });
    const client = clientOf();
    expect(await responseOf(client.request(call(`https://one.example:${receiver.port}/`)))).toMatchObject({
      status: 200,
    });
    expect((await failureOf(client.request(call(`https://two.example:${receiver.port}/`)))).kind).toBe("tls");
    expect(receiver.requests).toHaveLength(1);
  });
});

describe("a non-public address", () => {
  test("is refused at the call without a connection", async () => {
    await using receiver = startRawReceiver((socket) => socket.end());
    const client = clientOf({ allowCidrs: [], allowHttp: true, resolve: async () => ["127.0.0.1"] });
    for (const host of ["127.0.0.1", "internal.example", "[::ffff:127.0.0.1]", "0.0.0.0"]) {
      const failure = await failureOf(client.request(call(`http://${host}:${receiver.port}/`)));
      expect(failure.kind).toBe("refused");
      expect(failure.message).not.toContain("127.0.0.1");
    }
    expect(receiver.connections).toBe(0);
  });

  test("is never called when the name server returns a public address first and a private one second", async () => {
    await using receiver = startReceiver({ tls: authority.issue(["rebind.example"]) });
    // Here 127.0.0.1 is public, and 127.0.0.2 at the same port is private.
    const at = { hostname: "127.0.0.2", port: receiver.port };
    await using inside = startRawReceiver((socket) => socket.end(), at);
    await using dns = await startDnsServer((_name, nth) => [nth === 0 ? "127.0.0.1" : "127.0.0.2"]);
    const client = clientOf({ resolve: dns.resolve });
    const url = `https://rebind.example:${receiver.port}/`;
    expect(await responseOf(client.request(call(url)))).toMatchObject({ status: 200 });
    // The name was resolved once: the checked address is the called one.
    expect(dns.queries).toEqual(["rebind.example"]);
    expect((await failureOf(client.request(call(url)))).kind).toBe("refused");
    expect(dns.queries).toEqual(["rebind.example", "rebind.example"]);
    expect(inside.connections).toBe(0);
    expect(receiver.requests).toHaveLength(1);
    // The private address does respond if it is allowed.
    const insider = clientOf({ allowCidrs: ["127.0.0.0/8"], resolve: dns.resolve });
    await failureOf(insider.request(call(url)));
    expect(inside.connections).toBe(1);
  });

  test("is not reached by a redirect, which is a failure", async () => {
    await using inside = startRawReceiver((socket) => socket.end());
    for (const status of [301, 302, 303, 307, 308, 304]) {
      await using receiver = startReceiver({
        tls: authority.issue(["hooks.example"]),
        respond: () =>
          new Response(null, { status, headers: { location: `http://127.0.0.1:${inside.port}/secret` } }),
      });
      const failure = await failureOf(clientOf().request(call(`https://hooks.example:${receiver.port}/`)));
      expect(failure.kind).toBe("redirect");
      expect(receiver.requests).toHaveLength(1);
    }
    expect(inside.connections).toBe(0);
  });

  test("fails with dns for a name that does not resolve, or not in time", async () => {
    const nowhere = clientOf({ resolve: () => Promise.reject(new Error("ENOTFOUND")) });
    const missing = await failureOf(nowhere.request(call("https://nowhere.example/")));
    expect(missing.kind).toBe("dns");
    const internal = await failureOf(clientOf({ allowCidrs: [] }).request(call("https://db.internal/")));
    expect([internal.kind, internal.message]).toEqual(["refused", missing.message]);
    await using dns = await startDnsServer(() => "silent");
    const slow = clientOf({ resolve: dns.resolve });
    const failure = await failureOf(slow.request(call("https://slow.example/", { timeoutMs: 30 })));
    expect(failure.kind).toBe("timeout");
  });
});

describe("proxies of the environment", () => {
  test("are ignored for https and http", async () => {
    let asked = "";
    await using proxy = startRawReceiver((socket, bytes) => {
      asked += bytes.toString();
      socket.end();
    });
    await using receiver = startReceiver({ tls: authority.issue(["hooks.example"]) });
    await using plain = startReceiver();
    const client = clientOf({ allowHttp: true });
    await withProxy(`http://127.0.0.1:${proxy.port}`, async () => {
      expect(await responseOf(client.request(call(`https://hooks.example:${receiver.port}/`)))).toMatchObject(
        {
          status: 200,
        },
      );
      expect(await responseOf(client.request(call(`http://hooks.example:${plain.port}/`)))).toMatchObject({
        status: 200,
      });
    });
    // Another client in this process may have used it.
    expect(asked).not.toContain("hooks.example");
  });
});

describe("with a proxy of the operator", () => {
  test("it connects to the checked address; the certificate is that of the name, and the guard refuses as before", async () => {
    await using receiver = startReceiver({ tls: authority.issue(["hooks.example"]) });
    await using proxy = await startConnectProxy();
    const proxyUrl = `http://svc:secret@127.0.0.1:${proxy.port}`;
    const client = createOutboundClient({
      guard: guardOf({
        resolve: async (name) => (name === "inside.example" ? ["10.0.0.7"] : ["127.0.0.1"]),
      }),
      ca: authority.ca,
      proxyUrl,
    });
    const url = `https://hooks.example:${receiver.port}/a`;
    expect(await responseOf(client.request(call(url)))).toMatchObject({ status: 200 });
    expect(proxy.asked).toEqual([
      {
        target: `127.0.0.1:${receiver.port}`,
        authorization: `Basic ${Buffer.from("svc:secret").toString("base64")}`,
      },
    ]);
    expect(
      receiver.requests.map(({ path, headers }) => [
        path,
        headers.get("host"),
        headers.get("proxy-authorization"),
      ]),
    ).toEqual([["/a", `hooks.example:${receiver.port}`, null]]);
    const other = await failureOf(client.request(call(`https://other.example:${receiver.port}/`)));
    expect(other.kind).toBe("tls");
    const asked = proxy.asked.length;
    expect((await failureOf(client.request(call("https://inside.example/")))).kind).toBe("refused");
    expect((await failureOf(client.request(call("https://169.254.169.254/")))).kind).toBe("refused");
    expect(proxy.asked).toHaveLength(asked);
  });

  test("without the proxy there is no call", async () => {
    await using receiver = startReceiver({ tls: authority.issue(["hooks.example"]) });
    const proxyUrl = `http://127.0.0.1:${CLOSED_PORT}`;
    const client = createOutboundClient({ guard: guardOf(), ca: authority.ca, proxyUrl });
    const failed = await failureOf(client.request(call(`https://hooks.example:${receiver.port}/`)));
    expect(failed.kind).toBe("connect");
    expect(receiver.requests).toEqual([]);
  });
});

test.each(["https", "http"])(
  "over %s, reuses a connection for the same name and never for another",
  async (scheme) => {
    const tls = authority.issue(["one.example", "two.example"]);
    await using receiver = startReceiver(scheme === "https" ? { tls } : {});
    const client = clientOf({ allowHttp: scheme === "http" });
    for (const name of ["one", "one", "two", "one", "two"]) {
      const response = await responseOf(
        client.request(call(`${scheme}://${name}.example:${receiver.port}/`)),
      );
      expect(response).toMatchObject({ status: 200 });
    }
    const portsOf = (name: string) =>
      new Set(
        receiver.requests
          .filter((request) => request.headers.get("host")?.startsWith(name))
          .map((request) => request.fromPort),
      );
    expect(portsOf("one").size).toBe(1);
    expect(portsOf("two").size).toBe(1);
    expect(portsOf("one")).not.toEqual(portsOf("two"));
  },
);

describe("plain http when it is allowed", () => {
  test("does not call the address of an open connection when the name now has another", async () => {
    await using four = startReceiver();
    await using six = startReceiver({ hostname: "::1", port: four.port });
    const addresses = ["127.0.0.1", "::1", "127.0.0.1"];
    const client = clientOf({ allowHttp: true, resolve: async () => addresses.splice(0, 1) });
    for (const requests of [
      [1, 0],
      [1, 1],
      [2, 1],
    ]) {
      await responseOf(client.request(call(`http://moves.example:${four.port}/`)));
      expect([four.requests.length, six.requests.length]).toEqual(requests);
    }
  });

  test("tries the next address of a name when no process listens on the first", async () => {
    await using receiver = startReceiver();
    const client = clientOf({ allowHttp: true, resolve: async () => ["::1", "127.0.0.1"] });
    expect(await responseOf(client.request(call(`http://both.example:${receiver.port}/`)))).toMatchObject({
      status: 200,
    });
    expect(receiver.requests).toHaveLength(1);
  });

  test("does not send the request to another address after it was sent", async () => {
    await using broken = startRawReceiver((socket) => socket.end());
    const client = clientOf({ allowHttp: true, resolve: async () => ["127.0.0.1", "127.0.0.1"] });
    const failure = await failureOf(client.request(call(`http://both.example:${broken.port}/`)));
    expect(failure.kind).toBe("reset");
    expect(broken.connections).toBe(1);
  });

  test("fails with connect on a closed port", async () => {
    const client = clientOf({ allowHttp: true });
    const failure = await failureOf(client.request(call(`http://down.example:${CLOSED_PORT}/`)));
    expect(failure.kind).toBe("connect");
  });
});

describe("a misbehaving receiver", () => {
  const head = "HTTP/1.1 200 OK\r\n";
  const cases: readonly [string, OutboundError["kind"], (socket: Bun.Socket) => void][] = [
    ["hangs up before the response", "reset", (socket) => socket.end()],
    ["resets the connection", "reset", (socket) => socket.terminate()],
    ["hangs up inside the body", "reset", (socket) => socket.end(`${head}Content-Length: 9\r\n\r\nabc`)],
    [
      "hangs up inside a chunk",
      "reset",
      (socket) => socket.end(`${head}Transfer-Encoding: chunked\r\n\r\n9\r\nabc`),
    ],
    [
      "breaks the chunking",
      "malformed",
      (socket) => socket.end(`${head}Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n`),
    ],
    [
      "gives two lengths",
      "malformed",
      (socket) => socket.end(`${head}Content-Length: 3\r\nContent-Length: 5\r\n\r\nabcde`),
    ],
    [
      "switches protocols",
      "malformed",
      (socket) => socket.end("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"),
    ],
    ["invents a status", "malformed", (socket) => socket.end("HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n")],
    ["gives no status", "malformed", (socket) => socket.end("HTTP/1.1 000 No\r\nContent-Length: 0\r\n\r\n")],
    [
      "sends very many headers",
      "malformed",
      (socket) => socket.end(`${head}${"x-a: y\r\n".repeat(1_000)}\r\n`),
    ],
    ["never responds", "timeout", () => {}],
    ["stops inside the head", "timeout", (socket) => void socket.write(head)],
    [
      "stops inside the body",
      "timeout",
      (socket) => void socket.write(`${head}Content-Length: 9\r\n\r\nabc`),
    ],
  ];
  test.each(cases)("%s: %s", async (_what, kind, onRequest) => {
    await using receiver = startRawReceiver(onRequest);
    const client = clientOf({ allowHttp: true });
    const failure = await failureOnceConnected(receiver, kind === "timeout" ? 60 : 5_000, (timeoutMs) =>
      client.request(call(`http://bad.example:${receiver.port}/`, { timeoutMs })),
    );
    expect(failure.kind).toBe(kind);
    expect(failure.message).not.toContain("127.0.0.1");
    await receiver.hungUp;
  });

  test("without TLS on an https URL fails with tls", async () => {
    await using receiver = startRawReceiver((socket) => socket.end("HTTP/1.1 400 No\r\n\r\n"));
    expect((await failureOf(clientOf().request(call(`https://bad.example:${receiver.port}/`)))).kind).toBe(
      "tls",
    );
  });

  test("that sends a byte at a time hits the deadline of the whole response", async () => {
    await using receiver = startRawReceiver((socket) => {
      socket.write(`${head}Content-Length: 100000\r\n\r\n`);
      const drip = setInterval(() => (socket.write("x") < 0 ? clearInterval(drip) : undefined), 5);
    });
    const client = clientOf({ allowHttp: true });
    const failure = await failureOnceConnected(receiver, 100, (timeoutMs) =>
      client.request(call(`http://drip.example:${receiver.port}/`, { timeoutMs })),
    );
    expect(failure.kind).toBe("timeout");
    await receiver.hungUp;
  });

  test("with endless response headers fails", async () => {
    await using receiver = startRawReceiver((socket) => {
      socket.write(head);
      const more = setInterval(
        () => (socket.write(`x-a: ${"y".repeat(60_000)}\r\n`) < 0 ? clearInterval(more) : undefined),
        1,
      );
    });
    const client = clientOf({ allowHttp: true });
    const failure = await failureOf(client.request(call(`http://huge.example:${receiver.port}/`)));
    expect(failure.kind).toBe("too-large");
    await receiver.hungUp;
  });

  test.each([
    ["of a stated length", "Content-Length: 100000000000\r\n"],
    ["without a length", ""],
  ])("with an endless body %s is truncated at the limit and disconnected", async (_what, length) => {
    await using receiver = startRawReceiver((socket) => {
      socket.write(`${head}${length}\r\n`);
      const more = setInterval(
        () => (socket.write("z".repeat(50_000)) < 0 ? clearInterval(more) : undefined),
        1,
      );
    });
    const client = clientOf({ allowHttp: true });
    const response = await responseOf(client.request(call(`http://huge.example:${receiver.port}/`)));
    expect([response.status, response.body.length, response.truncated]).toEqual([200, 65_536, true]);
    await receiver.hungUp;
  });

  test.each([
    [9, 10, false],
    [10, 10, false],
    [11, 10, true],
  ])("a body of %d bytes against a limit of %d: truncated %p", async (size, maxResponseBytes, truncated) => {
    await using receiver = startReceiver({ respond: () => new Response("x".repeat(size)) });
    const client = clientOf({ allowHttp: true });
    const response = await responseOf(
      client.request(call(`http://fit.example:${receiver.port}/`, { maxResponseBytes: maxResponseBytes })),
    );
    expect(response).toMatchObject({
      truncated,
      body: new TextEncoder().encode("x".repeat(Math.min(size, 10))),
    });
  });

  test("with a compression bomb is not decompressed", async () => {
    const bomb = Bun.gzipSync(new Uint8Array(1_000_000));
    await using receiver = startReceiver({
      respond: () => new Response(bomb, { headers: { "content-encoding": "gzip" } }),
    });
    const response = await responseOf(
      clientOf({ allowHttp: true }).request(call(`http://bomb.example:${receiver.port}/`)),
    );
    expect(response).toMatchObject({ truncated: false, body: bomb });
  });
});

describe("the caller", () => {
  test("cancels a call with its signal, before and during the call", async () => {
    const arrived = Promise.withResolvers<void>();
    await using receiver = startRawReceiver(() => arrived.resolve());
    const client = clientOf({ allowHttp: true });
    const abort = new AbortController();
    const url = `http://slow.example:${receiver.port}/`;
    const running = client.request(call(url, { signal: abort.signal }));
    await arrived.promise;
    abort.abort();
    expect((await failureOf(running)).kind).toBe("cancelled");
    await receiver.hungUp;
    expect((await failureOf(client.request(call(url, { signal: abort.signal })))).kind).toBe("cancelled");
    expect(receiver.connections).toBe(1);
  });

  test("may use one signal for any number of calls: a call that is over no longer listens to it", async () => {
    await using receiver = startReceiver();
    const client = clientOf({ allowHttp: true });
    const { signal } = new AbortController();
    const listeners = () => getEventListeners(signal, "abort").length;
    const served = client.request(call(`http://a.example:${receiver.port}/`, { signal }));
    expect(listeners()).toBe(1);
    await responseOf(served);
    expect(listeners()).toBe(0);
    await failureOf(client.request(call(`http://down.example:${CLOSED_PORT}/`, { signal })));
    expect(listeners()).toBe(0);
    const invalid = call(`http://a.example:${receiver.port}/`, { signal, headers: { "x-a": "1\r\nx-b: 2" } });
    await expect(client.request(invalid)).rejects.toBeInstanceOf(TypeError);
    expect(listeners()).toBe(0);
  });

  test("cannot inject a header", async () => {
    await using receiver = startReceiver();
    const client = clientOf({ allowHttp: true });
    const request = call(`http://a.example:${receiver.port}/`, { headers: { "x-a": "1\r\nx-b: 2" } });
    await expect(client.request(request)).rejects.toBeInstanceOf(TypeError);
    expect(receiver.requests).toEqual([]);
  });
});
