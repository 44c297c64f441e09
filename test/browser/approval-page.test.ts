import { afterAll, describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { privateKeyToAccount } from "viem/accounts";
import { sdkClient } from "../api/compat/sdk.ts";
import { startSignedApi } from "../support/signed-api.ts";
import { CHAIN_REQUEST_DOMAIN, signedKeyRequest } from "../support/signed-key-request.ts";
import { custodyWallet } from "../support/signing.ts";
import { consoleTest } from "./support/console-test.ts";
import { injectWallet, type WalletOptions } from "./support/wallet.ts";

const OWNER = 3;
const APP = 4;
const USER = 9;
const STRANGER = 77;
const signed = await startSignedApi({
  compatPrefixes: ["farcaster"],
  settings: [`signers.encryption_key=${"5a".repeat(32)}`],
  fids: [OWNER, APP, USER],
});
const { api } = signed;
const body = { name: "k", scopes: ["signers"] };
const { secret } = (await signed.call({ method: "POST", path: "/api_key", body })).body;
const client = sdkClient(api.url, { apiKey: secret });
afterAll(() => signed[Symbol.asyncDispose]());

type Open = Parameters<Parameters<typeof consoleTest>[1]>[0];

const accountOf = (fid: number) =>
  privateKeyToAccount(`0x${Buffer.from(custodyWallet(fid).privateKey).toString("hex")}`);

/** Returns a signer that waits for approval, and the address of its page. */
async function pendingSigner() {
  const { signer_uuid: signerUuid, public_key } = await client.createSigner();
  const deadline = signed.nowSecs() + 3600;
  const signature = await accountOf(APP).signTypedData(
    signedKeyRequest({
      domain: CHAIN_REQUEST_DOMAIN,
      requestFid: APP,
      key: public_key as `0x${string}`,
      deadline,
    }),
  );
  const redirectUrl = "https://app.example/done?a=1&b=2";
  const request = { signerUuid, appFid: APP, deadline, signature, redirectUrl };
  const { signer_approval_url } = await client.registerSignedKey(request);
  return { signerUuid, url: (signer_approval_url ?? "").replace("https://node.example", api.url) };
}

/** Opens a page in a browser with a wallet whose name is hostile. */
async function openWithWallet(open: Open, url: string, fid: number, options: WalletOptions = {}) {
  const opened = await open({ origin: api.url });
  const name = "<b>Test Wallet</b>";
  const wallet = await injectWallet(opened.page, accountOf(fid), { name, ...options });
  await opened.goto(new URL(url).pathname);
  return { page: opened.page, wallet };
}

const connect = (page: Page) => page.getByRole("button", { name: "Connect <b>Test Wallet</b>" }).click();
const statusOf = (page: Page, text: string) =>
  page.getByRole("status").filter({ hasText: text }).waitFor({ timeout: 10_000 });

describe("the approval page in a browser", () => {
  consoleTest("has the wallet of the custody address sign, and asks no other origin", async (open) => {
    const { signerUuid, url } = await pendingSigner();
    const { page, wallet } = await openWithWallet(open, url, USER, { declines: ["eth_signTypedData_v4"] });
    await connect(page);
    await page.getByText(`as fid ${USER}, with`).waitFor();
    expect(wallet.signed).toEqual([]);
    const sign = page.getByRole("button", { name: "Sign", exact: true });
    await sign.click();
    await statusOf(page, "Nothing was signed.");
    expect((await client.lookupSigner({ signerUuid })).status).toBe("pending_approval");
    wallet.declines = [];
    await sign.click();
    await statusOf(page, `The app may act for fid ${USER}.`);
    // The app signed for the contract's domain, so that the user requests the gasless key.
    expect(wallet.signed.map(({ domain, primaryType }) => `${domain?.name}: ${primaryType}`)).toEqual([
      "Farcaster KeyAdd: KeyAdd",
      "Farcaster KeyAdd: SignedKeyRequest",
    ]);
    expect(wallet.chainId).toBe(1);
    expect(await page.getByRole("link", { name: "Back to the app" }).getAttribute("href")).toBe(
      "https://app.example/done?a=1&b=2",
    );
    expect(await page.getByRole("button").count()).toBe(0);
    expect(await client.lookupSigner({ signerUuid })).toMatchObject({ status: "approved", fid: USER });
  });

  consoleTest("shows an unknown wallet why it cannot approve, before anything is signed", async (open) => {
    const { url } = await pendingSigner();
    const { page, wallet } = await openWithWallet(open, url, STRANGER);
    await connect(page);
    await statusOf(page, "custody");
    expect(wallet.signed).toEqual([]);
  });

  consoleTest("has the wallet send the transaction of a key that an app wants on chain", async (open) => {
    const publicKey = `0x${"a7".repeat(32)}` as const;
    const deadline = signed.nowSecs() + 3600;
    const signature = await accountOf(APP).signTypedData(
      signedKeyRequest({ domain: CHAIN_REQUEST_DOMAIN, requestFid: APP, key: publicKey, deadline }),
    );
    const request = { publicKey, appFid: APP, deadline, signature };
    const { signer_approval_url } = await client.registerSignedKeyForDeveloperManagedSigner(request);
    const url = (signer_approval_url ?? "").replace("https://node.example", api.url);
    const declines = ["eth_sendTransaction"];
    const { page, wallet } = await openWithWallet(open, url, USER, { chainId: 1, declines });
    await connect(page);
    await page.getByText("You add this key on chain").waitFor();
    const send = page.getByRole("button", { name: "Send", exact: true });
    await send.click();
    await statusOf(page, "Nothing was signed.");
    wallet.declines = [];
    await send.click();
    await statusOf(page, `The app will see the key of fid ${USER}`);
    expect(wallet.sent).toHaveLength(1);
    expect(wallet.sent[0]).toMatchObject({
      from: accountOf(USER).address,
      to: "0x00000000fc56947c7e7183f8ca4b62398caadf0b",
      chainId: 10,
    });
    expect(wallet.sent[0]?.data).toContain(publicKey.slice(2));
    expect(wallet.signed).toEqual([]);
  });

  consoleTest("says that a link has expired", async (open) => {
    const { page, goto } = await open({ origin: api.url });
    await goto(`/approve/${"1".repeat(44)}`);
    expect(await page.getByText("This approval link has expired").isVisible()).toBe(true);
  });
});
