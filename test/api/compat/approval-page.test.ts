import { afterAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { privateKeyToAccount } from "viem/accounts";
import { browser } from "../../support/browser.ts";
import { startSignedApi } from "../../support/signed-api.ts";
import { custodyWallet } from "../../support/signing.ts";
import { sdkClient } from "./sdk.ts";

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
afterAll(async () => {
  await browser?.close();
  await signed[Symbol.asyncDispose]();
});

const accountOf = (fid: number) =>
  privateKeyToAccount(`0x${Buffer.from(custodyWallet(fid).privateKey).toString("hex")}`);

/** Returns a signer that waits for approval, and the address of its page. */
async function pendingSigner() {
  const { signer_uuid: signerUuid, public_key } = await client.createSigner();
  const deadline = signed.nowSecs() + 3600;
  const signature = await accountOf(APP).signTypedData({
    domain: {
      name: "Farcaster SignedKeyRequestValidator",
      version: "1",
      chainId: 10,
      verifyingContract: "0x00000000fc700472606ed4fa22623acf62c60553",
    },
    types: {
      SignedKeyRequest: [
        { name: "requestFid", type: "uint256" },
        { name: "key", type: "bytes" },
        { name: "deadline", type: "uint256" },
      ],
    },
    primaryType: "SignedKeyRequest",
    message: { requestFid: BigInt(APP), key: public_key as `0x${string}`, deadline: BigInt(deadline) },
  });
  const redirectUrl = "https://app.example/done?a=1&b=2";
  const request = { signerUuid, appFid: APP, deadline, signature, redirectUrl };
  const { signer_approval_url } = await client.registerSignedKey(request);
  return { signerUuid, url: (signer_approval_url ?? "").replace("https://node.example", api.url) };
}

interface TypedDataCall {
  readonly primaryType: string;
  readonly domain: { readonly name: string };
}

interface WalletOptions {
  /** Whose custody key it holds. */
  readonly fid: number;
  /** Whether its user refuses the first request for a signature. */
  readonly refusesFirst?: boolean;
}

/** Opens a page in a browser with a wallet that announces itself (EIP-6963) and is on another chain. */
async function openWithWallet(url: string, { fid, refusesFirst = false }: WalletOptions) {
  if (!browser) throw new Error("there is no browser");
  const page = await browser.newPage();
  const origins = new Set<string>();
  page.on("request", (request) => origins.add(new URL(request.url()).origin));
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  const account = accountOf(fid);
  const asked: string[] = [];
  await page.exposeFunction("walletSigns", async (address: string, text: string) => {
    expect(address).toBe(account.address);
    const data = JSON.parse(text) as TypedDataCall & Parameters<typeof account.signTypedData>[0];
    asked.push(`${data.domain.name}: ${data.primaryType}`);
    if (refusesFirst && asked.length === 1) return null;
    return account.signTypedData(data);
  });
  await page.addInitScript((custody: string) => {
    let chainId = "0xa";
    const provider = {
      async request({ method, params }: { method: string; params: [unknown, unknown] }) {
        if (method === "eth_requestAccounts") return [custody];
        if (method === "eth_chainId") return chainId;
        if (method === "wallet_switchEthereumChain") {
          chainId = (params[0] as { chainId: string }).chainId;
          return null;
        }
        if (method !== "eth_signTypedData_v4" || chainId !== "0x1") throw new Error(`unexpected ${method}`);
        // biome-ignore lint/suspicious/noExplicitAny: the function is exposed by the test
        const signature = await (globalThis as any).walletSigns(...params);
        if (signature === null) throw Object.assign(new Error("User rejected"), { code: 4001 });
        return signature;
      },
    };
    addEventListener("eip6963:requestProvider", () => {
      const detail = { provider, info: { name: "<b>Test Wallet</b>", icon: "https://evil.example/x.png" } };
      // biome-ignore lint/suspicious/noExplicitAny: this runs in the browser, whose types the project does not load
      (globalThis as any).dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
    });
  }, account.address);
  await page.goto(url);
  return { page, origins, faults, asked };
}

const connect = (page: Page) => page.getByRole("button", { name: "Connect <b>Test Wallet</b>" }).click();
const statusOf = (page: Page, text: string) =>
  page.getByRole("status").filter({ hasText: text }).waitFor({ timeout: 10_000 });

describe.skipIf(!browser)("the approval page in a browser", () => {
  test("has the wallet of the custody address sign, and asks no other origin", async () => {
    const { signerUuid, url } = await pendingSigner();
    const { page, origins, faults, asked } = await openWithWallet(url, { fid: USER, refusesFirst: true });
    await connect(page);
    await page.getByText(`as fid ${USER}, with`).waitFor();
    expect(asked).toEqual([]);
    const sign = page.getByRole("button", { name: "Sign", exact: true });
    await sign.click();
    await statusOf(page, "Nothing was signed.");
    expect((await client.lookupSigner({ signerUuid })).status).toBe("pending_approval");
    await sign.click();
    await statusOf(page, `The app may act for fid ${USER}.`);
    // The app signed for the contract's domain, so that the user requests the gasless key.
    expect(asked.slice(1)).toEqual(["Farcaster KeyAdd: KeyAdd", "Farcaster KeyAdd: SignedKeyRequest"]);
    expect(await page.getByRole("link", { name: "Back to the app" }).getAttribute("href")).toBe(
      "https://app.example/done?a=1&b=2",
    );
    expect(await page.getByRole("button").count()).toBe(0);
    expect(await client.lookupSigner({ signerUuid })).toMatchObject({ status: "approved", fid: USER });
    expect([...origins]).toEqual([api.url]);
    expect(faults).toEqual([]);
    await page.close();
  });

  test("shows an unknown wallet why it cannot approve, before anything is signed", async () => {
    const { url } = await pendingSigner();
    const { page, asked } = await openWithWallet(url, { fid: STRANGER });
    await connect(page);
    await statusOf(page, "custody");
    expect(asked).toEqual([]);
    await page.close();
  });

  test("says that a link is over", async () => {
    const page = await browser?.newPage();
    await page?.goto(`${api.url}/approve/${"1".repeat(44)}`);
    expect(await page?.getByText("This approval link is over").isVisible()).toBe(true);
    await page?.close();
  });
});
