import { printableLines } from "../lib/printable.ts";

/** Writes the result of a command to standard output. Nothing in it moves a cursor or turns the direction of text. */
export function print(text: string): void {
  process.stdout.write(printableLines(text));
}

/** Writes a message for the person at the terminal, apart from the result. */
export function printError(text: string): void {
  process.stderr.write(printableLines(text));
}

/** Waits until all output is handed over: a process that exits would cut what a slow pipe has not taken yet. */
export async function flushOutput(): Promise<void> {
  await Promise.all(
    [process.stdout, process.stderr].map((stream) => new Promise((done) => stream.write("", done))),
  );
}
