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

/** Messages of one fid and store as sent by another node. None of them has been verified. */
export interface MessagePage {
  readonly fid: number;
  readonly store: Store;
  readonly messages: ByteList;
  /** Whether to collect the fids that valid messages mention. */
  readonly collectsMentions: boolean;
  /** Whether to pack valid messages for the bulk build on the thread that verifies them. */
  readonly packsColumns?: boolean;
}

/**
 * The messages of a page that passed every rule that depends only on the message, including those for hash and signature.
 */
export interface VerifiedPage {
  /** The valid messages of the fid and store, as received and in the order of the page; empty if `packed` is set. */
  readonly messages: ByteList;
  /** The valid messages for the bulk build, if the page `packsColumns`. */
  readonly packed?: PackedMessages | undefined;
  /** Why messages were refused. Messages of other fids and stores are skipped without a refusal. */
  readonly refusals: readonly Rejection[];
  /** Distinct fids. */
  readonly mentioned: readonly number[];
}

/** Messages of a snapshot, each with its key in the state's trie. */
export interface SnapshotMessages {
  readonly keys: ByteList;
  readonly messages: ByteList;
}

/** Result of verifying the messages of a snapshot. */
export interface VerifiedSnapshot {
  /**
   * The valid messages of their authors' accounts, for the bulk build, excluding username proofs and those of gasless keys.
   */
  readonly packed: PackedMessages;
  /** The username proofs in valid messages, encoded. */
  readonly proofs: readonly Uint8Array[];
  /** The keys of messages that no stored row produces: proofs, gasless keys, channels, refused ones. */
  readonly unstored: readonly Uint8Array[];
  readonly keyAdds: readonly KeyAdd[];
  /** Why messages were refused although they match the network's state. */
  readonly refusals: readonly Rejection[];
  /** Why the page cannot be one of the network's state; undefined if it can. */
  readonly broken: PageRefusal | undefined;
}

/**
 * Verifies messages and records from another node or a file. Every message is verified in full: it is decoded and hashed,
 * and its Ed25519 signature and the Ethereum signature of its claim are checked.
 */
export interface Verifier {
  /**
   * Verifies a page. The caller must not use the page's buffer afterwards. Waits while too many bytes are in flight. Returns
   * the page in parts, in order; parts are verified concurrently.
   */
  verifyPage(page: MessagePage): Promise<readonly VerifiedPage[]>;
  /** Verifies messages of a snapshot. Returns them in parts, in order. */
  verifySnapshot(part: SnapshotMessages): Promise<readonly VerifiedSnapshot[]>;
  /**
   * Validates records. If `collectsCandidates` is set, valid records that may go to the spool of an import are packed for
   * it.
   */
  validateRecords(
    records: readonly EncodedRecord[],
    options: { readonly collectsCandidates: boolean },
  ): Promise<ValidatedRecords>;
}

/** Result of validating records. */
export interface ValidatedRecords {
  /** Why records were refused, by their index. The others are valid. */
  readonly refusals: ReadonlyMap<number, Rejection>;
  /** Per part of the records, in order; empty unless requested. */
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
    // The account of a borrower also contains the lend.
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
    // The content of a channel's slots is read from the blocks of shard 0, which order it.
    case "channelUpdateBody":
    case "channelMemberBody":
    case "channelPinBody":
    case "channelModerateBody":
      return false;
    case "lendStorageBody":
      // It ends the previous lend and leaves no row.
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

/** Creates a verifier that works on the calling thread, for work too small to justify threads. */
export function createInlineVerifier(context: () => ValidationContext): Verifier {
  return {
    verifyPage: async (page) => [verifyPage(page, context())],
    verifySnapshot: async (part) => [verifySnapshot(part, context())],
    validateRecords: async (records, options) => validateRecords(records, context(), options),
  };
}
