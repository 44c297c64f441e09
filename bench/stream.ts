import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, credentials } from "@grpc/grpc-js";
import { toFarcasterSecs } from "../src/protocol/time.ts";
import { Message } from "../src/protocol/wire/generated/message.ts";
import { makeSigner, signedCast } from "../test/support/messages.ts";
import { compileInto, DIST, type RunningNode, startNode, tempDir } from "../test/support/program.ts";
import type { Figure } from "./main.ts";
import { cpuMicrosOf, median } from "./start.ts";
import { callAll, registerAll, unixNowSecs } from "./submits.ts";

const RUNS = Number(process.env.BENCH_RUNS ?? 3);
const CONNECTIONS = Number(process.env.BENCH_CONNECTIONS ?? 1000);
const EVENTS_PER_SEC = 50;
const SECS = 10;
const FIDS = 100;
const EXPRESSIONS = 200;
const P99_GOAL_MS = 250;
const SUBMIT_GOAL = 1.2;

/**
 * Measures the event stream of the compiled binary with one HTTP worker: the time from sending a submit to its frame at a
 * client, with 1,000 connections whose filters all differ, compared with one connection; and what they cost a submit. The
 * runs alternate.
 */
export async function benchStream(): Promise<Figure[]> {
  const binary = await compileInto(DIST);
  using dir = tempDir();
  await using node = await startNode({
    command: [binary],
    dataDir: dir.path,
    args: [
      ...["--set", "hub.admin=true", "--set", "http.workers=1"],
      ...["--set", `stream.max_connections_per_ip=${CONNECTIONS}`],
    ],
  });
  const client = new Client(node.hubAddress, credentials.createInsecure());
  await registerAll(client, unixNowSecs());
  const one = ["kinds=cast.created"];
  const many = Array.from({ length: CONNECTIONS }, (_, at) => queryOf(at));
  const rounds = { none: [] as Round[], one: [] as Round[], many: [] as Round[] };
  let serial = 0;
  for (let run = 0; run <= RUNS; run++) {
    for (const [name, queries] of Object.entries({ none: [], one, many }) as [
      keyof typeof rounds,
      string[],
    ][]) {
      const round = await measure(node, client, queries, serial);
      serial += EVENTS_PER_SEC * SECS;
      // The first round of each is a warm-up.
      if (run > 0) rounds[name].push(round);
    }
  }
  client.close();
  const of = (name: keyof typeof rounds, part: keyof Round) =>
    median(rounds[name].map((round) => round[part]));
  return [
    { what: "Submit to frame, one connection, p50", value: of("one", "p50"), unit: "ms" },
    { what: "Submit to frame, one connection, p99", value: of("one", "p99"), unit: "ms" },
    {
      what: `Submit to frame, ${CONNECTIONS} distinct filters, p50`,
      value: of("many", "p50"),
      unit: "ms",
      ratio: { of: "one connection", value: of("many", "p50") / of("one", "p50") },
    },
    {
      what: `Submit to frame, ${CONNECTIONS} distinct filters, p99, goal under ${P99_GOAL_MS} ms`,
      value: of("many", "p99"),
      unit: "ms",
      ratio: { of: "one connection", value: of("many", "p99") / of("one", "p99") },
    },
    {
      what: `SubmitMessage beside ${CONNECTIONS} connections, median`,
      value: of("many", "submitMs"),
      unit: "ms",
      ratio: {
        of: `without streams, at most ${SUBMIT_GOAL}`,
        value: of("many", "submitMs") / of("none", "submitMs"),
      },
    },
    {
      what: `CPU time of the node, an event with ${CONNECTIONS} connections`,
      value: of("many", "cpuMicros"),
      unit: "µs",
      ratio: { of: "without streams", value: of("many", "cpuMicros") / of("none", "cpuMicros") },
    },
    { what: "Frames of an event, 1,000 connections", value: of("many", "framesPerEvent"), unit: "" },
  ];
}

