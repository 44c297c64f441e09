import { expect, test } from "bun:test";
import fc from "fast-check";
import { DEFAULT_TIMESTAMP, signedCast } from "../support/messages.ts";
import { accountSigner } from "../support/node.ts";
import { SseClient, startTestStreams, type TestStreams, textIn } from "../support/streams.ts";

let serial = 0;
function cast({ node }: TestStreams, text: string): void {
  const timestamp = DEFAULT_TIMESTAMP - 500 + serial++;
  expect(node.ingestMessage(signedCast(1, text, accountSigner(1), { timestamp }))).toBe("ok");
}

const now = ({ node }: TestStreams) => Math.floor(node.clock.nowMs() / 1000);

/** Everything that a client gets until the stream ends. */
async function read(url: string) {
  await using client = await SseClient.open(url);
  const texts: string[] = [];
  let last = await client.next();
  for (let frame = last; frame !== undefined; frame = await client.next()) {
    last = frame;
    if (frame.event === "cast.created") texts.push(textIn(frame) ?? "");
  }
  return { texts, last };
}

test("a stream with until has what was applied before it, then end with a cursor, and closes", async () => {
  await using bench = startTestStreams();
  cast(bench, "before");
  bench.node.clock.advanceSecs(10);
  const from = now(bench);
  cast(bench, "first");
  bench.node.clock.advanceSecs(1);
  cast(bench, "last");
  bench.node.clock.advanceSecs(1);
  const until = now(bench);
  cast(bench, "after");
  bench.node.clock.advanceSecs(10);
  const url = bench.url(`kinds=cast.created&since=${from}&until=${until}`);
  const { texts, last } = await read(url);
  expect(texts).toEqual(["first", "last"]);
  const id = last?.id ?? "";
  expect(last).toMatchObject({ event: "end" });
  expect(JSON.parse(last?.data ?? "")).toEqual({ cursor: id, until });
  // An EventSource that connects again stops.
  const again = await fetch(url, { headers: { "last-event-id": id } });
  expect(again.status).toBe(204);
  expect(bench.streams.stats().ended.complete).toBe(1);
});

test("a stream whose end is in the future is live until then", async () => {
  await using bench = startTestStreams({ deps: { tickMs: 5 } });
  const until = now(bench) + 100;
  await using client = await SseClient.open(bench.url(`kinds=cast.created&until=${until}`));
  await client.next();
  cast(bench, "live");
  expect((await client.events(1)).map(textIn)).toEqual(["live"]);
  bench.node.clock.advanceSecs(100);
  // Applied in the second of the end, while events of before may be on their way.
  cast(bench, "too late");
  bench.node.clock.advanceSecs(2);
  expect(await client.next()).toMatchObject({ event: "end" });
  expect(await client.next()).toBeUndefined();
});

test("a WebSocket gets end, then is closed with 1000", async () => {
  await using bench = startTestStreams();
  cast(bench, "one");
  bench.node.clock.advanceSecs(10);
  const url = bench.url(`kinds=cast.created&since=0&until=${now(bench) - 2}`);
  const socket = new WebSocket(url.replace("http", "ws"));
  const events: string[] = [];
  socket.onmessage = ({ data }) => void events.push(JSON.parse(`${data}`).event);
  const closed = await new Promise<CloseEvent>((resolve) => {
    socket.onclose = resolve;
  });
  expect(events).toEqual(["hello", "cast.created", "end"]);
  expect(closed).toMatchObject({ code: 1000, reason: "complete" });
});

test("since at or after until is refused", async () => {
  await using bench = startTestStreams();
  const response = await fetch(bench.url("since=10&until=10"));
  expect(response.status).toBe(400);
  expect(await response.text()).toContain("since must be before until");
});

test("windows that follow each other have each event once, in order", async () => {
  await using bench = startTestStreams();
  const times = fc.sample(fc.integer({ min: 0, max: 3 }), { numRuns: 30, seed: 36 });
  const start = now(bench);
  for (const [at, secs] of times.entries()) {
    bench.node.clock.advanceSecs(secs);
    cast(bench, `${at}`);
  }
  bench.node.clock.advanceSecs(5);
  const end = now(bench);
  bench.node.clock.advanceSecs(2);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: start + 1, max: end - 1 }), { maxLength: 4 }),
      async (cuts) => {
        const edges = [...new Set([start, ...cuts, end])].sort((a, b) => a - b);
        const texts: string[] = [];
        for (const [at, since] of edges.slice(0, -1).entries())
          texts.push(
            ...(await read(bench.url(`kinds=cast.created&since=${since}&until=${edges[at + 1]}`))).texts,
          );
        expect(texts).toEqual(times.map((_, at) => `${at}`));
      },
    ),
    { numRuns: 10 },
  );
});
