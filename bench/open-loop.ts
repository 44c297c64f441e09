import { UNUSED } from "./wrk.ts";

/**
 * An open-loop load generator in a separate process. Requests start at a fixed rate regardless of the server, and the time
 * of each is measured from when it was due, so that a stall counts for every request that it delays.
 * `bun bench/open-loop.ts <JSON of LoadOptions>` prints the JSON of LatencyRun.
 */
export interface LoadOptions {
  readonly hostname: string;
  readonly port: number;
  readonly paths: readonly string[];
  readonly requestsPerSec: number;
  readonly durationSecs: number;
  readonly connections: number;
  /** Makes each request distinct, so that the response cache cannot serve it. */
  readonly isUncached: boolean;
  /** Header fields of each request, each with its line break. Default: none. */
  readonly fields?: string;
  /**
   * Sleeps between requests, for a generator that shares its core, and counts the time of a request from its own wake-up.
   * Default: busy-waits, so that wake-ups cost nothing.
   */
  readonly sleeps?: boolean;
}

export interface LatencyRun {
  readonly requests: number;
  readonly errors: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

const NO_BYTES = Buffer.alloc(0);
const IDLE = -1;
const IN_HEAD = -2;
/** The length of a chunked body, such as that of a large response. */
const IN_CHUNKS = -3;
const LAST_CHUNK = "0\r\n\r\n";

/**
 * One keep-alive connection, one request at a time. It allocates as little as possible, because garbage collections of the
 * generator would count as time of the server.
 */
export class Connection {
  readonly #socket: Bun.Socket<Connection>;
  readonly #onEnd: (connection: Connection, ok: boolean) => void;
  #missing = -1;
  #head: Buffer = NO_BYTES;
  #ok = false;
  /** The last bytes of a chunked body. JSON has no line breaks, so only the last chunk ends like `LAST_CHUNK`. */
  #end = "";
  /** When the request in flight was due. */
  dueAt = 0;
  readonly #host: string;

  private constructor(
    socket: Bun.Socket<Connection>,
    host: string,
    onEnd: (connection: Connection, ok: boolean) => void,
  ) {
    this.#socket = socket;
    this.#host = host;
    this.#onEnd = onEnd;
  }

  static async open(
    { hostname, port }: Pick<LoadOptions, "hostname" | "port">,
    onEnd: (connection: Connection, ok: boolean) => void,
  ): Promise<Connection> {
    const opened = Promise.withResolvers<Connection>();
    await Bun.connect<Connection | undefined>({
      hostname,
      port,
      data: undefined,
      socket: {
        open(socket) {
          const connection = new Connection(socket as Bun.Socket<Connection>, `${hostname}:${port}`, onEnd);
          socket.data = connection;
          opened.resolve(connection);
        },
        data: (socket, chunk) => socket.data?.receive(chunk),
        close: (socket) => socket.data?.end(false),
        error: (socket) => socket.data?.end(false),
        connectError: (_socket, error) => opened.reject(error),
      },
    });
    return opened.promise;
  }

  /** Sends a request. `fields` are additional header fields, each with its line break. */
  get(path: string, dueAt: number, fields = ""): void {
    this.dueAt = dueAt;
    this.#missing = IN_HEAD;
    this.#socket.write(`GET ${path} HTTP/1.1\r\nhost: ${this.#host}\r\n${fields}\r\n`);
  }

  receive(chunk: Buffer): void {
    if (this.#missing === IN_HEAD) {
      const head = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
      const end = head.indexOf("\r\n\r\n");
      this.#head = end < 0 ? head : NO_BYTES;
      if (end < 0) return;
      this.#ok = head.toString("latin1", 9, 12) === "200";
      const length = /content-length: *(\d+)/i.exec(head.toString("latin1", 0, end))?.[1];
      if (length === undefined) {
        this.#missing = IN_CHUNKS;
        this.#end = "";
        this.#receiveChunks(head.subarray(end + 4));
        return;
      }
      this.#missing = Number(length) - (head.length - end - 4);
    } else if (this.#missing === IN_CHUNKS) {
      this.#receiveChunks(chunk);
      return;
    } else this.#missing -= chunk.length;
    if (this.#missing <= 0) this.end(this.#ok);
  }

  #receiveChunks(bytes: Buffer): void {
    this.#end = (this.#end + bytes.toString("latin1", Math.max(0, bytes.length - LAST_CHUNK.length))).slice(
      -LAST_CHUNK.length,
    );
    if (this.#end === LAST_CHUNK) this.end(this.#ok);
  }

  end(ok: boolean): void {
    if (this.#missing === IDLE) return;
    this.#missing = IDLE;
    this.#onEnd(this, ok);
  }

  close(): void {
    this.#socket.end();
  }
}

async function run(options: LoadOptions): Promise<LatencyRun> {
  const { paths, isUncached, requestsPerSec, durationSecs, connections, sleeps = false } = options;
  const total = Math.round(requestsPerSec * durationSecs);
  const timesMs = new Float64Array(total);
  const done = Promise.withResolvers<void>();
  let errors = 0;
  let sent = 0;
  let finished = 0;
  const send = (connection: Connection, dueAt: number) => {
    const path = paths[sent++ % paths.length] ?? "/";
    connection.get(isUncached ? `${path}${UNUSED}${sent}` : path, dueAt, options.fields);
  };
  const idle: Connection[] = [];
  // Number of requests due by now. Those not yet sent wait for a connection and are sent in order.
  let scheduled = 0;
  const noticedAt = new Float64Array(total);
  const dueAt = (request: number) =>
    sleeps ? (noticedAt[request] ?? 0) : startedAt + (request / requestsPerSec) * 1000;
  const onEnd = (connection: Connection, ok: boolean) => {
    timesMs[finished++] = performance.now() - connection.dueAt;
    if (!ok) errors += 1;
    if (sent < scheduled) send(connection, dueAt(sent));
    else idle.push(connection);
    if (finished === total) done.resolve();
  };
  const opening = Array.from({ length: connections }, () => Connection.open(options, onEnd));
  const all = await Promise.all(opening);
  idle.push(...all);
  const startedAt = performance.now();
  const tick = () => {
    const nowMs = performance.now();
    const before = scheduled;
    scheduled = Math.min(total, Math.ceil(((nowMs - startedAt) / 1000) * requestsPerSec));
    noticedAt.fill(nowMs, before, scheduled);
    while (sent < scheduled) {
      const connection = idle.pop();
      if (!connection) break;
      send(connection, dueAt(sent));
    }
    if (scheduled >= total) return;
    if (sleeps)
      setTimeout(tick, Math.max(0, startedAt + (scheduled / requestsPerSec) * 1000 - performance.now()));
    else setImmediate(tick);
  };
  tick();
  await done.promise;
  for (const connection of all) connection.close();
  timesMs.sort();
  const at = (share: number) => timesMs[Math.min(total - 1, Math.floor(total * share))] ?? 0;
  return { requests: total, errors, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

/** Runs the generator in a separate process, started with the command prefix `by`, such as taskset. */
export async function runOpenLoop(options: LoadOptions, by: readonly string[] = []): Promise<LatencyRun> {
  const child = Bun.spawn([...by, process.execPath, import.meta.path, JSON.stringify(options)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error("the load generator failed");
  return JSON.parse(text);
}

if (import.meta.main)
  process.stdout.write(`${JSON.stringify(await run(JSON.parse(process.argv[2] ?? "{}")))}\n`);
