import { getAddress } from "viem/utils";
import { encodeBase58 } from "../../../src/lib/base58.ts";
import { toHex } from "../../../src/protocol/validate/eth.ts";
import { ethClaimDigest, solanaClaimText } from "../../../src/protocol/validate/verification.ts";
import {
  Message,
  MessageType,
  ReactionType,
  UserDataType,
  UserNameType,
  VerificationProtocol,
} from "../../../src/protocol/wire/generated/message.ts";
import { makeSigner, makeWallet, signBytes, signDigest, signMessage, type TestData } from "../messages.ts";
import type { WeightedAct } from "./acts.ts";
import type { Action, Draft, Person } from "./script.ts";
import { shardOf } from "./shards.ts";

/** Actions that users sign with their keys. */

const T = MessageType;
const ETHEREUM = VerificationProtocol.VERIFICATION_PROTOCOL_ETHEREUM;
const SOLANA = VerificationProtocol.VERIFICATION_PROTOCOL_SOLANA;
const UNIX_OF_FARCASTER_EPOCH = 1_609_459_200;

export const MESSAGE_ACTS: readonly WeightedAct[] = [
  [12, (draft, who) => published(draft, who, castBytes(draft, who))],
  [4, removeCast],
  [2, removeBeforeAdd],
  [3, publishTheRemoved],
  [10, react],
  [12, link],
  [4, compact],
  [9, describe],
  [4, setUsername],
  [5, verify],
  [2, dropVerification],
  [3, setPrimaryAddress],
  [5, claimName],
  [3, castByGaslessKey],
  [1, castByStranger],
  [2, repeat],
];

function castBytes(draft: Draft, who: Person): Uint8Array {
  const { random } = draft;
  const mentions = random.chance(0.3) ? [draft.person().fid] : [];
  const parent = random.chance(0.5) && draft.casts.length > 0 ? random.pick(draft.casts) : undefined;
  return sign(draft, who, {
    type: T.MESSAGE_TYPE_CAST_ADD,
    body: {
      $case: "castAddBody",
      value: {
        text: `cast ${random.below(1e9)}`,
        mentions,
        mentionsPositions: mentions.map(() => 0),
        parent: parent
          ? { $case: "parentCastId", value: { fid: parent.fid, hash: parent.hash } }
          : random.chance(0.4)
            ? { $case: "parentUrl", value: `https://farcaster.xyz/~/channel/c${random.below(3)}` }
            : undefined,
      },
    },
  });
}

function published(draft: Draft, { fid }: Person, bytes: Uint8Array): Action {
  draft.casts.push({ fid, hash: Message.decode(bytes).hash, bytes });
  return messageOf(fid, bytes);
}

function removeCast(draft: Draft, who: Person): Action | undefined {
  const own = draft.casts.filter(({ fid }) => fid === who.fid);
  if (own.length === 0) return undefined;
  return signed(draft, who, castRemoval(draft.random.pick(own).hash));
}

function castRemoval(targetHash: Uint8Array): TestData {
  return { type: T.MESSAGE_TYPE_CAST_REMOVE, body: { $case: "castRemoveBody", value: { targetHash } } };
}

/** Removes a cast before it is sent, so that it is refused later. */
function removeBeforeAdd(draft: Draft, who: Person): Action {
  const bytes = castBytes(draft, who);
  draft.unsent.push({ fid: who.fid, bytes });
  return signed(draft, who, castRemoval(Message.decode(bytes).hash));
}

function publishTheRemoved(draft: Draft): Action | undefined {
  const cast = draft.unsent.pop();
  return cast && messageOf(cast.fid, cast.bytes);
}

