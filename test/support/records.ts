import { getAddress } from "viem/utils";
import type { EncodedRecord } from "../../src/ingest/record.ts";
import { MessageType, UserDataType, UserNameType } from "../../src/protocol/wire/generated/message.ts";
import { fnameProof } from "./events.ts";
import {
  DEFAULT_NOW_SECS,
  DEFAULT_TIMESTAMP,
  makeWallet,
  signedCast,
  signMessage,
  type TestData,
} from "./messages.ts";
import { accountSigner, proofRecord } from "./node.ts";
import { hashOf, linkMessage, reactionMessage } from "./social.ts";

/**
 * Messages of the accounts of `accountRecords`, one line each. `at` is in Farcaster seconds and defaults to the test
 * time. Claims and names have no proof: merge these records, do not validate them.
 */

const NOW = DEFAULT_TIMESTAMP;

const message = (bytes: Uint8Array): EncodedRecord => ({ kind: "message", bytes });
export const signed = (fid: number, data: TestData, at = NOW) =>
  message(signMessage({ fid, timestamp: at, ...data }, accountSigner(fid)));

export const cast = (fid: number, text: string, at = NOW) =>
  message(signedCast(fid, text, accountSigner(fid), { timestamp: at }));
export const uncast = (fid: number, target: EncodedRecord, at = NOW) =>
  signed(
    fid,
    {
      type: MessageType.MESSAGE_TYPE_CAST_REMOVE,
      body: { $case: "castRemoveBody", value: { targetHash: hashBytes(target) } },
    },
    at,
  );
export const hashBytes = (record: EncodedRecord) => Buffer.from(hashOf(record.bytes).slice(2), "hex");
export const link = (fid: number, type: string, target: number, at = NOW) =>
  message(linkMessage(fid, type, target, { at }));
export const unlink = (fid: number, type: string, target: number, at = NOW) =>
  message(linkMessage(fid, type, target, { at, remove: true }));
export const compact = (fid: number, type: string, targetFids: number[], at = NOW) =>
  signed(
    fid,
    {
      type: MessageType.MESSAGE_TYPE_LINK_COMPACT_STATE,
      body: { $case: "linkCompactStateBody", value: { type, targetFids } },
    },
    at,
  );
const LIKED = { fid: 2, hash: hashOf(cast(2, "liked").bytes) };
export const react = (fid: number, type: number, at = NOW) =>
  message(reactionMessage(fid, type, LIKED, { at }));
export const unreact = (fid: number, type: number, at = NOW) =>
  message(reactionMessage(fid, type, LIKED, { at, remove: true }));
const reactionToUrl =
  (type: MessageType) =>
  (fid: number, url: string, at = NOW) =>
    signed(
      fid,
      {
        type,
        body: { $case: "reactionBody", value: { type: 1, target: { $case: "targetUrl", value: url } } },
      },
      at,
    );
export const likeUrl = reactionToUrl(MessageType.MESSAGE_TYPE_REACTION_ADD);
export const unlikeUrl = reactionToUrl(MessageType.MESSAGE_TYPE_REACTION_REMOVE);
export const userData = (fid: number, type: UserDataType, value: string, at = NOW) =>
  signed(
    fid,
    { type: MessageType.MESSAGE_TYPE_USER_DATA_ADD, body: { $case: "userDataBody", value: { type, value } } },
    at,
  );
export const bio = (fid: number, value: string, at = NOW) =>
  userData(fid, UserDataType.USER_DATA_TYPE_BIO, value, at);
export const WALLET = getAddress("0x9fc33b8b7e2e4ff0e0b4e8c1a9d6d7d6a1b2c3d4");
export const verify = (fid: number, at = NOW) =>
  signed(
    fid,
    {
      type: MessageType.MESSAGE_TYPE_VERIFICATION_ADD,
      body: {
        $case: "verificationAddBody",
        value: { address: Buffer.from(WALLET.slice(2), "hex"), claimSignature: Buffer.alloc(65, 1) },
      },
    },
    at,
  );
export const unverify = (fid: number, at = NOW) =>
  signed(
    fid,
    {
      type: MessageType.MESSAGE_TYPE_VERIFICATION_REMOVE,
      body: { $case: "verificationRemoveBody", value: { address: Buffer.from(WALLET.slice(2), "hex") } },
    },
    at,
  );
export const ensProof = (fid: number, name: string, at = NOW) =>
  signed(
    fid,
    {
      type: MessageType.MESSAGE_TYPE_USERNAME_PROOF,
      body: {
        $case: "usernameProofBody",
        value: {
          name: Buffer.from(name),
          fid,
          owner: makeWallet("ens").address,
          signature: Buffer.alloc(65, 3),
          timestamp: DEFAULT_NOW_SECS,
          type: UserNameType.USERNAME_TYPE_ENS_L1,
        },
      },
    },
    at,
  );
export const fname = (fid: number, name: string, ageSecs = 0) =>
  proofRecord(fnameProof(name, fid, makeWallet(`custody ${fid}`).address, DEFAULT_NOW_SECS - ageSecs));
