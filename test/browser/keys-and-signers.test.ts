import { describe, expect } from "bun:test";
import { privateKeyToAccount } from "viem/accounts";
import { keysOfPerson } from "../support/demo-calls.ts";
import { GASLESS_REQUEST_DOMAIN, signedKeyRequest } from "../support/signed-key-request.ts";
import { axeViolations } from "./support/axe.ts";
import { consoleTest } from "./support/console-test.ts";
import { becomeDemoPerson } from "./support/demo-person.ts";
import { focusComesToHeading } from "./support/focus.ts";
import { type ConsolePage, focusComesTo } from "./support/page.ts";

const KEY_OWNER = 20;
const SIGNER_OWNER = 21;
const SIGNER_USER = 22;
const CLICKING_OWNER = 23;

/** Confirms the sheet of an operation; the wallet signs unasked. */
async function confirm({ page }: ConsolePage): Promise<void> {
  await page.getByRole("button", { name: "Sign in the wallet" }).click();
}

/** Creates a key on its page. Returns its text. */
async function createKey(one: ConsolePage, name: string, scopes: readonly string[]): Promise<string> {
  const { page, goto } = one;
  await goto("/console/manage/keys");
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Units per minute").fill("600");
  // What was typed survives a reload.
  await page.reload();
  for (const scope of scopes) await page.getByRole("checkbox", { name: new RegExp(`^${scope}`) }).check();
  await page.getByRole("button", { name: "Sign and create" }).click();
  await confirm(one);
  const secret = page.locator("[data-secret]");
  await focusComesToHeading(page, "Copy the key now");
  return (await secret.textContent())?.trim() ?? "";
}

const call = async (one: ConsolePage, key: string, path: string, body?: object) => {
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const init = body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers };
  return fetch(`${one.origin}/v2/farcaster${path}`, init);
};

describe("API keys", () => {
  consoleTest(
    "check 32: a key is shown once, used, rotated and deleted by its name; the focus is never lost",
    async (open) => {
      const one = await open();
      const { page } = one;
      await becomeDemoPerson(one, KEY_OWNER);
      const key = await createKey(one, "bot", []);
      expect((await call(one, key, "/user/bulk?fids=3")).status).toBe(200);
      await page.getByRole("button", { name: "I have stored it" }).click();
      // The button no longer exists: a user of the keyboard continues from the heading.
      await focusComesTo(page, "API keys");
      expect(await page.content()).not.toContain(key);
      await page.getByRole("link", { name: "bot" }).click();
      await page.getByRole("heading", { name: "Usage, last 30 days" }).waitFor();
      await page.getByText("600 units and 120 writes per minute").waitFor();
      await page.getByText("Settings", { exact: true }).click();
      await page.getByLabel("Expires on").fill("2120-01-31");
      await page.getByLabel("Writes per minute").fill("7");
      await page.getByRole("button", { name: "Sign and save" }).click();
      await confirm(one);
      await page.getByText("600 units and 7 writes per minute").waitFor();

      await page.getByRole("button", { name: "Rotate; old one expires now" }).click();
      await confirm(one);
      await focusComesToHeading(page, "Copy the key now");
      const rotated = ((await page.locator("[data-secret]").textContent()) ?? "").trim();
      expect(
        await Promise.all(
          [key, rotated].map(async (text) => (await call(one, text, "/user/bulk?fids=3")).status),
        ),
      ).toEqual([401, 200]);
      expect(await axeViolations(page)).toEqual([]);

      await page.getByRole("button", { name: "Delete", exact: true }).click();
      const sign = page.getByRole("button", { name: "Sign in the wallet" });
      expect(await sign.isDisabled()).toBe(true);
      await page.getByRole("dialog").getByRole("textbox").fill("bot");
      await sign.click();
      await page.waitForURL("**/console/manage/keys");
      await page.getByText("No API keys yet").waitFor();
      expect((await call(one, rotated, "/user/bulk?fids=3")).status).toBe(401);
      const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
      for (const text of [key, rotated]) expect(stored + page.url()).not.toContain(text);
    },
  );
});