function react(draft: Draft, who: Person): Action | undefined {
  const { random } = draft;
  if (draft.casts.length === 0) return undefined;
  // Few targets, so that adds and removes conflict.
  const { fid, hash } =
    draft.casts[random.below(Math.min(6, draft.casts.length))] ?? random.pick(draft.casts);
  return signed(draft, who, {
    type: random.chance(0.35) ? T.MESSAGE_TYPE_REACTION_REMOVE : T.MESSAGE_TYPE_REACTION_ADD,
    body: {
      $case: "reactionBody",
      value: {
        type: random.chance(0.6) ? ReactionType.REACTION_TYPE_LIKE : ReactionType.REACTION_TYPE_RECAST,
        target: random.chance(0.9)
          ? { $case: "targetCastId", value: { fid, hash } }
          : { $case: "targetUrl", value: "https://example.com/liked" },
      },
    },
  });
}

const LINK_TYPES = ["follow", "follow", "follow", "block"];

function link(draft: Draft, who: Person): Action {
  const { random } = draft;
  const timestamp = draft.signedAt();
  draft.linkTimes.push(timestamp);
  return signed(draft, who, {
    type: random.chance(0.3) ? T.MESSAGE_TYPE_LINK_REMOVE : T.MESSAGE_TYPE_LINK_ADD,
    timestamp,
    body: {
      $case: "linkBody",
      value: {
        type: random.pick(LINK_TYPES),
        target: { $case: "targetFid", value: draft.person().fid },
      },
    },
  });
}

function compact(draft: Draft, who: Person): Action {
  const { random } = draft;
  const exact = draft.linkTimes.slice(-10);
  return signed(draft, who, {
    type: T.MESSAGE_TYPE_LINK_COMPACT_STATE,
    // At the same second, it depends on the order of arrival whether the link remains.
    timestamp: random.chance(0.5) && exact.length > 0 ? random.pick(exact) : draft.signedAt(),
    body: {
      $case: "linkCompactStateBody",
      value: {
        type: random.pick(LINK_TYPES),
        targetFids: random
          .shuffled(draft.people)
          .slice(0, 1 + random.below(3))
          .map(({ fid }) => fid),
      },
    },
  });
}

const FIELDS = [
  [UserDataType.USER_DATA_TYPE_BIO, ["", "I write", "I read"]],
  [UserDataType.USER_DATA_TYPE_DISPLAY, ["Ann", "Bob Lee", ""]],
  [UserDataType.USER_DATA_TYPE_PFP, ["https://example.com/a.png", "https://example.com/b.png"]],
  [UserDataType.USER_DATA_TYPE_URL, ["https://example.com", ""]],
  [UserDataType.USER_DATA_TYPE_LOCATION, ["geo:12.34,-56.78", ""]],
  [UserDataType.USER_DATA_TYPE_BANNER, ["https://example.com/banner.png"]],
] as const;

function describe(draft: Draft, who: Person): Action {
  const [type, values] = draft.random.pick(FIELDS);
  return userData(draft, who, type, draft.random.pick<string>(values));
}

function userData(draft: Draft, who: Person, type: UserDataType, value: string): Action {
  return signed(draft, who, {
    type: T.MESSAGE_TYPE_USER_DATA_ADD,
    body: { $case: "userDataBody", value: { type, value } },
  });
}

/** Mostly a name of the user: an fname or an ENS name. */
function setUsername(draft: Draft, who: Person): Action | undefined {
  const names = [...draft.nameHolders].filter(([, fid]) => fid === who.fid).map(([name]) => name);
  if (names.length === 0) return undefined;
  return userData(draft, who, UserDataType.USER_DATA_TYPE_USERNAME, draft.random.pick(names));
}

function verify(draft: Draft, who: Person): Action {
  const { random } = draft;
  const isSolana = random.chance(0.6);
  const seed = `verified ${who.fid} ${random.below(7)}`;
  const wallet = makeWallet(seed);
  const solana = makeSigner(seed);
  const address = isSolana ? solana.publicKey : wallet.address;
  const claim = { fid: who.fid, network: draft.network, address, blockHash: new Uint8Array(32).fill(9) };
  who.verified.push({ address, isSolana });
  return signed(draft, who, {
    type: T.MESSAGE_TYPE_VERIFICATION_ADD,
    body: {
      $case: "verificationAddBody",
      value: {
        address,
        claimSignature: isSolana
          ? signBytes(Buffer.from(solanaClaimText(claim)), solana)
          : signDigest(ethClaimDigest(claim), wallet),
        blockHash: claim.blockHash,
        protocol: isSolana ? SOLANA : ETHEREUM,
      },
    },
  });
}

