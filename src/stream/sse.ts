import type { UnsentBytes } from "../http/unsent-bytes.ts";
import { Reservation } from "../http/unsent-bytes.ts";
import type { StreamConnection } from "./connection.ts";
import type { Frame } from "./frame.ts";

/** Of what a client has not taken, about so much waits in the process. */
export const MAX_WAITING_BYTES = 64 * 1024;
/** The time that a client whose stream has ended has to take its last bytes. */
export const LAST_BYTES_SECS = 10;
const BUDGET_POLL_MS = 100;
const RETRY_MS = 3000;

/** Reserves the bytes of frames, and waits while the budget of all responses is used up. */
export async function reserveBytes(
  reservation: Reservation,
  bytes: number,
  connection: StreamConnection,
): Promise<void> {
  while (!connection.hasEnded && !reservation.grow(bytes)) {
    await Bun.sleep(BUDGET_POLL_MS);
    connection.restartStallTime();
  }
}

/** The body of a stream of server-sent events. Bun asks for the next chunk when the socket has taken the one before. */
export function sseBody(
  connection: StreamConnection,
  deps: {
    readonly unsent: UnsentBytes;
    /** Closes the connection if no byte is taken for so long. */
    readonly setIdleTimeout: (secs: number) => void;
  },
): ReadableStream<Uint8Array> {
  const reservation = new Reservation(deps.unsent);
  let isFirst = true;
  let isClosed = false;
  /** Frames that wait for the budget. A last frame names the position behind them, so it never comes before them. */
  let waiting: Uint8Array | undefined;
  const finish = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    if (isClosed) return;
    isClosed = true;
    reservation.end();
    deps.setIdleTimeout(LAST_BYTES_SECS);
    controller.close();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        connection.onEndWhileSending = () => {
          if (isClosed) return;
          if (waiting) controller.enqueue(waiting);
          const last = connection.takeLast();
          if (last.length > 0) controller.enqueue(chunkOf(last));
          finish(controller);
        };
      },
      async pull(controller) {
        reservation.shrinkTo(0);
        const frames = await connection.next(MAX_WAITING_BYTES);
        if (isClosed) return;
        if (frames.length === 0) {
          finish(controller);
          return;
        }
        const chunk = isFirst
          ? Buffer.concat([Buffer.from(`retry: ${RETRY_MS}\n`), chunkOf(frames)])
          : chunkOf(frames);
        isFirst = false;
        waiting = chunk;
        await reserveBytes(reservation, chunk.byteLength, connection);
        waiting = undefined;
        if (!isClosed) controller.enqueue(chunk);
      },
      cancel() {
        isClosed = true;
        reservation.end();
        connection.end("client");
      },
    },
    { highWaterMark: 0 },
  );
}

/** The bytes of one frame are shared by all streams. */
function chunkOf(frames: readonly Frame[]): Uint8Array {
  const [only] = frames;
  return frames.length === 1 && only ? only.sse : Buffer.concat(frames.map(({ sse }) => sse));
}
