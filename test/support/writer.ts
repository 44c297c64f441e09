import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type IndexDatabase, indexPath, openIndexReader } from "../../src/db/index/database.ts";
import { claimNetwork } from "../../src/db/index/identity.ts";
import { StorageError } from "../../src/db/sqlite/storage-error.ts";
import { createIngestEngine } from "../../src/ingest/engine.ts";
import type { EncodedRecord } from "../../src/ingest/record.ts";
import { createSizeBound } from "../../src/ingest/size-bound.ts";
import { createLogRetention } from "../../src/ingest/thread/log-retention.ts";
import { IngestQueue } from "../../src/ingest/thread/queue.ts";
import { EventSignal, type IngestClient, type IngestRpc, serveIngest } from "../../src/ingest/thread/rpc.ts";
import { connectRpc } from "../../src/lib/port-rpc.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { ManualClock } from "./clock.ts";
import { createIndex } from "./empty-databases.ts";
import { DEFAULT_NOW_SECS } from "./messages.ts";
import { accountRecords } from "./node.ts";

/** The service of the ingest worker in this thread, over a real index file and a real port. */
export interface TestWriter extends Disposable {
  readonly dir: string;
  readonly db: IndexDatabase;
  /** A separate connection, as other workers have it. */
  readonly reader: IndexDatabase;
  readonly clock: ManualClock;
  readonly client: IngestClient;
  /** Resolves when the records are durable. All must be accepted. */
  submit(...records: EncodedRecord[]): Promise<void>;
}

/** How long a published event stays in the outbox. */
export const EVENT_RETENTION_SECS = 3600;

/** Starts a writer whose index has the accounts of some fids. */
export async function startTestWriter(...fids: number[]): Promise<TestWriter> {
  const dir = mkdtempSync(join(tmpdir(), "writer-test-"));
  const db = createIndex(dir);
  claimNetwork(db, "mainnet");
  const reader = openIndexReader(indexPath(dir));
  const clock = new ManualClock(DEFAULT_NOW_SECS);
  const newEvents = new EventSignal();
  const newHubEvents = new EventSignal();
  const bound = createSizeBound({ db, maxBytes: 0 });
  const engine = createIngestEngine({
    db,
    bound,
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    clock,
    onFault: (cause) => {
      // A record that could not be stored is refused as well.
      if (!(cause instanceof StorageError)) throw cause;
    },
    onEvents: () => newEvents.raise(),
    onHubEvents: () => newHubEvents.raise(),
  });
  const queue = new IngestQueue(engine);
  const { port1, port2 } = new MessageChannel();
  const retention = createLogRetention({
    db,
    clock,
    outboxSecs: EVENT_RETENTION_SECS,
    hubLogSecs: EVENT_RETENTION_SECS,
  });
  serveIngest(port1, { db, engine, queue, bound, newEvents, newHubEvents, retention });
  const client = connectRpc<IngestRpc>(port2);
  const submit = async (...records: EncodedRecord[]) => {
    const refused = (await client.submit(records)).find((outcome) => outcome !== undefined);
    if (refused) throw new Error(refused.reason);
  };
  await submit(...fids.flatMap((fid) => accountRecords(fid)));
  return {
    dir,
    db,
    reader,
    clock,
    client,
    submit,
    [Symbol.dispose]() {
      port1.close();
      port2.close();
      reader[Symbol.dispose]();
      db[Symbol.dispose]();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
