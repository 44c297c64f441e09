import type { Hold } from "../admission/budget.ts";
import type { StreamConnection } from "./connection.ts";
import type { Frame } from "./frame.ts";

/** Approximate number of bytes that may wait in the process for one client. */
export const MAX_WAITING_BYTES = 64 * 1024;
/**
 * How long a client whose stream has ended may take no byte before the rest is dropped: a slow client gets its last event
 * complete, then the reason. It is shorter while the node stops.
 */
const LAST_BYTES_SECS = 120;
const LAST_BYTES_AT_STOP_SECS = 10;

export const lastBytesSecs = ({ endReason }: StreamConnection): number =>
  endReason === "shutdown" ? LAST_BYTES_AT_STOP_SECS : LAST_BYTES_SECS;

const BUDGET_POLL_MS = 100;
const RETRY_MS = 3000;

/** Reserves the bytes of frames, and waits while the client, or all clients together, leave too much unread. */
export async function reserveBytes(unsent: Hold, bytes: number, connection: StreamConnection): Promise<void> {
  while (!connection.hasEnded && unsent.grow(bytes) !== undefined) {
    await Bun.sleep(BUDGET_POLL_MS);
    connection.restartStallTime();
  }
}

/**
 * Returns the body of a stream of server-sent events. Bun asks for the next chunk when the socket has taken the previous
 * one.
 */
export function sseBody(
  connection: StreamConnection,
  deps: {
    readonly unsent: Hold;
    /** Closes the connection if no byte is taken for this long. */
    readonly setIdleTimeout: (secs: number) => void;
  },
): ReadableStream<Uint8Array> {
  const { unsent } = deps;
  let isFirst = true;
  let isClosed = false;
  // Frames that were handed out are sent first: the last frame names the position after them, and follows with the next
  // pull.
  connection.onEndWhileSending = () => deps.setIdleTimeout(lastBytesSecs(connection));
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        unsent.shrinkTo(0);
        const frames = await connection.next(MAX_WAITING_BYTES);
        if (isClosed) return;
        if (frames.length === 0) {
          isClosed = true;
          unsent.end();
          deps.setIdleTimeout(lastBytesSecs(connection));
          controller.close();
          return;
        }
        const chunk = isFirst
          ? Buffer.concat([Buffer.from(`retry: ${RETRY_MS}\n`), chunkOf(frames)])
          : chunkOf(frames);
        isFirst = false;
        await reserveBytes(unsent, chunk.byteLength, connection);
        if (!isClosed) controller.enqueue(chunk);
      },
      cancel() {
        isClosed = true;
        unsent.end();
        connection.end("client");
      },
    },
    { highWaterMark: 0 },
  );
}

/** Returns the bytes of frames. Those of a single frame are shared by all streams. */
function chunkOf(frames: readonly Frame[]): Uint8Array {
  const [only] = frames;
  return frames.length === 1 && only ? only.sse : Buffer.concat(frames.map(({ sse }) => sse));
}
