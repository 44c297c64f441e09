import type { ServiceError } from "@grpc/grpc-js";
import type { IndexDatabase } from "../db/index/database.ts";
import { admit } from "../ingest/admit.ts";
import { err, mapOk, ok, type Result } from "../lib/result.ts";
import { type Rejection, rejection } from "../protocol/rejection.ts";
import {
  GetInfoResponse,
  SubmitBulkMessagesResponse,
  ValidationResponse,
} from "../protocol/wire/generated/hub.ts";
import { nowSecs } from "../runtime/clock.ts";
import { type FollowedShard, readInfo } from "./info.ts";
import type { Intake, IntakeDeps } from "./intake.ts";
import { encodeResponse, splitBulkRequest, toResponse } from "./message-responses.ts";
import type { SubmissionCheck } from "./submission-check.ts";
import type { WriteThrough } from "./write-through.ts";

/** Dependencies of submitting, validating and describing the node. */
export interface OwnMethodDeps extends IntakeDeps {
  readonly db: IndexDatabase;
  readonly version: string;
  /** Limits and checks submitted messages. */
  readonly check: SubmissionCheck;
  /** The upstream that the node follows. Messages are then forwarded to it. */
  readonly upstream?: HubUpstream;
  /** Why the index cannot be read now; undefined while it can. Default: it always can. */
  readonly unavailableReason?: (() => string | undefined) | undefined;
}

/** The part of the upstream that the services use. */
export interface HubUpstream {
  readonly submits: Pick<WriteThrough, "submit" | "submitBulk" | "submitWrite">;
  /** Returns whether the channel is ready within the time. */
  readonly isReady: (timeoutMs: number) => Promise<boolean>;
  /** The progress of following each shard. */
  readonly shards: () => Promise<readonly FollowedShard[]>;
}

/** A method of the intake, over bytes. */
type OwnMethod = (request: Buffer) => Promise<Result<Uint8Array, Rejection | ServiceError>>;

/** The methods that are not reads of the network's state. gRPC and the HTTP workers serve the same ones. */
export interface OwnMethods {
  readonly SubmitMessage: OwnMethod;
  readonly SubmitBulkMessages: OwnMethod;
  readonly ValidateMessage: OwnMethod;
  readonly GetInfo: OwnMethod;
}

export function createOwnMethods(context: OwnMethodDeps, intake: Intake): OwnMethods {
  const { upstream } = context;
  return {
    SubmitMessage: async (request) => {
      const message = upstream ? await upstream.submits.submit(request) : await intake.merge(request);
      return mapOk(message, encodeResponse);
    },
    SubmitBulkMessages: async (request) => {
      const received = splitBulkRequest(request, context.check.maxMessages);
      if (!received.ok) return received;
      const results = upstream
        ? await upstream.submits.submitBulk(received.value)
        : await intake.mergeBulk(received.value);
      return mapOk(results, (messages) => SubmitBulkMessagesResponse.encode({ messages }).finish());
    },
    ValidateMessage: async (request) => {
      const message = await intake.validate(request);
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
