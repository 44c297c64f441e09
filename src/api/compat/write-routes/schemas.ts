import { Kind, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import type { ErrorName } from "../../../http/errors.ts";
import { operation } from "../../../http/operation.ts";
import { requireKey } from "../../../http/route-terms.ts";
import { closed, Fid } from "../../shared/schemas.ts";

export const OperationResponse = Type.Object(
  { success: Type.Literal(true), message: Type.String() },
  { ...closed, $id: "OperationResponse" },
);

/** The response of a write that returns nothing else. */
export const done = (message: string) => ({ success: true as const, message });

export const CastIdInBody = Type.Object({ hash: Type.String(), fid: Fid }, closed);

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

/**
 * The hook of a write by a managed signer. The body is documented here and read by the handler, which refuses a bad field after an
 * unknown signer.
 */
export function writeOperation(spec: {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly body: TSchema;
  readonly response: TSchema;
  /** Responses of other statuses than 200 and 202. */
  readonly responses?: Readonly<Record<number, TSchema>>;
  readonly errors?: readonly ErrorName[];
}) {
  const { body, response, responses = {}, errors = [], description, ...text } = spec;
  const { transform: _, ...hook } = operation({
    ...text,
    description: `${description} Needs an API key with the scope \`write\`. 202: on its way into the network; \`GET /message\` says what became of it.`,
    security: "apiKey",
    access: requireKey("write"),
    body: Type.Unsafe<unknown>({ ...body, [Kind]: "Any" }),
    response: { 200: response, 202: response, ...responses },
    errors: ["forbidden", "conflict", "tooManyRequests", "badGateway", "unavailable", ...errors],
    notImplemented: { when: WHEN_OFF, message: "managed signers need signers.encryption_key" },
  });
  return hook;
}

const WHEN_OFF = "Without `writes.enabled`, or without `signers.encryption_key`.";
