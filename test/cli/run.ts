import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MAIN = join(import.meta.dir, "../../src/main.ts");

/** What a command said and how it ended. */
export interface Ended {
  readonly exitCode: number;
  readonly out: string;
  readonly errors: string;
}

export interface Place {
  readonly cwd?: string;
  /** The environment; nothing of this process's own reaches the command but where programs are found. */
  readonly env?: Record<string, string>;
  /** What the command reads on standard input; nothing when left out. */
  readonly stdin?: string | Uint8Array<ArrayBuffer>;
  /** A command that runs the program: it is given the program's command line behind its own arguments. */
  readonly through?: readonly string[];
}

/** For `Place.through`: no file can grow beyond `kib`, so that writes fail as on a disk that refuses them. */
export function withFileLimit(kib: number): string[] {
  return ["bash", "-c", `trap "" XFSZ; ulimit -f ${kib}; exec "$@"`, "bash"];
}

/** Runs a command of the program, as a process of its own, to its end; in an empty directory where `place` names none. */
export async function run(args: readonly string[], place: Place = {}): Promise<Ended> {
  using home = emptyDir();
  const { cwd = home.path, env = {}, stdin, through = [] } = place;
  const child = Bun.spawn([...through, process.execPath, MAIN, ...args], {
    cwd,
    env: { PATH: process.env.PATH ?? "", HOME: home.path, ...env },
    stdin: stdin === undefined ? "ignore" : new Blob([stdin]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, errors, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exitCode, out, errors };
}

/** An empty directory that goes away with the object. */
export function emptyDir(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "cli-test-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
