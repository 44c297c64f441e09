import { signal } from "@preact/signals";
import { get } from "../data/call.ts";
import type { User } from "../data/objects.ts";
import { RequestFailure, request } from "../data/request.ts";
import { OperationDeclined } from "./operation.ts";
import { noSessionReason, type Owner, owner, sessionOf, setOwner } from "./owner.ts";
import { readSession } from "./session-keys.ts";
import { accountsOf, shortAddress, walletFailure } from "./wallet-signature.ts";
import { findWallet, type Wallet } from "./wallets.ts";

/** An account of a wallet and the user whose custody address it is. */
export interface Identity {
  readonly address: string;
  readonly user: User;
}

/** What a change in the wallet has led to, as a sentence. */
export const walletNote = signal<string | undefined>(undefined);

/** Accounts of one wallet that are looked up. */
const MAX_ACCOUNTS = 10;

async function identityOf(address: string): Promise<Identity | undefined> {
  try {
    const { user } = await request<{ user: User }>(
      get("/user/custody-address", { custody_address: address }),
    );
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
 * Asks a wallet for its accounts (a prompt) and the node for the fids that they own, of which there is at least one.
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
  if (first === undefined) throw new OperationDeclined("The wallet shows no account. Nothing was sent.");
  const identities = await identitiesOf(accounts);
  if (identities.length > 0) return identities;
  throw new OperationDeclined(
    `${shortAddress(first)} is not the custody address of any fid that this node knows. Choose another account in the wallet. Nothing was sent.`,
  );
}

let stopListening = () => {};

/** Acts for an identity from now on, with the session that this browser has of it. */
export async function becomeOwner(wallet: Wallet, { address, user }: Identity): Promise<Owner> {
  const stored = noSessionReason() === undefined ? await readSession(user.fid) : undefined;
  const session =
    stored?.address === address && stored.expiresAt * 1000 > Date.now() ? sessionOf(stored) : undefined;
  const { id: walletId, name: walletName, isDemo } = wallet;
  const next = { fid: user.fid, address, walletId, walletName, isDemo, wallet, session };
  setOwner(next);
  walletNote.value = undefined;
  listenTo(wallet);
  return next;
}

/** Looks the fid up again when another account is chosen in the wallet. */
function listenTo(wallet: Wallet): void {
  stopListening();
  const onAccounts = (value: unknown) => {
    const accounts = Array.isArray(value) ? value.map((account) => String(account).toLowerCase()) : [];
    void followAccounts(wallet, accounts).catch(() => {
      walletNote.value = "The account in your wallet changed, and the node did not say whose it is.";
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
    walletNote.value = "Your wallet shows this page no account any more.";
    return;
  }
  const identity = await identityOf(first);
  if (identity) {
    await becomeOwner(wallet, identity);
    walletNote.value = `Your wallet changed to another account: this is fid ${identity.user.fid} now.`;
    return;
  }
  setOwner(undefined);
  walletNote.value = `Your wallet changed to ${shortAddress(first)}, which is not the custody address of any fid that this node knows.`;
}

/** Finds the wallet of an owner who came back. Undefined when this browser does not have it. */
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

/** Stops to act for the owner in this tab. */
export function disconnect(): void {
  stopListening();
  stopListening = () => {};
  setOwner(undefined);
}
