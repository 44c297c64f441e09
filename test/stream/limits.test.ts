import { afterEach, describe, expect, test } from "bun:test";
import { createAdmission } from "../../src/admission/admission.ts";
import { createGate } from "../../src/api-keys/gate.ts";
import { createKeyPrefix, createKeyText } from "../../src/api-keys/key-text.ts";
import { serviceNames } from "../../src/config/names.ts";
import { deleteEventsUpTo, eventRange, markAllPublished } from "../../src/db/index/log/outbox.ts";
import { StateUnavailable } from "../../src/db/state/unavailable.ts";
import type { ApiKeyCaller, Scope } from "../../src/http/caller.ts";
import { createRequestLimits } from "../../src/http/limits/request-limits.ts";
import { cursorOf, NO_BLOCKS } from "../../src/stream/position.ts";
import { createStreamSlots } from "../../src/stream/slots.ts";
import { DEFAULT_TIMESTAMP, signedCast } from "../support/messages.ts";
import { accountSigner } from "../support/node.ts";
import { sendRaw } from "../support/raw-socket.ts";
import {
  LOG_ID,
  SseClient,
  startTestStreams,
  type TestStreamOptions,
  type TestStreams,
  textIn,
} from "../support/streams.ts";

let bench: TestStreams;
afterEach(() => bench[Symbol.asyncDispose]());

function start(options: TestStreamOptions = {}): void {
  bench = startTestStreams(options);
}

let serial = 0;
function cast(text: string, fid = 1): void {
  const timestamp = DEFAULT_TIMESTAMP - 800 + serial++;
  expect(bench.node.ingestMessage(signedCast(fid, text, accountSigner(fid), { timestamp }))).toBe("ok");
}

/** Publishes and deletes all events, as retention does. */
function forgetEvents(): void {
  bench.node.db.transaction(() => {
    markAllPublished(bench.node.db);
    deleteEventsUpTo(bench.node.db, eventRange(bench.node.db).headSeq);
  });
}

const cursorAt = (seq: number, logId = LOG_ID) => cursorOf({ logId, seq, blocks: NO_BLOCKS });

/** Opens a WebSocket and collects what arrives until it is closed. */
async function closedSocket(query: string, onOpen: (socket: WebSocket) => void = () => undefined) {
  const frames: { event: string; data: { code?: string } }[] = [];
  const socket = new WebSocket(bench.url(query).replace("http", "ws"));
  const closed = Promise.withResolvers<CloseEvent>();
  socket.onopen = () => onOpen(socket);
  socket.onmessage = ({ data }) => frames.push(JSON.parse(data));
  socket.onclose = closed.resolve;
  return { code: (await closed.promise).code, frames };
}

describe("connections", () => {
  test("of one address are limited, and a closed one makes room", async () => {
    start({ limits: { connectionsPerAddress: 2 } });
    const first = await SseClient.open(bench.url());
    await using _second = await SseClient.open(bench.url());
    const third = await fetch(bench.url());
    expect(third.status).toBe(429);
    expect(third.headers.get("retry-after")).toBe("5");
    await first[Symbol.asyncDispose]();
    while (bench.streams.stats().connections.sse > 1) await Bun.sleep(5);
    await using fourth = await SseClient.open(bench.url());
    expect(fourth.response.status).toBe(200);
  });

  test("of all addresses are limited", async () => {
    start({ limits: { connections: 1 } });
    await using _first = await SseClient.open(bench.url());
    expect((await closedSocket("")).frames).toEqual([]);
    expect((await fetch(bench.url())).status).toBe(429);
  });

  test("are not taken by HEAD, by a bad handshake, or by a client that has disconnected", async () => {
    start({ limits: { connections: 1 } });
    expect((await fetch(bench.url(), { method: "HEAD" })).status).toBe(200);
    const bad = "GET /v2/svc/stream HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n";
    expect((await sendRaw(bench.http.port, bad)).text).toContain("not a valid WebSocket handshake");
    for (let round = 0; round < 20; round++) {
      const abort = new AbortController();
      const response = fetch(bench.url(), { signal: abort.signal }).catch(() => undefined);
      abort.abort();
      await response;
    }
    // The last ones may arrive only now.
    let status = 0;
    while (status !== 200) {
      await using client = await SseClient.open(bench.url());
      status = client.response.status;
    }
  });

  test("of a browser from an origin that may not read are refused as WebSockets", async () => {
    start({ http: { cors_origins: ["https://app.example"] } });
    const handshake = (origin: string) =>
      `GET /v2/svc/stream HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\norigin: ${origin}\r\n` +
      "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    expect((await sendRaw(bench.http.port, handshake("https://evil.example"))).text).toContain(" 403 ");
    expect((await sendRaw(bench.http.port, handshake("https://app.example"))).text).toContain(" 101 ");
  });
});

