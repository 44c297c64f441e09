import { Client, credentials } from "@grpc/grpc-js";
import { toFarcasterSecs } from "../src/protocol/time.ts";
import { SubmitBulkMessagesRequest, SubmitBulkMessagesResponse } from "../src/protocol/wire/generated/hub.ts";
import { Message } from "../src/protocol/wire/generated/message.ts";
import { OnChainEvent } from "../src/protocol/wire/generated/on-chain.ts";
import { registerEvent, rentEvent, signerEvent } from "../test/support/events.ts";
import { makeSigner, makeWallet, signedCast } from "../test/support/messages.ts";
import { compiledBinary, startNode, tempDir } from "../test/support/program.ts";
import { bareInsertRate, bareVerifyRate } from "./bare-ingest.ts";
import type { Figure } from "./main.ts";
import { median } from "./start.ts";

const FIDS = 100;
const RUNS = 5;
const MESSAGES_PER_RUN = 20_000;
const MESSAGES_PER_CALL = 500;
const CALLS_AT_ONCE = 4;
const UNARY_PER_RUN = 4_000;
const UNARY_AT_ONCE = 64;
/** The first unary calls wait for the compiler, whatever they ask. */
const UNARY_WARM_UP_RUNS = 2;

/** How old the oldest messages are: history, or news each of which is an event for webhooks. */
const AGES_SECS = { history: 86_400, news: 600 };

/**
 * Messages a second through SubmitBulkMessages of the compiled binary, validated, merged and synced to disk, beside
 * bare Ed25519 verification of the same messages on one core and bare inserts of their rows, in turns. Then one message a
 * call, beside the emptiest call that the server has. No webhook listens.
 */
export async function benchIngest(): Promise<Figure[]> {
  using dir = tempDir();
  const node = await startNode({
    command: [await compiledBinary()],
    dataDir: `${dir.path}/data`,
    args: ["--set", "hub.admin=true"],
  });
  const client = new Client(node.hubAddress, credentials.createInsecure());
  await registerAll(client, unixNowSecs());
  const rates = { verified: [] as number[], inserted: [] as number[] };
  const bulkRates = { history: [] as number[], news: [] as number[] };
  const unaryRates = { empty: [] as number[], submit: [] as number[] };
  for (let run = 0; run < RUNS; run++) {
    for (const [kind, ageSecs] of Object.entries(AGES_SECS)) {
      const messages = makeMessages(`${kind} ${run}`, unixNowSecs() - ageSecs);
      if (kind === "history") {
        rates.verified.push(bareVerifyRate(messages));
        rates.inserted.push(bareInsertRate(messages, MESSAGES_PER_CALL));
      }
      bulkRates[kind as keyof typeof AGES_SECS].push(await submitAll(client, messages));
    }
  }
  for (let run = 0; run < UNARY_WARM_UP_RUNS + RUNS; run++) {
    const messages = makeMessages(`unary ${run}`, unixNowSecs() - AGES_SECS.history).slice(0, UNARY_PER_RUN);
    const requests = messages.map((message) => Buffer.from(Message.encode(message).finish()));
    const empty = await callAll(
      client,
      "/HubService/GetInfo",
      requests.map(() => Buffer.alloc(0)),
    );
    const submit = await callAll(client, "/HubService/SubmitMessage", requests);
    if (run < UNARY_WARM_UP_RUNS) continue;
    unaryRates.empty.push(empty);
    unaryRates.submit.push(submit);
  }
  client.close();
  await node.stop();
  const [verification, inserts] = ["bare verification", "bare row inserts"];
  const submitted = (
    what: string,
    submits: readonly number[],
    of: string,
    bare: readonly number[],
  ): Figure => ({
    what,
    value: median(submits),
    unit: "messages/s",
    ratio: { of, value: median(submits.map((rate, run) => rate / (bare[run] ?? Number.NaN))) },
  });
  const goal = `${verification}, goal 0.50`;
  return [
    {
      what: `${verification}, one core, median of ${RUNS}`,
      value: median(rates.verified),
      unit: "messages/s",
    },
    {
      what: `${inserts}, ${MESSAGES_PER_CALL} a commit, durable`,
      value: median(rates.inserted),
      unit: "rows/s",
    },
    submitted("SubmitBulkMessages, durable", bulkRates.history, goal, rates.verified),
    submitted("the same", bulkRates.history, inserts, rates.inserted),
    submitted("the same, each of them an event", bulkRates.news, goal, rates.verified),
    {
      what: `GetInfo, ${UNARY_AT_ONCE} calls at a time`,
      value: median(unaryRates.empty),
      unit: "calls/s",
    },
    submitted("SubmitMessage, durable", unaryRates.submit, "GetInfo, goal 0.40", unaryRates.empty),
  ];
}