/** Returns filters that all differ: a fifth with expressions, three tenths with authors, half with channels. */
function queryOf(at: number): string {
  const share = at % 10;
  if (share < 2 && at / 5 < EXPRESSIONS) return `text=${encodeURIComponent(`(?i)\\bmessage \\d*${at} of`)}`;
  if (share < 5) return `kinds=cast.created&author_fids=${1 + (at % FIDS)}&exclude_author_fids=${1000 + at}`;
  return `kinds=cast.created&parent_urls=https://bench.example/${at}`;
}

interface Round {
  readonly p50: number;
  readonly p99: number;
  readonly submitMs: number;
  readonly cpuMicros: number;
  readonly framesPerEvent: number;
}

async function measure(
  node: RunningNode,
  client: Client,
  queries: readonly string[],
  first: number,
): Promise<Round> {
  const file = join(tmpdir(), `stream-queries-${process.pid}.txt`);
  await Bun.write(file, queries.join("\n"));
  const script = join(import.meta.dir, "processes/stream-readers.ts");
  const reading =
    queries.length === 0
      ? undefined
      : Bun.spawn([process.execPath, script, node.url, file], { stdout: "pipe", stderr: "inherit" });
  const arrivals: [number: number, atMs: number][] = [];
  const opened = Promise.withResolvers<void>();
  const readAll = async () => {
    let rest = "";
    for await (const text of reading?.stdout.pipeThrough(new TextDecoderStream()) ?? []) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const [number = "", atMs = ""] = line.split(" ");
        if (number === "open") opened.resolve();
        else arrivals.push([Number(number), Number(atMs)]);
      }
    }
  };
  const all = readAll();
  if (!reading) opened.resolve();
  await opened.promise;
  rmSync(file);

  const sentAt = new Map<number, number>();
  const took: number[] = [];
  const cpuBefore = cpuMicrosOf(node.pid);
  const startedMs = performance.now();
  const count = EVENTS_PER_SEC * SECS;
  const calls: Promise<void>[] = [];
  for (let n = 0; n < count; n++) {
    const waitMs = startedMs + (n * 1000) / EVENTS_PER_SEC - performance.now();
    if (waitMs > 0) await Bun.sleep(waitMs);
    const request = castRequest(first + n);
    const atMs = performance.now();
    sentAt.set(first + n, performance.timeOrigin + atMs);
    calls.push(
      callAll(client, { method: "/HubService/SubmitMessage", requests: [request], atOnce: 1 }).then(() => {
        took.push(performance.now() - atMs);
      }),
    );
  }
  await Promise.all(calls);
  await Bun.sleep(500);
  const cpuMicros = (cpuMicrosOf(node.pid) - cpuBefore) / count;
  reading?.kill();
  await all;
  const delays = arrivals.flatMap(([number, atMs]) => {
    const sent = sentAt.get(number);
    return sent === undefined ? [] : [atMs - sent];
  });
  delays.sort((a, b) => a - b);
  const at = (share: number) => delays[Math.floor(delays.length * share)] ?? Number.NaN;
  return {
    p50: at(0.5),
    p99: at(0.99),
    submitMs: median(took),
    cpuMicros,
    framesPerEvent: delays.length / count,
  };
}

function castRequest(number: number): Buffer {
  const fid = 1 + (number % FIDS);
  const text = `Message ${number} of a stream, with about as many words in it as people put into one on a usual day.`;
  const value = {
    text,
    parent: { $case: "parentUrl" as const, value: `https://bench.example/${number % CONNECTIONS}` },
  };
  const message = signedCast(fid, text, makeSigner(`bench ${fid}`), {
    timestamp: toFarcasterSecs(unixNowSecs()) - 5,
    ...({ body: { $case: "castAddBody", value } } as object),
  });
  return Buffer.from(Message.encode(Message.decode(message)).finish());
}
