import { printableLines } from "../lib/printable.ts";

/** Writes the result of a command to standard output. Escapes characters that a terminal interprets. */
export function print(text: string): void {
  process.stdout.write(printableLines(text));
}

/** Writes a message to standard error. */
export function printError(text: string): void {
  process.stderr.write(printableLines(text));
}

/** Waits until all output is written, because an exiting process would truncate the output to a slow pipe. */
export async function flushOutput(): Promise<void> {
  await Promise.all(
    [process.stdout, process.stderr].map((stream) => new Promise((done) => stream.write("", done))),
  );
}
