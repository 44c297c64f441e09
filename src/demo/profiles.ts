import { utf8ToBytes } from "@noble/hashes/utils.js";
import { bytesToHex, getAddress } from "viem/utils";
import { encodeBase58 } from "../lib/base58.ts";
import {
  MessageType,
  type UserDataBody,
  UserDataType,
  type UserNameProof,
  UserNameType,
  VerificationProtocol,
} from "../protocol/wire/generated/message.ts";
import { ethereumClaimSignature, nameProofSignature, solanaClaimSignature } from "./claims.ts";
import type { Texts } from "./contents/texts.ts";
import { type Keyring, secret, type Wallet } from "./keys.ts";
import { type Person, TOWNS } from "./people.ts";
import { seededRandom } from "./random.ts";
import {
  DAY_SECS,
  HOUR_SECS,
  isPro,
  type PlannedMessage,
  registeredAtSecs,
  transferredAtSecs,
  WEEK_SECS,
} from "./roster.ts";

/** Fids whose ENS name or basename is `<fname>.eth` or `<fname>.base.eth`. Most use it instead of the fname. */
const ENS: ReadonlyMap<number, { suffix: string; type: UserNameType; isUsername: boolean }> = new Map([
  [9, { suffix: ".eth", type: UserNameType.USERNAME_TYPE_ENS_L1, isUsername: false }],
  [47, { suffix: ".eth", type: UserNameType.USERNAME_TYPE_ENS_L1, isUsername: true }],
  [104, { suffix: ".eth", type: UserNameType.USERNAME_TYPE_ENS_L1, isUsername: true }],
  [30, { suffix: ".base.eth", type: UserNameType.USERNAME_TYPE_BASENAME, isUsername: true }],
]);

const ALWAYS_VERIFIED: readonly number[] = [3, 5, 8, 24, 61, ...ENS.keys()];
const VERIFIED_COUNT = 40;
/** Fids with a second verified wallet, and those among them that remove it again. */
const SECOND_WALLET: ReadonlySet<number> = new Set([3, 24, 47, 61]);
const SECOND_WALLET_REMOVED: ReadonlySet<number> = new Set([47]);
/** Wallets that two people share: the first verified wallet of the value also belongs to the key. */
const SHARED_WALLET: ReadonlyMap<number, number> = new Map([[61, 24]]);
const SOLANA: ReadonlySet<number> = new Set([3, 7, 21, 58, 150]);
const PRIMARY_SHARE = 0.3;
const NEW_BIO_SHARE = 0.08;

/** Returns profile messages: user data, verified wallets and name proofs, mostly at the start of the week. */
export function profileMessages(people: readonly Person[], keyring: Keyring, texts: Texts): PlannedMessage[] {
  const random = seededRandom("verified");
  const others = people.map((person) => person.fid).filter((fid) => !ALWAYS_VERIFIED.includes(fid));
  const verified = new Set([
    ...ALWAYS_VERIFIED,
    ...random.shuffled(others).slice(0, VERIFIED_COUNT - ALWAYS_VERIFIED.length),
  ]);
  return people.flatMap((person) => profileOf(person, keyring, texts, verified.has(person.fid)));
}

