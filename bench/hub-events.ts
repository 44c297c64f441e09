import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, credentials } from "@grpc/grpc-js";
import { SubscribeRequest } from "../src/protocol/wire/generated/hub.ts";
import { Message } from "../src/protocol/wire/generated/message.ts";
import { compileInto, DIST, type RunningNode, startNode, tempDir } from "../test/support/program.ts";
import type { Figure } from "./main.ts";
import { cpuMicrosOf, median } from "./start.ts";
import { bulkRequests, callAll, makeMessages, registerAll, submitAll, unixNowSecs } from "./submits.ts";

const RUNS = 5;
const REPLAYED_MESSAGES = 40_000;
const WRITTEN_MESSAGES = 10_000;
const SUBSCRIBERS = 50;
const UNARY_CALLS = 400;
const AGE_SECS = 86_400;
const REPLAY_GOAL = 0.3;
const SUBMIT_GOAL = 1.2;

/**
 * Measures the log of hub events of the compiled binary, each pair interleaved: a replay compared with a bare stream of the
 * same bytes, single submits with 50 live subscribers compared with none, and the CPU time of a message with and without the
 * log.
 */
export async function benchHubEvents(): Promise<Figure[]> {
  const binary = await compileInto(DIST);
  using dir = tempDir();
  const start = (name: string, reads: boolean) =>
    startNode({
      command: [binary],
      dataDir: `${dir.path}/${name}`,
      args: [
        ...["--set", "hub.admin=true", "--set", "http.workers=1", "--set", `hub.reads=${reads}`],
        ...["--set", `hub.max_subscribers_per_ip=${SUBSCRIBERS}`],
      ],
    });
  await using logging = await start("logging", true);
  await using silent = await start("silent", false);
  using client = connect(logging.hubAddress);
  using silentClient = connect(silent.hubAddress);
  for (const one of [client, silentClient]) await registerAll(one.grpc, unixNowSecs());
  return [
    ...(await costFigures(
      { node: logging, client: client.grpc },
      { node: silent, client: silentClient.grpc },
    )),
    ...(await submitFigures(logging, client.grpc)),
    ...(await replayFigures(client.grpc)),
  ];
}

interface Target {
  readonly node: RunningNode;
  readonly client: Client;
}

async function costFigures(logging: Target, silent: Target): Promise<Figure[]> {
  const micros = { logging: [] as number[], silent: [] as number[] };
  for (let run = 0; run < RUNS; run++) {
    const messages = makeMessages(`written ${run}`, unixNowSecs() - AGE_SECS, WRITTEN_MESSAGES);
    for (const [name, { node, client }] of Object.entries({ logging, silent }) as ["logging", Target][]) {
      const before = cpuMicrosOf(node.pid);
      await submitAll(client, bulkRequests(messages));
      micros[name].push((cpuMicrosOf(node.pid) - before) / messages.length);
    }
  }
  const differences = micros.logging.map((value, run) => value - (micros.silent[run] ?? Number.NaN));
  return [
    {
      what: "CPU time of the node, a message in bulk with the log",
      value: median(micros.logging),
      unit: "µs",
      ratio: {
        of: `hub.reads = false, ${median(micros.silent).toFixed(1)} µs`,
        value: median(micros.logging) / median(micros.silent),
      },
    },
    { what: "  of which for its event", value: median(differences), unit: "µs" },
  ];
}