function dropVerification(draft: Draft, who: Person): Action | undefined {
  if (who.verified.length === 0) return undefined;
  const { address, isSolana } = draft.random.pick(who.verified);
  return signed(draft, who, {
    type: T.MESSAGE_TYPE_VERIFICATION_REMOVE,
    body: { $case: "verificationRemoveBody", value: { address, protocol: isSolana ? SOLANA : ETHEREUM } },
  });
}

function setPrimaryAddress(draft: Draft, who: Person): Action | undefined {
  const last = who.verified.at(-1);
  if (!last) return undefined;
  return last.isSolana
    ? userData(draft, who, UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_SOLANA, encodeBase58(last.address))
    : userData(
        draft,
        who,
        UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_ETHEREUM,
        getAddress(toHex(last.address)),
      );
}

/**
 * Claims an ENS name or a basename that other fids of the same shard may claim too. No two shards share a name: one that
 * is claimed in both is live in both, and the protocol does not define which of them a follower should store.
 */
function claimName(draft: Draft, who: Person): Action {
  const { random } = draft;
  const isBasename = random.chance(0.3);
  const name = `shard${shardOf(who.fid)}n${random.below(3)}${isBasename ? ".base.eth" : ".eth"}`;
  const timestamp = draft.signedAt();
  draft.nameHolders.set(name, who.fid);
  return signed(draft, who, {
    type: T.MESSAGE_TYPE_USERNAME_PROOF,
    timestamp,
    body: {
      $case: "usernameProofBody",
      value: {
        name: Buffer.from(name),
        owner: who.custody.address,
        fid: who.fid,
        type: isBasename ? UserNameType.USERNAME_TYPE_BASENAME : UserNameType.USERNAME_TYPE_ENS_L1,
        timestamp: timestamp + UNIX_OF_FARCASTER_EPOCH,
        signature: Buffer.alloc(65, 1),
      },
    },
  });
}

function castByGaslessKey(draft: Draft, who: Person): Action | undefined {
  const key = who.gasless.at(-1);
  if (!key) return undefined;
  const body = {
    $case: "castAddBody" as const,
    value: { text: `without a chain ${draft.random.below(1e9)}` },
  };
  const bytes = signMessage(
    {
      type: T.MESSAGE_TYPE_CAST_ADD,
      fid: who.fid,
      timestamp: draft.signedAt(),
      network: draft.network,
      body,
    },
    key,
  );
  return published(draft, who, bytes);
}

function castByStranger(draft: Draft, { fid }: Person): Action {
  const body = { $case: "castAddBody" as const, value: { text: "not my key" } };
  const { network } = draft;
  const data = { type: T.MESSAGE_TYPE_CAST_ADD, fid, timestamp: draft.signedAt(), network, body };
  return messageOf(fid, signMessage(data, makeSigner("stranger")));
}

/** Sends an earlier message again, whether it was merged or not. */
function repeat(draft: Draft): Action | undefined {
  const sent = draft.sent.filter(({ record }) => record.kind === "message");
  return sent.length > 0 ? draft.random.pick(sent) : undefined;
}

function signed(draft: Draft, who: Person, data: TestData): Action {
  return messageOf(who.fid, sign(draft, who, data));
}

function sign(draft: Draft, who: Person, data: TestData): Uint8Array {
  const { network } = draft;
  return signMessage(
    { fid: who.fid, timestamp: draft.signedAt(), network, ...data },
    draft.random.pick(who.keys),
  );
}

function messageOf(fid: number, bytes: Uint8Array): Action {
  return { fid, record: { kind: "message", bytes } };
}
