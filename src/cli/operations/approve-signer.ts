import type { PrivateKeyAccount } from "viem/accounts";
import { UserError } from "../../lib/failure.ts";
import { parseJson } from "../../lib/json.ts";
import { exchange, messageOf } from "../client/client.ts";

interface TypedData {
  readonly domain: object;
  readonly types: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>;
  readonly primaryType: string;
  readonly message: Readonly<Record<string, unknown>>;
}

interface Prepared {
  readonly fid: number;
  readonly key_add: TypedData;
  readonly key_request: TypedData | null;
}

/**
 * Approves a managed signer by its approval URL with a custody key, like the page in a browser.
 *
 * @throws UserError for a refusal, RetryableError without a response.
 */
export async function approveSigner(
  approvalUrl: string,
  { account, fid }: { readonly account: PrivateKeyAccount; readonly fid: number },
): Promise<{ readonly status: string; readonly hash: string }> {
  const url = URL.parse(approvalUrl);
  if (!url || !/\/approve\/[1-9A-HJ-NP-Za-km-z]+$/.test(url.pathname))
    throw new UserError("give the whole approval URL, such as https://host/approve/<token>");
  const prepared = (await post(url, "prepare", { address: account.address })) as Prepared;
  if (!("key_add" in prepared))
    throw new UserError("this key is added on chain; open the link in a browser with your wallet");
  if (prepared.fid !== fid)
    throw new UserError(`the key is that of fid ${prepared.fid}, not of fid ${fid}; nothing was signed`);
  const { key_add, key_request } = prepared;
  const signed = {
    fid,
    nonce: Number(key_add.message.nonce),
    deadline: Number(key_add.message.deadline),
    custody_signature: await sign(account, key_add, "KeyAdd"),
    ...(key_request ? { request_signature: await sign(account, key_request, "SignedKeyRequest") } : {}),
  };
  return (await post(url, "submit", signed)) as { status: string; hash: string };
}

/** Signs typed data of the requested kind only: the node must not choose what the key signs. */
function sign(account: PrivateKeyAccount, data: TypedData, primaryType: "KeyAdd" | "SignedKeyRequest") {
  const { name, chainId } = data.domain as { name?: unknown; chainId?: unknown };
  if (data.primaryType !== primaryType || name !== "Farcaster KeyAdd" || chainId !== 1)
    throw new UserError("the node asked for another signature than that of a key; nothing was signed");
  return account.signTypedData(data as unknown as Parameters<typeof account.signTypedData>[0]);
}

async function post(approvalUrl: URL, step: "prepare" | "submit", body: object): Promise<unknown> {
  const url = new URL(approvalUrl);
  url.pathname = `${approvalUrl.pathname}/${step}`;
  url.search = "";
  const { status, text } = await exchange(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const content = parseJson(text);
  if (status >= 200 && status <= 299 && content !== undefined) return content;
  throw new UserError(`${status}: ${messageOf(content, text)}`);
}
