import { Client, credentials } from "@grpc/grpc-js";
import { Message } from "../src/protocol/wire/generated/message.ts";
import { compileInto, DIST, startNode, tempDir } from "../test/support/program.ts";
import { bareInsertRate, bareVerifyRate } from "./bare-ingest.ts";
import type { Figure } from "./main.ts";
import { cpuMicrosOf, median } from "./start.ts";
import {
  bulkRequests,
  callAll,
  MESSAGES_PER_CALL,
  makeMessages,
  registerAll,
  submitAll,
  unixNowSecs,
} from "./submits.ts";

const RUNS = 5;
const MESSAGES_PER_RUN = 20_000;
const UNARY_PER_RUN = 4_000;
const UNARY_AT_ONCE = 64;
/** The first unary calls of any kind wait for the JIT compiler. */
const UNARY_WARM_UP_RUNS = 2;

/** Age of the oldest messages: history, or recent enough to cause webhook events. */
const AGES_SECS = { history: 86_400, news: 600 };

/** One measurement of the node. */
interface Round {
  /** Messages or calls per second. */
  readonly rate: number;
  /** CPU time of the node per message or call, in microseconds. */
  readonly nodeMicros: number;
}

/**
 * Measures messages per second through SubmitBulkMessages of the compiled binary, validated, merged and synced to disk. The
 * baselines are bare Ed25519 verification of the same messages on one core and bare inserts of their rows, interleaved. Then
 * it measures one message per call, compared with the smallest call of the server. No webhook is registered.
 */
export async function benchIngest(): Promise<Figure[]> {
  using dir = tempDir();
  const node = await startNode({
    command: [await compileInto(DIST)],
    dataDir: `${dir.path}/data`,
    args: ["--set", "hub.admin=true"],
  });
  const client = new Client(node.hubAddress, credentials.createInsecure());
  await registerAll(client, unixNowSecs());
  const measured = async (count: number, work: () => Promise<unknown>): Promise<Round> => {
    const cpuBefore = cpuMicrosOf(node.pid);
    const startedAt = performance.now();
    await work();
    const secs = (performance.now() - startedAt) / 1000;
    return { rate: count / secs, nodeMicros: (cpuMicrosOf(node.pid) - cpuBefore) / count };
  };
  const bulk = await bulkFigures(client, measured);
  const unary = await unaryFigures(client, measured);
  client.close();
  await node.stop();
  return [...bulk, ...unary];
}

type Measure = (count: number, work: () => Promise<unknown>) => Promise<Round>;

async function bulkFigures(client: Client, measured: Measure): Promise<Figure[]> {
  const bare = { verified: [] as number[], inserted: [] as number[] };
  const rounds = { history: [] as Round[], news: [] as Round[] };
  for (let run = 0; run < RUNS; run++) {
    for (const kind of ["history", "news"] as const) {
      const messages = makeMessages(`${kind} ${run}`, unixNowSecs() - AGES_SECS[kind], MESSAGES_PER_RUN);
      if (kind === "history") {
        bare.verified.push(bareVerifyRate(messages));
        bare.inserted.push(bareInsertRate(messages, MESSAGES_PER_CALL));
      }
      const requests = bulkRequests(messages);
      rounds[kind].push(await measured(messages.length, () => submitAll(client, requests)));
    }
  }
  const [verification, inserts] = ["bare verification", "bare row inserts"];
  const goal = `${verification}, goal 0.50`;
  return [
    {
      what: `${verification}, one core, median of ${RUNS}`,
      value: median(bare.verified),
      unit: "messages/s",
    },
    {
      what: `${inserts}, ${MESSAGES_PER_CALL} per commit, durable`,
      value: median(bare.inserted),
      unit: "rows/s",
    },
    comparedWith("SubmitBulkMessages, durable", rounds.history, goal, bare.verified),
    comparedWith("the same", rounds.history, inserts, bare.inserted),
    comparedWith("the same, each message an event", rounds.news, goal, bare.verified),
    processorTime("a message in bulk", rounds.history),
  ];
}

async function unaryFigures(client: Client, measured: Measure): Promise<Figure[]> {
  const rounds = { empty: [] as Round[], submit: [] as Round[] };
  for (let run = 0; run < UNARY_WARM_UP_RUNS + RUNS; run++) {
    const messages = makeMessages(`unary ${run}`, unixNowSecs() - AGES_SECS.history, UNARY_PER_RUN);
    const requests = messages.map((message) => Buffer.from(Message.encode(message).finish()));
    const nothing = requests.map(() => Buffer.alloc(0));
    const round = {
      empty: await measured(nothing.length, () =>
        callAll(client, { method: "/HubService/GetInfo", requests: nothing, atOnce: UNARY_AT_ONCE }),
      ),
      submit: await measured(requests.length, () =>
        callAll(client, { method: "/HubService/SubmitMessage", requests, atOnce: UNARY_AT_ONCE }),
      ),
    };
    if (run < UNARY_WARM_UP_RUNS) continue;
    rounds.empty.push(round.empty);
    rounds.submit.push(round.submit);
  }
  const emptyRates = rounds.empty.map(({ rate }) => rate);
  return [
    { what: `GetInfo, ${UNARY_AT_ONCE} concurrent calls`, value: median(emptyRates), unit: "calls/s" },
    comparedWith("SubmitMessage, durable", rounds.submit, "GetInfo, goal 0.40", emptyRates),
    processorTime("a GetInfo", rounds.empty),
    processorTime("a SubmitMessage", rounds.submit),
  ];
}

/** Returns the rate of a measurement, with its ratio to a baseline of the same run. */
function comparedWith(what: string, rounds: readonly Round[], of: string, bare: readonly number[]): Figure {
  return {
    what,
    value: median(rounds.map(({ rate }) => rate)),
    unit: "messages/s",
    ratio: { of, value: median(rounds.map(({ rate }, run) => rate / (bare[run] ?? Number.NaN))) },
  };
}

function processorTime(what: string, rounds: readonly Round[]): Figure {
  const value = median(rounds.map(({ nodeMicros }) => nodeMicros));
  return { what: `CPU time of the node, ${what}`, value, unit: "µs" };
}
