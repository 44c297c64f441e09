import type { SignInPageDeps, SignTextAsPerson } from "../../console/sign-in/routes.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { isDemo } from "../../db/index/identity.ts";
import { fromHex } from "../../protocol/validate/eth.ts";
import { userNames } from "../../read/queries/users/users.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { NodeSignIn } from "./sign-in.ts";

/** What the page of web sign-in needs; undefined while that is off. */
export function createSignInPage({
  signIn: { channels, people, manifests },
  db,
  linkBase,
  clock,
}: {
  readonly signIn: NodeSignIn;
  readonly db: IndexDatabase;
  readonly linkBase: () => string | undefined;
  /** The state's clock. */
  readonly clock: Clock;
}): Omit<SignInPageDeps, "assets" | "own"> | undefined {
  if (!channels) return undefined;
  return {
    channels,
    people,
    manifests,
    linkBase,
    clock,
    usernameOf: (fid) => userNames(db, fid).username,
    signAsPerson: isDemo(db) ? signAsDemoPerson : undefined,
  };
}

/** The keys of the demo network are loaded only when a visitor signs as one of its people. */
export const signAsDemoPerson: SignTextAsPerson = async (fid, textFor) => {
  const custody = (await import("../../demo/keys.ts")).demoKeys(fid)?.custody;
  if (!custody) return undefined;
  const { privateKeyToAccount } = await import("viem/accounts");
  const text = textFor(fromHex(custody.address));
  const signature = await privateKeyToAccount(custody.privateKey).signMessage({ message: text });
  return { text, signature };
};
