import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { benchRecords } from "../../bench/network.ts";
import { estimateSize } from "../../src/db/index/counts/size-estimate.ts";
import { openIndexWriter } from "../../src/db/index/database.ts";
import { claimNetwork } from "../../src/db/index/identity.ts";
import { estimateFile } from "../../src/import/estimate-file.ts";
import { writeRecords } from "../../src/import/write-records.ts";
import { createIngestEngine } from "../../src/ingest/engine.ts";
import type { EncodedRecord, IngestRecord } from "../../src/ingest/record.ts";
import { encodeMessage } from "../../src/protocol/message/signed-message.ts";
import { FarcasterNetwork, UserNameProof } from "../../src/protocol/wire/generated/message.ts";
import { OnChainEvent } from "../../src/protocol/wire/generated/on-chain.ts";
import { demoChannelRecords } from "../demo/records.ts";

const MAINNET = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
const MESSAGES = 12_000;

let dir: string;
let path: string;
let records: IngestRecord[];

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "estimate-test-"));
  path = join(dir, "records");
  records = [...benchRecords(MESSAGES, MESSAGES / 50)];
  await writeRecords(path, records.map(encoded));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function encoded(record: IngestRecord): EncodedRecord {
  switch (record.kind) {
    case "message":
      return { kind: record.kind, bytes: encodeMessage(record.message) };
    case "onChainEvent":
      return { kind: record.kind, bytes: OnChainEvent.encode(record.event).finish() };
    case "usernameProof":
      return { kind: record.kind, bytes: UserNameProof.encode(record.proof).finish() };
  }
}

const FROM_FILE = { cores: 2, from: "file" } as const;

describe("estimateFile", () => {
  test("counts a small file as a whole", async () => {
    const { network, share } = await estimateFile(path, MAINNET);
    expect(share).toBe(1);
    expect(network.fids).toBe(MESSAGES / 50);
    expect(network.onChainEvents).toBe((3 * MESSAGES) / 50);
    expect(estimateSize(network, FROM_FILE).messages).toBe(
      records.filter(({ kind }) => kind === "message").length,
    );
    expect(network.oddBytes).toBe(0);
  });

  test("is within a tenth of the messages from parts of a file", async () => {
    const whole = (await estimateFile(path, MAINNET)).network;
    const part = await estimateFile(path, MAINNET, { places: 20, bytesPerPlace: 16_384 });
    expect(part.share).toBeLessThan(0.25);
    const { messages } = estimateSize(whole, FROM_FILE);
    expect(Math.abs(estimateSize(part.network, FROM_FILE).messages - messages)).toBeLessThan(messages / 10);
  });

  test("reads over what channels decided, which is in no store", async () => {
    const file = join(dir, "channels");
    const channels = demoChannelRecords();
    await writeRecords(file, channels);
    const { records: read, network } = await estimateFile(file, MAINNET);
    expect(read).toBe(channels.length);
    expect(network.casts).toBeGreaterThan(0);
  });

  test("ends at a part that holds no records", async () => {
    const damaged = join(dir, "damaged");
    writeFileSync(damaged, new Uint8Array(100_000).fill(0xff));
    const { records: read } = await estimateFile(damaged, MAINNET, { places: 2, bytesPerPlace: 4096 });
    expect(read).toBe(0);
    truncateSync(damaged, 0);
    expect((await estimateFile(damaged, MAINNET)).network.casts).toBe(0);
  });

  test("does not search a large file of something else byte by byte", async () => {
    const other = join(dir, "other");
    writeFileSync(other, "");
    // Zeros are records without content.
    truncateSync(other, 64_000_000);
    expect((await estimateFile(other, MAINNET)).records).toBe(0);
    const mixed = join(dir, "mixed");
    copyFileSync(path, mixed);
    truncateSync(mixed, 64_000_000);
    const { records: read } = await estimateFile(mixed, MAINNET);
    expect(read).toBeGreaterThan(0);
  });
});

test("estimateSize is within a tenth of the size of the index", async () => {
  const index = join(dir, "index.db");
  using db = openIndexWriter(index);
  db.sqlite.exec("PRAGMA synchronous = OFF");
  claimNetwork(db, "mainnet");
  const onFault = (cause: unknown) => {
    throw cause;
  };
  const engine = createIngestEngine({ db, network: MAINNET, clock: { nowMs: () => Date.now() }, onFault });
  for (let at = 0; at < records.length; at += 2000) engine.apply(records.slice(at, at + 2000));
  db.sqlite.exec("VACUUM");
  db.checkpoint();
  const { bytes } = estimateSize((await estimateFile(path, MAINNET)).network, FROM_FILE);
  const actual = statSync(index).size;
  expect(bytes / actual).toBeGreaterThan(0.9);
  expect(bytes / actual).toBeLessThan(1.1);
});
