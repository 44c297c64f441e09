import { setImmediate } from "node:timers/promises";
import type { Hold } from "../../admission/budget.ts";
import { BUDGETS, TURNS } from "../../admission/budgets.ts";
import { FairTurns } from "../../admission/fair-turns.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import { clientKeyOf, exchangeOf } from "../exchange.ts";
import { noRoom } from "./error-response.ts";

/**
 * A JSON body that a handler produces in pieces because it may be large. Concatenated, the pieces are one JSON text.
 * They are pulled one by one; pulling stops when the client disconnects.
 */
export class JsonStream {
  readonly pieces: AsyncIterator<string> | Iterator<string>;

  constructor(pieces: AsyncIterator<string> | Iterator<string>) {
    this.pieces = pieces;
  }
}

/** Larger bodies are streamed, never built whole. */
export const MAX_WHOLE_BYTES = 4 * 1024 * 1024;

/** A smaller body is not counted as unsent: it fits into the kernel's send buffer. */
const UNCOUNTED_BYTES = 64 * 1024;

/** A streamed body is sent in chunks of about this size, and a slow reader occupies few of them. */
const CHUNK_CHARS = 64 * 1024;

/** A body that may be sent whole is collected in chunks of about this size; most have one. */
const COLLECTED_CHARS = 256 * 1024;

/**
 * Reservation of a streamed response until it ends: the chunk being sent, and the data that its source has loaded for
 * the next chunks (a slice of hydrated objects).
 */
const STREAM_BYTES = 1024 * 1024;

const encoder = new TextEncoder();

/** More than the head of a response takes. */
const MAX_HEAD_BYTES = 2 * 1024;

/**
 * Bun gathers a response, head and body, in a buffer of 16 KiB only while it handles the request. Later it sends each part of the head of a
 * larger response with a separate call. These are about 40, which cost more than a read of 25 casts. It sends a stream with two.
 */
const GATHERED_BODY_BYTES = 16 * 1024 - MAX_HEAD_BYTES;

/** Requests whose response is sent in a later turn of the event loop. */
const later = new WeakSet<Request>();

/** Notes that a request has waited for its turn, so that its response is sent in a later turn of the event loop. */
export function respondsLater(request: Request): void {
  later.add(request);
}

type Head = Pick<ResponseInit, "status"> & { readonly headers: Headers | Record<string, string> };

/** Sends bodies within the budget of unsent bytes. */
export type BodySender = ReturnType<typeof createBodySender>;

/**
 * Creates the sender. A body stays reserved until the client has received it. Bun pulls the next chunk of a stream
 * only after the previous one was written to the socket. It closes the connection of a client that reads nothing for
 * the idle time and then cancels the stream, even if no chunk was read.
 */
export function createBodySender(log: Logger) {
  // One thread produces all large bodies, so more of them at a time would only use more memory.
  const collecting = new FairTurns(TURNS.largeResponses);
  return {
    /**
     * Returns a response with a complete body.
     * @throws ApiError `tooManyRequests` or `unavailable` if the client, or all, leave too much unread
     */
    whole(request: Request, body: Uint8Array, head: Head): Response {
      if (body.byteLength <= UNCOUNTED_BYTES || request.method === "HEAD") {
        const isStream =
          body.byteLength > GATHERED_BODY_BYTES && request.method !== "HEAD" && later.has(request);
        return new Response(isStream ? streamOf(body) : (body as Uint8Array<ArrayBuffer>), head);
      }
      const unsent = holdOf(request);
      reserve(unsent, body.byteLength);
      const stream = new ReadableStream<Uint8Array>(
        {
          start: (controller) => controller.enqueue(body),
          pull(controller) {
            controller.close();
            unsent.end();
          },
          cancel: () => unsent.end(),
        },
        { highWaterMark: 0 },
      );
      return new Response(stream, head);
    },

    /**
     * Collects a body that is produced in pieces.
     * @returns the whole body if it has at most `MAX_WHOLE_BYTES`, otherwise a function that builds the streamed
     * response
     * @throws as `whole`
     */
    async collect(
      request: Request,
      { pieces }: JsonStream,
    ): Promise<Uint8Array | ((head: Head) => Response)> {
      const unsent = holdOf(request);
      const collected: Uint8Array[] = [];
      let bytes = 0;
      /** Returns true when the body is complete. */
      const collectChunk = async (): Promise<boolean> => {
        const { chunk, isLast } = await nextChunk(pieces, COLLECTED_CHARS);
        reserve(unsent, chunk.byteLength);
        bytes += chunk.byteLength;
        collected.push(chunk);
        return isLast;
      };
      const collectRest = async (): Promise<boolean> => {
        let isLast = false;
        while (!isLast && bytes <= MAX_WHOLE_BYTES) {
          // Yields to other requests between two chunks.
          await setImmediate();
          isLast = await collectChunk();
        }
        return isLast;
      };
      try {
        let isLast = await collectChunk();
        if (!isLast) {
          reserve(unsent, STREAM_BYTES);
          const rest = await collecting.run(clientKeyOf(exchangeOf(request)), collectRest);
          if (rest === undefined) throw noRoom(TURNS.largeResponses.unit, "client");
          isLast = rest;
        }
        if (isLast && bytes <= MAX_WHOLE_BYTES) {
          unsent.end();
          const [only] = collected;
          return only?.byteLength === bytes ? only : Buffer.concat(collected, bytes);
        }
      } catch (error) {
        unsent.end();
        await pieces.return?.();
        throw error;
      }
      return (head) => {
        const end = () => {
          unsent.end();
          collected.length = 0;
        };
        const stream = new ReadableStream<Uint8Array>(
          {
            async pull(controller) {
              const ready = collected.shift();
              if (ready !== undefined) {
                bytes -= ready.byteLength;
                unsent.shrinkTo(bytes + STREAM_BYTES);
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
                log.error({ err: error, requestId, route }, "Response failed after its start");
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

function holdOf(request: Request): Hold {
  const exchange = exchangeOf(request);
  return exchange.unsent.open(clientKeyOf(exchange));
}

function reserve(unsent: Hold, bytes: number): void {
  const shortage = unsent.grow(bytes);
  if (shortage !== undefined) throw noRoom(BUDGETS.unsentBytes.unit, shortage);
}

function streamOf(body: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(body);
      controller.close();
    },
  });
}

interface Chunk {
  readonly chunk: Uint8Array;
  readonly isLast: boolean;
}

/** Joins the next pieces until they have at least `chars` UTF-16 units. The chunk is empty if no piece is left. */
async function nextChunk(pieces: JsonStream["pieces"], chars: number): Promise<Chunk> {
  let text = "";
  while (text.length < chars) {
    const { done, value } = await pieces.next();
    if (done) return { chunk: encoder.encode(text), isLast: true };
    text += value;
  }
  return { chunk: encoder.encode(text), isLast: false };
}