function unixNowSecs(): number {
  return Math.floor(Date.now() / 1000);
}

/** Messages of a second after another, the first of `startSecs` (unix). */
function makeMessages(run: string, startSecs: number): Message[] {
  return Array.from({ length: MESSAGES_PER_RUN }, (_, n) => {
    const fid = 1 + (n % FIDS);
    const text = `Message ${n} of ${run}, with about as many words in it as people put into one on a usual day.`;
    const timestamp = toFarcasterSecs(startSecs) + Math.floor(n / FIDS);
    return Message.decode(signedCast(fid, text, makeSigner(`bench ${fid}`), { timestamp }));
  });
}

async function submitAll(client: Client, messages: readonly Message[]): Promise<number> {
  const requests: Buffer[] = [];
  for (let at = 0; at < messages.length; at += MESSAGES_PER_CALL) {
    const slice = messages.slice(at, at + MESSAGES_PER_CALL);
    requests.push(Buffer.from(SubmitBulkMessagesRequest.encode({ messages: slice }).finish()));
  }
  const startedAt = performance.now();
  const send = async () => {
    for (let request = requests.pop(); request; request = requests.pop()) {
      const answer = SubmitBulkMessagesResponse.decode(
        await call(client, "/HubService/SubmitBulkMessages", request),
      );
      const refused = answer.messages.find(({ response }) => response?.$case !== "message");
      if (refused) throw new Error(`a message was refused: ${JSON.stringify(refused)}`);
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, send));
  return messages.length / ((performance.now() - startedAt) / 1000);
}

/** Unary calls a second; one that is refused ends it. */
async function callAll(client: Client, method: string, requests: readonly Buffer[]): Promise<number> {
  let next = 0;
  const startedAt = performance.now();
  const send = async () => {
    for (let request = requests[next++]; request; request = requests[next++])
      await call(client, method, request);
  };
  await Promise.all(Array.from({ length: UNARY_AT_ONCE }, send));
  return requests.length / ((performance.now() - startedAt) / 1000);
}

async function registerAll(client: Client, nowSecs: number): Promise<void> {
  const at = nowSecs - 200_000;
  for (let fid = 1; fid <= FIDS; fid++) {
    for (const event of [
      registerEvent(fid, makeWallet(`bench ${fid}`).address, { block: 1000 + fid, at }),
      signerEvent(fid, makeSigner(`bench ${fid}`).publicKey, { block: 2000 + fid, at }),
      rentEvent(fid, 100, { block: 3000 + fid, at }),
    ])
      await call(
        client,
        "/AdminService/SubmitOnChainEvent",
        Buffer.from(OnChainEvent.encode(event).finish()),
      );
  }
}

function call(client: Client, method: string, request: Buffer): Promise<Buffer> {
  const asBuffer = (bytes: Buffer) => bytes;
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(method, asBuffer, asBuffer, request, (cause, answer) => {
      if (cause || !answer) reject(cause ?? new Error("no answer"));
      else resolve(answer);
    });
  });
}
