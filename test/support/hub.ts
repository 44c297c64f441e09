import { getInsecureHubRpcClient, type HubRpcClient } from "@farcaster/hub-nodejs";
import { createAdmission } from "../../src/admission/admission.ts";
import { type IndexDatabase, openIndexReader } from "../../src/db/index/database.ts";
import { type HubListener, listenForHub } from "../../src/hub/listener.ts";
import type { ReceiveLimits } from "../../src/hub/receive-limits.ts";
import { createHubServer, type HubServer } from "../../src/hub/server.ts";
import type { HubDeps } from "../../src/hub/service.ts";
import { createChainChecker } from "../../src/hub/submit/chain-checker.ts";
import { SubmissionCheck } from "../../src/hub/submit/submission-check.ts";
import { createIngestEngine } from "../../src/ingest/engine.ts";
import { encodeMessage, type SignedMessage } from "../../src/protocol/message/signed-message.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { createHubReads, type HubReadDeps } from "../../src/read/hub/hub-reads.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import type { Descriptors } from "../../src/runtime/process.ts";
import { ManualClock } from "./clock.ts";
import { directClients } from "./http.ts";
import { DEFAULT_NOW_SECS } from "./messages.ts";

const NETWORK = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;

export type ListeningHub = HubServer & Pick<HubListener, "port">;

/** Serves a hub on a port. `stop` closes that, too. */
export async function startHubServer(
  context: HubDeps,
  address: { readonly host: string; readonly port: number },
  options: {
    readonly receiveLimits?: ReceiveLimits | undefined;
    readonly descriptors?: Descriptors | undefined;
  } = {},
): Promise<ListeningHub> {
  const server = createHubServer(context, options.receiveLimits);
  const listener = await listenForHub(address, { ...options, accept: server.accept });
  return {
    ...server,
    port: listener.port,
    async stop(graceMs) {
      listener.close();
      await server.stop(graceMs);
    },
  };
}

/** The hub over an index, and the official client of its port. */
export interface TestHub extends AsyncDisposable {
  readonly server: ListeningHub;
  readonly address: string;
  readonly client: HubRpcClient;
}

/** @param index the file of an index, or an open one, which stays open. */
export async function startTestHub(
  index: string | IndexDatabase,
  options: {
    readonly clock?: Clock;
    readonly reads?: Partial<HubReadDeps>;
    readonly submit?: HubDeps["submit"];
    readonly deps?: Partial<HubDeps>;
    readonly receiveLimits?: ReceiveLimits;
  } = {},
): Promise<TestHub> {
  const { clock = new ManualClock(DEFAULT_NOW_SECS), reads, deps } = options;
  const db = typeof index === "string" ? openIndexReader(index) : index;
  const faults: unknown[] = [];
  const server = await startHubServer(
    {
      db,
      network: NETWORK,
      clock,
      version: "1.2.3",
      admin: false,
      clients: directClients,
      budgets: createAdmission().budgets,
      check: new SubmissionCheck({ db, network: NETWORK, clock, upstreamDecides: false }),
      chain: createChainChecker({ db, l1RpcUrl: "" }),
      submit: options.submit ?? (async () => []),
      reads: createHubReads({ db, network: NETWORK, clock, ...reads }),
      onFault: (_, cause) => faults.push(cause),
      ...deps,
    },
    { host: "127.0.0.1", port: 0 },
    options,
  );
  const address = `127.0.0.1:${server.port}`;
  const client = getInsecureHubRpcClient(address);
  return {
    server,
    address,
    client,
    async [Symbol.asyncDispose]() {
      client.close();
      await server.stop(0);
      if (db !== index) db[Symbol.dispose]();
      if (faults.length > 0) throw new AggregateError(faults, "the hub had faults");
    },
  };
}

/** Merges messages that another node has admitted, by the rules of the protocol. */
export function mergeAdmitted(db: IndexDatabase, messages: readonly SignedMessage[]): void {
  const onFault = (cause: unknown) => {
    throw cause;
  };
  const engine = createIngestEngine({
    db,
    network: NETWORK,
    clock: new ManualClock(DEFAULT_NOW_SECS),
    onFault,
  });
  const ops = messages.map(
    (message) => ({ kind: "merge", message: encodeMessage(message), deleted: [], happenedAt: 0 }) as const,
  );
  for (let at = 0; at < ops.length; at += 50)
    engine.applyRelayed({ ops: ops.slice(at, at + 50), positions: [] });
}
