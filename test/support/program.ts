import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The program in a separate process: the compiled binary in an empty directory, or the sources. */
export interface RunningNode extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  readonly hubAddress: string;
  readonly pid: number;
  /** The exit code, when the process has ended. */
  readonly exited: Promise<number>;
  /** Everything logged so far. */
  logs(): string;
  /** Sends SIGTERM; returns the exit code. */
  stop(): Promise<number>;
  /** Sends SIGKILL, after which the process writes nothing more. */
  kill(): Promise<void>;
}

const ROOT = join(import.meta.dir, "../..");

/** The default directory of builds. Tests have `compiledProgram`. */
export const DIST = join(ROOT, "dist");

/** Compiles the program into `dir`, by default this one. Returns the path of the executable. */
export async function compileInto(dir: string, flags: readonly string[] = [], root = ROOT): Promise<string> {
  const build = Bun.spawn([process.execPath, "build.ts", "--outdir", dir, ...flags], {
    cwd: root,
    // The build needs no other tool: a container has no git, for example.
    env: { ...process.env, PATH: "" },
    stdout: "ignore",
    stderr: "pipe",
  });
  const errors = await new Response(build.stderr).text();
  if ((await build.exited) !== 0) throw new Error(`build failed: ${errors}`);
  return join(dir, "svc");
}

/** The command that starts the program from its sources, which takes four times as long. */
export const fromSources = [process.execPath, join(ROOT, "src/main.ts")];

/** Creates an empty directory that is deleted when the object is disposed. */
export function tempDir(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "program-test-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Starts `serve` on free ports of the loopback address and waits until it has printed its addresses. */
export async function startNode(options: {
  command: readonly string[];
  dataDir: string;
  args?: readonly string[];
  demo?: boolean;
  /** Flags of `serve`. */
  serveFlags?: readonly string[];
  env?: Readonly<Record<string, string>>;
}): Promise<RunningNode> {
  const { command, dataDir, args = [], demo = false, serveFlags = [], env = {} } = options;
  const flags = ["--data-dir", dataDir, "--port", "0", "--set", "hub.port=-1", ...args];
  // Neither files in the working directory nor variables of this process affect the program.
  const cwd = tempDir();
  const child = Bun.spawn([...command, ...flags, "serve", ...(demo ? ["--demo"] : []), ...serveFlags], {
    cwd: cwd.path,
    env: { PATH: process.env.PATH ?? "", HOME: cwd.path, ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  void child.exited.then(() => cwd[Symbol.dispose]());
  let log = "";
  const logged = readAll(child.stderr, (text) => {
    log += text;
  });
  const places = Promise.withResolvers<{ readonly api: string; readonly grpc: string | null }>();
  let out = "";
  readAll(child.stdout, (text) => {
    out += text;
    // Text where the test has chosen readable lines.
    const [, api = "", grpc = ""] = /^API\s+(\S+)[\s\S]*^gRPC\s+(\S+)$/m.exec(out) ?? [];
    if (api !== "") places.resolve({ api, grpc });
    // A node that was set up in the browser prints them again.
    else if (/^\{.*\n/.test(out)) places.resolve(JSON.parse(out.slice(0, out.indexOf("\n"))));
  }).then(() => places.reject(new Error(`the program ended: ${out}${log}`)));
  const { api, grpc } = await places.promise;
  const stop = async () => {
    child.kill("SIGTERM");
    const code = await child.exited;
    await logged;
    return code;
  };
  return {
    url: new URL(api).origin,
    hubAddress: grpc ?? "off",
    pid: child.pid,
    exited: child.exited,
    logs: () => log,
    stop,
    async kill() {
      child.kill("SIGKILL");
      await child.exited;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) await stop();
    },
  };
}

async function readAll(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) take(decoder.decode(chunk, { stream: true }));
}
