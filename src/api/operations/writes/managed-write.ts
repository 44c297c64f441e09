import { type TProperties, type TSchema, Type } from "@sinclair/typebox";
import type { IndexDatabase } from "../../../db/index/database.ts";
import type { Scope } from "../../../http/caller.ts";
import { ApiError, type ErrorName } from "../../../http/errors.ts";
import { exchangeOf, keyCallerOf } from "../../../http/exchange.ts";
import { parseBody, rawBody } from "../../../http/request/body.ts";
import { requireKey } from "../../../http/route-terms.ts";
import type { Result } from "../../../lib/result.ts";
import { type JsonObject, ownValue, readObject } from "../../../management/fields.ts";
import type { Refusal } from "../../../management/refusal.ts";
import type { MessageType } from "../../../protocol/wire/generated/message.ts";
import { nowSecs } from "../../../runtime/clock.ts";
import { needsOnChainKey, permits } from "../../../signers/permissions.ts";
import { NOT_ON_CHAIN, type SignerRefusal } from "../../../signers/refusal.ts";
import type { SignerActor } from "../../../signers/signer-keys.ts";
import type { MessageOutcome } from "../../../writes/outcome.ts";
import type { UnsignedBody } from "../../../writes/rpc.ts";
import type { ApiDeps } from "../../deps.ts";
import { Fid, object } from "../../dialects/fields.ts";
import { type Call, documentedOnly, type Operation, unserved } from "../../op.ts";
import { unwrapOrThrow } from "../../respond.ts";
import { topic } from "../../topic.ts";
import { NO_NATIVE_WRITES } from "../unserved.ts";
import { executeWrite, isStoredWrite } from "./write.ts";

const { op } = topic({ surface: "compat" });

/** The input for composing the messages of a write. */
export interface ComposeRequest {
  /** The fields of the JSON body. */
  readonly fields: JsonObject;
  /** The user that the signer writes for. */
  readonly fid: number;
  readonly db: IndexDatabase;
  readonly nowSecs: number;
  /** Whether the index may be out of date. */
  readonly isStale: boolean;
}

/** How to compose the messages of a write. */
export interface Composition {
  /** The type of message for which the signer needs permission. */
  readonly type: MessageType;
  /** Null for a part of the write for which no message can be composed. */
  readonly compose: (
    request: ComposeRequest,
  ) => Result<readonly (UnsignedBody | null)[], Refusal | SignerRefusal>;
}

/** The result of a write. The response depends on nothing else, so that a repetition gets the same. */
export interface WriteResult {
  readonly fields: JsonObject;
  readonly fid: number;
  /** In the order of the composed messages. */
  readonly outcomes: readonly MessageOutcome[];
}

/** A write and the managed signer that signs it. */
interface SignerWrite extends Composition {
  readonly fields: JsonObject;
  readonly signerUuid: string;
}

/**
 * Executes a write by a signer.
 *
 * @throws ApiError if none of it is in the network
 */
export async function executeWriteBy(deps: ApiDeps, call: Call, write: SignerWrite): Promise<WriteResult> {
  const { fields, signerUuid } = write;
  const bodyIdem = ownValue(fields, "idem");
  // The targets of an earlier request with the same key may have been deleted.
  const isStored = await isStoredWrite(call, deps.publish.storedWrites, { signerUuid, bodyIdem });
  const content = isStored
    ? ("stored" as const)
    : { bodies: (await composeWriteBy(deps, call.request, write)).bodies };
  const outcomes = await executeWrite(call, deps, { signerUuid, bodyIdem, content });
  return { fields, fid: outcomes[0]?.fid ?? 0, outcomes };
}

/**
 * Reads the fields that are common to all writes by managed signers.
 *
 * @throws ApiError `badRequest`
 */
export function readSignedWrite(body: unknown): { readonly fields: JsonObject; readonly signerUuid: string } {
  const fields = unwrapOrThrow(readObject(body, "request body"));
  const signerUuid = ownValue(fields, "signer_uuid");
  if (typeof signerUuid !== "string" || signerUuid === "") {
    throw new ApiError("badRequest", "missing field signer_uuid");
  }
  return { fields, signerUuid };
}

/**
 * Returns the user that a signer of the caller signs for, and the types of message that it may sign.
 *
 * @throws ApiError `notFound`, or `forbidden` while it is not approved
 */
export async function userOfSigner(
  request: Request,
  { signers }: Pick<ApiDeps, "signers">,
  signerUuid: string,
): Promise<{ readonly fid: number; readonly permissions: readonly number[]; readonly isGasless: boolean }> {
  const { signer, state } = unwrapOrThrow(await signers.lookup(actorOf(request), signerUuid));
  if (state.status !== "approved" || state.fid === null) {
    throw new ApiError("forbidden", "signer is not approved", { code: "signer_not_approved" });
  }
  return { fid: state.fid, permissions: signer.permissions, isGasless: state.expiresAt !== null };
}

/**
 * Composes the messages of a write by a signer without sending them.
 *
 * @throws ApiError for each refusal that does not need the network
 */
