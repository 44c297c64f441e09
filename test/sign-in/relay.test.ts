import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createAppClient, createWalletClient, viemConnector } from "@farcaster/auth-client";
import { createClient } from "@farcaster/quick-auth";
import type { TestApi } from "../support/api.ts";
import { makeWallet } from "../support/messages.ts";
import {
  addressOf,
  authWallet,
  custody,
  DOMAIN,
  OTHER,
  PERSON,
  post,
  signInMessage,
  signText,
  startSignInApi,
} from "../support/sign-in.ts";

const URI = `https://${DOMAIN}/login`;
let api: TestApi;
beforeAll(async () => {
  api = await startSignInApi();
});
afterAll(() => api[Symbol.asyncDispose]());

interface Opened {
  readonly channelToken: string;
  readonly url: string;
  readonly nonce: string;
}

async function open(at: Pick<TestApi, "url"> = api, more: object = {}): Promise<Opened> {
  const { status, body } = await post(at, "/v1/channel", { siweUri: URI, domain: DOMAIN, ...more });
  expect(status).toBe(201);
  return body as unknown as Opened;
}

async function call(at: Pick<TestApi, "url">, path: string, token: string, body?: object) {
  const response = await fetch(`${at.url}/v1/channel${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
const statusOf = (token: string, at: Pick<TestApi, "url"> = api) => call(at, "/status", token);
const authenticate = (token: string, body: object, at: Pick<TestApi, "url"> = api) =>
  call(at, "/authenticate", token, body);

/** A message for a channel, and its signature. */
function signed({ nonce }: Pick<Opened, "nonce">, changes = {}, wallet = custody) {
  const message = signInMessage(nonce, { uri: URI, address: addressOf(wallet), ...changes });
  return { message, signature: signText(message, wallet), fid: PERSON };
}

describe("check 10: auth-client", () => {
  test("opens a channel, sees its wallet client complete it, and verifies the message; then the channel is deleted", async () => {
    const ethereum = viemConnector({ rpcUrl: `${api.url}/rpc/10` });
    const app = createAppClient({ relay: api.url, ethereum });
    const channel = await app.createChannel({ siweUri: URI, domain: DOMAIN });
    const { channelToken, nonce, url } = channel.data as Opened;
    expect(url).toBe(`${api.url}/signin/${channelToken}`);
    expect((await app.status({ channelToken })).response?.status).toBe(202);

    const watching = app.watchStatus({ channelToken, timeout: 10_000, interval: 20 });
    const { message, signature } = signed({ nonce });
    const wallet = createWalletClient({ relay: api.url, ethereum });
    const approved = await wallet.authenticate({
      channelToken,
      authKey: "none",
      message,
      signature,
      fid: PERSON,
    });
    expect(approved.response?.status).toBe(201);

    const watched = await watching;
    expect(watched.data).toMatchObject({
      state: "completed",
      fid: PERSON,
      authMethod: "custody",
      custody: addressOf(custody).toLowerCase(),
      nonce,
    });
    const verified = await app.verifySignInMessage({ nonce, domain: DOMAIN, message, signature });
    expect(verified).toMatchObject({ success: true, fid: PERSON });
    expect((await statusOf(channelToken)).status).toBe(401);
    const quickAuth = createClient({ origin: `${api.url}/quick-auth` });
    const { token } = watched.data as unknown as { token: string };
    expect((await quickAuth.verifyJwt({ token, domain: DOMAIN })).sub).toBe(PERSON);
  });
});

describe("check 12: a completion is verified, no matter who sends it", () => {
  test.each<[string, (opened: Opened) => object, string]>([
    ["a foreign fid in the body", (opened) => ({ ...signed(opened), fid: OTHER }), "not_authorized"],
    [
      "a foreign fid in the message",
      (opened) => signed(opened, { resources: [`farcaster://fid/${OTHER}`] }),
      "not_authorized",
    ],
    ["another nonce", () => signed({ nonce: "0123456789abcdef" }), "invalid_nonce"],
    ["another domain", (opened) => signed(opened, { domain: "other.example" }), "domain_mismatch"],
    ["another URI", (opened) => signed(opened, { uri: `https://${DOMAIN}/other` }), "domain_mismatch"],
    ["a stranger's wallet", (opened) => signed(opened, {}, makeWallet("stranger")), "not_authorized"],
    [
      "another wallet's signature",
      (opened) => ({
        ...signed(opened),
        signature: signText(signed(opened).message, makeWallet("stranger")),
      }),
      "invalid_signature",
    ],
    ["no signature", (opened) => ({ ...signed(opened), signature: "0x" }), "malformed"],
    ["no message", (opened) => ({ ...signed(opened), message: "hello" }), "malformed"],
  ])("%s is 401, and the channel waits on", async (_, forge, reason) => {
    const opened = await open();
    const { status, body } = await authenticate(opened.channelToken, forge(opened));
    expect({ status, reason: body.reason }).toEqual({ status: 401, reason });
    expect((await statusOf(opened.channelToken)).status).toBe(202);
    expect((await authenticate(opened.channelToken, signed(opened))).status).toBe(201);
  });

  test("of 10 at once one completes the channel, and the others are 401 or 409; a later one is 409", async () => {
    const opened = await open();
    const all = await Promise.all(
      Array.from({ length: 10 }, () => authenticate(opened.channelToken, signed(opened))),
    );
    expect(all.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(all.every(({ status }) => [201, 401, 409].includes(status))).toBe(true);
    expect((await authenticate(opened.channelToken, signed(opened))).status).toBe(409);
  });

  test("a message of a channel gets no second token at Quick Auth", async () => {
    const opened = await open();
    const { message, signature } = signed(opened);
    expect((await authenticate(opened.channelToken, { message, signature })).status).toBe(201);
    const again = await post(api, "/quick-auth/verify-siwf", { message, signature, domain: DOMAIN });
    expect(again.body).toMatchObject({ valid: false, reason: "invalid_nonce" });
  });

  test("a nonce of the node counts once, also at a channel whose app gave it", async () => {
    const opened = await open();
    const copy = await open(api, { nonce: opened.nonce });
    const body = signed(opened);
    const all = await Promise.all([opened, copy].map(({ channelToken }) => authenticate(channelToken, body)));
    expect(all.map(({ status }) => status).sort()).toEqual([201, 401]);
    expect(all.find(({ status }) => status === 401)?.body.reason).toBe("invalid_nonce");
    // Who gave it makes no difference: it is the node's, so there is a token.
    const { nonce } = (await post(api, "/quick-auth/nonce")).body as { nonce: string };
    const given = await open(api, { nonce });
    expect((await authenticate(given.channelToken, signed(given))).body.token).toBeString();
    const spent = await open(api, { nonce });
    expect((await authenticate(spent.channelToken, signed(spent))).status).toBe(401);
  });

  test("an auth address counts unless the app refuses it", async () => {
    const accepting = await open();
    expect(await authenticate(accepting.channelToken, signed(accepting, {}, authWallet))).toMatchObject({
      status: 201,
      body: { authMethod: "authAddress", fid: PERSON },
    });
    const refusing = await open(api, { acceptAuthAddress: false });
    expect((await authenticate(refusing.channelToken, signed(refusing, {}, authWallet))).status).toBe(401);
  });

  test("a channel with a nonce of the app is completed once, without a token", async () => {
    const opened = await open(api, { nonce: "chosenByTheApp1" });
    expect(opened.nonce).toBe("chosenByTheApp1");
    const { status, body } = await authenticate(opened.channelToken, signed(opened));
    expect({ status, token: body.token }).toEqual({ status: 201, token: undefined });
    expect((await authenticate(opened.channelToken, signed(opened))).status).toBe(409);
  });
});

