/**
 * An open-loop load generator, as a process of its own: requests begin at a fixed rate whatever the server does, and the
 * time of each counts from when it should have begun, so that a stall shows in all the requests that it delayed.
 *
 * `bun bench/open-loop.ts <JSON of LoadOptions>` prints the JSON of LatencyRun.
 */
export interface LoadOptions {
  readonly hostname: string;
  readonly port: number;
  readonly paths: readonly string[];
  readonly requestsPerSec: number;
  readonly durationSecs: number;
  readonly connections: number;
}

export interface LatencyRun {
  readonly requests: number;
  readonly errors: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

const HEAD_END = new TextEncoder().encode("\r\n\r\n");

/** One keep-alive connection, one request at a time. */
class Connection {
  readonly #socket: Bun.Socket<Connection>;
  #settle: ((ok: boolean) => void) | undefined;
  #ok = false;
  #missing = -1;
  #head = Buffer.alloc(0);

  private constructor(socket: Bun.Socket<Connection>) {
    this.#socket = socket;
  }

  static async open(hostname: string, port: number): Promise<Connection> {
    const opened = Promise.withResolvers<Connection>();
    await Bun.connect<Connection | undefined>({
      hostname,
      port,
      data: undefined,
      socket: {
        open(socket) {
          const connection = new Connection(socket as Bun.Socket<Connection>);
          socket.data = connection;
          opened.resolve(connection);
        },
        data: (socket, chunk) => socket.data?.take(chunk),
        close: (socket) => socket.data?.fail(),
        error: (socket) => socket.data?.fail(),
        connectError: (_socket, error) => opened.reject(error),
      },
    });
    return opened.promise;
  }

  get(path: string): Promise<boolean> {
    this.#socket.write(`GET ${path} HTTP/1.1\r\nhost: bench\r\n\r\n`);
    return new Promise((settle) => {
      this.#settle = settle;
    });
  }

  take(chunk: Uint8Array): void {
    if (this.#missing < 0) {
      this.#head = Buffer.concat([this.#head, chunk]);
      const end = this.#head.indexOf(HEAD_END);
      if (end < 0) return;
      const head = this.#head.toString("latin1", 0, end);
      this.#ok = /^HTTP\/1\.1 200/.test(head);
      this.#missing = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
      this.#missing -= this.#head.length - end - HEAD_END.length;
    } else this.#missing -= chunk.length;
    if (this.#missing <= 0) this.#finish(this.#ok);
  }

  fail(): void {
    this.#finish(false);
  }

  close(): void {
    this.#socket.end();
  }

  #finish(ok: boolean): void {
    const settle = this.#settle;
    this.#settle = undefined;
    this.#missing = -1;
    this.#head = Buffer.alloc(0);
    settle?.(ok);
  }
}

async function run(options: LoadOptions): Promise<LatencyRun> {
  const { hostname, port, paths, requestsPerSec, durationSecs, connections } = options;
  const all = await Promise.all(Array.from({ length: connections }, () => Connection.open(hostname, port)));
  const idle = [...all];
  const late: number[] = [];
  const timesMs: number[] = [];
  const total = Math.round(requestsPerSec * durationSecs);
  const done = Promise.withResolvers<void>();
  let errors = 0;
  let begun = 0;
  let finished = 0;
  const startedAt = performance.now();

  const send = (connection: Connection, dueAt: number) => {
    void connection.get(paths[begun++ % paths.length] ?? "/").then((ok) => {
      timesMs.push(performance.now() - dueAt);
      if (!ok) errors += 1;
      finished += 1;
      const next = late.shift();
      if (next !== undefined) send(connection, next);
      else idle.push(connection);
      if (finished === total) done.resolve();
    });
  };
  let scheduled = 0;
  const tick = () => {
    const due = Math.min(total, Math.ceil(((performance.now() - startedAt) / 1000) * requestsPerSec));
    for (; scheduled < due; scheduled++) {
      const dueAt = startedAt + (scheduled / requestsPerSec) * 1000;
      const connection = idle.pop();
      if (connection) send(connection, dueAt);
      else late.push(dueAt);
    }
    if (scheduled < total) setImmediate(tick);
  };
  tick();
  await done.promise;
  for (const connection of all) connection.close();
  timesMs.sort((a, b) => a - b);
  const at = (share: number) =>
    timesMs[Math.min(timesMs.length - 1, Math.floor(timesMs.length * share))] ?? 0;
  return { requests: total, errors, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

/** Runs the generator in a process of its own. */
export async function runOpenLoop(options: LoadOptions): Promise<LatencyRun> {
  const child = Bun.spawn([process.execPath, import.meta.path, JSON.stringify(options)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error("the load generator failed");
  return JSON.parse(text);
}

if (import.meta.main)
  process.stdout.write(`${JSON.stringify(await run(JSON.parse(process.argv[2] ?? "{}")))}\n`);