describe("filters", () => {
  test("that a kind lacks, or that are invalid, are refused by name", async () => {
    start();
    const messageOf = async (query: string) => {
      const response = await fetch(bench.url(query));
      return `${response.status} ${((await response.json()) as { message: string }).message}`;
    };
    expect(await messageOf("kinds=follow.created&text=x")).toBe("400 text is no filter of follow.created");
    expect(await messageOf("kinds=cast.made")).toStartWith("400 kinds must be a list of");
    expect(await messageOf("text=(")).toBe("400 text is not a valid RE2 regular expression");
    expect(await messageOf("text=(?=a)")).toBe("400 text is not a valid RE2 regular expression");
    expect(await messageOf("text=a&target_fids=3")).toBe("400 no kind of event has all of text, target_fids");
    expect(await messageOf(`author_fids=${Array.from({ length: 351 }, (_, n) => n + 1)}`)).toStartWith(
      "400 author_fids",
    );
    expect(await messageOf("cursor=x")).toBe("400 cursor is not a cursor of a stream");
    expect(await messageOf("since=-1")).toStartWith("400 since");
    const post = await fetch(bench.url(), {
      method: "POST",
      body: `{"subscription":{"cast.created":{"text":"("}}}`,
    });
    expect([post.status, await post.json()]).toEqual([
      400,
      { message: "subscription.cast.created.text is not a valid RE2 regular expression" },
    ]);
    const large = await fetch(bench.url(), { method: "POST", body: "x".repeat(300_000) });
    expect(large.status).toBe(413);
  });

  test("that are too expensive end the stream with expression_budget", async () => {
    start({ budget: { minuteMs: 0.000_001, eventMs: 100 } });
    await using client = await SseClient.open(bench.url("text=(a|b|ab)*c"));
    await client.next();
    for (let n = 0; n < 100; n++) cast(`${"ab".repeat(100)} ${n}`);
    let frame = await client.next();
    while (frame && frame.event !== "error") frame = await client.next();
    expect(JSON.parse(frame?.data ?? "{}")).toMatchObject({
      code: "expression_budget",
      cursor: expect.any(String),
    });
    expect(await client.next()).toBeUndefined();
  });

  describe("take a bounded part of the process", () => {
    type Cost = { readonly expressions?: readonly string[]; readonly entries?: number };
    const costOf = (cost: Cost) => ({ expressions: [], entries: 0, ...cost });
    const makeSlots = (limits = { connections: 1000, connectionsPerAddress: 1000 }) => {
      const { budgets } = createAdmission();
      const slots = createStreamSlots(limits, budgets, () => 7);
      const take = (address: string, cost: Cost) =>
        slots.take({ address, transport: "sse", cost: costOf(cost) });
      return { slots, budgets, take };
    };
    const named = (client: string, count: number) =>
      Array.from({ length: count }, (_, n) => `${client} ${n}`);

    test("of which each address has a share: nineteen that take all they can leave one for the others", () => {
      const { slots, take } = makeSlots();
      for (let n = 0; n < 19; n++) {
        const [first, second] = [named(`${n}`, 4), named(`${n}`, 10)];
        expect(take(`${n}`, { expressions: first })).toMatchObject({ lagSecs: 7 });
        expect(take(`${n}`, { expressions: second })).toHaveProperty("slot");
        expect(take(`${n}`, { expressions: ["one more"] })).toEqual({ refused: "address expressions" });
        expect(take(`${n}`, { expressions: first })).toHaveProperty("slot");
        expect(take(`${n}`, { entries: 25_001 })).toEqual({ refused: "address entries" });
        expect(take(`${n}`, { entries: 25_000 })).toHaveProperty("slot");
      }
      expect(slots.stats()).toMatchObject({ expressions: 190, addresses: 19 });
      expect(take("other", { expressions: named("other", 10), entries: 25_000 })).toHaveProperty("slot");
      expect(take("late", { expressions: named("late", 3) })).toEqual({ refused: "expressions" });
      expect(take("late", { expressions: named("other", 10) })).toHaveProperty("slot");
      expect(take("late", { entries: 1_001 })).toEqual({ refused: "entries" });
      expect(take("late", { entries: 1_000 })).toHaveProperty("slot");
    });

    test("of which twenty addresses that take all leave some to those that have few", () => {
      const { slots, take } = makeSlots({ connections: 100, connectionsPerAddress: 10 });
      for (let n = 0; n < 20; n++) take(`${n}`, { expressions: named(`${n}`, 10) });
      expect(slots.stats().expressions).toBe(200);
      for (let n = 0; n < 25; n++) {
        expect(take(`new ${n}`, { expressions: named(`new ${n}`, 3) })).toEqual({ refused: "expressions" });
        expect(take(`new ${n}`, { expressions: named(`new ${n}`, 2) })).toHaveProperty("slot");
      }
      expect(take("last", { expressions: ["last"] })).toEqual({ refused: "expressions" });
      const streams = () => slots.stats().connections.sse;
      for (let n = 0; n < 100; n++) take(`${n % 20}`, {});
      expect(streams()).toBe(80);
      expect(take("0", {})).toEqual({ refused: "connections" });
      for (let n = 0; n < 20; n++) expect(take(`late ${n}`, {})).toHaveProperty("slot");
      expect(take("latest", {})).toEqual({ refused: "connections" });
      expect(streams()).toBe(100);
    });

    test("which a stream that ends, or changes its subscription, gives back; a refused change changes nothing", () => {
      const { slots, budgets, take } = makeSlots();
      take("a", { expressions: named("a", 10), entries: 25_000 });
      const other = take("a", { expressions: ["a 0"] });
      const id = "slot" in other ? other.slot : 0;
      expect(slots.change(id, costOf({ expressions: ["a 0", "b"] }))).toBe("address expressions");
      expect(slots.change(id, costOf({ entries: 1 }))).toBe("address entries");
      slots.release(1);
      expect(slots.stats().expressions).toBe(1);
      expect(slots.change(id, costOf({ expressions: named("b", 10), entries: 25_000 }))).toBeUndefined();
      slots.release(id);
      slots.release(id);
      expect(slots.stats()).toMatchObject({ connections: { sse: 0 }, expressions: 0, addresses: 0 });
      expect([budgets.streamEntries.use().held, budgets.streamExpressions.use().held]).toEqual([0, 0]);
    });
  });
});

