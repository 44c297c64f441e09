import type { IndexDatabase } from "../../db/index/database.ts";
import { statement } from "../../db/index/statement.ts";
import { type Hex, toHex } from "../../protocol/validate/eth.ts";
import { UserDataType } from "../../protocol/wire/generated/message.ts";

/** Profile that apps receive for a signed-in user. Missing texts are empty. */
export interface SignedInProfile {
  readonly username: string;
  readonly displayName: string;
  readonly bio: string;
  readonly pfpUrl: string;
  /** Verified Ethereum addresses. */
  readonly verifications: readonly Hex[];
}

const MAX_VERIFICATIONS = 100;
const {
  USER_DATA_TYPE_PFP: PFP,
  USER_DATA_TYPE_DISPLAY: DISPLAY,
  USER_DATA_TYPE_BIO: BIO,
  USER_DATA_TYPE_USERNAME: USERNAME,
} = UserDataType;
const userData = statement<{ type: number; value: string }, [fid: number]>(
  "sign-in.profile",
  `SELECT type, value FROM user_data WHERE fid = ? AND type IN (${PFP}, ${DISPLAY}, ${BIO}, ${USERNAME})`,
);
const verifications = statement<{ address: Uint8Array }, [fid: number]>(
  "sign-in.verifications",
  `SELECT address FROM verifications WHERE fid = ? AND protocol = 0 LIMIT ${MAX_VERIFICATIONS}`,
);

/** Returns a function that reads a profile from the index on each call. */
export function profilesFromIndex(db: IndexDatabase): (fid: number) => SignedInProfile {
  return (fid) => {
    const rows = db.all(userData, fid);
    const textOf = (type: number) => rows.find((row) => row.type === type)?.value ?? "";
    return {
      username: textOf(USERNAME),
      displayName: textOf(DISPLAY),
      bio: textOf(BIO),
      pfpUrl: textOf(PFP),
      verifications: db.all(verifications, fid).map(({ address }) => toHex(address)),
    };
  };
}
