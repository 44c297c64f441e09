import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DEFAULT_TIMESTAMP, signedCast } from "../support/messages.ts";
import { accountSigner } from "../support/node.ts";
import { linkMessage } from "../support/social.ts";
import { SseClient, startTestStreams, type TestStreams, textIn } from "../support/streams.ts";

let bench: TestStreams;
beforeAll(() => {
  bench = startTestStreams();
});
afterAll(() => bench[Symbol.asyncDispose]());

let serial = 0;
function cast(fid: number, text: string): void {
  const message = signedCast(fid, text, accountSigner(fid), {
    timestamp: DEFAULT_TIMESTAMP - 500 + serial++,
  });
  expect(bench.node.ingestMessage(message)).toBe("ok");
}

describe("a stream of server-sent events", () => {
  test("begins with hello, then has each matching event once, with the body of the webhook", async () => {
    await using client = await SseClient.open(bench.url("kinds=cast.created&author_fids=1"));
    expect(client.response.headers.get("content-type")).toBe("text/event-stream");
    expect(client.response.headers.get("cache-control")).toBe("no-store");
    const hello = await client.next();
    expect(hello).toMatchObject({ event: "hello", id: expect.any(String) });
    expect(JSON.parse(hello?.data ?? "")).toEqual({
      cursor: hello?.id,
      oldest_cursor: expect.any(String),
      kinds: ["cast.created"],
      resumed: false,
      lag_secs: 0,
    });
    cast(2, "of another");
    cast(1, "one");
    cast(1, "two");
    const events = await client.events(2);
    expect(events.map(textIn)).toEqual(["one", "two"]);
    expect(JSON.parse(events[0]?.data ?? "")).toMatchObject({
      type: "cast.created",
      created_at: expect.any(Number),
    });
  });

  test("resumes after a cursor, by the query and by Last-Event-ID", async () => {
    await using client = await SseClient.open(bench.url("kinds=cast.created"));
    await client.next();
    cast(1, "first");
    const [first] = await client.events(1);
    cast(2, "second");
    cast(1, "third");
    await using byQuery = await SseClient.open(
      bench.url(`kinds=cast.created&author_fids=1&cursor=${first?.id}`),
    );
    expect(JSON.parse((await byQuery.next())?.data ?? "")).toMatchObject({
      resumed: true,
      cursor: first?.id,
    });
    expect((await byQuery.events(1)).map(textIn)).toEqual(["third"]);
    await using byHeader = await SseClient.open(bench.url("kinds=cast.created"), {
      headers: { "last-event-id": `${first?.id}` },
    });
    cast(1, "fourth");
    const [second] = await byHeader.events(1);
    expect((await byHeader.events(2)).map(textIn)).toEqual(["third", "fourth"]);
    // An EventSource that was opened at a cursor connects again with the same URL.
    await using again = await SseClient.open(bench.url(`kinds=cast.created&cursor=${first?.id}`), {
      headers: { "last-event-id": `${second?.id}` },
    });
    expect((await again.events(2)).map(textIn)).toEqual(["third", "fourth"]);
  });

  test("begins at a time with since", async () => {
    bench.node.clock.advanceSecs(100);
    cast(1, "later");
    const at = Math.floor(bench.node.clock.nowMs() / 1000);
    await using client = await SseClient.open(bench.url(`kinds=cast.created&since=${at}`));
    expect((await client.events(1)).map(textIn)).toEqual(["later"]);
  });

  test("begins with the last events that are kept, and continues with new ones; a Last-Event-ID takes precedence", async () => {
    for (const text of ["one", "two", "three"]) cast(1, text);
    bench.node.ingestMessage(linkMessage(2, "follow", 3));
    await using client = await SseClient.open(bench.url("kinds=cast.created&last=3"));
    const kept = await client.events(2);
    expect(kept.map(textIn)).toEqual(["two", "three"]);
    cast(1, "four");
    expect((await client.events(1)).map(textIn)).toEqual(["four"]);
    await using again = await SseClient.open(bench.url("kinds=cast.created&last=3"), {
      headers: { "last-event-id": `${kept[1]?.id}` },
    });
    expect((await again.events(1)).map(textIn)).toEqual(["four"]);
    await using all = await SseClient.open(bench.url("last=300"));
    const { oldest_cursor, cursor } = JSON.parse((await all.next())?.data ?? "");
    expect(cursor).toBe(oldest_cursor);
  });

  test("with until, last are the last events before that time and after since; without it, at most 300 are", async () => {
    const at = () => Math.floor(bench.node.clock.nowMs() / 1000);
    bench.node.clock.advanceSecs(10);
    const since = at();
    for (const text of ["a", "b", "c"]) cast(1, text);
    bench.node.clock.advanceSecs(10);
    const until = at();
    cast(1, "after the time");
    bench.node.clock.advanceSecs(10);
    const textsOf = async (query: string, count: number) => {
      await using client = await SseClient.open(bench.url(`kinds=cast.created&${query}`));
      expect((await client.next())?.event).toBe("hello");
      const texts = (await client.events(count)).map(textIn);
      return [...texts, (await client.next())?.event];
    };
    expect(await textsOf(`last=2&until=${until}`, 2)).toEqual(["b", "c", "end"]);
    expect(await textsOf(`last=10000&since=${since}&until=${until}`, 3)).toEqual(["a", "b", "c", "end"]);
    expect(await textsOf(`last=10&since=${since - 5}&until=${since}`, 0)).toEqual(["end"]);
    const refused = await fetch(bench.url("last=301"));
    expect([refused.status, await refused.json()]).toEqual([
      400,
      expect.objectContaining({ message: expect.stringContaining("last must be at most 300 without until") }),
    ]);
  });

  test("leaves out excluded users, live and from the log; bans need an API key", async () => {
    await using client = await SseClient.open(bench.url("kinds=cast.created&exclude_fids=2,3"));
    const { id } = (await client.next()) ?? {};
    cast(2, "excluded");
    cast(1, "shown");
    expect((await client.events(1)).map(textIn)).toEqual(["shown"]);
    cast(1, "last");
    await using later = await SseClient.open(bench.url(`kinds=cast.created&exclude_fids=2&cursor=${id}`));
    expect((await later.events(2)).map(textIn)).toEqual(["shown", "last"]);
    const refused = await fetch(bench.url(), {
      method: "POST",
      body: JSON.stringify({ subscription: { "cast.created": {}, exclude: { bans: true } } }),
    });
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain("exclude.bans needs an API key");
    const scored = await fetch(bench.url("kinds=cast.created&minimum_author_score=0.5"));
    expect(await scored.text()).toContain("scores.enforce does not list webhooks");
    for (const wrong of ["1.5", "x", "-1"])
      expect((await fetch(bench.url(`minimum_author_score=${wrong}`))).status).toBe(400);
  });

  test("takes the subscription of a webhook by POST", async () => {
    const wrong = await fetch(bench.url(), {
      method: "POST",
      body: JSON.stringify({ subscription: { "cast.created": {} }, cursor: "x" }),
    });
    expect([wrong.status, await wrong.json()]).toEqual([
      400,
      { message: 'request body has an unknown key "cursor"' },
    ]);
    await using client = await SseClient.open(bench.url(), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        subscription: { cast_created: { text: "(?i)bread" }, "follow.created": { target_fids: [3] } },
      }),
    });
    expect(JSON.parse((await client.next())?.data ?? "").kinds).toEqual(["cast.created", "follow.created"]);
    cast(1, "Bread!");
    cast(1, "butter");
    bench.node.ingestMessage(linkMessage(1, "follow", 2));
    bench.node.ingestMessage(linkMessage(1, "follow", 3));
    expect((await client.events(2)).map(({ event }) => event)).toEqual(["cast.created", "follow.created"]);
  });
});

