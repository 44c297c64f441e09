import { decodeBase58 } from "../../lib/base58.ts";
import { invalid, type Rejection } from "../rejection.ts";
import {
  type MessageData,
  type UserDataBody,
  UserDataType,
  VerificationProtocol,
} from "../wire/generated/message.ts";
import { parseChecksumAddress } from "./eth.ts";
import { checkMaxBytes } from "./fields.ts";
import { isUsername } from "./names.ts";

const MAX_TEXT_BYTES = 256;
const MAX_DISPLAY_BYTES = 32;
const MAX_GITHUB_BYTES = 38;
const SOLANA_ADDRESS_BYTES = 32;

const LOCATION = /^geo:(-?\d{1,2}\.\d{2}),(-?\d{1,3}\.\d{2})$/;
const TWITTER_NAME = /^[a-z0-9_]{0,15}$/;
const GITHUB_NAME = /^[a-zA-Z\d](?:[a-zA-Z\d]|-(?!-)){0,38}$/;
const CAIP19 = /^[a-z0-9]+:[a-zA-Z0-9]+\/[a-z0-9-]{3,8}:[-.%a-zA-Z0-9]{1,128}(?:\/[a-zA-Z0-9]+)?$/;

/**
 * Validates one field of a profile. An empty value unsets the field, except for GITHUB, whose rule has no empty form. The
 * state decides whether a name or an address belongs to the fid, and whether it may set a banner.
 */
export function validateUserData({ type, value }: UserDataBody): Rejection | undefined {
  switch (type) {
    case UserDataType.USER_DATA_TYPE_PFP:
    case UserDataType.USER_DATA_TYPE_BIO:
    case UserDataType.USER_DATA_TYPE_URL:
    case UserDataType.USER_DATA_TYPE_BANNER:
    case UserDataType.USER_DATA_TYPE_LIVE_AT:
      return checkMaxBytes(value, MAX_TEXT_BYTES, "value");
    case UserDataType.USER_DATA_TYPE_DISPLAY:
      return checkMaxBytes(value, MAX_DISPLAY_BYTES, "display name");
    case UserDataType.USER_DATA_TYPE_USERNAME:
      return value === "" || isUsername(value) ? undefined : invalid("username is malformed");
    case UserDataType.USER_DATA_TYPE_LOCATION:
      return value === "" || isLocation(value) ? undefined : invalid("location must be geo:<lat>,<lon>");
    case UserDataType.USER_DATA_TYPE_TWITTER:
      return TWITTER_NAME.test(value) ? undefined : invalid("twitter name is malformed");
    case UserDataType.USER_DATA_TYPE_GITHUB:
      return value.length <= MAX_GITHUB_BYTES && GITHUB_NAME.test(value)
        ? undefined
        : invalid("github name is malformed");
    case UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_ETHEREUM:
      return value === "" || parseChecksumAddress(value)
        ? undefined
        : invalid("primary address must be in EIP-55 form");
    case UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_SOLANA:
      return value === "" || decodeBase58(value, SOLANA_ADDRESS_BYTES)
        ? undefined
        : invalid("primary address must be base58 of 32 bytes");
    case UserDataType.USER_DATA_TYPE_PROFILE_TOKEN:
      return value === "" || (value.length <= MAX_TEXT_BYTES && CAIP19.test(value))
        ? undefined
        : invalid("profile token must be a CAIP-19 id");
    default:
      return invalid("user data type is unknown");
  }
}

/** Reports whether a text is a latitude and longitude with exactly two decimals, within their ranges. */
function isLocation(value: string): boolean {
  const [, latitude, longitude] = LOCATION.exec(value) ?? [];
  return Math.abs(Number(latitude)) <= 90 && Math.abs(Number(longitude)) <= 180;
}

/** Returns the name that this valid message sets as the username. A live proof of it must belong to the message's fid. */
export function requiredUsername(data: MessageData): string | undefined {
  if (data.body?.$case !== "userDataBody") return undefined;
  const { type, value } = data.body.value;
  return type === UserDataType.USER_DATA_TYPE_USERNAME && value !== "" ? value : undefined;
}

export interface RequiredAddress {
  readonly protocol: VerificationProtocol;
  /** 20 bytes for Ethereum, 32 for Solana. */
  readonly address: Uint8Array;
}

/** Returns the address that this valid message makes primary. The message's fid must have a verification of it. */
export function requiredVerifiedAddress({ body }: Pick<MessageData, "body">): RequiredAddress | undefined {
  if (body?.$case !== "userDataBody") return undefined;
  const { type, value } = body.value;
  switch (type) {
    case UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_ETHEREUM: {
      const address = parseChecksumAddress(value);
      return address && { protocol: VerificationProtocol.VERIFICATION_PROTOCOL_ETHEREUM, address };
    }
    case UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_SOLANA: {
      const protocol = VerificationProtocol.VERIFICATION_PROTOCOL_SOLANA;
      const address = decodeBase58(value, SOLANA_ADDRESS_BYTES);
      return address && { protocol, address };
    }
    default:
      return undefined;
  }
}
