import type { StaleReason } from "../../../auth/staleness.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { parseBody, rawBody } from "../../../http/body.ts";

import { ApiError } from "../../../http/errors.ts";
import { exchangeOf, keyCallerOf } from "../../../http/exchange.ts";
import type { Result } from "../../../lib/result.ts";
import { type JsonObject, ownValue, readObject } from "../../../management/fields.ts";
import type { Refusal } from "../../../management/refusal.ts";
import type { MessageType } from "../../../protocol/wire/generated/message.ts";
import { type Clock, nowSecs } from "../../../runtime/clock.ts";
import type { SignerRefusal } from "../../../signers/refusal.ts";
import type { SignerActor } from "../../../signers/signer-keys.ts";
import type { SignerService } from "../../../signers/signer-service.ts";
import type { MessageOutcome } from "../../../writes/outcome.ts";
import type { UnsignedBody } from "../../../writes/rpc.ts";
import type { WriteStore } from "../../../writes/store/write-store.ts";
import { executeWrite, isStoredWrite, type WriteContext, type WriteRouteDeps } from "./write.ts";

/** Dependencies of writes by managed signers. */
export interface ManagedWriteDeps extends WriteRouteDeps {
  readonly storedWrites: Pick<WriteStore, "findCall">;
  readonly db: IndexDatabase;
  readonly clock: Clock;
  readonly signers: Pick<SignerService, "lookup">;
  /** While this returns a reason, the index may lack what the network has. */
  readonly staleReason: StaleReason;
}

/** What the messages of a write are made from. */
export interface ComposeRequest {
  /** The fields of the JSON body. */
  readonly fields: JsonObject;
  /** The user that the signer writes for. */
  readonly fid: number;
  readonly db: IndexDatabase;
  readonly nowSecs: number;
  /** Whether the index may lack what the network has. */
  readonly isStale: boolean;
}

export interface ManagedWrite {
  /** The types of message that the signer must be permitted. */
  readonly types: readonly MessageType[];
  /** Null for a part of the write that can make no message. */
  readonly compose: (request: ComposeRequest) => Result<readonly (UnsignedBody | null)[], Refusal>;
}

/** What a write has led to. The response depends on nothing else, so that a repetition gets the same. */
export interface WriteResult {
  readonly fields: JsonObject;
  readonly fid: number;
  /** In the order of the composed messages. */
  readonly outcomes: readonly MessageOutcome[];
}

/**
 * Executes a write by the signer that the body names. What is refused is refused in the order of the checks: fields of every write,
 * signer, permission, then what the messages refer to.
 *
 * @throws ApiError when nothing of it is in the network
 */
export async function executeManagedWrite(
  context: WriteContext,
  deps: ManagedWriteDeps,
  { types, compose }: ManagedWrite,
): Promise<WriteResult> {
  const { fields, signerUuid } = readSignedWrite(parseBody(rawBody(context.request)));
  return executeWriteBy(context, deps, { fields, signerUuid, types, compose });
}

/**
 * Executes a write by a signer.
 *
 * @throws ApiError when nothing of it is in the network
 */
export async function executeWriteBy(
  context: WriteContext,
  deps: ManagedWriteDeps,
  write: ManagedWrite & { readonly fields: JsonObject; readonly signerUuid: string },
): Promise<WriteResult> {
  const { fields, signerUuid } = write;
  const bodyIdem = ownValue(fields, "idem");
  // The targets of an earlier request with the same key may be gone.
  const isStored = await isStoredWrite(context, deps.storedWrites, { signerUuid, bodyIdem });
  const content = isStored ? ("stored" as const) : { bodies: await composeFor(context.request, deps, write) };
  const outcomes = await executeWrite(context, deps, { signerUuid, bodyIdem, content });
  return { fields, fid: outcomes[0]?.fid ?? 0, outcomes };
}

/**
 * Reads the fields that every write by a managed signer has.
 *
 * @throws ApiError `badRequest`
 */
export function readSignedWrite(body: unknown): { readonly fields: JsonObject; readonly signerUuid: string } {
  const fields = orThrow(readObject(body, "request body"));
  const signerUuid = ownValue(fields, "signer_uuid");
  if (typeof signerUuid !== "string" || signerUuid === "") {
    throw new ApiError("badRequest", "missing field signer_uuid");
  }
  return { fields, signerUuid };
}

/**
 * Returns the user whose messages a signer of the caller signs, and the types of message that it may sign.
 *
 * @throws ApiError `notFound`, or `forbidden` while it is not approved
 */
export async function userOfSigner(
  request: Request,
  { signers }: Pick<ManagedWriteDeps, "signers">,
  signerUuid: string,
): Promise<{ readonly fid: number; readonly permissions: readonly number[] }> {
  const { signer, state } = orThrow(await signers.lookup(actorOf(request), signerUuid));
  if (state.status !== "approved" || state.fid === null) {
    throw new ApiError("forbidden", "signer is not approved", { code: "signer_not_approved" });
  }
  return { fid: state.fid, permissions: signer.permissions };
}

async function composeFor(
  request: Request,
  deps: ManagedWriteDeps,
  {
    fields,
    signerUuid,
    types,
    compose,
  }: ManagedWrite & { readonly fields: JsonObject; readonly signerUuid: string },
): Promise<readonly (UnsignedBody | null)[]> {
  const { db, clock, staleReason } = deps;
  const { fid, permissions } = await userOfSigner(request, deps, signerUuid);
  if (types.some((type) => !permissions.includes(type))) {
    throw new ApiError("forbidden", "the signer is not permitted this write", { code: "out_of_scope" });
  }
  const isStale = (await staleReason()) !== undefined;
  return orThrow(db.snapshot(() => compose({ fields, fid, db, nowSecs: nowSecs(clock), isStale })));
}

/** The owner of the request's API key, as the services of signers take it. */
export function actorOf(request: Request): SignerActor {
  const { ownerFid, apiKeyId } = keyCallerOf(request);
  const { requestId, client } = exchangeOf(request);
  return { ownerFid, apiKeyId, requestId, address: client().address };
}

/** @throws ApiError */
export function orThrow<T>(result: Result<T, Refusal | SignerRefusal>): T {
  if (result.ok) return result.value;
  const { kind, message, ...options } = result.error;
  throw new ApiError(kind, message, options);
}
