import { type Client, type ClientReadableStream, Metadata, type ServiceError } from "@grpc/grpc-js";
import type { Budget } from "../../admission/budget.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { invalidParam, type Refusal, refuse } from "../../read/hub/refusal.ts";
import { noRoom, relayedReadFault, toServiceError } from "../grpc-errors.ts";
import type { RawMethod, RawStreamMethod } from "../raw-service.ts";
import type { ResponseBatch } from "../running-call.ts";
import { readRequest, u32, u64 } from "./request.ts";

/** Relays blocks of the upstream to nodes that follow this one, as bytes. */
export interface BlockRelay {
  readonly getBlocks: RawStreamMethod;
  readonly getShardChunks: RawMethod;
}

const MAX_CHUNKS = 100;
const CHUNKS_TIMEOUT_MS = 30_000;

/** A client that takes no block for this long gives up its relay to others. */
const STALL_TIMEOUT_MS = 300_000;
const SLOW = refuse("rate_limited", "the client takes no blocks").error;
const CHUNKS = { shardId: u32(1), startBlockNumber: u64(2), stopBlockNumber: u64(3) };

const unchanged = (bytes: Buffer): Buffer => bytes;

/**
 * @param upstream returns the connection to a node whose blocks are all valid for this one.
 * @param budget the relays that clients share.
 */
export function createBlockRelay(upstream: () => Client, budget: Budget): BlockRelay {
  return {
    async getBlocks(request, { clientKey, signal }) {
      const relay = budget.open(clientKey);
      const shortage = relay.grow(1);
      if (shortage) return err(noRoom(budget.terms.unit, shortage));
      const blocks = upstream().makeServerStreamRequest<Buffer, Buffer>(
        "/HubService/GetBlocks",
        unchanged,
        unchanged,
        request,
        new Metadata(),
        {},
      );
      signal.addEventListener("abort", () => blocks.cancel());
      return ok({
        responses: relayed(blocks, () => relay.end()),
        stall: { timeoutMs: STALL_TIMEOUT_MS, error: toServiceError(SLOW), onStall: () => blocks.cancel() },
      });
    },
    async getShardChunks(request, { clientKey }) {
      const asked = readRequest(request, CHUNKS);
      if (!asked.ok) return asked;
      const { startBlockNumber = 0, stopBlockNumber } = asked.value;
      if (stopBlockNumber === undefined) return invalidParam("stop_block_number is required");
      if (stopBlockNumber - startBlockNumber > MAX_CHUNKS)
        return invalidParam(`at most ${MAX_CHUNKS} chunks can be asked for`);
      const relay = budget.open(clientKey);
      const shortage = relay.grow(1);
      if (shortage) return err(noRoom(budget.terms.unit, shortage));
      try {
        return await chunksOf(upstream(), request);
      } finally {
        relay.end();
      }
    },
  };
}

async function* relayed(
  blocks: ClientReadableStream<Buffer>,
  onEnd: () => void,
): AsyncGenerator<ResponseBatch> {
  try {
    for await (const block of blocks) yield [block];
  } catch (cause) {
    throw relayedReadFault(cause as ServiceError);
  } finally {
    blocks.cancel();
    onEnd();
  }
}

function chunksOf(upstream: Client, request: Buffer): Promise<Result<Uint8Array, Refusal | ServiceError>> {
  const { promise, resolve } = Promise.withResolvers<Result<Uint8Array, Refusal | ServiceError>>();
  upstream.makeUnaryRequest<Buffer, Buffer>(
    "/HubService/GetShardChunks",
    unchanged,
    unchanged,
    request,
    new Metadata(),
    // gRPC deadlines use the machine's clock.
    { deadline: Date.now() + CHUNKS_TIMEOUT_MS },
    (fault, response) => resolve(fault ? err(relayedReadFault(fault)) : ok(response ?? Buffer.alloc(0))),
  );
  return promise;
}