describe("a channel", () => {
  test.each<[string, object]>([
    ["an unknown member", { extra: 1 }],
    ["a domain of the network's client", { domain: "farcaster.xyz" }],
    ["a domain below it", { domain: "relay.farcaster.xyz" }],
    ["its domain with a dot at the end", { domain: "farcaster.xyz." }],
    ["its domain with dots and a port", { domain: "ＦＡＲＣＡＳＴＥＲ。xyz..:443" }],
    ["a domain with a path", { domain: "app.example/x" }],
    ["a short nonce", { nonce: "abc" }],
    ["a script to return to", { redirectUrl: "javascript:alert(1)" }],
    ["data to return to", { redirectUrl: "data:text/html,x" }],
    ["a URI of a file", { siweUri: "file:///etc/passwd" }],
    ["a time that is none", { expirationTime: "soon" }],
    ["a time with lines of a message", { notBefore: "1 Jan 2020 (\nResources:\n- farcaster://fid/5)" }],
    ["a URI with lines of a message", { siweUri: "https://app.example\nVersion: 1\nChain ID: 1" }],
    ["a URI with another line end", { siweUri: "https://app.example/\u2028Nonce:" }],
    ["a request id with a control character", { requestId: "a\u0000b" }],
    ["a domain of the network's client with a dot", { domain: "farcaster.xyz." }],
    ["a domain that looks like that", { domain: "f\u0430rcaster.xyz" }],
    ["a domain of another spelling", { domain: "farcaster\u3002xyz" }],
    ["a number for a domain", { domain: "127.1" }],
  ])("with %s is 400", async (_, change) => {
    expect((await post(api, "/v1/channel", { siweUri: URI, domain: DOMAIN, ...change })).status).toBe(400);
  });

  test("is unknown by another token, without one, and after its time", async () => {
    const { channelToken } = await open();
    expect((await statusOf("1".repeat(22))).status).toBe(401);
    expect((await fetch(`${api.url}/v1/channel/status`)).status).toBe(401);
    expect((await statusOf(channelToken)).status).toBe(202);
    await using later = await startSignInApi();
    const opened = await open(later);
    later.node.clock.setMs(Date.now() + 605_000);
    expect((await statusOf(opened.channelToken, later)).status).toBe(401);
  });

  test("can be opened and polled by scripts of every origin", async () => {
    const { headers } = await fetch(`${api.url}/v1/channel/status`, {
      method: "OPTIONS",
      headers: { origin: "https://app.example", "access-control-request-headers": "authorization" },
    });
    expect(headers.get("access-control-allow-headers")).toContain("authorization");
    expect(headers.get("access-control-allow-origin")).toBe("*");
  });

  test("does not exist with web_signin.enabled = false, and refused domains are those of the settings", async () => {
    await using off = await startSignInApi({ settings: ["web_signin.enabled=false"] });
    expect((await post(off, "/v1/channel", { siweUri: URI, domain: DOMAIN })).status).not.toBe(201);
    await using picky = await startSignInApi({ settings: ["web_signin.refused_domains=*.bank.example"] });
    const bank = { siweUri: URI, domain: "www.bank.example" };
    expect((await post(picky, "/v1/channel", bank)).status).toBe(400);
  });

  test("check 16: while the index lags, a completion is 503 and changes nothing", async () => {
    let isStale = false;
    await using lagging = await startSignInApi({
      staleReason: async () => (isStale ? "it lags" : undefined),
    });
    const opened = await open(lagging);
    isStale = true;
    expect((await authenticate(opened.channelToken, signed(opened), lagging)).status).toBe(503);
    isStale = false;
    expect((await authenticate(opened.channelToken, signed(opened), lagging)).status).toBe(201);
  });
});