describe("a stream over a WebSocket", () => {
  test("has the same frames as texts, and a message replaces the subscription", async () => {
    const frames: {
      id: string;
      event: string;
      data: { type: string; data: { text: string }; kinds: string[] };
    }[] = [];
    const waiting: (() => void)[] = [];
    const socket = new WebSocket(bench.url("kinds=cast.created&author_fids=1").replace("http", "ws"));
    socket.onmessage = ({ data }) => {
      frames.push(JSON.parse(data));
      for (const wake of waiting.splice(0)) wake();
    };
    const received = async (count: number) => {
      while (frames.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
      return frames[count - 1];
    };
    expect((await received(1))?.event).toBe("hello");
    await using sse = await SseClient.open(bench.url("kinds=cast.created&author_fids=1"));
    await sse.next();
    cast(1, "over both");
    const frame = await received(2);
    const [event] = await sse.events(1);
    expect(frame).toEqual({
      id: event?.id ?? "",
      event: "cast.created",
      data: JSON.parse(event?.data ?? ""),
    });
    socket.send(JSON.stringify({ subscription: { "cast.created": { author_fids: [2] } } }));
    expect((await received(3))?.event).toBe("hello");
    cast(1, "not this");
    cast(2, "this");
    expect((await received(4))?.data.data.text).toBe("this");
    const closed = new Promise<CloseEvent>((resolve) => {
      socket.onclose = resolve;
    });
    socket.send("nonsense");
    expect((await closed).code).toBe(1003);
  });
});
