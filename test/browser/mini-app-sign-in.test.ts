import { expect } from "bun:test";
import { join } from "node:path";
import { keysOfPerson } from "../support/demo-calls.ts";
import { exampleEnv } from "../support/document-shell.ts";
import { ROOT } from "../support/documents.ts";
import { tempDir } from "../support/program.ts";
import { consoleTest } from "./support/console-test.ts";
import { sharedNode } from "./support/shared.ts";

const PERSON = 36;
const PERSON_WITH_AUTH_ADDRESS = 4;

/** Starts a file of the example on a free port. */
async function startExample(file: string, cwd: string, env: Record<string, string>) {
  const child = Bun.spawn([process.execPath, join(ROOT, "examples/mini-app-sign-in", file)], {
    cwd,
    env: exampleEnv(cwd, { ...env, PORT: "0", CLIENT_PORT: "0" }),
    stdout: "pipe",
    stderr: "pipe",
  });
  const { value } = await child.stdout.getReader().read();
  const [, port] = /listening on port (\d+)/.exec(new TextDecoder().decode(value)) ?? [];
  if (port === undefined) throw new Error(await new Response(child.stderr).text());
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
    },
  };
}

consoleTest(
  "check 6: a mini app under a client of miniapp-host gets a token of the node by the SDK, once, and its backend knows the user",
  async (open) => {
    const node = await sharedNode();
    using dir = tempDir();
    await using app = await startExample("backend.ts", dir.path, { NODE_URL: node });
    await using client = await startExample("client.ts", dir.path, {});
    const { page, context } = await open({
      origin: client.url,
      trustedTypes: false,
      // App, node and client have origins of their own. A refusal is one of this test; the SDK leaves a copy of it unhandled.
      expects: [
        /^request to http:\/\/127\.0\.0\.1/,
        /Failed to load resource/,
        /^uncaught: address is neither/,
      ],
    });
    // A list of permissions denies all others, and one of them lets a page read from this machine.
    await context.clearPermissions();
    const asked: string[] = [];
    const hosts = new Set<string>();
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (url.protocol !== "data:") hosts.add(url.hostname);
      if (url.origin === node) asked.push(url.pathname);
    });
    const frame = page.frameLocator("#app");
    const button = frame.getByRole("button", { name: "Sign in" });
    const result = frame.getByRole("status");
    const openApp = async (fid: number, key: string) => {
      await page.goto(client.url);
      await page.getByLabel("Mini app").fill(app.url);
      await page.getByLabel("Fid").fill(String(fid));
      await page.getByLabel("Key of the demo network").fill(key);
      await page.getByRole("button", { name: "Open" }).click();
    };

    await openApp(PERSON, keysOfPerson(PERSON).custody.privateKey);
    await button.click();
    await result.getByText(`(fid ${PERSON})`).waitFor();
    expect(asked).toEqual(["/quick-auth/nonce", "/quick-auth/verify-siwf"]);
    // A second call uses the token.
    const again = page.waitForResponse(`${app.url}/api/me`);
    await button.click();
    expect((await again).status()).toBe(200);
    expect(asked).toHaveLength(2);
    expect([...hosts]).toEqual(["127.0.0.1"]);

    const { authAddress } = keysOfPerson(PERSON_WITH_AUTH_ADDRESS);
    await openApp(PERSON_WITH_AUTH_ADDRESS, authAddress?.privateKey ?? "");
    await button.click();
    await result.getByText(`(fid ${PERSON_WITH_AUTH_ADDRESS})`).waitFor();

    await openApp(PERSON, authAddress?.privateKey ?? "");
    await button.click();
    await result.getByText("address is neither custody nor auth address of the fid").waitFor();
    expect((await fetch(`${app.url}/api/me`)).status).toBe(401);
    expect((await fetch(`${app.url}/api/me`, { headers: { authorization: "Bearer a.b.c" } })).status).toBe(
      401,
    );
  },
);
