import { expect, test } from "bun:test";
import { getInsecureHubRpcClient, type HubRpcClient, status } from "@farcaster/hub-nodejs";
import { compiledProgram } from "../support/compiled-program.ts";
import { startNode, tempDir } from "../support/program.ts";
import { SseClient } from "../support/streams.ts";

const DELAY_MS = 1000;

/** How a stream ended, and when. */
type Ended = { readonly how: unknown; readonly atMs: number };
const endedBy = (how: unknown): Ended => ({ how, atMs: performance.now() });

/** Opens a stream; `ended` is set up before it returns. */
interface OpenStream {
  readonly ended: Promise<Ended>;
}

async function openSse(url: string): Promise<OpenStream> {
  const client = await SseClient.open(`${url}/v2/svc/stream`);
  expect((await client.next())?.event).toBe("hello");
  return { ended: client.next().then(endedBy) };
}

async function openSocket(url: string): Promise<OpenStream> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/v2/svc/stream`);
  const ended = new Promise<Ended>((resolve) => {
    socket.onclose = ({ code }) => resolve(endedBy(code));
  });
  await new Promise((resolve) => {
    socket.onmessage = resolve;
  });
  return { ended };
}

async function openSubscribe(hub: HubRpcClient): Promise<OpenStream> {
  const stream = (await hub.subscribe({ eventTypes: [], shardIndex: 1 }))._unsafeUnwrap();
  const ended = new Promise<Ended>((resolve) => {
    stream.on("error", (error: Error & { code?: number }) => resolve(endedBy(error.code)));
  });
  await new Promise((resolve) => stream.on("metadata", resolve));
  return { ended };
}

test("after SIGTERM a node serves for the drain delay, is not ready, ends streams one by one, and ends with 0", async () => {
  using dir = tempDir();
  await using node = await startNode({
    command: compiledProgram,
    dataDir: dir.path,
    args: [
      ...["--set", `http.drain_delay_secs=${DELAY_MS / 1000}`, "--set", "node.id=a.1"],
      ...["--set", "http.workers=1"],
    ],
  });
  const nodeOf = (response: Response) => response.headers.get("x-svc-node");
  const ready = await fetch(`${node.url}/ready`);
  expect([ready.status, nodeOf(ready)]).toEqual([200, "a.1"]);
  const hub = getInsecureHubRpcClient(node.hubAddress);
  const streams = await Promise.all([
    ...[openSse, openSocket, openSse, openSocket].map((open) => open(node.url)),
    openSubscribe(hub),
    openSubscribe(hub),
  ]);
  const sentAtMs = performance.now();
  const stopped = node.stop();
  while ((await fetch(`${node.url}/ready`)).status === 200) await Bun.sleep(5);
  // The worker learns of it after /ready has changed.
  let response: Response;
  do response = await fetch(`${node.url}/v2/svc/user?fid=3`);
  while (response.headers.get("connection") !== "close");
  expect(response.status).toBe(404);
  expect(await stopped).toBe(0);
  expect(performance.now() - sentAtMs).toBeGreaterThanOrEqual(DELAY_MS);
  const ends = await Promise.all(streams.map(({ ended }) => ended));
  const goesAway = 1012;
  expect(ends.map(({ how }) => how)).toEqual([
    ...[undefined, goesAway, undefined, goesAway],
    ...[status.UNAVAILABLE, status.UNAVAILABLE],
  ]);
  // So that their clients connect elsewhere one after the other.
  for (const kind of [ends.slice(0, 4), ends.slice(4)]) {
    const afterMs = kind.map(({ atMs }) => atMs - sentAtMs).sort((a, b) => a - b);
    for (const [at, endMs] of afterMs.entries())
      expect(endMs).toBeGreaterThanOrEqual((at * DELAY_MS) / kind.length - 5);
  }
  hub.close();
}, 180_000);
