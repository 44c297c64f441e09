import { reasonOf, UserError } from "../lib/failure.ts";

/**
 * Reads a file, or standard input for `-`.
 *
 * @throws UserError if it cannot be read or has more than `maxBytes`.
 */
export async function readInput(path: string, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const file = path === "-" ? Bun.stdin : Bun.file(path);
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of file.stream()) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > maxBytes) break;
    }
  } catch (cause) {
    throw new UserError(`${path} cannot be read: ${reasonOf(cause)}`, { cause });
  }
  if (length > maxBytes) throw new UserError(`${path} has more than ${maxBytes} bytes`);
  return new Uint8Array(Bun.concatArrayBuffers(chunks, length, false));
}
