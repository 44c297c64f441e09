import { describe, expect } from "bun:test";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { postAsPerson } from "../support/demo-calls.ts";
import { IS_LONG } from "../support/long.ts";
import { axeViolations } from "./support/axe.ts";
import { consoleTest } from "./support/console-test.ts";
import type { ConsolePage } from "./support/page.ts";
import { sharedNode } from "./support/shared.ts";

const example = Bun.file(join(import.meta.dir, "../../examples/sign-in-button/index.html"));
const SCRIPT = "https://neynarxyz.github.io/siwn/raw/1.2.0/index.js";
const OWNER = 31;
const VISITOR = 32;
const REDIRECT = "https://app.example/done";

/**
 * What the script of the button does: it reads the attributes as soon as it runs, opens the login page, and takes results of that page's
 * origin. Its listener stays, so each press adds one.
 */
const BUTTON = `(() => {
  const create = (place) => {
    const { client_id: clientId, neynar_login_url: loginUrl, redirect_uri: redirectUri, successCallback } = place.dataset;
    if (!clientId || !loginUrl) return;
    const button = document.createElement("button");
    button.textContent = "Sign in with Neynar";
    button.onclick = () => {
      const url = new URL(loginUrl);
      url.searchParams.append("client_id", clientId);
      if (redirectUri) url.searchParams.append("redirect_uri", redirectUri);
      const popup = window.open(url.toString(), "_blank");
      window.addEventListener("message", (event) => {
        if (event.origin !== url.origin || !event.data.is_authenticated) return;
        window[successCallback](event.data);
        popup.close();
      });
    };
    place.append(button);
  };
  const start = () => document.querySelectorAll(".neynar_signin").forEach(create);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();`;

type Open = Parameters<Parameters<typeof consoleTest>[1]>[0];

/** Opens the example on two origins of its own, of which the first is registered. `?redirect` adds the attribute that many apps have. */
async function openApp(
  open: Open,
  permissions: "read" | "write",
  body: (
    shown: ConsolePage,
    app: { origin: string; stranger: string; query: string; clientId: string },
  ) => Promise<void>,
): Promise<void> {
  const fetch = async ({ url }: Request) => {
    const { searchParams } = new URL(url);
    if (!searchParams.has("redirect")) return new Response(example);
    const attribute = `data-redirect_uri="${REDIRECT}" data-success-callback`;
    const html = (await example.text()).replace("data-success-callback", attribute);
    return new Response(html, { headers: { "content-type": "text/html" } });
  };
  const serve = () => Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
  const servers = [serve(), serve()] as const;
  const [origin, stranger] = servers.map(({ port }) => `http://127.0.0.1:${port}`) as [string, string];
  try {
    const node = await sharedNode();
    const request = {
      name: "<b>Button</b>",
      origins: [origin, "https://other.example"],
      redirect_uris: [REDIRECT],
      permissions,
    };
    const { login_client: client } = (await postAsPerson({ url: node }, OWNER, "/login_client", request)) as {
      login_client: { client_id: string };
    };
    const shown = await open({
      origin: node,
      trustedTypes: false,
      expects: [/^request to http/, /Failed to execute 'postMessage'/],
    });
    await shown.context.route(SCRIPT, (route) =>
      route.fulfill({ contentType: "text/javascript", body: BUTTON }),
    );
    await body(shown, {
      origin,
      stranger,
      query: `?client_id=${client.client_id}&node=${node}`,
      clientId: client.client_id,
    });
  } finally {
    await Promise.all(servers.map((server) => server.stop(true)));
  }
}

async function openLogin(page: Page): Promise<Page> {
  const opened = page.context().waitForEvent("page");
  await page.getByRole("button", { name: "Sign in with Neynar" }).click();
  const login = await opened;
  await login.getByRole("button", { name: "Sign in as this person" }).waitFor();
  return login;
}

async function signIn(login: Page, fid: number): Promise<void> {
  await login.getByLabel("Person, by fid").fill(String(fid));
  await login.keyboard.press("Enter");
}

describe("check 19: the button of the hosted sign-in, over the login page of a node", () => {
  consoleTest("gives the page that opened it the user and a signer that publishes", (open) =>
    openApp(open, "write", async ({ page }, { origin, query }) => {
      const key = (await postAsPerson({ url: await sharedNode() }, OWNER, "/api_key", {
        name: "button",
        scopes: ["write"],
      })) as { secret: string };
      await page.goto(`${origin}/${query}`);
      const login = await openLogin(page);
      expect(await login.getByRole("heading", { name: "<b>Button</b>" }).isVisible()).toBe(true);
      expect(await axeViolations(login)).toEqual([]);
      const closed = login.waitForEvent("close");
      await signIn(login, VISITOR);
      await page
        .getByRole("status")
        .filter({ hasText: `(fid ${VISITOR}); the backend may write` })
        .waitFor();
      await closed;
      const signer = (await page.getByRole("status").textContent())?.split(" ").at(-1);
      const published = await fetch(`${await sharedNode()}/v2/farcaster/cast`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": key.secret },
        body: JSON.stringify({ signer_uuid: signer, text: "by the old button" }),
      });
      expect(published.status).toBe(200);
    }),
  );

  if (!IS_LONG) return;

  consoleTest("gives a page of another origin nothing", (open) =>
    openApp(open, "read", async ({ page }, { stranger, query }) => {
      await page.goto(`${stranger}/${query}`);
      await page.evaluate(() => {
        const seen: unknown[] = [];
        Object.assign(globalThis, { seen });
        addEventListener("message", ({ data }) => seen.push(data));
      });
      const login = await openLogin(page);
      await signIn(login, VISITOR);
      await login.getByRole("status").filter({ hasText: "Signed in as" }).waitFor();
      // A message that was sent to this page before is there now.
      expect(await page.evaluate(() => (globalThis as unknown as { seen: unknown[] }).seen)).toEqual([]);
      expect(await page.getByRole("status").textContent()).toBe("");
    }),
  );

  consoleTest("gives it the result, too, where the button names a redirect_uri", (open) =>
    openApp(open, "read", async ({ page }, { origin, query }) => {
      await page.goto(`${origin}/${query}&redirect`);
      const login = await openLogin(page);
      const closed = login.waitForEvent("close");
      await signIn(login, VISITOR);
      await page
        .getByRole("status")
        .filter({ hasText: `(fid ${VISITOR})` })
        .waitFor();
      await closed;
    }),
  );

  consoleTest("check 20: gives a React Native app the same by its web view, and no other page", (open) =>
    openApp(open, "read", async ({ page, goto }, { clientId }) => {
      await page.addInitScript(() => {
        const posted: string[] = [];
        Object.assign(globalThis, {
          posted,
          ReactNativeWebView: { postMessage: (text: string) => posted.push(text) },
        });
      });
      await goto(`/login?client_id=${clientId}`);
      await signIn(page, VISITOR);
      await page.getByRole("status").filter({ hasText: "Signed in as" }).waitFor();
      const posted = await page.evaluate(() => (globalThis as unknown as { posted: string[] }).posted);
      expect(posted.map((text) => JSON.parse(text))).toEqual([
        expect.objectContaining({
          is_authenticated: true,
          fid: String(VISITOR),
          signer_uuid: null,
          signer_permissions: [],
        }),
      ]);
    }),
  );
});
