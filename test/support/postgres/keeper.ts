/**
 * Runs a PostgreSQL server for the tests of one process: `bun keeper.ts <pid> <options>`, with a JSON of
 * `ServerOptions`. It writes a line of JSON when
 * the server is ready, starts a killed server again for each line of input, and ends with the process, whose server and
 * files it removes.
 */
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { SQL } from "bun";
import { installedPostgres } from "./installed.ts";
import type { ServerOptions } from "./server.ts";

/** Part of the name of the kept files: changes with their content. */
const CACHE_VERSION = "18.4-1";
/** The server refuses to run as root. */
const NOBODY = 65_534;
const POLL_MS = 250;
const RESTART_MS = 15_000;
const PASSWORD = "only-for-tests";

const parent = Number(process.argv[2]);
const asNobody = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

const native = await installedPostgres();
if ("why" in native) throw new Error(native.why);
const cache = await prepared(native.folder);
const dir = mkdtempSync(join(tmpdir(), "svc-postgres-"));
own(dir);
const data = join(dir, "data");
cpSync(join(cache, "template"), data, { recursive: true });
const { tls, isDurable }: ServerOptions = JSON.parse(process.argv[3] ?? "{}");
const tlsArguments = tls ? await writeCredentials(tls) : [];
ownAll(data);
const port = await freePort();
let server = await start();

process.on("SIGTERM", end);
setInterval(() => {
  if (!isAlive(parent)) end();
}, POLL_MS);
for await (const _line of console) {
  await server.exited;
  server = await startAgain();
}

/** A server does not start while a process of the killed one is still there: it exits at once, and is tried again. */
async function startAgain(): Promise<typeof server> {
  for (const untilMs = performance.now() + RESTART_MS; ; await Bun.sleep(20)) {
    try {
      return await start();
    } catch (cause) {
      if (performance.now() > untilMs) throw cause;
    }
  }
}

async function start() {
  const child = Bun.spawn(
    [
      join(cache, "native/bin/postgres"),
      ...["-D", data, "-p", String(port)],
      ...["-c", "listen_addresses=127.0.0.1", "-c", `unix_socket_directories=${dir}`],
      ...["-c", "max_connections=200", "-c", "shared_buffers=64MB", "-c", "log_min_messages=fatal"],
      // In the server's directory, because a killed server leaves its shared memory behind.
      ...["-c", "dynamic_shared_memory_type=mmap"],
      // What the server has written survives its own death; only the machine's would lose it.
      ...(isDurable ? [] : ["-c", "fsync=off", "-c", "full_page_writes=off"]),
      ...tlsArguments,
    ],
    { ...asNobody, stdin: "ignore", stdout: "ignore", stderr: Bun.file(join(dir, "server.log")) },
  );
  const options = {
    hostname: "127.0.0.1",
    port,
    username: "postgres",
    password: PASSWORD,
    database: "postgres",
  };
  for (let tries = 0; ; tries++) {
    const sql = new SQL({ adapter: "postgres", ...options, tls: false, max: 1 });
    try {
      await sql.unsafe("SELECT 1");
      break;
    } catch (cause) {
      if (child.exitCode !== null || tries > 500) throw cause;
      await Bun.sleep(20);
    } finally {
      await sql.close({ timeout: 0 }).catch(() => {});
    }
  }
  process.stdout.write(`${JSON.stringify({ port, pid: child.pid, dir, password: PASSWORD })}\n`);
  return child;
}

/** Returns the server's arguments for TLS. */
async function writeCredentials({ cert, key }: { cert: string; key: string }): Promise<string[]> {
  await Bun.write(join(data, "server.crt"), cert);
  await Bun.write(join(data, "server.key"), key);
  chmodSync(join(data, "server.key"), 0o600);
  return ["-c", "ssl=on"];
}

function end(): void {
  server.kill("SIGKILL");
  // The children of a killed server notice its end and leave.
  rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  process.exit(0);
}

/** The server's files and an empty database directory, where the server's user reaches them. */
async function prepared(from: string): Promise<string> {
  const kept = join(tmpdir(), `svc-test-postgres-${CACHE_VERSION}-${process.getuid?.() ?? 0}`);
  if (existsSync(kept)) return kept;
  const partial = mkdtempSync(`${kept}.`);
  own(partial);
  const files = join(partial, "native");
  cpSync(from, files, { recursive: true });
  for (const { source, target } of await Bun.file(join(from, "pg-symlinks.json")).json())
    symlinkSync(basename(source), join(partial, target));
  const template = join(partial, "template");
  mkdirSync(template, { mode: 0o700 });
  own(template);
  const passwordFile = join(partial, "password");
  await Bun.write(passwordFile, PASSWORD);
  const command = [
    join(files, "bin/initdb"),
    ...["--no-sync", "--no-instructions", "-D", template, "-U", "postgres", "-A", "scram-sha-256"],
    ...["--pwfile", passwordFile, "-E", "UTF8", "--locale=C"],
  ];
  const child = Bun.spawn(command, { ...asNobody, stdout: "ignore", stderr: "pipe", env: { LC_ALL: "C" } });
  const errors = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`initdb failed: ${errors}`);
  try {
    renameSync(partial, kept);
  } catch {
    // Another process was first.
    rmSync(partial, { recursive: true, force: true });
  }
  return kept;
}

function own(path: string): void {
  if (asNobody.uid !== undefined) chownSync(path, NOBODY, NOBODY);
}

function ownAll(path: string): void {
  own(path);
  for (const name of new Bun.Glob("**").scanSync({ cwd: path, onlyFiles: false, dot: true }))
    own(join(path, name));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
