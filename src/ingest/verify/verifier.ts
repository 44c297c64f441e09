import type { PackedMessages } from "../../db/index/bulk/bulk-state.ts";
import { MessagePacker } from "../../db/index/bulk/packed-messages.ts";
import { splitMessage } from "../../db/index/messages/split.ts";
import { type ByteList, packBytes, unpackBytes } from "../../lib/bytes.ts";
import { type Store, slotOf } from "../../protocol/merge-rules.ts";
import type { Rejection } from "../../protocol/rejection.ts";
import { decodeMessage, mentionedFids, type SignedMessage } from "../../protocol/signed-message.ts";
import type { ValidationContext } from "../../protocol/validate/envelope.ts";
import { validateMessage } from "../../protocol/validate/message.ts";
import { decodeRecord, type EncodedRecord, validateRecord } from "../record.ts";
import { CandidatePacker, type SpoolCandidates } from "../spool-candidates.ts";

/** Messages of one fid and store as another node sent them. None of them has been verified. */
export interface MessagePage {
  readonly fid: number;
  readonly store: Store;
  readonly messages: ByteList;
  /** Whether the fids that valid messages mention are collected. */
  readonly collectsMentions: boolean;
  /** Whether valid messages are packed for the bulk build, on the thread that verifies them. */
  readonly packsColumns?: boolean;
}

/** The messages of a page that passed every rule that depends on the message alone, their hash and signature included. */
export interface VerifiedPage {
  /** The valid messages of the fid and store, in the order of the page and as they were received; empty if `packed` is set. */
  readonly messages: ByteList;
  /** The valid messages for the bulk build, if the page `packsColumns`. */
  readonly packed?: PackedMessages | undefined;
  /** Why messages were refused. Messages of other fids and stores are skipped without a refusal. */
  readonly refusals: readonly Rejection[];
  /** Distinct fids. */
  readonly mentioned: readonly number[];
}

/**
 * Verifies messages and records that another node or a file provides. Every message is verified in full: decoded,
 * hashed, its Ed25519 signature and the Ethereum signature of its claim checked.
 */
export interface Verifier {
  /**
   * Verifies a page. The caller must not use the page's buffer any more. Waits while too many bytes are in flight.
   * Returns the page in parts, in order; parts are verified concurrently.
   */
  verifyPage(page: MessagePage): Promise<readonly VerifiedPage[]>;
  /** Validates records. If `collectsCandidates`, the valid ones that may go to the spool of an import are packed for it. */
  validateRecords(
    records: readonly EncodedRecord[],
    options: { readonly collectsCandidates: boolean },
  ): Promise<ValidatedRecords>;
}

/** What validating records has found. */
export interface ValidatedRecords {
  /** Why records were refused, by their place. The others are valid. */
  readonly refusals: ReadonlyMap<number, Rejection>;
  /** Of parts of the records, in order; empty unless requested. */
  readonly candidates: readonly SpoolCandidates[];
}

/** Verifies a page on the calling thread. */
export function verifyPage(page: MessagePage, context: ValidationContext): VerifiedPage {
  const valid: Uint8Array[] = [];
  const packer = page.packsColumns ? new MessagePacker() : undefined;
  const refusals: Rejection[] = [];
  const mentioned = new Set<number>();
  for (const bytes of unpackBytes(page.messages)) {
    const decoded = decodeMessage(bytes);
    if (decoded.ok && !isOfPage(page, decoded.value)) continue;
    const refusal = decoded.ok ? validateMessage(decoded.value, context) : decoded.error;
    if (refusal) {
      refusals.push(refusal);
      continue;
    }
    if (!decoded.ok) continue;
    if (packer) packer.add(splitMessage(decoded.value, context.network));
    else valid.push(bytes);
    if (page.collectsMentions) for (const fid of mentionedFids(decoded.value.data)) mentioned.add(fid);
  }
  return { messages: packBytes(valid), packed: packer?.finish(), refusals, mentioned: [...mentioned] };
}

/** Validates records on the calling thread. */
export function validateRecords(
  records: readonly EncodedRecord[],
  context: ValidationContext,
  { collectsCandidates }: { readonly collectsCandidates: boolean },
): ValidatedRecords {
  const refusals = new Map<number, Rejection>();
  const candidates = collectsCandidates ? new CandidatePacker(context.network, records.length) : undefined;
  for (const [at, record] of records.entries()) {
    const decoded = decodeRecord(record);
    const refusal = decoded.ok ? validateRecord(decoded.value, context) : decoded.error;
    if (refusal) refusals.set(at, refusal);
    const isValidMessage = !refusal && decoded.ok && decoded.value.kind === "message";
    candidates?.add(isValidMessage ? decoded.value.message : undefined);
  }
  return { refusals, candidates: candidates ? [candidates.finish()] : [] };
}

function isOfPage({ fid, store }: MessagePage, message: SignedMessage): boolean {
  const { data } = message;
  if (data.fid !== fid || !data.body || data.body.$case === "frameActionBody") return false;
  return slotOf(message).store === store;
}

/** A verifier that works on the calling thread, for work that is too small for threads of its own. */
export function createInlineVerifier(context: () => ValidationContext): Verifier {
  return {
    verifyPage: async (page) => [verifyPage(page, context())],
    validateRecords: async (records, options) => validateRecords(records, context(), options),
  };
}
