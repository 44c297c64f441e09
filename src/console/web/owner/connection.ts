import { signal } from "@preact/signals";
import { get, type User } from "../data/call.ts";
import { RequestFailure, request } from "../data/request.ts";
import * as msg from "../text/en/manage/owner.ts";
import { OperationDeclined, runOperation } from "./operation.ts";
import {
  forgetSession,
  hasSessionEnded,
  noSessionReason,
  type Owner,
  type OwnerSession,
  owner,
  readSession,
  sessionOf,
  setOwner,
  storeSession,
} from "./owner.ts";
import { createSessionKey, sessionRequest } from "./session-request.ts";
import { signed } from "./signed-call.ts";
import { borrowedFid, returnWallet } from "./wallet/demo-wallet.ts";
import { accountsOf, shortAddress, walletFailure } from "./wallet/wallet-signature.ts";
import { findWallet, type Wallet } from "./wallet/wallets.ts";

/** A wallet's account, and the user whose custody address it is. */
export interface Identity {
  readonly address: string;
  readonly user: User;
}

/** The effect of a change in the wallet, as a sentence. */
export const walletNote = signal<string | undefined>(undefined);

/** How many accounts of one wallet are looked up. */
const MAX_ACCOUNTS = 10;

async function identityOf(address: string): Promise<Identity | undefined> {
  try {
    const { user } = await request(get("/user/custody-address", { custody_address: address }));
    return { address, user };
  } catch (cause) {
    if (cause instanceof RequestFailure && cause.status === 404) return undefined;
    throw cause;
  }
}

async function identitiesOf(accounts: readonly string[]): Promise<Identity[]> {
  const found = await Promise.all(accounts.slice(0, MAX_ACCOUNTS).map(identityOf));
  return found.filter((identity) => identity !== undefined);
}

/**
 * Asks a wallet for its accounts (a prompt), and the node for the fids that they own. Returns at least one.
 *
 * @throws OperationDeclined, RequestFailure
 */
export async function askForAccounts(wallet: Wallet): Promise<readonly Identity[]> {
  let accounts: string[];
  try {
    accounts = await accountsOf(wallet.provider, { ask: true });
  } catch (cause) {
    const { message } = walletFailure(cause);
    throw new OperationDeclined(message);
  }
  const [first] = accounts;
  if (first === undefined) throw new OperationDeclined(msg.theWalletShowsNoAccountNothing);
  const identities = await identitiesOf(accounts);
  if (identities.length > 0) return identities;
  throw new OperationDeclined(msg.isNotTheCustodyAddressOf(shortAddress(first)));
}

let stopListening = () => {};

/** Acts for an identity from now on, with this browser's session for it. */
export async function becomeOwner(wallet: Wallet, { address, user }: Identity): Promise<Owner> {
  const stored = noSessionReason() === undefined ? await readSession(user.fid) : undefined;
  const session =
    stored?.address === address && stored.expiresAt * 1000 > Date.now() ? sessionOf(stored) : undefined;
  const { id: walletId, name: walletName, isDemo } = wallet;
  const next = { fid: user.fid, address, walletId, walletName, isDemo, wallet, session };
  // Otherwise the page would show two people.
  if (!isDemo && borrowedFid.peek() !== undefined) returnWallet();
  setOwner(next);
  walletNote.value = undefined;
  listenTo(wallet);
  return next;
}

/** Looks the fid up again when another account is selected in the wallet. */
function listenTo(wallet: Wallet): void {
  stopListening();
  const onAccounts = (value: unknown) => {
    const accounts = Array.isArray(value) ? value.map((account) => String(account).toLowerCase()) : [];
    void followAccounts(wallet, accounts).catch(() => {
      walletNote.value = msg.theAccountInYourWalletChanged;
    });
  };
  wallet.provider.on?.("accountsChanged", onAccounts);
  stopListening = () => wallet.provider.removeListener?.("accountsChanged", onAccounts);
}

async function followAccounts(wallet: Wallet, accounts: readonly string[]): Promise<void> {
  const current = owner.peek();
  const [first] = accounts;
  if (current && first === current.address) return;
  if (first === undefined) {
    setOwner(undefined);
    walletNote.value = msg.yourWalletNoLongerShowsThis;
    return;
  }
  const identity = await identityOf(first);
  if (identity) {
    await becomeOwner(wallet, identity);
    walletNote.value = msg.yourWalletChangedToAnotherAccount(identity.user.fid);
    return;
  }
  setOwner(undefined);
  walletNote.value = msg.yourWalletChangedToWhichIs(shortAddress(first));
}

/** Finds the wallet of a returning owner. Undefined if this browser does not have it. */
export async function attachWallet(): Promise<Wallet | undefined> {
  const current = owner.peek();
  if (!current || current.wallet) return current?.wallet;
  const wallet = await findWallet(current.walletId);
  const now = owner.peek();
  if (!wallet || now?.walletId !== wallet.id) return undefined;
  owner.value = { ...now, wallet };
  listenTo(wallet);
  return wallet;
}

/** Stops acting for the owner in this tab; for a person of the demo network, in all tabs. */
export function disconnect(): void {
  stopListening();
  stopListening = () => {};
  if (owner.peek()?.isDemo) returnWallet();
  setOwner(undefined);
}

const BROWSERS = [
  ["Edg/", "Edge"],
  ["Firefox/", "Firefox"],
  ["Chrome/", "Chromium"],
  ["Safari/", "Safari"],
] as const;
const SYSTEMS = ["Windows", "Android", "iPhone", "iPad", "Mac OS X", "Linux"] as const;

/** Returns a name by which the owner can recognize this browser. */
function browserLabel(userAgent = navigator.userAgent): string {
  const browser = BROWSERS.find(([mark]) => userAgent.includes(mark))?.[1] ?? msg.browser;
  const system = SYSTEMS.find((name) => userAgent.includes(name));
  return system === undefined ? browser : msg.on(browser, system);
}

/**
 * Creates a key that never leaves this browser, and lets the custody address authorize it for a while: one prompt of the wallet.
 *
 * @throws OperationDeclined, RequestFailure
 */
export async function startSession(access: "read" | "operate"): Promise<OwnerSession> {
  const current = owner.peek();
  if (!current) throw new Error("a session has an owner");
  const { privateKey, publicKey } = await createSessionKey();
  const { fid, address, walletId, walletName, isDemo } = current;
  const body = { public_key: publicKey, access, label: browserLabel(), origin: location.origin };
  const { session: created } = await runOperation({
    ...signed("POST /session", { body }),
    title: msg.startASession,
    words: msg.aKeyOfThisBrowserMay(access === "operate" ? msg.readTestReplayAndEnableAnd : "read", fid),
    isConfirmed: true,
  });
  const { session_id: id, expires_at: expiresAt } = created;
  await storeSession({
    ...{ fid, address, walletId, walletName, isDemo },
    ...{ sessionId: id, access: created.access, expiresAt, privateKey },
  });
  const session = { id, access: created.access, expiresAt, privateKey };
  const now = owner.peek();
  if (now?.fid === fid) {
    owner.value = { ...now, session };
    hasSessionEnded.value = false;
  }
  return session;
}

/** Ends the session on the node, deletes its key and forgets the owner. */
export async function leave(): Promise<void> {
  const current = owner.peek();
  if (current?.session) {
    // If the node no longer knows the session, it has ended, too.
    const end = signed("DELETE /session", { query: { session_id: current.session.id } });
    await sessionRequest(end).catch(() => undefined);
    await forgetSession(current.fid, current.session.id);
  }
  disconnect();
}
