import type { SignInPageDeps, SignTextAsPerson } from "../../../console/sign-in/routes.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { isDemo } from "../../../db/index/identity.ts";
import { fromHex } from "../../../protocol/validate/eth.ts";
import { compatPresenters } from "../../../read/present/compat/presenters.ts";
import { userNames } from "../../../read/queries/users/users.ts";
import { type ReadSource, runQuery } from "../../../read/run-query.ts";
import type { Clock } from "../../../runtime/clock.ts";
import { createLogins } from "../../../signers/login/logins.ts";
import type { SignerService } from "../../../signers/signer-service.ts";
import type { StateStores } from "../../state/stores.ts";
import type { NodeSignIn } from "./sign-in.ts";

/** Returns what the page of web sign-in needs; undefined while web sign-in is off. */
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

/** Creates the login page for the API and for the page itself. */
export function createNodeLogins({
  signIn,
  signers,
  stores,
  linkBase,
  clock,
}: {
  readonly signIn: Pick<NodeSignIn, "nonces" | "verifier" | "channels" | "countSignIn">;
  readonly signers: SignerService;
  readonly stores: Pick<StateStores, "loginClients" | "oneTime">;
  readonly linkBase: () => string | undefined;
  /** The state's clock. */
  readonly clock: Clock;
}) {
  const { nonces, verifier, channels, countSignIn: count } = signIn;
  const { loginClients: clients, oneTime: store } = stores;
  return {
    logins: createLogins({ clients, store, nonces, verifier, signers, linkBase, clock, count }),
    loginUrl(clientId: string): string | undefined {
      const base = channels && linkBase();
      return base && `${base}/login?client_id=${clientId}`;
    },
  };
}

/** Returns users in the format of the hosted API. */
export function userFromIndex(source: ReadSource): (fid: number) => object | undefined {
  return (fid) =>
    runQuery(
      source,
      () => fid,
      () => ({ fids: [fid] }),
      (_, hydration) => compatPresenters.user(fid, hydration)?.user,
    );
}

/** The keys of the demo network are loaded only when a visitor signs as one of its people. */
export const signAsDemoPerson: SignTextAsPerson = async (fid, textFor) => {
  const custody = (await import("../../../demo/keys.ts")).demoKeys(fid)?.custody;
  if (!custody) return undefined;
  const { privateKeyToAccount } = await import("viem/accounts");
  const text = await textFor(fromHex(custody.address));
  const signature = await privateKeyToAccount(custody.privateKey).signMessage({ message: text });
  return { text, signature };
};