function profileOf(person: Person, keyring: Keyring, texts: Texts, isVerified: boolean): PlannedMessage[] {
  const { fid } = person;
  const random = seededRandom(`profile ${fid}`);
  const messages: PlannedMessage[] = [];
  let secsBeforeAnchor = WEEK_SECS - random.below(2 * HOUR_SECS);
  const say = (type: MessageType, body: PlannedMessage["body"]) => {
    messages.push({ fid, type, secsBeforeAnchor, body });
    secsBeforeAnchor -= 5 + random.below(40);
  };
  const set = (type: UserDataType, value: string) => {
    const body: UserDataBody = { type, value };
    say(MessageType.MESSAGE_TYPE_USER_DATA_ADD, () => ({ $case: "userDataBody", value: body }));
  };

  set(UserDataType.USER_DATA_TYPE_PFP, `https://demo.example/pfp/${fid}.png`);
  set(UserDataType.USER_DATA_TYPE_DISPLAY, person.displayName);
  const hasOldBio = random.chance(NEW_BIO_SHARE);
  set(UserDataType.USER_DATA_TYPE_BIO, hasOldBio ? texts.bio(person, random) : person.bio);
  if (person.fname) set(UserDataType.USER_DATA_TYPE_USERNAME, person.fname);
  if (random.chance(0.35)) set(UserDataType.USER_DATA_TYPE_LOCATION, random.pick(TOWNS[person.language]));
  for (const [type, value] of accountsOf(person, random.next())) set(type, value);
  if (isPro(fid)) set(UserDataType.USER_DATA_TYPE_BANNER, `https://demo.example/banner/${fid}.png`);
  if (isVerified) verifyEthereum(fid, keyring, random.chance(PRIMARY_SHARE) || fid === 3, say, set);
  if (SOLANA.has(fid)) verifySolana(fid, keyring, fid === 3, say, set);
  if (person.fname) proveEnsName(fid, person.fname, keyring, say, set);
  if (hasOldBio) {
    secsBeforeAnchor = DAY_SECS + random.below(4 * DAY_SECS);
    set(UserDataType.USER_DATA_TYPE_BIO, person.bio);
  }
  return messages;
}

type Say = (type: MessageType, body: PlannedMessage["body"]) => void;
type SetUserData = (type: UserDataType, value: string) => void;

/** Returns accounts and pages elsewhere, all of them invented. `roll`, from 0 (inclusive) to 1 (exclusive), decides who has which. */
function accountsOf(person: Person, roll: number): [UserDataType, string][] {
  const { fid, fname } = person;
  if (!fname) return [];
  const accounts: [UserDataType, string][] = [];
  const isCoder = person.topic === "opensource" || person.topic === "gamedev";
  if (roll < 0.25 || fid === 3) accounts.push([UserDataType.USER_DATA_TYPE_URL, `https://${fname}.example`]);
  if (roll > 0.15 && roll < 0.4)
    accounts.push([UserDataType.USER_DATA_TYPE_TWITTER, `demo_${fname.replaceAll("-", "_").slice(0, 10)}`]);
  if (isCoder ? roll < 0.8 : roll > 0.95)
    accounts.push([UserDataType.USER_DATA_TYPE_GITHUB, `demo-${fname}`]);
  if (fid === 7) accounts.push([UserDataType.USER_DATA_TYPE_LIVE_AT, "https://demo.example/live/7"]);
  if (fid === 8) {
    const token = "eip155:8453/erc20:0x00000000000000000000000000000000000de308";
    accounts.push([UserDataType.USER_DATA_TYPE_PROFILE_TOKEN, token]);
  }
  return accounts;
}

function verifyEthereum(fid: number, keyring: Keyring, isPrimary: boolean, say: Say, set: SetUserData): void {
  const first = keyring.verifiedWallet(fid, 0);
  const second = SECOND_WALLET.has(fid) ? keyring.verifiedWallet(fid, 1) : undefined;
  const sharedWith = SHARED_WALLET.get(fid);
  const shared = sharedWith === undefined ? undefined : keyring.verifiedWallet(sharedWith, 0);
  for (const wallet of [first, second, shared]) if (wallet) verifyWallet(fid, wallet, say);
  const isSecondRemoved = second !== undefined && SECOND_WALLET_REMOVED.has(fid);
  if (isSecondRemoved) {
    say(MessageType.MESSAGE_TYPE_VERIFICATION_REMOVE, () => ({
      $case: "verificationRemoveBody",
      value: { address: second.address, protocol: VerificationProtocol.VERIFICATION_PROTOCOL_ETHEREUM },
    }));
  }
  if (isPrimary) {
    const { address } = isSecondRemoved || !second ? first : second;
    set(UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_ETHEREUM, getAddress(bytesToHex(address)));
  }
}