describe("a cursor whose events have expired", () => {
  test("is refused with the oldest one, and skipped by Last-Event-ID with a gap", async () => {
    start();
    cast("gone");
    forgetEvents();
    cast("there");
    for (const cursor of [cursorAt(0), cursorAt(1, "another log"), cursorAt(100_000)]) {
      const refused = await fetch(bench.url(`cursor=${cursor}`));
      expect(refused.status).toBe(410);
      const body = (await refused.json()) as { code: string; oldest_cursor: string };
      expect(body.code).toBe("cursor_too_old");
      const headers = { "last-event-id": cursor };
      expect((await fetch(bench.url("gap=error"), { headers })).status).toBe(410);
      for (const open of [
        () => SseClient.open(bench.url("kinds=cast.created"), { headers }),
        () => SseClient.open(bench.url(`kinds=cast.created&gap=skip&cursor=${cursor}`)),
      ]) {
        await using client = await open();
        expect(JSON.parse((await client.next())?.data ?? "")).toMatchObject({
          resumed: false,
          cursor: body.oldest_cursor,
        });
        const gap = await client.next();
        expect(gap?.event).toBe("gap");
        expect(JSON.parse(gap?.data ?? "")).toEqual({ from: cursor, to: body.oldest_cursor });
        expect((await client.events(1)).map(textIn)).toEqual(["there"]);
      }
    }
  });

  test("cannot be read: a Last-Event-ID that no node issued is a gap, which an EventSource survives", async () => {
    start();
    cast("there");
    const cut = cursorAt(0).slice(0, -3);
    for (const damaged of ["42", cut, "x".repeat(2000)]) {
      const headers = { "last-event-id": damaged };
      await using client = await SseClient.open(bench.url("kinds=cast.created"), { headers });
      expect(client.response.status).toBe(200);
      const hello = JSON.parse((await client.next())?.data ?? "");
      expect(hello).toMatchObject({ resumed: false, cursor: hello.oldest_cursor });
      const gap = await client.next();
      expect([gap?.event, JSON.parse(gap?.data ?? "")]).toEqual([
        "gap",
        { from: null, to: hello.oldest_cursor },
      ]);
      expect((await client.events(1)).map(textIn)).toEqual(["there"]);
      expect((await fetch(bench.url("gap=error"), { headers })).status).toBe(410);
    }
    expect((await fetch(bench.url("gap=skip&cursor=42"))).status).toBe(400);
  });

  test("of the head of an empty log is good", async () => {
    start();
    cast("gone");
    forgetEvents();
    await using client = await SseClient.open(
      bench.url(`kinds=cast.created&cursor=${cursorAt(eventRange(bench.node.db).headSeq)}`),
    );
    cast("next");
    expect((await client.events(1)).map(textIn)).toEqual(["next"]);
  });

  test("by a time before the oldest event is a gap, unless nothing was ever deleted", async () => {
    start();
    cast("first");
    const nowSecs = Math.floor(bench.node.clock.nowMs() / 1000);
    const kindsOf = async (since: number) => {
      await using client = await SseClient.open(bench.url(`kinds=cast.created&since=${since}`));
      return [(await client.next())?.event, (await client.next())?.event];
    };
    expect(await kindsOf(0)).toEqual(["hello", "cast.created"]);
    forgetEvents();
    cast("second");
    expect(await kindsOf(0)).toEqual(["hello", "gap"]);
    expect(await kindsOf(nowSecs - 3600)).toEqual(["hello", "cast.created"]);
  });
});