async function submitFigures(node: RunningNode, client: Client): Promise<Figure[]> {
  const round = async (run: string) => {
    const messages = makeMessages(run, unixNowSecs() - AGE_SECS, UNARY_CALLS);
    const requests = messages.map((message) => Buffer.from(Message.encode(message).finish()));
    const cpuBefore = cpuMicrosOf(node.pid);
    const startedMs = performance.now();
    await callAll(client, { method: "/HubService/SubmitMessage", requests, atOnce: 1 });
    return {
      callMicros: ((performance.now() - startedMs) * 1000) / UNARY_CALLS,
      cpuMicros: (cpuMicrosOf(node.pid) - cpuBefore) / UNARY_CALLS,
    };
  };
  await round("warm-up");
  const rounds = {
    alone: [] as Awaited<ReturnType<typeof round>>[],
    beside: [] as Awaited<ReturnType<typeof round>>[],
  };
  for (let run = 0; run < RUNS; run++) {
    rounds.alone.push(await round(`alone ${run}`));
    const subscribers = await spawn("subscribers.ts", [node.hubAddress, String(SUBSCRIBERS)]);
    rounds.beside.push(await round(`beside ${run}`));
    await subscribers[Symbol.asyncDispose]();
  }
  const medianOf = (kind: "alone" | "beside", part: "callMicros" | "cpuMicros") =>
    median(rounds[kind].map((one) => one[part]));
  return [
    {
      what: `SubmitMessage beside ${SUBSCRIBERS} subscribers, one at a time`,
      value: medianOf("beside", "callMicros"),
      unit: "µs",
      ratio: {
        of: `without subscribers, at most ${SUBMIT_GOAL}`,
        value: medianOf("beside", "callMicros") / medianOf("alone", "callMicros"),
      },
    },
    {
      what: "  CPU time of the node, the events that it sends included",
      value: medianOf("beside", "cpuMicros"),
      unit: "µs",
      ratio: { of: "the same", value: medianOf("beside", "cpuMicros") / medianOf("alone", "cpuMicros") },
    },
  ];
}

async function replayFigures(client: Client): Promise<Figure[]> {
  await submitAll(
    client,
    bulkRequests(makeMessages("replayed", unixNowSecs() - AGE_SECS, REPLAYED_MESSAGES)),
  );
  const recorded: Buffer[] = [];
  const count = await replay(client, (event) => recorded.push(event));
  const file = join(tmpdir(), `events-${process.pid}.txt`);
  await Bun.write(file, recorded.map((event) => event.toString("hex")).join("\n"));
  await using bare = await spawn("bare-event-stream.ts", [file]);
  rmSync(file);
  using toBare = connect(`127.0.0.1:${bare.said}`);
  const rates = { node: [] as number[], bare: [] as number[] };
  const timed = async (to: Client) => {
    const startedMs = performance.now();
    await replay(to, () => undefined, count);
    return (count * 1000) / (performance.now() - startedMs);
  };
  await timed(toBare.grpc);
  for (let run = 0; run < RUNS; run++) {
    rates.bare.push(await timed(toBare.grpc));
    rates.node.push(await timed(client));
  }
  const bytes = recorded.reduce((sum, { length }) => sum + length, 0) / count;
  return [
    {
      what: `Subscribe from 0, ${count.toLocaleString("en")} events of ${Math.round(bytes)} bytes`,
      value: median(rates.node),
      unit: "events/s",
      ratio: {
        of: `a bare stream of the same bytes, goal ${REPLAY_GOAL}`,
        value: median(rates.node) / median(rates.bare),
      },
    },
  ];
}

/** As there is no heartbeat yet, the log has ended if no event arrives for this long. */
const SILENCE_MS = 1000;

/** Reads events from the oldest on: `count` of them, or all of them. Returns their number. */
function replay(
  client: Client,
  take: (event: Buffer) => void,
  count = Number.POSITIVE_INFINITY,
): Promise<number> {
  const unchanged = (bytes: Buffer) => bytes;
  const request = Buffer.from(
    SubscribeRequest.encode(SubscribeRequest.fromPartial({ fromId: 0, shardIndex: 1 })).finish(),
  );
  const stream = client.makeServerStreamRequest("/HubService/Subscribe", unchanged, unchanged, request);
  const ended = Promise.withResolvers<number>();
  let events = 0;
  const end = () => {
    ended.resolve(events);
    stream.cancel();
  };
  let silence = count === Number.POSITIVE_INFINITY ? setTimeout(end, SILENCE_MS) : undefined;
  stream.on("data", (event: Buffer) => {
    events += 1;
    take(event);
    if (events === count) end();
    silence = silence?.refresh();
  });
  stream.on("error", ended.reject);
  return ended.promise;
}

function connect(address: string): Disposable & { readonly grpc: Client } {
  const grpc = new Client(address, credentials.createInsecure());
  return { grpc, [Symbol.dispose]: () => grpc.close() };
}

/** Starts a script of `processes/` and waits for its first line. */
async function spawn(
  script: string,
  args: readonly string[],
): Promise<AsyncDisposable & { readonly said: string }> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "processes", script), ...args], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  reader.releaseLock();
  return {
    said: new TextDecoder().decode(value).trim(),
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
    },
  };
}