describe("signers", () => {
  consoleTest("check 32: a signer goes from pending to approved while the page is open", async (open) => {
    const one = await open();
    const { page, context, origin } = one;
    await becomeDemoPerson(one, SIGNER_OWNER);
    const key = await createKey(one, "app", ["signers"]);
    const made = (await (await call(one, key, "/signer/", {})).json()) as {
      signer_uuid: string;
      public_key: `0x${string}`;
    };
    const deadline = Math.floor(Date.now() / 1000) + 3600;
    const signature = await privateKeyToAccount(keysOfPerson(SIGNER_OWNER).custody.privateKey).signTypedData(
      signedKeyRequest({
        domain: GASLESS_REQUEST_DOMAIN,
        requestFid: SIGNER_OWNER,
        key: made.public_key,
        deadline,
      }),
    );
    const registered = await call(one, key, "/signer/signed_key/", {
      signer_uuid: made.signer_uuid,
      app_fid: SIGNER_OWNER,
      deadline,
      signature,
    });
    const { signer_approval_url: url } = (await registered.json()) as { signer_approval_url: string };

    await page.clock.install();
    await one.goto("/console/manage/signers");
    await page.locator('[data-signer="pending_approval"]').waitFor();
    await page.getByText("Users cannot reach this URL from outside.").waitFor();
    // Any person may approve it; the owner is filled in.
    expect(await page.locator("form.stack input[name=fid]").inputValue()).toBe(String(SIGNER_OWNER));
    expect(await page.getByRole("link", { name: url }).count()).toBe(1);
    expect(await axeViolations(page)).toEqual([]);

    const approval = await context.newPage();
    await approval.goto(url.replace(/^https?:\/\/[^/]+/, origin));
    const form = approval.locator("form");
    await form.locator("input").fill(String(SIGNER_USER));
    await form.getByRole("button").click();
    await approval.getByText(`The app may act for fid ${SIGNER_USER}`).waitFor();
    await approval.close();
    await page.bringToFront();

    // It asks every few seconds.
    await page.clock.runFor(10_000);
    await page.locator('[data-signer="approved"]').waitFor();
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog").getByRole("textbox").fill(made.signer_uuid.slice(0, 8));
    await confirm(one);
    await page.getByText("No managed signers yet.").waitFor();
  });

  consoleTest(
    "console-next 38: a signer comes from a click to a published cast without a shell",
    async (open) => {
      const one = await open({ width: 390 });
      const { page } = one;
      await becomeDemoPerson(one, CLICKING_OWNER);
      await one.goto("/console/manage/signers");
      await page.getByLabel("For", { exact: true }).fill(String(SIGNER_USER));
      await page.keyboard.press("Enter");
      await page.getByText("Only one person can approve it.").waitFor();
      await page.getByRole("checkbox", { name: "Everything" }).uncheck();
      await page.getByRole("checkbox", { name: "Publish casts" }).check();
      await page.getByRole("button", { name: "Sign and create" }).click();
      await page
        .getByRole("dialog")
        .getByText(new RegExp(`for .+ \\(fid ${SIGNER_USER}\\) .* It may then: Publish casts\\.`))
        .waitFor();
      await confirm(one);
      await page.locator('[data-signer="pending_approval"]').waitFor();
      await page.getByRole("img", { name: "QR code of the link" }).waitFor();
      await page.getByText(", who has not approved it yet").waitFor();
      expect(await axeViolations(page)).toEqual([]);
      // Nobody else can approve it.
      const person = page.locator("form.stack input[name=fid]");
      expect(await person.inputValue()).toBe(String(SIGNER_USER));
      expect(await person.isEditable()).toBe(false);
      await page.getByRole("button", { name: "Approve as a demo person" }).click();
      const approved = page.locator('[data-signer="approved"]');
      await approved.waitFor();
      // The user has a name here, and the permissions are those that were chosen.
      expect(await approved.textContent()).not.toContain(`fid ${SIGNER_USER}`);
      expect(await approved.textContent()).toContain("Publish casts");
      await page.getByRole("button", { name: "Publish a test cast" }).click();
      await confirm(one);
      await page.getByRole("link", { name: "open the cast" }).click();
      await page.getByText("A test cast by a managed signer").first().waitFor();
    },
  );
});
