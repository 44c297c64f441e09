import { expect } from "bun:test";
import { join } from "node:path";
import { privateKeyToAccount } from "viem/accounts";
import { keysOfPerson } from "../support/demo-calls.ts";
import { consoleTest } from "./support/console-test.ts";
import { sharedNode } from "./support/shared.ts";
import { injectWallet } from "./support/wallet.ts";

const PERSON = 37;

/** Serves a website with the button of AuthKit on an origin of its own. */
async function startWebsite() {
  const built = await Bun.build({
    entrypoints: [join(import.meta.dir, "support/auth-kit-page.js")],
    target: "browser",
    minify: true,
    define: { "process.env.NODE_ENV": '"production"' },
  });
  const script = await (built.outputs[0] as Bun.BuildArtifact).text();
  const page = `<!doctype html><html lang="en"><title>Website</title><link rel="icon" href="data:,">
    <h1>Website</h1><div id="root"></div><pre id="success"></pre><pre id="error"></pre><script type="module" src="/page.js"></script></html>`;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    routes: {
      "/": new Response(page, { headers: { "content-type": "text/html" } }),
      "/page.js": new Response(script, { headers: { "content-type": "text/javascript" } }),
    },
  });
  return {
    origin: `http://127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

consoleTest(
  "check 11: the button of AuthKit signs in by the node's relay and RPC; the page approves with an injected wallet",
  async (open) => {
    const node = await sharedNode();
    await using website = await startWebsite();
    const { page, context } = await open({
      origin: website.origin,
      trustedTypes: false,
      // Website and node have origins of their own, and the button shows the picture of who signed in.
      expects: [/^request to http:\/\/127\.0\.0\.1/, /https:\/\/demo\.example/],
    });
    await context.clearPermissions();
    const channel = page.waitForResponse(`${node}/v1/channel`);
    await page.goto(`${website.origin}/?node=${node}`);
    await page.getByRole("button", { name: "Sign in" }).click();
    const { url, nonce } = (await (await channel).json()) as { url: string; nonce: string };
    expect(url).toStartWith(`${node}/signin/`);

    const account = privateKeyToAccount(keysOfPerson(PERSON).custody.privateKey);
    const approval = await context.newPage();
    await injectWallet(approval, account);
    await approval.goto(url);
    await approval.getByRole("button", { name: "Connect Test Wallet" }).click();
    await approval.getByRole("button", { name: /^Sign in as @/ }).click();
    await approval.getByRole("button", { name: /^I opened this myself/ }).click();
    await approval.getByText("Signed in as").waitFor();

    const success = page.locator("#success");
    await success.getByText("fid").waitFor();
    const [{ user }, reported] = await Promise.all([
      fetch(`${node}/v2/svc/user?fid=${PERSON}`).then((response) => response.json()),
      success.textContent(),
    ]);
    expect(JSON.parse(reported ?? "")).toMatchObject({
      state: "completed",
      nonce,
      fid: PERSON,
      username: user.username,
      displayName: user.display_name,
      custody: account.address.toLowerCase(),
      verifications: user.verified_addresses?.eth_addresses ?? [],
      authMethod: "custody",
    });
    expect(await page.locator("#error").textContent()).toBe("");
  },
);
