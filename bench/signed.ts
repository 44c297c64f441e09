import { keccak256, recoverTypedDataAddress } from "viem";
import type { ApiDeps } from "../src/api/deps.ts";
import { pluginOf } from "../src/api/op.ts";
import { appOperations } from "../src/api/operations/apps/apps.ts";
import { createSignedOpHasher, recoverSigner, signedOpTypedData } from "../src/auth/typed-data.ts";
import { serviceNames } from "../src/config/names.ts";
import { indexPath, openIndexReader } from "../src/db/index/database.ts";
import { openState, statePath } from "../src/db/state/database.ts";
import { createManagement } from "../src/node/compose/management.ts";
import { systemClock } from "../src/runtime/clock.ts";
import { configWith } from "../test/runtime/config.ts";
import { registerEvent } from "../test/support/events.ts";
import { runHttp } from "../test/support/http.ts";
import { silentLog } from "../test/support/log.ts";
import { startTestNode } from "../test/support/node.ts";
import { custodyWallet, signedHeaders } from "../test/support/signing.ts";
import { localStores } from "../test/support/state-stores.ts";
import type { Figure } from "./main.ts";
import { median } from "./start.ts";

const WARM_UP_RUNS = 1;
const RUNS = 7;
const REQUESTS_PER_RUN = 1_000;
const FID = 3;
const PATH = "/frame/app/list";

type SignedRequest = Record<string, string>;

/** Seconds per request in one round. */
interface Took {
  readonly wall: number;
  readonly cpu: number;
}

/**
 * Measures signed requests per second through the whole HTTP interface of one thread, sequentially, with every nonce synced
 * to disk, interleaved with bare recovery of the same signatures on the same thread. The requests are passed to the server
 * within the process, so that no client shares the core. CPU time excludes the wait for the disk.
 */
export async function benchSigned(): Promise<Figure[]> {
  using node = startTestNode();
  node.ingestEvent(registerEvent(FID, custody, { block: 1 }));
  using index = openIndexReader(indexPath(node.dir));
  using state = openState(statePath(node.dir));
  const management = createManagement({
    common: { config: configWith(), clock: systemClock, log: silentLog },
    index,
    state: localStores(state),
  });
  // The log level is a node's default.
  const http = runHttp({
    plugins: [pluginOf("native", appOperations, management as ApiDeps)],
    clock: systemClock,
    logLevel: "info",
  });
  const took = { viem: [] as Took[], own: [] as Took[], requests: [] as Took[] };
  for (let run = 0; run < WARM_UP_RUNS + RUNS; run += 1) {
    const requests = await signAll();
    const round = {
      viem: await timed(() => recoverAllWithViem(requests)),
      own: await timed(() => recoverAll(requests)),
      requests: await timed(() => sendAll(http.server.handle, requests)),
    };
    if (run < WARM_UP_RUNS) continue;
    took.viem.push(round.viem);
    took.own.push(round.own);
    took.requests.push(round.requests);
  }
  await http[Symbol.asyncDispose]();
  const rate = (measured: readonly Took[], of: keyof Took = "wall") =>
    median(measured.map((round) => 1 / round[of]));
  const ratioTo = (
    name: string,
    bare: readonly Took[],
    measured: readonly Took[],
    of: keyof Took = "wall",
  ) => ({
    of: name,
    value: median(measured.map((round, run) => (bare[run]?.[of] ?? Number.NaN) / round[of])),
  });
  const [viem, own] = ["bare recovery by viem", "bare recovery, own digest"];
  const goal = `${viem}, goal 0.80`;
  return [
    { what: `${viem}, median of ${RUNS}`, value: rate(took.viem), unit: "recoveries/s" },
    {
      what: own,
      value: rate(took.own),
      unit: "recoveries/s",
      ratio: ratioTo(viem, took.viem, took.own),
    },
    {
      what: "signed GET, sequential, durable nonces",
      value: rate(took.requests),
      unit: "requests/s",
      ratio: ratioTo(goal, took.viem, took.requests),
    },
    {
      what: "the same",
      value: rate(took.requests),
      unit: "requests/s",
      ratio: ratioTo(own, took.own, took.requests),
    },
    {
      what: "the same by CPU time",
      value: rate(took.requests, "cpu"),
      unit: "requests/s",
      ratio: ratioTo(viem, took.viem, took.requests, "cpu"),
    },
  ];
}

async function timed(work: () => Promise<void>): Promise<Took> {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  const ms = performance.now() - startedAt;
  return { wall: ms / 1e3 / REQUESTS_PER_RUN, cpu: (user + system) / 1e6 / REQUESTS_PER_RUN };
}

async function signAll(): Promise<SignedRequest[]> {
  const signedAt = Math.floor(Date.now() / 1000);
  const requests: SignedRequest[] = [];
  for (let n = 0; n < REQUESTS_PER_RUN; n += 1) {
    requests.push(await signedHeaders({ method: "GET", path: PATH, fid: FID, signedAt }));
  }
  return requests;
}

const names = serviceNames("svc");
const emptyHash = keccak256(new Uint8Array());

/** Returns the signed values as text, as in the headers. */
function signedValues(headers: SignedRequest) {
  const read = (name: string) => headers[`${names.headerPrefix}${name}`] ?? "";
  const hex = (name: string) => read(name) as `0x${string}`;
  return { op: read("Op"), at: read("Signed-At"), nonce: hex("Nonce"), signature: hex("Signature") };
}

async function recoverAllWithViem(requests: readonly SignedRequest[]): Promise<void> {
  const typedData = signedOpTypedData(names);
  for (const headers of requests) {
    const { op, at, nonce, signature } = signedValues(headers);
    const message = { op, fid: BigInt(FID), signedAt: BigInt(at), nonce, requestHash: emptyHash };
    expectSigner(
      Buffer.from((await recoverTypedDataAddress({ ...typedData, message, signature })).slice(2), "hex"),
    );
  }
}

async function recoverAll(requests: readonly SignedRequest[]): Promise<void> {
  const digestOf = createSignedOpHasher(names);
  const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex.slice(2), "hex"));
  const requestHash = bytes(emptyHash);
  for (const headers of requests) {
    const { op, at, nonce, signature } = signedValues(headers);
    const digest = digestOf({ op, fid: FID, signedAt: Number(at), nonce: bytes(nonce), requestHash });
    expectSigner(recoverSigner(digest, bytes(signature)));
  }
}

const custody = custodyWallet(FID).address;

function expectSigner(address: Uint8Array | undefined): void {
  if (!address || Buffer.compare(address, custody) !== 0) throw new Error("another signer was recovered");
}

async function sendAll(
  handle: (request: Request) => Response | Promise<Response>,
  requests: readonly SignedRequest[],
): Promise<void> {
  for (const headers of requests) {
    const response = await handle(new Request(`http://localhost/v2/svc${PATH}`, { headers }));
    if (response.status !== 200) throw new Error(`a signed request returned ${response.status}`);
    await response.arrayBuffer();
  }
}
