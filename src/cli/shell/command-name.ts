import { isAbsolute, relative } from "node:path";
import { programName } from "../../version.ts";

/** How a process was started. */
export interface Start {
  /** The first word of the command line. */
  readonly argv0: string;
  /** The file of the running program: itself if it is compiled, else Bun. */
  readonly execPath: string;
  /** The entry point; a path inside the program if it is compiled. */
  readonly main: string;
  readonly cwd: string;
  /** Whether the launcher of the npm package started it, under the program's name. */
  readonly isLaunched: boolean;
  /** Returns the file that a shell would start by the program's name. */
  readonly which: (name: string) => string | null;
}

const COMPILED_MAIN = "/$bunfs/";
const SOURCE_MAIN = /\/src\/main\.ts$/;

/** Returns the command line that starts the program as it was started: `svc`, `./dist/svc`, `bun src/main.ts`. */
export function commandNameOf({ argv0, execPath, main, cwd, isLaunched, which }: Start): string {
  if (isLaunched) return programName;
  if (main.startsWith(COMPILED_MAIN))
    return isAbsolute(argv0) && which(programName) === execPath ? programName : argv0;
  if (!SOURCE_MAIN.test(main)) return programName;
  const path = relative(cwd, main);
  return `bun ${path.startsWith("..") ? main : path}`;
}

/** Returns the words with which another program on this machine starts this one from any directory. */
export function absoluteCommandOf({ execPath, main }: Pick<Start, "execPath" | "main">): string[] {
  return SOURCE_MAIN.test(main) ? [execPath, main] : [execPath];
}

/** How this process was started. */
export const started: Start = {
  argv0: process.argv0,
  execPath: process.execPath,
  main: Bun.main,
  cwd: process.cwd(),
  isLaunched: process.env.SVC_LAUNCHER_PID !== undefined,
  which: Bun.which,
};

/** The command line that starts this program as it was started. */
export const commandName: string = commandNameOf(started);

const COMMAND = new RegExp(`(?<=\`)${programName}(?= [a-z])`, "g");

/** Returns a text for the terminal, with its commands (`svc migrate`) as they are written in it. */
export function withCommandName(text: string, name: string = commandName): string {
  return text.replaceAll(COMMAND, () => name);
}
