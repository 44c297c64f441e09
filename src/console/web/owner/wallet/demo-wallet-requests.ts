import { request } from "../../data/request.ts";
import * as msg from "../../text/en/common.ts";
import {
  borrowedFid,
  type DemoKeys,
  type DemoPrompt,
  demoPrompt,
  emit,
  keepBorrowed,
  signsUnasked,
} from "./demo-wallet.ts";

/** A wallet error as defined by EIP-1193. */
class WalletError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}
const DECLINED = 4001;
const UNSUPPORTED = 4200;
const UNKNOWN_CHAIN = 4902;
/** OP Mainnet, the chain of the registries. */
const CHAIN_ID = "0xa";

const keys = new Map<number, DemoKeys>();
export async function keysOf(fid: number): Promise<DemoKeys> {
  const known = keys.get(fid);
  if (known) return known;
  const loaded = await request<DemoKeys>({ method: "GET", path: `/console/demo/key?fid=${fid}` });
  keys.set(fid, loaded);
  return loaded;
}

let last: Promise<unknown> = Promise.resolve();
/** Prompts the visitor, after earlier prompts. Throws `WalletError` 4001 if the visitor declines. */
async function ask<Answer>(
  prompt: (settle: (answer: Answer | undefined) => void) => DemoPrompt,
): Promise<Answer> {
  const before = last;
  const answer = Promise.withResolvers<Answer | undefined>();
  last = answer.promise;
  await before.catch(() => undefined);
  demoPrompt.value = prompt(answer.resolve);
  const given = await answer.promise;
  demoPrompt.value = undefined;
  if (given === undefined) throw new WalletError(DECLINED, "User rejected the request.");
  return given;
}

/** Borrows the wallet of a person, as if it was selected in the wallet's own list of accounts. */
export async function borrowWallet(fid: number): Promise<string> {
  const { address } = (await keysOf(fid)).custody;
  keepBorrowed(fid);
  emit("accountsChanged", [address]);
  return address;
}

async function accounts(mayAsk: boolean): Promise<readonly string[]> {
  const fid = borrowedFid.value;
  if (fid !== undefined) return [(await keysOf(fid)).custody.address];
  if (!mayAsk) return [];
  return [await borrowWallet(await ask<number>((settle) => ({ kind: "pick", settle })))];
}

/** Returns the key of an account, once the visitor agrees to what is signed. */
async function keyFor(address: unknown, message: Readonly<Record<string, unknown>>): Promise<string> {
  const fid = borrowedFid.value;
  const held = fid === undefined ? undefined : await keysOf(fid);
  const account = [held?.custody, held?.recovery].find(
    (one) => one?.address === String(address).toLowerCase(),
  );
  if (!held || !account) throw new WalletError(4100, "The wallet does not have this account.");
  if (!signsUnasked()) await ask<true>((settle) => ({ kind: "sign", fid: held.fid, message, settle }));
  return account.privateKey;
}

async function signTypedData(address: unknown, json: unknown): Promise<string> {
  const typedData = typeof json === "string" ? JSON.parse(json) : json;
  const key = await keyFor(address, typedData.message);
  const { signTypedDataWith } = await import("./typed-data.ts");
  return signTypedDataWith(key, typedData);
}

async function signText(hex: unknown, address: unknown): Promise<string> {
  const { signTextWith, textOfHex } = await import("./typed-data.ts");
  const key = await keyFor(address, { [msg.text]: textOfHex(String(hex)) });
  return signTextWith(key, String(hex));
}

/** Handles a page's request to the wallet (EIP-1193). Loaded with the first one. */
export async function handle(method: string, params: readonly unknown[]): Promise<unknown> {
  switch (method) {
    case "eth_requestAccounts":
      return accounts(true);
    case "eth_accounts":
      return accounts(false);
    case "eth_chainId":
      return CHAIN_ID;
    case "wallet_switchEthereumChain": {
      const [wanted] = params as [{ chainId?: string } | undefined];
      if (wanted?.chainId === CHAIN_ID) return null;
      throw new WalletError(UNKNOWN_CHAIN, "The wallet does not know this chain.");
    }
    case "eth_signTypedData_v4":
      return signTypedData(params[0], params[1]);
    case "personal_sign":
      return signText(params[0], params[1]);
    default:
      throw new WalletError(UNSUPPORTED, `The wallet does not support ${method}.`);
  }
}
