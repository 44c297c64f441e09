import { setImmediate } from "node:timers/promises";
import { ConcurrencyLimit } from "../lib/concurrency-limit.ts";
import type { Logger } from "../runtime/logger.ts";
import { ApiError } from "./errors.ts";
import { exchangeOf } from "./exchange.ts";
import type { JsonStream } from "./json-stream.ts";
import { Reservation, type UnsentBytes } from "./unsent-bytes.ts";

/** A larger body is never built whole. */
export const MAX_WHOLE_BYTES = 4 * 1024 * 1024;

/** A smaller body is not counted as unsent: the kernel's send buffer takes it at once. */
const UNCOUNTED_BYTES = 64 * 1024;

/** A streamed body is sent in chunks of about this size, and a slow reader holds few of them. */
const CHUNK_CHARS = 64 * 1024;

/** A body that may be whole is collected in parts of about this size; most consist of one. */
const COLLECTED_CHARS = 256 * 1024;

/**
 * What a streamed response reserves until it ends: the chunk on its way, and what its source holds for the next ones (a
 * slice of hydrated objects).
 */
const STREAM_BYTES = 1024 * 1024;

/** Large bodies that are collected at a time: one thread makes all of them, so more would only need more memory. */
const COLLECTING = { running: 4, waiting: 256 };

const RETRY_AFTER_SECS = 2;

const encoder = new TextEncoder();

type Head = Pick<ResponseInit, "status"> & { readonly headers: Headers | Record<string, string> };

function tooMuchUnsent(): ApiError {
  return new ApiError("unavailable", "too many large responses are being sent", {
    retryAfterSecs: RETRY_AFTER_SECS,
  });
}

/** What sends bodies within the budget of unsent bytes. */
export interface BodySender {
  /**
   * The response with a body that is whole.
   * @throws ApiError `unavailable` where the budget does not hold it.
   */
  readonly whole: (request: Request, body: Uint8Array, head: Head) => Response;
  /**
   * Collects a body that comes in pieces.
   * @returns the whole, where it has at most `MAX_WHOLE_BYTES`; else what makes the response of it.
   * @throws ApiError `unavailable` where the budget does not hold it.
   */
  readonly collect: (
    request: Request,
    stream: JsonStream,
  ) => Promise<Uint8Array | ((head: Head) => Response)>;
}

/**
 * A body stays reserved until the client's side has taken it: Bun asks a stream for its next chunk only when the chunk
 * before has left for the socket, closes the connection of a client that takes nothing for the idle time, and then cancels
 * the stream, also one that nobody has read from.
 */
export function createBodySender({ unsent, log }: { unsent: UnsentBytes; log: Logger }): BodySender {
  const collecting = new ConcurrencyLimit(COLLECTING);
  return {
    whole(request, body, head) {
      if (body.byteLength <= UNCOUNTED_BYTES || request.method === "HEAD") return new Response(body, head);
      const reservation = new Reservation(unsent);
      if (!reservation.grow(body.byteLength)) throw tooMuchUnsent();
      let isSent = false;
      const stream = new ReadableStream<Uint8Array>(
        {
          pull(controller) {
            if (!isSent) {
              isSent = true;
              controller.enqueue(body);
              return;
            }
            controller.close();
            reservation.end();
          },
          cancel: () => reservation.end(),
        },
        { highWaterMark: 0 },
      );
      return new Response(stream, head);
    },

    async collect(request, { pieces }) {
      const reservation = new Reservation(unsent);
      const reserve = (bytes: number) => {
        if (!reservation.grow(bytes)) throw tooMuchUnsent();
      };
      const collected: Uint8Array[] = [];
      let bytes = 0;
      /** True once all is collected. */
      const collectChunk = async (): Promise<boolean> => {
        const { chunk, isLast } = await nextChunk(pieces, COLLECTED_CHARS);
        reserve(chunk.byteLength);
        bytes += chunk.byteLength;
        collected.push(chunk);
        return isLast;
      };
      const collectRest = async (): Promise<boolean> => {
        let isLast = false;
        while (!isLast && bytes <= MAX_WHOLE_BYTES) {
          // Whoever else waits gets a turn between two chunks.
          await setImmediate();
          isLast = await collectChunk();
        }
        return isLast;
      };
      try {
        let isLast = await collectChunk();
        if (!isLast) {
          reserve(STREAM_BYTES);
          const rest = collecting.run(collectRest);
          if (rest === undefined) throw tooMuchUnsent();
          isLast = await rest;
        }
        if (isLast && bytes <= MAX_WHOLE_BYTES) {
          reservation.end();
          const [only] = collected;
          return only?.byteLength === bytes ? only : Buffer.concat(collected, bytes);
        }
      } catch (error) {
        reservation.end();
        await pieces.return?.();
        throw error;
      }
      return (head) => {
        const end = () => {
          reservation.end();
          collected.length = 0;
        };
        const stream = new ReadableStream<Uint8Array>(
          {
            async pull(controller) {
              const ready = collected.shift();
              if (ready !== undefined) {
                bytes -= ready.byteLength;
                reservation.shrinkTo(bytes + STREAM_BYTES);
                controller.enqueue(ready);
                return;
              }
              try {
                await setImmediate();
                const { chunk, isLast } = await nextChunk(pieces, CHUNK_CHARS);
                if (chunk.byteLength > 0) controller.enqueue(chunk);
                if (!isLast) return;
                controller.close();
              } catch (error) {
                const { requestId, route } = exchangeOf(request);
                log.error({ err: error, requestId, route }, "Failed in the middle of a response");
                controller.error(error);
              }
              end();
            },
            async cancel() {
              end();
              await pieces.return?.();
            },
          },
          { highWaterMark: 0 },
        );
        return new Response(stream, head);
      };
    },
  };
}

interface Chunk {
  readonly chunk: Uint8Array;
  readonly isLast: boolean;
}

/** The next pieces together, so many UTF-16 units of them or a piece more; none where there were none left. */
async function nextChunk(pieces: JsonStream["pieces"], chars: number): Promise<Chunk> {
  let text = "";
  while (text.length < chars) {
    const { done, value } = await pieces.next();
    if (done) return { chunk: encoder.encode(text), isLast: true };
    text += value;
  }
  return { chunk: encoder.encode(text), isLast: false };
}
