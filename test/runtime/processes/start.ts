import { join } from "node:path";

/** A child process that writes lines, and is killed when its scope ends. */
export interface ChildProcess extends AsyncDisposable {
  readonly pid: number;
  readonly exited: Promise<number>;
  kill(signal: NodeJS.Signals): void;
  /** The lines that it has written to standard output. All of them, once `exited` has resolved. */
  lines(): string[];
  /** Waits for a line that starts with `start`; fails when the process ends without it. */
  line(start: string): Promise<string>;
  /** All that it wrote to standard error, at its end. */
  errors(): Promise<string>;
}

/** Starts a script of this directory and waits for its first line, but for one that ends without any. */
export async function startProcess(script: string, args: readonly string[]): Promise<ChildProcess> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, script), ...args], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const errors = new Response(child.stderr).text();
  const lines: string[] = [];
  let wake = Promise.withResolvers<void>();
  const read = (async () => {
    let rest = "";
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + chunk).split("\n");
      rest = parts.pop() ?? "";
      lines.push(...parts);
      wake.resolve();
      wake = Promise.withResolvers();
    }
  })();
  const exited = Promise.all([child.exited, read, errors]).then(([code]) => code);
  const line = async (start: string): Promise<string> => {
    for (let ended = false; ; ) {
      const found = lines.find((text) => text.startsWith(start));
      if (found !== undefined) return found;
      if (ended) throw new Error(`ended without the line ${start}: ${lines.join("|")} ${await errors}`);
      const more = wake.promise;
      ended = await Promise.race([more.then(() => false), exited.then(() => true)]);
    }
  };
  await line("").catch(() => {});
  return {
    pid: child.pid,
    exited,
    kill: (signal) => child.kill(signal),
    lines: () => [...lines],
    line,
    errors: () => errors,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