describe("silence", () => {
  test("brings cursors that move on past events that do not match", async () => {
    start({ deps: { timings: { keepAliveMs: 20, stallMs: 10_000 }, tickMs: 5 } });
    await using client = await SseClient.open(bench.url("kinds=cast.created&author_fids=3"));
    const hello = await client.next();
    cast("not for this one");
    let frame = await client.next();
    while (frame?.id === hello?.id) frame = await client.next();
    expect(frame).toEqual({
      id: cursorAt(eventRange(bench.node.db).headSeq),
      event: undefined,
      data: undefined,
    });
  });
});

describe("a WebSocket with wait=1", () => {
  test("begins with the subscription that the client sends", async () => {
    start();
    const { code, frames } = await closedSocket("wait=1", (socket) => {
      socket.send(`{"subscription":{"follow.created":{}}}`);
      socket.send(`{"subscription":{"follow.deleted":{}}}`);
    });
    expect(frames.map(({ event, data }) => [event, data.code])).toEqual([
      ["hello", undefined],
      ["error", "invalid_subscription"],
    ]);
    expect(code).toBe(4000);
  });

  test("is closed for an invalid subscription", async () => {
    start();
    const send = (message: string) => (socket: WebSocket) => socket.send(message);
    expect((await closedSocket("wait=1", send(`{"subscription":{"cast.created":{"text":"("}}}`))).code).toBe(
      4000,
    );
    expect((await closedSocket("wait=1", send(`{"subscription":[]}`))).code).toBe(4000);
    expect((await closedSocket("wait=1", send(`{"subscriptions":{}}`))).code).toBe(1003);
    expect((await closedSocket("wait=1", send("null"))).code).toBe(1003);
    expect((await closedSocket("wait=1", (socket) => socket.send(new Uint8Array(4)))).code).toBe(1003);
    expect([1006, 1009]).toContain((await closedSocket("wait=1", send("x".repeat(300_000)))).code);
    while (bench.streams.stats().connections.websocket > 0) await Bun.sleep(5);
  });
});

describe("the end of the node", () => {
  test("ends server-sent events silently, WebSockets with 1012, and refuses others", async () => {
    start();
    await using client = await SseClient.open(bench.url());
    await client.next();
    const socket = closedSocket("", () => bench.streams.drain(0));
    expect(await client.next()).toBeUndefined();
    expect((await socket).code).toBe(1012);
    expect((await fetch(bench.url())).status).toBe(503);
    expect(bench.streams.stats().ended.shutdown).toBe(2);
  });
});

