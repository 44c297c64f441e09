import { availableParallelism } from "node:os";
import type { MessagePage } from "../src/ingest/bulk/verify/verifier.ts";
import { startVerifierPool } from "../src/ingest/bulk/verify/verifier-pool.ts";
import { packBytes } from "../src/lib/bytes.ts";
import { workerUrl } from "../src/node/worker-urls.ts";
import { slotOf } from "../src/protocol/message/merge-rules.ts";
import { encodeMessage, signedMessageFromWire } from "../src/protocol/message/signed-message.ts";
import type { Message } from "../src/protocol/wire/generated/message.ts";
import { backfillSet, firstMessages } from "./backfill-set.ts";
import { bareVerifyRate } from "./bare-ingest.ts";
import type { Figure } from "./main.ts";
import { median } from "./start.ts";

const RUNS = Number(process.env.BENCH_RUNS ?? 3);
const MESSAGES = 20_000;
const CALLS_AT_ONCE = 32;

/**
 * Measures how many messages per second the verifier threads verify in full, from pages of a backfill. The baseline is bare
 * Ed25519 verification of the same messages on one core. Runs are interleaved.
 */
export async function benchVerify(): Promise<Figure[]> {
  const set = await backfillSet(Number(process.env.BENCH_MESSAGES ?? 200_000));
  const sample = await firstMessages(set, MESSAGES);
  const cores = availableParallelism();
  const counts = [...new Set([1, cores, cores + 1])];
  const bare: number[] = [];
  const rates = new Map(counts.map((threads) => [threads, [] as number[]]));
  const micros = new Map(counts.map((threads) => [threads, [] as number[]]));
  for (let run = 0; run < RUNS; run++) {
    bare.push(bareVerifyRate(sample));
    for (const threads of counts) {
      const { rate, cpuMicros } = await poolRate(sample, threads);
      rates.get(threads)?.push(rate);
      micros.get(threads)?.push(cpuMicros);
    }
  }
  const ratio = (of: readonly number[]) => ({
    of: "bare verification",
    value: median(of.map((rate, run) => rate / (bare[run] ?? Number.NaN))),
  });
  return [
    { what: `bare verification, one core, median of ${RUNS}`, value: median(bare), unit: "messages/s" },
    ...counts.flatMap((threads): Figure[] => {
      const of = rates.get(threads) ?? [];
      return [
        {
          what: `verified in full, ${threads} threads`,
          value: median(of),
          unit: "messages/s",
          ratio: ratio(of),
        },
        { what: "CPU of all threads", value: median(micros.get(threads) ?? []), unit: "µs a message" },
      ];
    }),
  ];
}

async function poolRate(messages: readonly Message[], threads: number) {
  const pool = startVerifierPool({
    threads,
    openThread: () => new Worker(workerUrl("verifier")),
    context: () => ({ network: 1, nowUnixSecs: Math.floor(Date.now() / 1000), isHistory: true }),
    onCrash: (reason) => {
      throw new Error(reason);
    },
  });
  const warmUp = pagesOf(messages);
  await verifyAll(warmUp, (page) => pool.verifyPage(page));
  const pages = pagesOf(messages);
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const valid = await verifyAll(pages, (page) => pool.verifyPage(page));
  const secs = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  await pool.stop();
  if (valid !== messages.length) throw new Error(`${messages.length - valid} messages are invalid`);
  return { rate: messages.length / secs, cpuMicros: (user + system) / messages.length };
}

/** Verifies pages as a backfill does, some at a time. Returns the number of valid messages. */
async function verifyAll(
  pages: MessagePage[],
  verify: (page: MessagePage) => Promise<readonly { messages: { count: number } }[]>,
): Promise<number> {
  let valid = 0;
  const work = async () => {
    for (let page = pages.pop(); page; page = pages.pop())
      for (const { messages } of await verify(page)) valid += messages.count;
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, work));
  return valid;
}

/** Returns the messages in pages of one fid and store, as sent by an upstream. */
function pagesOf(messages: readonly Message[]): MessagePage[] {
  const groups = new Map<string, { fid: number; store: MessagePage["store"]; messages: Uint8Array[] }>();
  for (const received of messages) {
    const message = signedMessageFromWire(received);
    if (!message.ok) throw new Error(message.error.reason);
    const { fid } = message.value.data;
    const { store } = slotOf(message.value);
    const group = groups.get(`${fid} ${store}`) ?? { fid, store, messages: [] };
    groups.set(`${fid} ${store}`, group);
    group.messages.push(encodeMessage(message.value));
  }
  return [...groups.values()].map(({ fid, store, messages: all }) => ({
    fid,
    store,
    messages: packBytes(all),
    collectsMentions: false,
  }));
}
