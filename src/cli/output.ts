import { printableLines } from "../lib/text.ts";

/** Writes that the system has not accepted yet: a pipe has limited space until its reader reads. */
const unwritten = new Set<Promise<void>>();

/** Writes the result of a command to standard output. Escapes characters that a terminal interprets. */
export function print(text: string): void {
  write(process.stdout, text);
}

/** Writes a message to standard error. */
export function printError(text: string): void {
  write(process.stderr, text);
}

function write(stream: NodeJS.WriteStream, text: string): void {
  // The callback is also called when the reader has closed the pipe.
  const written = new Promise<void>((done) => stream.write(printableLines(text), () => done()));
  unwritten.add(written);
  void written.then(() => unwritten.delete(written));
}

/** Waits until all output is written, because an exiting process would truncate the output to a slow pipe. */
export async function flushOutput(): Promise<void> {
  await Promise.all(unwritten);
}
