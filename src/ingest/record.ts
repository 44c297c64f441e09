import { err, ok, type Result } from "../lib/result.ts";
import { decodeMessage, type SignedMessage } from "../protocol/message/signed-message.ts";
import { type Rejection, rejection } from "../protocol/rejection.ts";
import { validateOnChainEvent } from "../protocol/validate/chain/on-chain-event.ts";
import type { ValidationContext } from "../protocol/validate/envelope.ts";
import { validateMessage } from "../protocol/validate/message.ts";
import { validateFnameProof } from "../protocol/validate/username-proof.ts";
import { UserNameProof } from "../protocol/wire/generated/message.ts";
import { OnChainEvent } from "../protocol/wire/generated/on-chain.ts";
import { ON_CHAIN_EVENT_SCHEMA, USER_NAME_PROOF_SCHEMA } from "../protocol/wire/generated/wire-schemas.ts";
import { findWireError } from "../protocol/wire-check.ts";

/** The kinds of records that the node merges. */
export type RecordKind = "message" | "onChainEvent" | "usernameProof";

/** A record in the form in which files, sockets and workers exchange it. */
export interface EncodedRecord {
  readonly kind: RecordKind;
  readonly bytes: Uint8Array;
}

/** A decoded record. A validated record has passed every rule that depends only on the record. */
export type IngestRecord =
  | { readonly kind: "message"; readonly message: SignedMessage }
  | { readonly kind: "onChainEvent"; readonly event: OnChainEvent }
  | { readonly kind: "usernameProof"; readonly proof: UserNameProof };

/** Decodes a record. Malformed bytes are a `bad_request.parse_failure`. Integers above 2^53 - 1 are read as 2^53 - 1. */
export function decodeRecord({ kind, bytes }: EncodedRecord): Result<IngestRecord, Rejection> {
  if (kind === "message") {
    const message = decodeMessage(bytes);
    return message.ok ? ok({ kind, message: message.value }) : message;
  }
  const error = findWireError(
    bytes,
    kind === "onChainEvent" ? ON_CHAIN_EVENT_SCHEMA : USER_NAME_PROOF_SCHEMA,
  );
  if (error !== undefined)
    return err(rejection("bad_request.parse_failure", `record cannot be decoded: ${error}`));
  try {
    return kind === "onChainEvent"
      ? ok({ kind, event: OnChainEvent.decode(bytes) })
      : ok({ kind, proof: UserNameProof.decode(bytes) });
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : "malformed protobuf";
    return err(rejection("bad_request.parse_failure", `record cannot be decoded: ${detail}`));
  }
}

/** Applies the rules that need no state. */
export function validateRecord(record: IngestRecord, context: ValidationContext): Rejection | undefined {
  switch (record.kind) {
    case "message":
      return validateMessage(record.message, context);
    case "onChainEvent":
      return validateOnChainEvent(record.event, context.network);
    case "usernameProof":
      return validateFnameProof(record.proof);
  }
}

/** The outcome of a record: undefined if it was merged, otherwise why it was refused. */
export type MergeOutcome = Rejection | undefined;