/** Starts streams at the gate of a node with one API key. */
function startWithGate(
  settings: { readonly anonymousReads: boolean },
  scopesOfKey: () => readonly Scope[] = () => ["read"],
): void {
  const key = async (): Promise<ApiKeyCaller> => ({
    ...{ kind: "apiKey", apiKeyId: "k", ownerFid: 1, appId: null, rulesVersion: 0, prefix: "svc_" },
    ...{ custody: new Uint8Array(20), unitsPerMinute: 1_000, writesPerMinute: 1_000, scopes: scopesOfKey() },
  });
  const limits = createRequestLimits(createAdmission(), {
    keyBurst: 1_000,
    anonymousPerMinute: 0,
    anonymousBurst: 0,
  });
  start({
    gate: createGate({
      names: serviceNames("svc"),
      compatPrefixes: [],
      sessions: true,
      get anonymousReads() {
        return settings.anonymousReads;
      },
      keys: { known: () => undefined, find: key, findForRead: key },
      limits,
      usage: { record: () => undefined },
      staleReason: async () => undefined,
    }),
  });
}

describe("a stream without an API key", () => {
  test("ends with its reason once the operator closes anonymous reads, over both transports", async () => {
    const settings = { anonymousReads: true };
    startWithGate(settings);
    await using client = await SseClient.open(bench.url());
    expect(await client.next()).toMatchObject({ event: "hello" });
    const socket = await closedSocket("", () => {
      settings.anonymousReads = false;
    });
    expect([socket.code, socket.frames.at(-1)?.data.code]).toEqual([4001, "key_ended"]);
    expect(JSON.parse((await client.next())?.data ?? "")).toMatchObject({
      code: "key_ended",
      message: "reads need an API key",
    });
    expect(await client.next()).toBeUndefined();
    expect((await fetch(bench.url())).status).toBe(401);
  });
});

describe("a stream with an API key that it did not need", () => {
  test("continues once the operator closes anonymous reads, and ends with its key", async () => {
    const settings = { anonymousReads: true };
    let scopes: readonly Scope[] = ["read"];
    startWithGate(settings, () => scopes);
    const headers = { "x-api-key": createKeyText(createKeyPrefix("svc")) };
    await using client = await SseClient.open(bench.url("kinds=cast.created"), { headers });
    expect(await client.next()).toMatchObject({ event: "hello" });
    // The stream that was opened later is checked later.
    await using other = await SseClient.open(bench.url());
    expect(await other.next()).toMatchObject({ event: "hello" });
    settings.anonymousReads = false;
    expect(await other.next()).toMatchObject({ event: "error" });
    cast("after");
    expect(await client.next()).toMatchObject({ event: "cast.created" });
    scopes = [];
    expect(JSON.parse((await client.next())?.data ?? "")).toMatchObject({ code: "key_ended" });
  });
});

describe("a stream with an API key", () => {
  /** Admits a stream as the gate does whose key lookup responds like this. */
  async function open(isStillAdmitted: () => Promise<boolean>): Promise<SseClient> {
    start({
      gate: {
        admit: (exchange) => {
          exchange.isStillAdmitted = isStillAdmitted;
        },
        recordUse: () => undefined,
      },
    });
    return SseClient.open(bench.url("kinds=cast.created"));
  }

  test("ends with its reason once the key is deleted", async () => {
    let isValid = true;
    await using client = await open(async () => isValid);
    expect(await client.next()).toMatchObject({ event: "hello" });
    cast("before");
    expect(await client.next()).toMatchObject({ event: "cast.created" });
    isValid = false;
    const last = await client.next();
    expect(last).toMatchObject({ event: "error" });
    expect(JSON.parse(last?.data ?? "")).toMatchObject({ code: "key_ended" });
    expect(await client.next()).toBeUndefined();
    cast("after");
  });

  test.each([
    ["which reads need", "kinds=cast.created", { anonymousReads: false }],
    ["whose owner's bans it excludes", "kinds=cast.created&exclude_bans=true", { anonymousReads: true }],
  ])("%s ends once the key has lost the scope `read`", async (_, query, { anonymousReads }) => {
    let scopes: readonly Scope[] = ["read", "write"];
    startWithGate({ anonymousReads }, () => scopes);
    const headers = { "x-api-key": createKeyText(createKeyPrefix("svc")) };
    await using client = await SseClient.open(bench.url(query), { headers });
    expect(await client.next()).toMatchObject({ event: "hello" });
    scopes = ["write"];
    expect(JSON.parse((await client.next())?.data ?? "")).toMatchObject({ code: "key_ended" });
  });

  test("ends where the node cannot know whether the key is valid", async () => {
    await using client = await open(async () => {
      throw new StateUnavailable("the node has no lease");
    });
    expect(await client.next()).toMatchObject({ event: "hello" });
    expect(await client.next()).toBeUndefined();
  });
});
