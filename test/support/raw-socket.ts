import { connect } from "bun";

export interface RawResponse {
  /** All received bytes, as Latin-1. */
  readonly text: string;
  /** Whether the server closed the connection. */
  readonly closed: boolean;
}

const responseStart = /HTTP\/1\.1 (\d{3})/g;

export const statusesOf = (text: string): number[] =>
  [...text.matchAll(responseStart)].map((match) => Number(match[1]));

/** Returns true once the text has the requested number of whole responses, by their Content-Length. */
function containsResponses(text: string, count: number): boolean {
  let rest = text;
  for (let seen = 0; seen < count; seen += 1) {
    const headEnd = rest.indexOf("\r\n\r\n");
    if (headEnd === -1) return false;
    const length = /content-length: (\d+)/i.exec(rest.slice(0, headEnd))?.[1] ?? "0";
    const end = headEnd + 4 + Number(length);
    if (rest.length < end) return false;
    rest = rest.slice(end);
  }
  return true;
}

/**
 * Writes bytes that no HTTP client would, and reads until the responses are complete or the server closes the
 * connection.
 */
export async function sendRaw(port: number, bytes: string | Uint8Array, responses = 1): Promise<RawResponse> {
  const done = Promise.withResolvers<boolean>();
  let text = "";
  let pending = typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes;
  const socket = await connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      open: write,
      drain: write,
      data(_socket, data) {
        text += data.toString("latin1");
        if (containsResponses(text, responses)) done.resolve(false);
      },
      close: () => done.resolve(true),
      error: () => done.resolve(true),
    },
  });
  function write(target: Bun.Socket) {
    const written = target.write(pending);
    if (written > 0) pending = pending.subarray(written);
  }
  const closed = await done.promise;
  socket.end();
  return { text, closed };
}
