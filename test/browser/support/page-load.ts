/**
 * What pages ask of a node, as a browser was seen to ask it, sent by a client that costs the machine little:
 * `bun page-load.ts <file with the JSON of a PageLoad>` runs until it is ended. Chromium itself would use all processors of a small
 * machine, and so hide what its requests cost the node.
 */
import { readFileSync } from "node:fs";
import { keysOfPerson, postAsPerson } from "../../support/demo-calls.ts";
import { newSessionKey, sessionHeaders, type TestSession } from "../../support/sessions.ts";

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
  /** Whether each request has a connection of its own, as at the first load of a page. */
  readonly isFirstLoad: boolean;
}

/** What was sent, and how it was answered. */
export interface PageLoadReport {
  readonly sent: number;
  readonly failed: number;
  readonly statuses: Readonly<Record<number, number>>;
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

async function run({ url, requests, everyMs, streams, isFirstLoad }: PageLoad): Promise<void> {
  const sessions = new Map<number, TestSession>();
  for (const { signed } of requests)
    if (signed && !sessions.has(signed.fid)) sessions.set(signed.fid, await sessionOf(url, signed.fid));
  const statuses: Record<number, number> = {};
  let sent = 0;
  let failed = 0;
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
  const send = async (request: PageRequest) => {
    sent += 1;
    const { path, accept } = request;
    try {
      const headers = { accept, "accept-encoding": "gzip, br", ...signatureOf(request) };
      const options = { headers, decompress: false, keepalive: !isFirstLoad };
      const response = await fetch(url + path, options as RequestInit);
      await response.arrayBuffer();
      statuses[response.status] = (statuses[response.status] ?? 0) + 1;
    } catch {
      failed += 1;
    }
  };
  const opened = streams.map(async (path) => {
    const response = await fetch(url + path, { headers: { accept: "text/event-stream" } });
    if (response.body) for await (const _ of response.body);
  });
  for (const stream of opened) stream.catch(() => (failed += 1));
  const repeat = () => {
    for (const request of requests) setTimeout(send, request.atMs, request);
  };
  repeat();
  setInterval(repeat, everyMs);
  process.stdout.write("started\n");
  for await (const _ of Bun.stdin.stream());
  process.stdout.write(JSON.stringify({ sent, failed, statuses } satisfies PageLoadReport), () =>
    process.exit(),
  );
}

if (import.meta.main) await run(JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")));
