/**
 * What pages ask of a node, as a browser was seen to ask it, sent by a client that costs the machine little:
 * `bun page-load.ts <file with the JSON of a PageLoad or of FirstLoads>` runs until it is ended. Chromium itself would use all processors of a small
 * machine, and so hide what its requests cost the node.
 */
import { readFileSync } from "node:fs";
import { keysOfPerson, postAsPerson } from "../../support/demo-calls.ts";
import { newSessionKey, sessionHeaders, type TestSession } from "../../support/sessions.ts";
import { EVENT_STREAM, type FirstLoad, loadOnce } from "./first-loads.ts";

/** A GET request of a page. */
export interface PageRequest {
  /** When it is sent within the time that is repeated. */
  readonly atMs: number;
  /** With the query, from the root of the node. */
  readonly path: string;
  readonly accept: string;
  /** Signed by the session key of an owner; undefined for requests of anybody. */
  readonly signed: { readonly fid: number; readonly op: string } | undefined;
}

export interface PageLoad {
  readonly url: string;
  readonly requests: readonly PageRequest[];
  /** The time after which the requests are sent again. */
  readonly everyMs: number;
  /** Paths of event streams that stay open, one for each page that has it. */
  readonly streams: readonly string[];
}

/** A page that new visitors open again and again. */
export interface FirstLoads {
  readonly url: string;
  readonly firstLoad: FirstLoad;
  readonly perSec: number;
}

/** How many requests or first loads were sent, and how many of them had each response in full. */
export interface PageLoadReport {
  readonly sent: number;
  readonly ok: number;
}

/** Runs a client in a process of its own. It reports when it is stopped. */
export async function startPageLoad(file: string): Promise<{ stop(): Promise<PageLoadReport> }> {
  const child = Bun.spawn([process.execPath, import.meta.path, file], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const reader = child.stdout.getReader();
  const started = await reader.read();
  if (started.done) throw new Error("the client of pages did not start");
  return {
    async stop() {
      await child.stdin.end();
      let text = "";
      for (let next = await reader.read(); !next.done; next = await reader.read())
        text += new TextDecoder().decode(next.value);
      await child.exited;
      return JSON.parse(text) as PageLoadReport;
    },
  };
}

async function sessionOf(url: string, fid: number): Promise<TestSession> {
  keysOfPerson(fid);
  const { privateKey, body } = newSessionKey({ access: "read", origin: new URL(url).origin });
  const { session } = await postAsPerson({ url }, fid, "/session", body);
  return { sessionId: (session as { session_id: string }).session_id, fid, privateKey };
}

/** Sends what is due, each time with its own timer, and counts. `send` resolves to whether the response was as it should be. */
interface Counted {
  readonly report: () => PageLoadReport;
  readonly send: (sending: Promise<boolean>) => void;
}

function counted(): Counted {
  let [sent, ok] = [0, 0];
  return {
    report: () => ({ sent, ok }),
    send: (sending) => {
      sent += 1;
      sending.then(
        (isOk) => (ok += Number(isOk)),
        () => {},
      );
    },
  };
}

async function sendRequests({ url, requests, everyMs, streams }: PageLoad, { send }: Counted): Promise<void> {
  const sessions = new Map<number, TestSession>();
  for (const { signed } of requests)
    if (signed && !sessions.has(signed.fid)) sessions.set(signed.fid, await sessionOf(url, signed.fid));
  const signatureOf = ({ path, signed }: PageRequest): Record<string, string> => {
    const session = signed && sessions.get(signed.fid);
    if (!session) return {};
    const signedAt = Math.floor(Date.now() / 1000);
    return sessionHeaders(session, {
      method: "GET",
      path: path.replace(/^\/v2\/svc/, ""),
      op: signed.op,
      signedAt,
    });
  };
  const ask = async (request: PageRequest) => {
    const { path, accept } = request;
    const headers = { accept, "accept-encoding": "gzip, br", ...signatureOf(request) };
    const response = await fetch(url + path, { headers, decompress: false } as RequestInit);
    await response.arrayBuffer();
    return response.status === 200;
  };
  for (const path of streams) {
    const headers = { accept: EVENT_STREAM };
    const whole = async () => {
      const response = await fetch(url + path, { headers });
      if (response.body) for await (const _ of response.body);
      // It ends with this process.
      return false;
    };
    void whole();
  }
  const repeat = () => {
    for (const request of requests) setTimeout(() => send(ask(request)), request.atMs);
  };
  repeat();
  setInterval(repeat, everyMs);
}

function sendFirstLoads({ url, firstLoad, perSec }: FirstLoads, { send }: Counted): void {
  const address = new URL(url);
  setInterval(() => send(loadOnce(address, firstLoad)), 1_000 / perSec);
}

async function run(load: PageLoad | FirstLoads): Promise<void> {
  const count = counted();
  if ("firstLoad" in load) sendFirstLoads(load, count);
  else await sendRequests(load, count);
  process.stdout.write("started\n");
  for await (const _ of Bun.stdin.stream());
  process.stdout.write(JSON.stringify(count.report()), () => process.exit());
}

if (import.meta.main) await run(JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")));
