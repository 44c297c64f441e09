import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Credentials } from "../certificates.ts";
import { inBackground } from "../in-background.ts";
import { installedPostgres } from "./installed.ts";

/** A server that tests may connect to. */
export interface PostgresAddress {
  /** The superuser's URL, without a database. */
  readonly url: string;
}

/** A server of one test, which the test may kill or freeze. */
export interface PostgresServer extends PostgresAddress, AsyncDisposable {
  readonly port: number;
  /** Ends the server at once, as a crash does. */
  kill(): Promise<void>;
  /** Ends the server as an operator's quick restart does: transactions are rolled back, what is committed is written. */
  stop(): void;
  /** Starts a server that ended or is ending again, on the same port and files. */
  restart(): Promise<void>;
  /** Copies the files of a killed server. Returns a function that puts them back, while it is killed again. */
  copyFiles(): () => void;
  /** Stops and continues every process of the server. */
  freeze(): void;
  thaw(): void;
}

export interface ServerOptions {
  /** Set for a server with TLS. */
  readonly tls?: Credentials;
  /** Whether commits wait for the disk, as a benchmark needs it. */
  readonly isDurable?: boolean;
}

interface Ready {
  readonly port: number;
  readonly pid: number;
  readonly password: string;
  readonly dir: string;
}

/** Names the server of this process, also for test files that share no modules with the one that started it. */
const SHARED = "SVC_TEST_POSTGRES_SHARED";
/** Another server, where the platform has no binaries, or for another version. */
const GIVEN = "SVC_TEST_POSTGRES_URL";

const SKIPPED = "SVC_TEST_POSTGRES_SKIPPED";

/** Whether tests with PostgreSQL can run. They are skipped where the platform has no server; with `CI=true` that is an error. */
export const HAS_POSTGRES = await hasPostgres();

async function hasPostgres(): Promise<boolean> {
  if (process.env[GIVEN]) return true;
  const installed = await installedPostgres();
  if ("folder" in installed) return true;
  const why = `${installed.why}: set ${GIVEN} to test with another one`;
  if (process.env.CI === "true") throw new Error(why);
  // Once for a process, which runs many files.
  if (!process.env[SKIPPED]) console.warn(`Tests with PostgreSQL are skipped: ${why}`);
  process.env[SKIPPED] = "1";
  return false;
}

/** The server that all tests of this process share. Each takes a database of its own. */
export async function sharedPostgres(): Promise<PostgresAddress> {
  const given = process.env[GIVEN] || process.env[SHARED];
  if (given) return { url: given };
  const { ready } = await keep({}, true);
  const url = urlOf(ready);
  process.env[SHARED] = url;
  return { url };
}

/** Starts a server of its own, for a test that kills it. */
export async function startPostgres(options: ServerOptions = {}): Promise<PostgresServer> {
  const { ready, keeper, next } = await keep(options);
  let { pid } = ready;
  const signalAll = (signal: NodeJS.Signals) => {
    const { stdout } = Bun.spawnSync(["ps", "-A", "-o", "pid=,ppid="]);
    const rows = stdout.toString().trim().split("\n");
    for (const row of rows) {
      const [child, parent] = row.trim().split(/\s+/).map(Number);
      if (child === undefined || (child !== pid && parent !== pid)) continue;
      try {
        process.kill(child, signal);
      } catch (cause) {
        // A process of the server may have ended meanwhile.
        if (!(cause instanceof Error && "code" in cause && cause.code === "ESRCH")) throw cause;
      }
    }
  };
  return {
    url: urlOf(ready),
    port: ready.port,
    async kill() {
      signalAll("SIGKILL");
    },
    stop: () => process.kill(pid, "SIGINT"),
    async restart() {
      keeper.stdin.write("start\n");
      await keeper.stdin.flush();
      ({ pid } = await next());
    },
    copyFiles() {
      const [data, copy] = [join(ready.dir, "data"), join(ready.dir, "copy")];
      // With owners and times, as a backup keeps them.
      const move = (from: string, to: string) => {
        rmSync(to, { recursive: true, force: true });
        Bun.spawnSync(["cp", "-a", from, to]);
      };
      move(data, copy);
      return () => move(copy, data);
    },
    freeze: () => signalAll("SIGSTOP"),
    thaw: () => signalAll("SIGCONT"),
    async [Symbol.asyncDispose]() {
      keeper.kill("SIGTERM");
      await keeper.exited;
    },
  };
}

function urlOf({ port, password }: Ready): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}`;
}

async function keep(options: ServerOptions, isShared = false) {
  const script = join(import.meta.dir, "keeper.ts");
  const command = [process.execPath, script, String(process.pid), JSON.stringify(options)];
  const keeper = Bun.spawn(isShared ? inBackground(command) : command, {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const lines = linesOf(keeper.stdout);
  const next = async (): Promise<Ready> => {
    const { value, done } = await lines.next();
    if (done) throw new Error("the PostgreSQL of the tests did not start");
    return JSON.parse(value);
  };
  return { ready: await next(), keeper, next };
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
      yield text.slice(0, end);
      text = text.slice(end + 1);
    }
  }
}