export async function composeWriteBy(
  deps: ApiDeps,
  request: Request,
  { fields, signerUuid, type, compose }: SignerWrite,
): Promise<{ readonly fid: number; readonly bodies: readonly (UnsignedBody | null)[] }> {
  const { db, clock } = deps.reads;
  const { fid, permissions, isGasless } = await userOfSigner(request, deps, signerUuid);
  if (!permits(permissions, type)) {
    throw new ApiError("forbidden", "the signer is not permitted this write", { code: "out_of_scope" });
  }
  if (isGasless && needsOnChainKey(type)) {
    const { message, code } = NOT_ON_CHAIN;
    throw new ApiError("forbidden", message, { code });
  }
  const isStale = (await deps.auth.staleReason()) !== undefined;
  const bodies = unwrapOrThrow(
    db.snapshot(() => compose({ fields, fid, db, nowSecs: nowSecs(clock), isStale })),
  );
  return { fid, bodies };
}

/** Returns the owner of the request's API key in the form for the signer services. */
export function actorOf(request: Request): SignerActor {
  const { ownerFid, apiKeyId } = keyCallerOf(request);
  const { requestId, client } = exchangeOf(request);
  return { ownerFid, apiKeyId, requestId, address: client().address };
}

const OperationResponse = object(
  { success: Type.Literal(true), message: Type.String() },
  { $id: "OperationResponse" },
);

/** Returns the response of a write without other results. */
export const done = (message: string) => ({ success: true as const, message });

/** Returns the response of a write in a channel, whose slot the last message takes. */
export const doneInChannel =
  (message: string) =>
  ({ outcomes }: WriteResult) =>
    done(outcomes.at(-1)?.isReplaced ? `${message}, and a later message has changed it again` : message);

export const CastIdInBody = object({ hash: Type.String(), fid: Fid });

/** Documents the body of a write by a managed signer. */
export function signerBody<P extends TProperties>(properties: P) {
  return Type.Object({
    signer_uuid: Type.String({ description: "The managed signer" }),
    ...properties,
    idem: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description:
          "Idempotency key, as the header `Idempotency-Key`: a repetition within a day gets the first response",
      }),
    ),
  });
}

const WHEN_OFF = "Without `writes.enabled`, or without `signers.encryption_key`.";

interface WriteSpec {
  readonly id: string;
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly aliases?: readonly string[];
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly body: TSchema;
  /** Default: that of a write without other results. */
  readonly response?: TSchema;
  /** Responses of other statuses than 200 and 202. */
  readonly responses?: Readonly<Record<number, TSchema>>;
  readonly errors?: readonly ErrorName[];
  /** True for a write that does not exist in the hosted API. */
  readonly isOwn?: true;
  /** The scope that the API key needs. Default: `write`. */
  readonly scope?: Scope;
  /** Whether it works on a node without managed signers. */
  readonly needsNoSigners?: boolean;
  readonly run: (deps: ApiDeps, call: Call) => Promise<object>;
}

/** Declares a write with an API key. The native dialect refuses it if it exists in the hosted API. */
export function keyedWrite(spec: WriteSpec): Operation<ApiDeps>[] {
  const {
    response = OperationResponse,
    responses = {},
    errors = [],
    description,
    body,
    isOwn = false,
    scope = "write",
    needsNoSigners = false,
    ...rest
  } = spec;
  const { id, method, path, aliases = [], tag, summary } = spec;
  return [
    op({
      ...rest,
      description: `${description} Needs an API key with the scope \`${scope}\`. 202: on its way to the network; \`GET /message\` says what became of it.`,
      security: "apiKey",
      access: requireKey(scope),
      body: documentedOnly(body),
      // An invalid field is refused after an unknown signer.
      isRaw: true,
      response: { 200: response, 202: response, ...responses },
      errors: ["forbidden", "conflict", "tooManyRequests", "badGateway", "unavailable", ...errors],
      ...(!needsNoSigners && {
        notImplemented: { when: WHEN_OFF, message: "managed signers need signers.encryption_key" },
      }),
    }),
    ...(isOwn
      ? []
      : [unserved({ id, method, path, aliases, tag, summary, surface: "native", ...NO_NATIVE_WRITES })]),
  ];
}

/**
 * Declares a write by the signer named in its body. Refusals are in the order of the checks: common fields, signer, permission, then what
 * the messages refer to.
 *
 * @param spec.present builds the response, or is the message of a response without other results
 */
export function managedWrite({
  type,
  compose,
  present,
  ...spec
}: Omit<WriteSpec, "run"> &
  Composition & { readonly present: string | ((result: WriteResult, call: Call) => object) }) {
  return keyedWrite({
    ...spec,
    async run(deps, call) {
      const { fields, signerUuid } = readSignedWrite(parseBody(rawBody(call.request)));
      const result = await executeWriteBy(deps, call, { fields, signerUuid, type, compose });
      return typeof present === "string" ? done(present) : present(result, call);
    },
  });
}