describe("check 13: an upstream relay", () => {
  /** A relay that says what the test wants, and records what it received. */
  function startRelay() {
    const opened: Record<string, unknown>[] = [];
    const statuses: string[] = [];
    let held = Promise.withResolvers<void>();
    held.resolve();
    let completion: object | undefined;
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      async fetch(request) {
        const { pathname } = new URL(request.url);
        if (pathname === "/v1/channel") {
          opened.push((await request.json()) as Record<string, unknown>);
          const url = "https://farcaster.xyz/~/siwf?channelToken=ABC";
          return Response.json({ channelToken: "ABC", url }, { status: 201 });
        }
        statuses.push(request.headers.get("authorization") ?? "");
        await held.promise;
        return Response.json(completion ?? { state: "pending" }, { status: completion ? 200 : 202 });
      },
    });
    return {
      url: `http://127.0.0.1:${server.port}`,
      opened,
      statuses,
      hold() {
        held = Promise.withResolvers();
      },
      release: () => held.resolve(),
      complete(value: object) {
        completion = { state: "completed", ...value };
      },
      [Symbol.asyncDispose]: async () => server.stop(true),
    };
  }
  const startWith = (url: string, ...more: string[]) =>
    startSignInApi({ settings: [`web_signin.upstream_relay=${url}`, ...more] });

  test("receives the domain and our nonce; its completion signs in, and its fid and profile are not believed", async () => {
    await using relay = startRelay();
    await using passing = await startWith(relay.url);
    const opened = await open(passing);
    expect(relay.opened).toEqual([
      { siweUri: URI, domain: DOMAIN, nonce: opened.nonce, acceptAuthAddress: true },
    ]);
    expect(opened.url).toBe(`${passing.url}/signin/${opened.channelToken}`);
    relay.complete({ ...signed(opened), fid: OTHER, username: "mallory" });
    const { status, body } = await statusOf(opened.channelToken, passing);
    expect({ status, fid: body.fid, username: body.username }).toEqual({
      status: 200,
      fid: PERSON,
      username: "",
    });
  });

  test("that forges a completion signs no one in, and the page's own way works", async () => {
    await using relay = startRelay();
    await using passing = await startWith(relay.url);
    const opened = await open(passing);
    relay.complete(signed(opened, { address: addressOf(custody) }, makeWallet("forger")));
    expect((await statusOf(opened.channelToken, passing)).status).toBe(202);
    expect((await authenticate(opened.channelToken, signed(opened), passing)).status).toBe(201);
  });

  test("that is unreachable leaves the page; apps that want its link get 502", async () => {
    const closed = "http://127.0.0.1:9";
    await using passing = await startWith(closed);
    const opened = await open(passing);
    expect((await authenticate(opened.channelToken, signed(opened), passing)).status).toBe(201);
    await using direct = await startWith(closed, "web_signin.direct=true");
    expect((await post(direct, "/v1/channel", { siweUri: URI, domain: DOMAIN })).status).toBe(502);
  });

  test("is asked once a second for a channel however many poll, and by one client with few calls at a time", async () => {
    await using relay = startRelay();
    await using passing = await startWith(relay.url);
    const opened = () => Promise.all([...Array(20)].map(() => open(passing)));
    const channels = [...(await opened()), ...(await opened())];
    const before = relay.statuses.length;
    const [first] = channels;
    const startedAtMs = performance.now();
    await Promise.all([...Array(50)].map(() => statusOf(first?.channelToken ?? "", passing)));
    const asked = relay.statuses.length - before;
    expect(asked).toBeGreaterThanOrEqual(1);
    expect(asked).toBeLessThanOrEqual(1 + Math.ceil((performance.now() - startedAtMs) / 1000));
    relay.hold();
    const beyondShare = Promise.withResolvers<void>();
    let ended = 0;
    const polls = channels.slice(1).map(async ({ channelToken }) => {
      const { status } = await statusOf(channelToken, passing);
      ended += 1;
      if (ended === 39 - 24) beyondShare.resolve();
      return status;
    });
    // They do not wait for the relay.
    await beyondShare.promise;
    relay.release();
    expect(await Promise.all(polls)).toEqual(Array(39).fill(202));
    expect(relay.statuses.length - before).toBe(asked + 24);
  });

  test("gives its link with web_signin.direct", async () => {
    await using relay = startRelay();
    await using direct = await startWith(relay.url, "web_signin.direct=true");
    expect((await open(direct)).url).toBe("https://farcaster.xyz/~/siwf?channelToken=ABC");
  });
});

