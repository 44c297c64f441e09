/**
 * One measurement of `bench density`, in a separate process, so that no other work counts as its CPU time. Arguments: the
 * checkout whose code writes, the data directory, the mode, the number of messages. Prints a JSON object.
 */
import { Database } from "bun:sqlite";
import { mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { IngestRecord } from "../../src/ingest/record.ts";
import {
  buildMessage,
  type Ed25519Key,
  ed25519KeyFromSeed,
} from "../../src/protocol/message/build-message.ts";
import { encodeMessage, type SignedMessage } from "../../src/protocol/message/signed-message.ts";
import type { MessageData } from "../../src/protocol/wire/generated/message.ts";
import { makeSigner } from "../../test/support/messages.ts";
import { benchRecords } from "../network.ts";

/** Result of one measurement. */
export interface WriterResult {
  /** Messages that were written, including those that later ones replaced. */
  readonly messages: number;
  readonly live: number;
  /** Size of the index file. */
  readonly bytes: number;
  /** CPU time of the measured work per message. */
  readonly micros: number;
  /** CPU time of splitting and packing per message, which happens outside the writer's thread. */
  readonly packMicros: number;
  /** Bytes of write calls during the measured work. */
  readonly written: number;
  /** Wall time of the build after the spool. */
  readonly buildSecs: number;
  /** Size of the write-ahead log in the largest step of each stage, in mode `steps`. */
  readonly stepBytes: Readonly<Record<string, number>>;
  readonly maxRssBytes: number;
}

/**
 * `live`: in the order of time, 1,000 per commit. `by-fid`: row by row in the order of fids, 1,000 per commit. `bulk`: in
 * the order of fids into a spool, then built. `small-cache`: the same with a page cache of 1/30 of the index. `import`:
 * validated, in the order of time. `steps`: like `bulk`, with the log emptied before each step of the build.
 */
export type WriterMode = "live" | "by-fid" | "bulk" | "small-cache" | "import" | "steps";

const PER_COMMIT = 1000;
const PER_BATCH = 5000;
/** So few that a stage that can divide its work does so at the size of a benchmark. */
const STEPS = { rowsPerStep: 5000, rowsPerSort: 20_000 };
/** Above this number, messages are not sorted by fid before they are spooled, because they do not fit into memory. */
const MAX_SORTED = 1_000_000;
const CACHE_SHARE = 30;
/** Bytes per message in the index, to size the cache before the index exists. */
const EXPECTED_BYTES = 330;
const NETWORK = 1;

const [checkout = "", dataDir = "", mode = "live", count = "0"] = process.argv.slice(2);
const messageCount = Number(count);
const load = (path: string) => import(join(checkout, path));
const { indexPath, openIndexWriter } = await load("src/db/index/database.ts");
const path: string = indexPath(dataDir);
let micros = 0;
let packMicros = 0;
let written = 0;
let messages = 0;
let buildSecs = 0;
const stepBytes: Record<string, number> = {};

function measured<T>(work: () => T): T {
  const before = { cpu: process.cpuUsage(), written: writtenBytes() };
  const result = work();
  const { user, system } = process.cpuUsage(before.cpu);
  micros += user + system;
  written += writtenBytes() - before.written;
  return result;
}

function writtenBytes(): number {
  return Number(/^wchar: (\d+)/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1] ?? 0);
}

const keys = new Map<number, Ed25519Key>();

function signed(data: MessageData): IngestRecord {
  let key = keys.get(data.fid);
  if (!key) {
    key = ed25519KeyFromSeed(makeSigner(`bench ${data.fid}`).privateKey);
    keys.set(data.fid, key);
  }
  return { kind: "message", message: buildMessage(data, key) };
}

function records(): Generator<IngestRecord> {
  const fids = Math.max(200, Math.round(messageCount / 50));
  return mode === "import" ? benchRecords(messageCount, fids, signed) : benchRecords(messageCount, fids);
}

/** Returns the records of the accounts, and the messages, at most one per slot, in the order of fids. */
function sorted(): { accounts: IngestRecord[]; messages: SignedMessage[] } {
  const accounts: IngestRecord[] = [];
  const byHash = new Map<string, SignedMessage>();
  for (const record of records()) {
    if (record.kind === "message") byHash.set(record.message.hash.toHex(), record.message);
    else accounts.push(record);
  }
  return { accounts, messages: [...byHash.values()].sort((a, b) => a.data.fid - b.data.fid) };
}

async function startEngine(db: unknown) {
  const { createIngestEngine } = await load("src/ingest/engine.ts");
  const onFault = (cause: unknown) => {
    throw cause;
  };
  return createIngestEngine({ db, network: NETWORK, clock: { nowMs: () => Date.now() }, onFault });
}

async function openEmpty() {
  rmSync(dataDir, { recursive: true, force: true });
  mkdirSync(dataDir, { recursive: true });
  const { claimNetwork } = await load("src/db/index/identity.ts");
  const db = openIndexWriter(path);
  claimNetwork(db, "mainnet");
  return db;
}

