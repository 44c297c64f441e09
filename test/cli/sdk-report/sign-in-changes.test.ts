import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { findChanges } from "../../../src/cli/sdk-report/changes.ts";
import { emptyDir, run } from "../run.ts";

const changesOf = (text: string) =>
  findChanges({ path: "a.tsx", text }).map(({ what, todo }) => `${what}: ${todo}`);

describe("check 27: sign-in of an app, with the change that each place needs", () => {
  test("sdk.quickAuth.fetch, and getToken without the origin", () => {
    expect(changesOf("const r = await sdk.quickAuth.fetch('/api/me');")).toEqual([
      expect.stringContaining('getToken({ quickAuthServerOrigin: "<node>/quick-auth" })'),
    ]);
    for (const args of ["", "{ force: true }"])
      expect(changesOf(`await sdk.quickAuth.getToken(${args})`)).toEqual([
        expect.stringContaining('quickAuthServerOrigin: "<node>/quick-auth"'),
      ]);
    expect(changesOf("await sdk.quickAuth.getToken({ quickAuthServerOrigin })")).toEqual([]);
    expect(
      changesOf("const options = { quickAuthServerOrigin: o };\nsdk.quickAuth.getToken(options)"),
    ).toEqual([]);
  });

  test("the client of a backend without the origin", () => {
    const imported = 'import { createClient } from "@farcaster/quick-auth";\n';
    expect(changesOf(`${imported}const quickAuth = createClient();`)).toEqual([
      expect.stringContaining('createClient({ origin: "<node>/quick-auth" })'),
    ]);
    expect(changesOf(`${imported}const quickAuth = createClient({ origin: node });`)).toEqual([]);
    expect(changesOf("const supabase = createClient();")).toEqual([]);
  });

  test("AuthKit and auth-client", () => {
    const config = (relay: string) =>
      `const config = { ${relay} domain: "app.example" };\n<AuthKitProvider config={config}>`;
    const needed = [expect.stringContaining('relay: "<node>", rpcUrl: "<node>/rpc/10"')];
    expect(changesOf(config('rpcUrl: "https://mainnet.optimism.io",'))).toEqual(needed);
    expect(changesOf(config('relay: "https://relay.farcaster.xyz",'))).toEqual([
      ...needed,
      "relay.farcaster.xyz: <node>",
    ]);
    expect(changesOf(config("relay: NODE,"))).toEqual([]);
    expect(changesOf("const app = createAppClient({ ethereum: viemConnector() });")).toEqual([
      expect.stringContaining("createAppClient"),
      expect.stringContaining('viemConnector({ rpcUrl: "<node>/rpc/10" })'),
    ]);
  });

  test("the button of the hosted sign-in", () => {
    const button = (more: string) =>
      `<div class="neynar_signin" data-client_id="x"${more}></div><script src="https://neynarxyz.github.io/siwn/raw/1.2.0/index.js">`;
    expect(changesOf(button(""))).toEqual([expect.stringContaining('data-neynar_login_url="<node>/login"')]);
    expect(changesOf(button(' data-neynar_login_url="https://node.example/login"'))).toEqual([]);
    expect(changesOf(button(' data-neynar_login_url="https://app.neynar.com/login"'))).toEqual([
      expect.stringMatching(/^app\.neynar\.com: <node>\/login/),
      expect.stringContaining('data-neynar_login_url="<node>/login"'),
    ]);
    expect(changesOf('import { NeynarAuthButton } from "@neynar/react";')).toEqual([
      expect.stringMatching(/^@neynar\/react: .*script of the button/),
    ]);
    expect(changesOf('import { NeynarSigninButton } from "@neynar/react-native-signin";')).toEqual([
      expect.stringMatching(/fetchAuthorizationUrl/),
    ]);
  });

  test("verifyAppKeyWithNeynar, and the hosts of the official servers", () => {
    expect(changesOf("await parseWebhookEvent(body, verifyAppKeyWithNeynar)")).toEqual([
      expect.stringContaining('createVerifyAppKeyWithHub("<node>")'),
    ]);
    expect(changesOf('jwks("https://auth.farcaster.xyz/.well-known/jwks.json")')).toEqual([
      "auth.farcaster.xyz: <node>/quick-auth, also as the issuer of tokens",
    ]);
  });
});

test("check 27: svc doctor --sdk names them for an app that uses all four", async () => {
  using dir = emptyDir();
  await Bun.write(join(dir.path, "mini-app.ts"), 'const me = await sdk.quickAuth.fetch("/api/me");');
  await Bun.write(
    join(dir.path, "web.tsx"),
    'import { AuthKitProvider } from "@farcaster/auth-kit";\nexport const A = () => <AuthKitProvider config={{ domain }} />;',
  );
  await Bun.write(join(dir.path, "button.html"), '<div class="neynar_signin" data-client_id="x"></div>');
  await Bun.write(join(dir.path, "webhook.ts"), "parseWebhookEvent(body, verifyAppKeyWithNeynar);");
  const { out, errors } = await run(["doctor", "--sdk", dir.path]);
  expect(errors).toBe("");
  for (const [file, todo] of [
    ["mini-app.ts:1", 'quickAuthServerOrigin: "<node>/quick-auth"'],
    ["web.tsx:2", 'relay: "<node>", rpcUrl: "<node>/rpc/10"'],
    ["button.html:1", 'data-neynar_login_url="<node>/login"'],
    ["webhook.ts:1", 'createVerifyAppKeyWithHub("<node>")'],
  ] as const) {
    expect(out).toContain(file);
    expect(out.replaceAll(/\s+/g, " ")).toContain(todo);
  }
});
