import { keccak256, toHex } from "viem";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { makeWallet, type TestWallet } from "./messages.ts";

/** Signs requests as a client does, with viem and independent of the code under test. */

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** A request within `/v2/svc`, and the signed values where they differ from the request. */
export interface SignedCall {
  readonly method: Method;
  /** May contain a query. */
  readonly path: string;
  readonly body?: string | Uint8Array;
  readonly fid: number;
  /** Unix seconds. */
  readonly signedAt: number;
  /** The operation; by default that of the method and the path. */
  readonly op?: string;
  readonly wallet?: TestWallet;
  readonly nonce?: `0x${string}`;
  readonly domain?: Partial<{ name: string; version: string; chainId: number }>;
  readonly typeName?: string;
  /** The signed values where they differ from the headers. */
  readonly signed?: Partial<{ op: string; fid: bigint; signedAt: bigint; body: string }>;
}

const opFields = [
  { name: "op", type: "string" },
  { name: "fid", type: "uint64" },
  { name: "signedAt", type: "uint256" },
  { name: "nonce", type: "bytes32" },
  { name: "requestHash", type: "bytes32" },
] as const;

/** As listed in the contract. */
export const opByRequest: Readonly<Record<string, string>> = {
  "POST /webhook": "webhook.create",
  "PUT /webhook": "webhook.update",
  "PATCH /webhook": "webhook.update",
  "DELETE /webhook": "webhook.delete",
  "GET /webhook": "webhook.read",
  "GET /webhook/list": "webhook.read",
  "POST /webhook/secret/rotate": "webhook.rotate_secret",
  "GET /webhook/deliveries": "webhook.read",
  "GET /webhook/delivery": "webhook.read",
  "GET /webhook/stats": "webhook.read",
  "POST /webhook/preview": "webhook.read",
  "POST /webhook/deliveries/replay": "webhook.update",
  "GET /webhook/deliveries/replay": "webhook.read",
  "DELETE /webhook/deliveries/replay": "webhook.update",
  "POST /webhook/test": "webhook.update",
  "POST /api_key": "api_key.create",
  "PUT /api_key": "api_key.update",
  "DELETE /api_key": "api_key.delete",
  "GET /api_key": "api_key.read",
  "GET /api_key/list": "api_key.read",
  "GET /api_key/usage": "api_key.read",
  "POST /api_key/secret/rotate": "api_key.rotate_secret",
  "GET /managed_signer": "signer.read",
  "GET /managed_signer/list": "signer.read",
  "POST /managed_signer": "signer.create",
  "POST /managed_signer/cast": "signer.cast",
  "POST /managed_signer/import": "signer.import",
  "POST /managed_signer/export": "signer.export",
  "DELETE /managed_signer": "signer.delete",
  "GET /audit": "audit.read",
  "POST /session": "session.create",
  "DELETE /session": "session.delete",
  "GET /session/list": "session.read",
  "POST /login_client": "login_client.create",
  "GET /login_client": "login_client.read",
  "GET /login_client/list": "login_client.read",
  "PUT /login_client": "login_client.update",
  "DELETE /login_client": "login_client.delete",
  "POST /notice_channel": "notice_channel.create",
  "GET /notice_channel/list": "notice_channel.read",
  "PUT /notice_channel": "notice_channel.update",
  "DELETE /notice_channel": "notice_channel.delete",
  "POST /notice_channel/test": "notice_channel.test",
  "GET /notice_channel/incidents": "notice_channel.read",
  "POST /notice_channel/incidents/acknowledge": "notice_channel.acknowledge",
  "PUT /user/channel/follow": "channel.follow",
  "POST /user/address/verify": "address.verify",
  "POST /moderation/bans": "ban.add",
  "DELETE /moderation/bans": "ban.remove",
  "GET /moderation/bans": "ban.read",
  "POST /frame/app": "app.create",
  "PUT /frame/app": "app.update",
  "DELETE /frame/app": "app.delete",
  "GET /frame/app": "app.read",
  "GET /frame/app/list": "app.read",
  "GET /frame/app/tokens": "app.read",
  "GET /frame/app/campaigns": "app.read",
  "GET /frame/app/campaign": "app.read",
  "GET /frame/app/audience": "app.read",
  "GET /frame/app/retention": "app.read",
  "POST /frame/app/campaign": "app.send",
  "POST /frame/app/campaign/estimate": "app.read",
  "GET /frame/app/campaign/results": "app.read",
  "GET /frame/app/schedule": "app.read",
  "DELETE /frame/app/schedule": "app.send",
  "POST /frame/app/draft": "app.draft",
  "GET /frame/app/draft": "app.read",
  "DELETE /frame/app/draft": "app.draft",
  "POST /frame/app/segment": "app.draft",
  "GET /frame/app/segment": "app.read",
  "DELETE /frame/app/segment": "app.draft",
  "POST /frame/app/secret/rotate": "app.rotate_secret",
};

export function randomNonce(): `0x${string}` {
  return toHex(crypto.getRandomValues(new Uint8Array(32)));
}

/** The wallet that registers an fid in tests. */
export function custodyWallet(fid: number): TestWallet {
  return makeWallet(`custody ${fid}`);
}

/** Of viem, by the wallets: an account takes as long as a signature. */
const accounts = new WeakMap<TestWallet, PrivateKeyAccount>();

function accountOf(wallet: TestWallet): PrivateKeyAccount {
  const account = accounts.get(wallet) ?? privateKeyToAccount(toHex(wallet.privateKey));
  accounts.set(wallet, account);
  return account;
}

/** The five headers of a signed request. */
export async function signedHeaders(call: SignedCall): Promise<Record<string, string>> {
  const { method, path, fid, signedAt, body = "", nonce = randomNonce(), signed = {} } = call;
  const route = path.replace(/\?.*/, "").replace(/\/$/, "");
  const op = call.op ?? opByRequest[`${method} ${route}`] ?? "";
  const hashed = signed.body ?? body;
  const account = accountOf(call.wallet ?? custodyWallet(fid));
  const typeName = call.typeName ?? "SvcSignedOp";
  const signature = await account.signTypedData({
    domain: { name: "Svc", version: "1", chainId: 10, ...call.domain },
    types: { [typeName]: opFields },
    primaryType: typeName,
    message: {
      op: signed.op ?? op,
      fid: signed.fid ?? BigInt(fid),
      signedAt: signed.signedAt ?? BigInt(signedAt),
      nonce,
      requestHash: keccak256(typeof hashed === "string" ? Buffer.from(hashed) : hashed),
    },
  });
  return {
    "X-Svc-Fid": String(fid),
    "X-Svc-Op": op,
    "X-Svc-Signed-At": String(signedAt),
    "X-Svc-Nonce": nonce,
    "X-Svc-Signature": signature,
  };
}
