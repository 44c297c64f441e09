import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClientAddresses } from "../../src/admission/client-address.ts";
import type { Config } from "../../src/config/schema.ts";
import { type IndexDatabase, indexPath, openIndexReader } from "../../src/db/index/database.ts";
import { claimNetwork } from "../../src/db/index/identity.ts";
import { hasHubEventsAfter } from "../../src/db/index/log/hub-log.ts";
import {
  createSubscribers,
  type Subscribers,
  type SubscribersDeps,
} from "../../src/hub/events/subscribers.ts";
import { createIngestEngine, type IngestEngine } from "../../src/ingest/engine.ts";
import { createOwnHubLog, openLogs } from "../../src/ingest/hub-log/own-hub-log.ts";
import { decodeRecord, type EncodedRecord } from "../../src/ingest/record.ts";
import { EventSignal } from "../../src/ingest/thread/rpc.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { createHubReads } from "../../src/read/hub/hub-reads.ts";
import { ManualClock } from "./clock.ts";
import { createIndex } from "./empty-databases.ts";
import { startTestHub, type TestHub } from "./hub.ts";
import { DEFAULT_NOW_SECS } from "./messages.ts";
import { openStateFile } from "./state-file.ts";
import { localStores } from "./state-stores.ts";

/** The node believes proxies on this machine. */
const PROXIES: Pick<Config["http"], "trusted_proxies" | "proxy_header"> = {
  trusted_proxies: ["127.0.0.0/8"],
  proxy_header: "x-forwarded-for",
};
const NETWORK = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;

/** A node that numbers its own blocks: its writer with a log of hub events, and a hub over it. */
export interface LoggedNode extends AsyncDisposable {
  readonly db: IndexDatabase;
  readonly clock: ManualClock;
  readonly engine: IngestEngine;
  readonly hub: TestHub;
  readonly subscribers: Subscribers;
  /** Merges records in one commit. Returns the codes of the refusals, or "ok". */
  merge(...records: readonly EncodedRecord[]): string[];
}

/** @param nowSecs its time, which stands still, in unix seconds */
export async function startLoggedNode(
  limits: Partial<SubscribersDeps> = {},
  nowSecs = DEFAULT_NOW_SECS,
): Promise<LoggedNode> {
  const dir = mkdtempSync(join(tmpdir(), "logged-node-test-"));
  const clock = new ManualClock(nowSecs);
  const state = openStateFile();
  const db = createIndex(dir);
  claimNetwork(db, "mainnet");
  const { nodeLogs: store } = localStores(state.db, { clock });
  const onFault = (cause: unknown) => {
    throw cause;
  };
  const logs = await openLogs({
    db,
    nodeId: "node",
    store,
    clock,
    isLogging: true,
    isNumbering: true,
    onFault,
  });
  const arrivals = new EventSignal();
  const engine = createIngestEngine({
    db,
    network: NETWORK,
    clock,
    onFault,
    hubLog: createOwnHubLog({ db, logs }),
    onHubEvents: () => arrivals.raise(),
  });
  const reader = openIndexReader(indexPath(dir));
  const subscribers = createSubscribers({
    reads: createHubReads({ db: reader, network: NETWORK, clock }),
    async awaitEvents(afterSeq) {
      while (!hasHubEventsAfter(db, afterSeq)) await arrivals.next();
    },
    heartbeat: async () => engine.heartbeat(),
    maxSubscribers: 64,
    maxPerAddress: 64,
    onFault,
    ...limits,
  });
  const hub = await startTestHub(indexPath(dir), {
    clock,
    deps: { subscribers, clients: createClientAddresses(PROXIES) },
  });
  return {
    db,
    clock,
    engine,
    hub,
    subscribers,
    merge: (...records) =>
      engine
        .apply(records.map(decodeRecord).flatMap((record) => (record.ok ? [record.value] : [])))
        .map((outcome) => outcome?.code ?? "ok"),
    async [Symbol.asyncDispose]() {
      await hub[Symbol.asyncDispose]();
      logs.stop();
      reader[Symbol.dispose]();
      db[Symbol.dispose]();
      state[Symbol.dispose]();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
