import type { ServiceError } from "@grpc/grpc-js";
import { readShardTotals } from "../db/index/counts/totals.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import { lastHubBlock } from "../db/index/log/hub-log.ts";
import { admit } from "../ingest/merge/admit.ts";
import { err, mapOk, ok, type Result } from "../lib/result.ts";
import { type Rejection, rejection } from "../protocol/rejection.ts";
import {
  GetInfoResponse,
  SubmitBulkMessagesResponse,
  ValidationResponse,
} from "../protocol/wire/generated/hub.ts";
import { nowSecs } from "../runtime/clock.ts";
import type { Intake, IntakeDeps } from "./submit/intake.ts";
import { encodeResponse, splitBulkRequest, toResponse } from "./submit/message-responses.ts";
import type { SubmissionCheck } from "./submit/submission-check.ts";
import type { WriteThrough } from "./submit/write-through.ts";

/** Dependencies for submitting, validating and describing the node. */
export interface OwnMethodDeps extends IntakeDeps {
  readonly db: IndexDatabase;
  readonly version: string;
  /** Limits and checks submitted messages. */
  readonly check: SubmissionCheck;
  /** The upstream that the node follows, to which messages are then forwarded. */
  readonly upstream?: HubUpstream;
  /** Returns why the index cannot be read now; undefined while it can. Default: it always can. */
  readonly unavailableReason?: (() => string | undefined) | undefined;
}

/** The part of the upstream that the services use. */
export interface HubUpstream {
  readonly submits: Pick<WriteThrough, "submit" | "submitBulk" | "submitWrite">;
  /** Reports whether the channel becomes ready within the time. */
  readonly isReady: (timeoutMs: number) => Promise<boolean>;
  /** Returns the progress of following each shard. */
  readonly shards: () => Promise<readonly FollowedShard[]>;
}

/** A method of the intake over bytes, for a client or for this node itself. */
type OwnMethod = (
  request: Buffer,
  from?: { readonly clientKey: string | undefined },
) => Promise<Result<Uint8Array, Rejection | ServiceError>>;

/** Methods other than reads of the network's state. gRPC and the HTTP workers serve the same ones. */
export interface OwnMethods {
  readonly SubmitMessage: OwnMethod;
  readonly SubmitBulkMessages: OwnMethod;
  readonly ValidateMessage: OwnMethod;
  readonly GetInfo: OwnMethod;
}

export function createOwnMethods(context: OwnMethodDeps, intake: Intake): OwnMethods {
  const { upstream } = context;
  return {
    SubmitMessage: async (request, from) => {
      const message = upstream
        ? await upstream.submits.submit(request, from?.clientKey)
        : await intake.merge(request, from?.clientKey);
      return mapOk(message, encodeResponse);
    },
    SubmitBulkMessages: async (request, from) => {
      const received = splitBulkRequest(request, context.check.maxMessages);
      if (!received.ok) return received;
      const results = upstream
        ? await upstream.submits.submitBulk(received.value, from?.clientKey)
        : await intake.mergeBulk(received.value, from?.clientKey);
      return mapOk(results, (messages) => SubmitBulkMessagesResponse.encode({ messages }).finish());
    },
    ValidateMessage: async (request, from) => {
      const message = await intake.validate(request, from?.clientKey);
      if (!message.ok) return message;
      const { db, network, clock } = context;
      const unavailable = context.unavailableReason?.();
      if (unavailable !== undefined) return err(rejection("unavailable", unavailable));
      const refusal = admit({ db, network, nowSecs: nowSecs(clock) }, message.value);
      if (refusal) return err(refusal);
      return ok(ValidationResponse.encode({ valid: true, message: toResponse(message.value) }).finish());
    },
    GetInfo: async () => ok(GetInfoResponse.encode(await readInfo(context)).finish()),
  };
}

/** The progress of following a shard. */
interface FollowedShard {
  /** 0 is the shard of the block chain. */
  readonly shard: number;
  readonly appliedBlock: number;
  readonly lagSecs: number | undefined;
}

/** Shard 0 of the network, which has blocks and no fids. */
const BLOCK_SHARD = 0;

function ownShard(db: IndexDatabase): FollowedShard {
  return { shard: 1, appliedBlock: lastHubBlock(db, 1) ?? 0, lagSecs: 0 };
}

/**
 * Describes the node. Without an upstream it is one shard. With an upstream, it reports the upstream's shards and its
 * progress in each.
 */
async function readInfo({
  db,
  version,
  upstream,
}: {
  readonly db: IndexDatabase;
  readonly version: string;
  readonly upstream?: { readonly shards: () => Promise<readonly FollowedShard[]> } | undefined;
}): Promise<GetInfoResponse> {
  const totals = readShardTotals(db);
  const fileBytes = db.sizeBytes();
  const progress = upstream ? await upstream.shards() : [ownShard(db)];
  const shardInfos = progress.map(({ shard, appliedBlock, lagSecs }) => ({
    shardId: shard,
    maxHeight: appliedBlock,
    blockDelay: lagSecs ?? 0,
    numMessages: totals.get(shard)?.messages ?? 0,
    numFidRegistrations: totals.get(shard)?.fids ?? 0,
    numOnchainEvents: totals.get(shard)?.on_chain_events ?? 0,
    approxSize: Math.floor(fileBytes / progress.length),
  }));
  const sum = (name: "messages" | "fids") => totals.values().reduce((total, one) => total + one[name], 0);
  return GetInfoResponse.fromPartial({
    version,
    dbStats: { numMessages: sum("messages"), numFidRegistrations: sum("fids"), approxSize: fileBytes },
    numShards: progress.filter(({ shard }) => shard !== BLOCK_SHARD).length,
    shardInfos,
  });
}
