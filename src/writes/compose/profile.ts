import { getAddress, isAddress } from "viem/utils";
import { err, ok, type Result } from "../../lib/result.ts";
import { type JsonObject, ownValue, readObject } from "../../management/fields.ts";
import { badField, type Refusal } from "../../management/refusal.ts";
import { requiredVerifiedAddress, validateUserData } from "../../protocol/validate/user-data.ts";
import { type UserDataBody, UserDataType } from "../../protocol/wire/generated/message.ts";

/** The user's state in the index, against which the fields of a profile are validated. */
export interface ProfileLookups {
  /** Returns the fid with the name's live proof, if any. */
  fidOfName(name: string): number | undefined;
  hasVerification(address: Uint8Array): boolean;
  isPro(): boolean;
}

/** The fields that a request may have, by message type. Those of `verified_accounts` are nested. */
const textFields = {
  pfp_url: UserDataType.USER_DATA_TYPE_PFP,
  display_name: UserDataType.USER_DATA_TYPE_DISPLAY,
  bio: UserDataType.USER_DATA_TYPE_BIO,
  url: UserDataType.USER_DATA_TYPE_URL,
  username: UserDataType.USER_DATA_TYPE_USERNAME,
  banner: UserDataType.USER_DATA_TYPE_BANNER,
  primary_eth_address: UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_ETHEREUM,
  primary_sol_address: UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_SOLANA,
} as const;
const accountFields = {
  x: UserDataType.USER_DATA_TYPE_TWITTER,
  github: UserDataType.USER_DATA_TYPE_GITHUB,
} as const;

interface Field extends UserDataBody {
  readonly name: string;
}

/** Builds the bodies of the messages that set the given fields. One invalid field refuses all. An empty text unsets a field. */
export function composeProfile(
  lookups: ProfileLookups,
  fid: number,
  request: JsonObject,
): Result<UserDataBody[], Refusal> {
  const fields = readFields(request);
  if (!fields.ok) return fields;
  if (fields.value.length === 0) return badField("no field of a profile is given");
  for (const field of fields.value) {
    const refusal = checkField(lookups, fid, field);
    if (refusal) return refusal;
  }
  return ok(fields.value.map(({ type, value }) => ({ type, value })));
}

function readFields(request: JsonObject): Result<Field[], Refusal> {
  const fields: Field[] = [];
  const refusal =
    readTexts(request, textFields, "", fields) ??
    readAccounts(request, fields) ??
    readLocation(request, fields);
  return refusal ?? ok(fields);
}

function readTexts(
  object: JsonObject,
  names: Readonly<Record<string, UserDataType>>,
  prefix: string,
  fields: Field[],
) {
  for (const [key, type] of Object.entries(names)) {
    const value = ownValue(object, key);
    if (value === undefined || value === null) continue;
    const name = prefix + key;
    if (typeof value !== "string" || !value.isWellFormed()) return badField(`${name} must be a string`);
    fields.push({ name, type, value: normalized(type, value) });
  }
  return undefined;
}

/** Converts values to the protocol's form: X names in lowercase, Ethereum addresses with a checksum. */
function normalized(type: UserDataType, value: string): string {
  if (type === UserDataType.USER_DATA_TYPE_TWITTER) return value.toLowerCase();
  const isAddressField = type === UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_ETHEREUM;
  return isAddressField && isAddress(value, { strict: false }) ? getAddress(value) : value;
}

function readAccounts(request: JsonObject, fields: Field[]) {
  const value = ownValue(request, "verified_accounts");
  if (value === undefined || value === null) return undefined;
  const accounts = readObject(value, "verified_accounts");
  return accounts.ok ? readTexts(accounts.value, accountFields, "verified_accounts.", fields) : accounts;
}

function readLocation(request: JsonObject, fields: Field[]) {
  const value = ownValue(request, "location");
  if (value === undefined || value === null) return undefined;
  const type = UserDataType.USER_DATA_TYPE_LOCATION;
  if (value === "") {
    fields.push({ name: "location", type, value });
    return undefined;
  }
  const location = readObject(value, "location");
  if (!location.ok) return location;
  const latitude = degrees(ownValue(location.value, "latitude"), 90);
  const longitude = degrees(ownValue(location.value, "longitude"), 180);
  if (latitude === undefined || longitude === undefined) {
    return badField("location must have latitude and longitude in degrees");
  }
  fields.push({ name: "location", type, value: `geo:${latitude},${longitude}` });
  return undefined;
}

/** Formats degrees with two decimals, as the protocol stores them; never `-0.00`. */
function degrees(value: unknown, max: number): string | undefined {
  if (typeof value !== "number" || !(Math.abs(value) <= max)) return undefined;
  const text = value.toFixed(2);
  return text === "-0.00" ? "0.00" : text;
}

function checkField(lookups: ProfileLookups, fid: number, { name, type, value }: Field) {
  const rejection = validateUserData({ type, value });
  if (rejection) return badField(`${name}: ${rejection.reason}`);
  if (value === "") return undefined;
  if (type === UserDataType.USER_DATA_TYPE_USERNAME && lookups.fidOfName(value) !== fid) {
    return badField("username has no live proof of this fid");
  }
  if (type === UserDataType.USER_DATA_TYPE_BANNER && !lookups.isPro()) {
    return err<Refusal>({
      kind: "forbidden",
      message: "banner needs a Pro subscription",
      code: "needs_pro",
    });
  }
  const address = requiredVerifiedAddress({ body: { $case: "userDataBody", value: { type, value } } });
  return address && !lookups.hasVerification(address.address)
    ? badField(`${name} is not a verified address of this fid`)
    : undefined;
}