describe("the page of a channel", () => {
  const page = async (path: string) => {
    const response = await fetch(`${api.url}${path}`);
    return { status: response.status, headers: response.headers, html: await response.text() };
  };
  const step = (token: string, name: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`${api.url}/signin/${token}/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });

  test("shows the domain as text, loads nothing from elsewhere, and is in no frame and no cache", async () => {
    const { channelToken } = await open(api, { siweUri: "https://app.example/?<script>" });
    const { status, headers, html } = await page(`/signin/${channelToken}`);
    expect(status).toBe(200);
    expect(html).toContain('<bdi class="user">app.example</bdi>');
    expect(html).not.toContain("?<script>");
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("access-control-allow-origin")).toBeNull();
    expect((await page(`/signin/${"1".repeat(22)}`)).status).toBe(404);
  });

  test("lists who an address is, writes the message, and completes the channel", async () => {
    const { channelToken } = await open();
    const people = await (await step(channelToken, "people", { address: addressOf(authWallet) })).json();
    expect(people).toEqual({ people: [{ fid: PERSON, username: "", auth_method: "authAddress" }] });
    const { message } = (await (
      await step(channelToken, "message", { address: addressOf(custody), fid: PERSON })
    ).json()) as { message: string };
    const done = await step(channelToken, "submit", { message, signature: signText(message) });
    expect(await done.json()).toEqual({ fid: PERSON, username: "", redirect_url: null });
    expect((await statusOf(channelToken)).body).toMatchObject({ state: "completed", fid: PERSON });
  });

  test("takes no requests of other origins", async () => {
    const { channelToken } = await open();
    for (const name of ["people", "message", "submit", "domain"]) {
      const response = await step(channelToken, name, {}, { origin: "https://evil.example" });
      expect(response.status).toBe(403);
    }
  });
});