async function writeRows(order: "live" | "by-fid"): Promise<void> {
  const db = await openEmpty();
  const engine = await startEngine(db);
  let batch: IngestRecord[] = [];
  const flush = () => {
    if (batch[0]?.kind === "message") {
      messages += batch.length;
      measured(() => engine.apply(batch));
    } else engine.apply(batch);
    batch = [];
  };
  const { accounts, messages: ordered } = order === "live" ? { accounts: records(), messages: [] } : sorted();
  for (const record of accounts) {
    if (batch.length === PER_COMMIT || (batch[0] && batch[0].kind !== record.kind)) flush();
    batch.push(record);
  }
  flush();
  for (let at = 0; at < ordered.length; at += PER_COMMIT) {
    batch = ordered.slice(at, at + PER_COMMIT).map((message) => ({ kind: "message", message }));
    flush();
  }
  measured(() => db.checkpoint());
  db[Symbol.dispose]();
}

async function buildInBulk(options: {
  cacheKib?: number;
  rowsPerStep?: number;
  rowsPerSort?: number;
}): Promise<void> {
  const db = await openEmpty();
  const engine = await startEngine(db);
  const { openBulkBuild } = await load("src/db/index/bulk/open-bulk-build.ts");
  const { packMessages } = await load("src/db/index/bulk/packed-messages.ts");
  const { splitEncoded } = await load("src/db/index/messages/split.ts");
  const bulk = openBulkBuild(db, options);
  const append = (batch: readonly SignedMessage[]) => {
    const encoded = batch.map(encodeMessage);
    const before = process.cpuUsage();
    const packed = packMessages(encoded.map((bytes) => splitEncoded(bytes, NETWORK)));
    const { user, system } = process.cpuUsage(before);
    packMicros += user + system;
    measured(() => bulk.append([packed]));
    messages += batch.length;
  };
  let batch: SignedMessage[] = [];
  let accounts: IngestRecord[] = [];
  const { accounts: first, messages: ordered } =
    messageCount <= MAX_SORTED ? sorted() : { accounts: records(), messages: [] };
  for (const record of first) {
    if (record.kind === "message") batch.push(record.message);
    else accounts.push(record);
    if (accounts.length === PER_COMMIT) engine.apply(accounts.splice(0));
    if (batch.length === PER_BATCH) append(batch.splice(0));
  }
  engine.apply(accounts);
  append(batch);
  accounts = [];
  batch = [];
  for (let at = 0; at < ordered.length; at += PER_BATCH) append(ordered.slice(at, at + PER_BATCH));
  const startedAt = performance.now();
  measured(() => {
    if (mode === "steps") runSteps(db, bulk);
    else while (bulk.step());
  });
  buildSecs = (performance.now() - startedAt) / 1000;
  db[Symbol.dispose]();
}

function runSteps(db: { checkpoint(): void }, bulk: { step(): { stage: string } | undefined }): void {
  for (let stage = "first"; ; ) {
    db.checkpoint();
    const next = bulk.step();
    stepBytes[stage] = Math.max(
      stepBytes[stage] ?? 0,
      statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    );
    if (!next) return;
    stage = next.stage;
  }
}

async function importSigned(): Promise<void> {
  const db = await openEmpty();
  const engine = await startEngine(db);
  const { validateMessage } = await load("src/protocol/validate/message.ts");
  const { decodeMessage } = await load("src/protocol/message/signed-message.ts");
  const nowUnixSecs = Math.floor(Date.now() / 1000);
  let batch: Uint8Array[] = [];
  const flush = () => {
    messages += batch.length;
    measured(() => {
      const valid = batch.map((bytes) => {
        const { value: message } = decodeMessage(bytes);
        const refusal = validateMessage(message, { network: NETWORK, nowUnixSecs, isHistory: true });
        if (refusal) throw new Error(refusal.reason);
        return { kind: "message", message };
      });
      engine.applyResumable(valid, [], { isHistory: true });
    });
    batch = [];
  };
  for (const record of records()) {
    if (record.kind === "message") batch.push(encodeMessage(record.message));
    else engine.apply([record]);
    if (batch.length === PER_COMMIT) flush();
  }
  flush();
  db[Symbol.dispose]();
}

if (mode === "live" || mode === "by-fid") await writeRows(mode);
else if (mode === "bulk") await buildInBulk({});
else if (mode === "steps") await buildInBulk(STEPS);
else if (mode === "small-cache")
  await buildInBulk({ cacheKib: Math.ceil((messageCount * EXPECTED_BYTES) / CACHE_SHARE / 1024) });
else await importSigned();

const { openState, statePath } = await load("src/db/state/database.ts");
openState(statePath(dataDir), { mayCreate: true })[Symbol.dispose]();
function liveMessages(): number {
  using db = new Database(path, { readonly: true });
  return db.query<{ n: number }, []>("SELECT sum(used) AS n FROM store_counts").get()?.n ?? 0;
}

const result: WriterResult = {
  messages,
  live: liveMessages(),
  bytes: statSync(path).size,
  micros: micros / messages,
  packMicros: packMicros / messages,
  written,
  buildSecs,
  stepBytes,
  maxRssBytes: process.resourceUsage().maxRSS * 1024,
};
process.stdout.write(`${JSON.stringify(result)}\n`);
