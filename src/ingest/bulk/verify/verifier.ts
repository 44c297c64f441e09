import type { PackedMessages } from "../../../db/index/bulk/bulk-state.ts";
import { MessagePacker } from "../../../db/index/bulk/packed-messages.ts";
import { splitMessage } from "../../../db/index/messages/split.ts";
import type { KeyAdd } from "../../../db/index/trie/key-adds.ts";
import { type ByteList, packBytes, unpackBytes } from "../../../lib/bytes.ts";
import { isChannelMessage } from "../../../protocol/channels/slots.ts";
import { type Store, slotOf } from "../../../protocol/message/merge-rules.ts";
import {
  decodeMessage,
  mentionedFids,
  type SignedMessage,
} from "../../../protocol/message/signed-message.ts";
import type { Rejection } from "../../../protocol/rejection.ts";
import type { ValidationContext } from "../../../protocol/validate/envelope.ts";
import { validateMessage } from "../../../protocol/validate/message.ts";
import { UserNameProof } from "../../../protocol/wire/generated/message.ts";
import { isSigned, type PageRefusal } from "../../../trust/snapshot-page.ts";
import { fidOfKey, keysOfSigned } from "../../../trust/trie-key.ts";
import { decodeRecord, type EncodedRecord, validateRecord } from "../../record.ts";
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

/** The messages of a page that passed every rule that depends only on the message, their hash and signature included. */
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

/** Messages of a snapshot, each with the key that it has in the state's trie. */
export interface SnapshotMessages {
  readonly keys: ByteList;
  readonly messages: ByteList;
}

/** What the messages of a snapshot are. */
export interface VerifiedSnapshot {
  /** The valid messages of their authors' accounts, for the bulk build. Those of username proofs and gasless keys are not among them. */
  readonly packed: PackedMessages;
  /** The username proofs in valid messages, encoded. */
  readonly proofs: readonly Uint8Array[];
  /** The keys of messages that are stored in no row from which they follow: proofs, gasless keys, channels, refused ones. */
  readonly unstored: readonly Uint8Array[];
  readonly keyAdds: readonly KeyAdd[];
  /** Why messages were refused that are as the network has them. */
  readonly refusals: readonly Rejection[];
  /** Why the page is not one of the network's state; undefined if it may be. */
  readonly broken: PageRefusal | undefined;
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
  /** Verifies messages of a snapshot. Returns them in parts, in order. */
  verifySnapshot(part: SnapshotMessages): Promise<readonly VerifiedSnapshot[]>;
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

/** Verifies messages of a snapshot on the calling thread. */
export function verifySnapshot(part: SnapshotMessages, context: ValidationContext): VerifiedSnapshot {
  const packer = new MessagePacker();
  const proofs: Uint8Array[] = [];
  const refusals: Rejection[] = [];
  const unstored: Uint8Array[] = [];
  const keyAdds: KeyAdd[] = [];
  let broken: PageRefusal | undefined;
  const keys = unpackBytes(part.keys);
  for (const [at, bytes] of unpackBytes(part.messages).entries()) {
    const key = keys[at] as Uint8Array;
    const decoded = decodeMessage(bytes);
    broken = decoded.ok ? misplaced(decoded.value, key) : "bad_message";
    if (broken || !decoded.ok) break;
    const message = decoded.value;
    // The account of a borrower has the lend, too.
    if (message.data.fid !== fidOfKey(key)) continue;
    const refusal = validateMessage(message, context);
    if (refusal && !isSigned(message)) broken = "bad_message";
    if (broken) break;
    const { fid, body } = message.data;
    if (body?.$case === "keyAddBody")
      keyAdds.push({ fid, publicKey: body.value.key.slice(), hash: message.hash.slice() });
    if (!refusal && body?.$case !== "usernameProofBody" && isStoredAsMessage(message)) {
      packer.add(splitMessage(message, context.network));
      continue;
    }
    unstored.push(key.slice());
    if (refusal) refusals.push(refusal);
    else if (body?.$case === "usernameProofBody") proofs.push(UserNameProof.encode(body.value).finish());
  }
  return { packed: packer.finish(), proofs, unstored, keyAdds, refusals, broken };
}

function misplaced(message: SignedMessage, key: Uint8Array): PageRefusal | undefined {
  return keysOfSigned(message).some((one) => Buffer.compare(one, key) === 0) ? undefined : "key_mismatch";
}

function isStoredAsMessage({ data: { body } }: SignedMessage): boolean {
  switch (body?.$case) {
    case undefined:
    case "frameActionBody":
    case "keyAddBody":
    case "keyRemoveBody":
    // What holds a slot of a channel is read from the blocks of shard 0, which order it.
    case "channelUpdateBody":
    case "channelMemberBody":
    case "channelPinBody":
    case "channelModerateBody":
      return false;
    case "lendStorageBody":
      // It ends the lend before it and leaves no row.
      return body.value.numUnits > 0;
    default:
      return true;
  }
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
  if (isChannelMessage(data)) return false;
  return slotOf(message).store === store;
}

/** A verifier that works on the calling thread, for work that is too small for threads of its own. */
export function createInlineVerifier(context: () => ValidationContext): Verifier {
  return {
    verifyPage: async (page) => [verifyPage(page, context())],
    verifySnapshot: async (part) => [verifySnapshot(part, context())],
    validateRecords: async (records, options) => validateRecords(records, context(), options),
  };
}
