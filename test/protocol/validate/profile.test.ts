import { describe } from "bun:test";
import { MessageType, UserDataType, UserNameType } from "../../../src/protocol/wire/generated/message.ts";
import {
  DEFAULT_NOW_SECS,
  DEFAULT_TIMESTAMP,
  makeWallet,
  signMessage,
  type TestData,
} from "../../support/messages.ts";
import {
  type Body,
  FID,
  type Refused,
  raw,
  signer,
  testMessages,
  utf8,
  type Valid,
} from "./message-tables.ts";

const T = MessageType;
const D = UserDataType;
const wallet = makeWallet("alice");

const userData = (type: number, value: string) =>
  signMessage(
    { type: T.MESSAGE_TYPE_USER_DATA_ADD, fid: FID, body: { $case: "userDataBody", value: { type, value } } },
    signer,
  );
const proof = (value: Body<"usernameProofBody">) =>
  signMessage(
    {
      type: T.MESSAGE_TYPE_USERNAME_PROOF,
      fid: FID,
      body: {
        $case: "usernameProofBody",
        value: {
          type: UserNameType.USERNAME_TYPE_ENS_L1,
          name: utf8("alice.eth"),
          owner: wallet.address,
          fid: FID,
          timestamp: DEFAULT_NOW_SECS,
          ...value,
        },
      },
    },
    signer,
  );
const lend = (value: Body<"lendStorageBody">, over: TestData = {}) =>
  signMessage(
    { type: T.MESSAGE_TYPE_LEND_STORAGE, fid: FID, body: { $case: "lendStorageBody", value }, ...over },
    signer,
  );

const valid: readonly Valid[] = [
  [
    "a profile token of 256 bytes",
    userData(D.USER_DATA_TYPE_PROFILE_TOKEN, `eip155:1/erc721:0x1/${"7".repeat(236)}`),
  ],
  ["a github name of 38 characters", userData(D.USER_DATA_TYPE_GITHUB, "a".repeat(38))],
  ["a lend of 600 seconds ago", lend({ toFid: 2, numUnits: 1 }, { timestamp: DEFAULT_TIMESTAMP - 600 })],
];

const refused: readonly Refused[] = [
  ["a pfp of 257 bytes", userData(D.USER_DATA_TYPE_PFP, "x".repeat(257)), /256/],
  ["a display name of 33 bytes", userData(D.USER_DATA_TYPE_DISPLAY, "€".repeat(11)), /32/],
  ["a bio of 257 bytes", userData(D.USER_DATA_TYPE_BIO, "x".repeat(257)), /256/],
  ["a url of 257 bytes", userData(D.USER_DATA_TYPE_URL, "x".repeat(257)), /256/],
  ["a banner of 257 bytes", userData(D.USER_DATA_TYPE_BANNER, "x".repeat(257)), /256/],
  ["live at of 257 bytes", userData(D.USER_DATA_TYPE_LIVE_AT, "x".repeat(257)), /256/],
  ["user data without type", userData(0, "x"), /type is unknown/],
  ["user data of type 4", userData(4, "x"), /type is unknown/],
  ["user data of type 15", userData(15, "x"), /type is unknown/],
  ["an upper-case username", userData(D.USER_DATA_TYPE_USERNAME, "Alice"), /username/],
  ["a username of 17 characters", userData(D.USER_DATA_TYPE_USERNAME, "a".repeat(17)), /username/],
  ["a username with a line end", userData(D.USER_DATA_TYPE_USERNAME, "alice\n"), /username/],
  ["a location with one decimal", userData(D.USER_DATA_TYPE_LOCATION, "geo:1.0,2.00"), /location/],
  ["a location north of the pole", userData(D.USER_DATA_TYPE_LOCATION, "geo:90.01,0.00"), /location/],
  ["a location east of the date line", userData(D.USER_DATA_TYPE_LOCATION, "geo:0.00,180.01"), /location/],
  ["a twitter name of 16 characters", userData(D.USER_DATA_TYPE_TWITTER, "a".repeat(16)), /twitter/],
  ["an upper-case twitter name", userData(D.USER_DATA_TYPE_TWITTER, "Alice"), /twitter/],
  ["an empty github name", userData(D.USER_DATA_TYPE_GITHUB, ""), /github/],
  ["a github name of 39 characters", userData(D.USER_DATA_TYPE_GITHUB, "a".repeat(39)), /github/],
  ["a github name with two hyphens in a row", userData(D.USER_DATA_TYPE_GITHUB, "a--b"), /github/],
  [
    "a lower-case ethereum address",
    userData(D.USER_DATA_TYPE_PRIMARY_ADDRESS_ETHEREUM, "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"),
    /EIP-55/,
  ],
  [
    "an ethereum address without 0x",
    userData(D.USER_DATA_TYPE_PRIMARY_ADDRESS_ETHEREUM, "5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"),
    /EIP-55/,
  ],
  [
    "a solana address of 31 bytes",
    userData(D.USER_DATA_TYPE_PRIMARY_ADDRESS_SOLANA, "1".repeat(31)),
    /base58/,
  ],
  [
    "a solana address with a 0",
    userData(D.USER_DATA_TYPE_PRIMARY_ADDRESS_SOLANA, `0${"1".repeat(31)}`),
    /base58/,
  ],
  ["a profile token without a chain", userData(D.USER_DATA_TYPE_PROFILE_TOKEN, "erc721:0x1/7"), /CAIP-19/],
  [
    "a profile token of 257 bytes",
    userData(D.USER_DATA_TYPE_PROFILE_TOKEN, `eip155:1/erc721:0x1/${"7".repeat(237)}`),
    /CAIP-19/,
  ],
  [
    "an fname proof in a message",
    proof({ type: UserNameType.USERNAME_TYPE_FNAME, name: utf8("alice") }),
    /username type/,
  ],
  ["a name proof without type", proof({ type: 0 }), /username type/],
  ["an ens name of three labels", proof({ name: utf8("a.b.eth") }), /ENS name/],
  ["an ens name without .eth", proof({ name: utf8("alice") }), /ENS name/],
  ["an ens name of 21 characters", proof({ name: utf8(`${"a".repeat(17)}.eth`) }), /ENS name/],
  ["an ens name in invalid UTF-8", proof({ name: raw(0xff, utf8(".eth")) }), /ENS name/],
  ["an ens name claimed as basename", proof({ type: UserNameType.USERNAME_TYPE_BASENAME }), /basename/],
  [
    "a basename of 26 characters",
    proof({ type: UserNameType.USERNAME_TYPE_BASENAME, name: utf8(`${"a".repeat(17)}.base.eth`) }),
    /basename/,
  ],
  ["a name's owner of 32 bytes", proof({ owner: new Uint8Array(32) }), /owner/],
  ["a name claimed for another fid", proof({ fid: FID + 1 }), /fid of the proof/],
  ["a name claimed at another time", proof({ timestamp: DEFAULT_NOW_SECS + 1 }), /timestamp of the proof/],
  ["a lend of 5001 units", lend({ toFid: 2, numUnits: 5001 }), /5000 units/],
  ["a lend of an unknown unit", lend({ toFid: 2, numUnits: 1, unitType: 3 as never }), /unit type/],
  ["a lend to fid 0", lend({ toFid: 0, numUnits: 1 }), /to_fid/],
  [
    "a lend of 601 seconds ago",
    lend({ toFid: 2, numUnits: 1 }, { timestamp: DEFAULT_TIMESTAMP - 601 }),
    /in the past/,
  ],
];

describe("user data, username proofs and storage lends", () => {
  testMessages(valid, refused, "bad_request.validation_failure");
});