function verifyWallet(fid: number, wallet: Wallet, say: Say): void {
  const blockHash = secret(`ethereum block for fid ${fid}`);
  say(MessageType.MESSAGE_TYPE_VERIFICATION_ADD, ({ network }) => ({
    $case: "verificationAddBody",
    value: {
      address: wallet.address,
      claimSignature: ethereumClaimSignature({ fid, blockHash, network }, wallet),
      blockHash,
      verificationType: 0,
      chainId: 0,
      protocol: VerificationProtocol.VERIFICATION_PROTOCOL_ETHEREUM,
    },
  }));
}

function verifySolana(fid: number, keyring: Keyring, isPrimary: boolean, say: Say, set: SetUserData): void {
  const wallet = keyring.solanaWallet(fid);
  const blockHash = secret(`solana block for fid ${fid}`);
  say(MessageType.MESSAGE_TYPE_VERIFICATION_ADD, ({ network }) => ({
    $case: "verificationAddBody",
    value: {
      address: wallet.publicKey,
      claimSignature: solanaClaimSignature({ fid, blockHash, network }, wallet),
      blockHash,
      verificationType: 0,
      chainId: 0,
      protocol: VerificationProtocol.VERIFICATION_PROTOCOL_SOLANA,
    },
  }));
  if (isPrimary) set(UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_SOLANA, encodeBase58(wallet.publicKey));
}

function proveEnsName(fid: number, fname: string, keyring: Keyring, say: Say, set: SetUserData): void {
  const ens = ENS.get(fid);
  if (!ens) return;
  const name = `${fname}${ens.suffix}`;
  const wallet = keyring.verifiedWallet(fid, 0);
  say(MessageType.MESSAGE_TYPE_USERNAME_PROOF, ({ unixSecs }) => ({
    $case: "usernameProofBody",
    value: {
      timestamp: unixSecs,
      name: utf8ToBytes(name),
      owner: wallet.address,
      signature: nameProofSignature({ name, timestampSecs: unixSecs, owner: wallet.address }, wallet),
      fid,
      type: ens.type,
    },
  }));
  if (ens.isUsername) set(UserDataType.USER_DATA_TYPE_USERNAME, name);
}

/** The fid that released an earlier fname. */
const RENAMED_FID = 29;
const FORMER_FNAME = "former-name";
const MINUTE_SECS = 60;

/** Returns the name server's proofs of all fnames, oldest first. Their times are fixed, like those of registrations. */
export function fnameProofs(people: readonly Person[], keyring: Keyring): UserNameProof[] {
  const proofs = people.flatMap(({ fid, fname }) => {
    if (fname === undefined) return [];
    const owner = keyring.custody(fid).address;
    const ownedSince = transferredAtSecs(fid) ?? registeredAtSecs(fid);
    const proof = (name: string, toFid: number, timestampSecs: number): UserNameProof => ({
      timestamp: timestampSecs,
      name: utf8ToBytes(name),
      owner,
      signature: nameProofSignature({ name, timestampSecs, owner }, keyring.nameServer()),
      fid: toFid,
      type: UserNameType.USERNAME_TYPE_FNAME,
    });
    if (fid !== RENAMED_FID) return [proof(fname, fid, ownedSince + MINUTE_SECS)];
    // A proof for fid 0 releases the name.
    return [
      proof(FORMER_FNAME, fid, ownedSince + MINUTE_SECS),
      proof(FORMER_FNAME, 0, ownedSince + 50 * DAY_SECS),
      proof(fname, fid, ownedSince + 50 * DAY_SECS + MINUTE_SECS),
    ];
  });
  return proofs.sort((a, b) => a.timestamp - b.timestamp);
}
