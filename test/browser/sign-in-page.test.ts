import { afterAll, describe, expect } from "bun:test";
import { privateKeyToAccount } from "viem/accounts";
import { custody, DOMAIN, PERSON, post, startSignInApi } from "../support/sign-in.ts";
import { axeViolations } from "./support/axe.ts";
import { consoleTest } from "./support/console-test.ts";
import { injectWallet } from "./support/wallet.ts";

const api = await startSignInApi();
afterAll(() => api[Symbol.asyncDispose]());
const person = privateKeyToAccount(`0x${Buffer.from(custody.privateKey).toString("hex")}`);

async function openChannel() {
  const request = {
    siweUri: `https://${DOMAIN}/login`,
    domain: DOMAIN,
    redirectUrl: "https://app.example/done",
  };
  return (await post(api, "/v1/channel", request)).body as { channelToken: string };
}

async function statusOf(token: string) {
  const response = await fetch(`${api.url}/v1/channel/status`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return (await response.json()) as Record<string, unknown>;
}

describe("check 22: the sign-in page in a browser", () => {
  consoleTest(
    "asks twice for a domain without a manifest, and completes the channel by keyboard",
    async (open) => {
      const { channelToken } = await openChannel();
      const { page, goto } = await open({ origin: api.url, width: 390, height: 844 });
      await injectWallet(page, person, { name: "Test Wallet", declines: [] });
      await goto(`/signin/${channelToken}`);
      expect(await page.getByRole("heading", { name: DOMAIN }).isVisible()).toBe(true);
      expect(await axeViolations(page)).toEqual([]);
      await page.getByRole("button", { name: "Connect Test Wallet" }).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: `Sign in as fid ${PERSON}` }).focus();
      await page.keyboard.press("Enter");
      const again = page.getByRole("button", { name: `I opened this myself: sign in as fid ${PERSON}` });
      await again.waitFor();
      expect((await statusOf(channelToken)).state).toBe("pending");
      await again.click();
      await page
        .getByRole("status")
        .filter({ hasText: `Signed in as fid ${PERSON}.` })
        .waitFor();
      expect(await page.getByRole("link", { name: "Back to the app" }).getAttribute("href")).toBe(
        "https://app.example/done",
      );
      expect(await statusOf(channelToken)).toMatchObject({ state: "completed", fid: PERSON });
    },
  );

  consoleTest("says that an unknown wallet may not sign in", async (open) => {
    const { channelToken } = await openChannel();
    const { page, goto } = await open({ origin: api.url });
    await injectWallet(page, privateKeyToAccount(`0x${"7".repeat(64)}`), { name: "Test Wallet" });
    await goto(`/signin/${channelToken}`);
    await page.getByRole("button", { name: "Connect Test Wallet" }).click();
    await page.getByRole("status").filter({ hasText: "neither the custody address nor an auth" }).waitFor();
  });
});
