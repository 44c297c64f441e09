import { encodeBase58 } from "../../../lib/base58.ts";
import { UserDataType, UserNameType } from "../../../protocol/wire/generated/message.ts";
import { hex } from "../../hydrate/casts.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import type { UserState, Verification } from "../../hydrate/users.ts";
import type { Interactions as InteractionsState } from "../../queries/casts/interactions.ts";
import type { UsernameProofState } from "../../queries/users/users.ts";
import { memoizePresenter } from "../presenters.ts";

const ETHEREUM = 0;
const SOLANA = 1;

/** Presents the User object; undefined for an fid that does not exist. */
export function presentUser(fid: number, hydration: Hydration) {
  const user = hydration.users.get(fid);
  return user && presentState(user, hasPro(user, hydration));
}

/** Returns whether the user's Pro subscription is active at the time of the read. */
export function hasPro({ pro }: UserState, { nowSecs }: Hydration): boolean {
  return (pro?.expiresAt ?? 0) > nowSecs;
}

/** Builds the fields of the User object. */
export function userFields(user: UserState, isPro: boolean) {
  const { fid, data } = user;
  const ethAddresses = addresses(user.verifications, ETHEREUM, hex);
  const solAddresses = addresses(user.verifications, SOLANA, encodeBase58);
  const banner = data.get(UserDataType.USER_DATA_TYPE_BANNER);
  return {
    object: "user" as const,
    fid,
    username: usernameOf(user),
    display_name: data.get(UserDataType.USER_DATA_TYPE_DISPLAY) ?? null,
    custody_address: user.custody && hex(user.custody),
    pfp_url: data.get(UserDataType.USER_DATA_TYPE_PFP) ?? null,
    registered_at: user.registeredAt,
    profile: {
      bio: { text: data.get(UserDataType.USER_DATA_TYPE_BIO) ?? "" },
      location: locationOf(data.get(UserDataType.USER_DATA_TYPE_LOCATION)),
      banner: banner === undefined ? null : { url: banner },
      url: data.get(UserDataType.USER_DATA_TYPE_URL) ?? null,
    },
    follower_count: user.followers,
    following_count: user.following,
    verifications: ethAddresses,
    auth_addresses: user.authAddresses.map(({ address, appFid }) => ({
      address: hex(address),
      app: { fid: appFid === 0 ? null : appFid },
    })),
    verified_addresses: {
      eth_addresses: ethAddresses,
      sol_addresses: solAddresses,
      primary: {
        eth_address: primary(
          ethAddresses,
          data.get(UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_ETHEREUM)?.toLowerCase(),
        ),
        sol_address: primary(solAddresses, data.get(UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_SOLANA)),
      },
    },
    verified_accounts: accounts(user),
    pro: user.pro
      ? {
          status: isPro ? ("subscribed" as const) : ("unsubscribed" as const),
          subscribed_at: user.pro.subscribedAt,
          expires_at: user.pro.expiresAt,
        }
      : null,
    power_badge: false,
    ...scoreFields(user),
  };
}

/** Returns the score under the two names that clients read; empty while scores are off. */
export function scoreFields({ score }: UserState): ScoreFields {
  return score === undefined ? {} : { score, experimental: { neynar_user_score: score } };
}

interface ScoreFields {
  score?: number;
  experimental?: { neynar_user_score: number };
}

const presentState = memoizePresenter(userFields);

export type User = NonNullable<ReturnType<typeof presentUser>>;

/** Returns the display username: the USERNAME while its proof is live, otherwise `!<fid>`. */
export function usernameOf(user: UserState): string {
  return user.username ?? `!${user.fid}`;
}

function addresses<T extends string>(
  verifications: readonly Verification[],
  protocol: number,
  format: (address: Uint8Array) => T,
): T[] {
  return verifications.filter((v) => v.protocol === protocol).map((v) => format(v.address));
}

/** Returns the declared address while it is verified, otherwise the one that was verified first. */
function primary<T extends string>(verified: readonly T[], declared: string | undefined): T | null {
  return verified.find((address) => address === declared) ?? verified[0] ?? null;
}

function accounts(user: UserState): { platform: "x" | "github"; username: string }[] {
  const list: { platform: "x" | "github"; username: string }[] = [];
  const x = user.data.get(UserDataType.USER_DATA_TYPE_TWITTER);
  const github = user.data.get(UserDataType.USER_DATA_TYPE_GITHUB);
  if (x !== undefined) list.push({ platform: "x", username: x });
  if (github !== undefined) list.push({ platform: "github", username: github });
  return list;
}

/** Parses `geo:<lat>,<lon>`, the only form that validation accepts. */
function locationOf(value: string | undefined): { latitude: number; longitude: number } | null {
  const match = value?.match(/^geo:(-?[\d.]+),(-?[\d.]+)$/);
  return match ? { latitude: Number(match[1]), longitude: Number(match[2]) } : null;
}

export function presentInteractions(interactions: InteractionsState) {
  return {
    fid: interactions.fid,
    target_fid: interactions.targetFid,
    mentions: interactions.mentions,
    reactions: interactions.reactions,
    mutual_follow: interactions.mutualFollow,
  };
}

export type Interactions = ReturnType<typeof presentInteractions>;

/** Presents a username proof with its signed fields. */
export function presentUsernameProof(proof: UsernameProofState) {
  return {
    timestamp: proof.timestamp,
    name: proof.name,
    owner: hex(proof.owner),
    signature: hex(proof.signature),
    fid: proof.fid,
    type: typeName(proof.type),
  };
}

export type UsernameProof = ReturnType<typeof presentUsernameProof>;

function typeName(type: UserNameType) {
  switch (type) {
    case UserNameType.USERNAME_TYPE_ENS_L1:
      return "USERNAME_TYPE_ENS_L1" as const;
    case UserNameType.USERNAME_TYPE_BASENAME:
      return "USERNAME_TYPE_BASENAME" as const;
    default:
      return "USERNAME_TYPE_FNAME" as const;
  }
}

/** Presents a follow for the batch reads. Its time is the only one in the native interface in ISO 8601. */
export function presentFollow({ fid, followedAt }: { readonly fid: number; readonly followedAt: number }) {
  return { fid, followed_at: new Date(followedAt * 1000).toISOString() };
}

export function presentReactionTarget(reaction: { readonly targetFid: number; readonly timestamp: number }) {
  return { target_fid: reaction.targetFid, timestamp: reaction.timestamp };
}

export function presentActiveSigner(signer: {
  readonly key: Uint8Array;
  readonly keyType: number;
  readonly metadataType: number;
  readonly addedAt: number;
}) {
  return {
    signer: hex(signer.key),
    created_at: signer.addedAt,
    key_type: signer.keyType,
    metadata_type: signer.metadataType,
  };
}
