import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compiledProgram } from "../support/compiled-program.ts";

/** The output and the exit code of a command. */
export interface Ended {
  readonly exitCode: number;
  readonly out: string;
  readonly errors: string;
}

export interface Place {
  readonly cwd?: string;
  /** The environment; of this process's own the command gets only PATH. */
  readonly env?: Record<string, string>;
  /** Standard input of the command; empty by default. */
  readonly stdin?: string | Uint8Array<ArrayBuffer>;
  /** The program; by default the compiled one. */
  readonly command?: readonly string[];
  /** A command that runs the program: its arguments are followed by the program's command line. */
  readonly through?: readonly string[];
}

/** For `Place.through`: no file can grow beyond `kib`, so that writes fail as on a failing disk. */
export function withFileLimit(kib: number): string[] {
  return ["bash", "-c", `trap "" XFSZ; ulimit -f ${kib}; exec "$@"`, "bash"];
}

/** Runs a command of the program in a separate process to its end, by default in an empty directory. */
export async function run(args: readonly string[], place: Place = {}): Promise<Ended> {
  using home = emptyDir();
  const { cwd = home.path, env = {}, stdin, command = compiledProgram, through = [] } = place;
  const child = Bun.spawn([...through, ...command, ...args], {
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

/** An empty directory that is deleted with the object. */
export function emptyDir(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "cli-test-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
