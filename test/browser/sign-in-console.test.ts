import { describe, expect } from "bun:test";
import { fetchAsPerson, postAsPerson } from "../support/demo-calls.ts";
import { axeViolations } from "./support/axe.ts";
import { consoleTest } from "./support/console-test.ts";
import { becomeDemoPerson } from "./support/demo-person.ts";
import type { ConsolePage } from "./support/page.ts";

const OWNER = 33;
const VISITOR = 34;
const APPROVER = 35;
const KEYBOARD_VISITOR = 38;

const confirm = ({ page }: ConsolePage) => page.getByRole("button", { name: "Sign in the wallet" }).click();

async function clientsOf(origin: string) {
  const listed = await fetchAsPerson({ url: origin }, OWNER, { method: "GET", path: "/login_client/list" });
  return ((await listed.json()) as { login_clients: readonly { client_id: string; origins: string[] }[] })
    .login_clients;
}

describe("login clients", () => {
  consoleTest(
    "are registered, shown with the attribute that a page changes, edited and deleted",
    async (open) => {
      const one = await open();
      const { page, origin } = one;
      await becomeDemoPerson(one, OWNER);
      await page.getByRole("link", { name: "Sign-in", exact: true }).click();
      await page.getByText("No login clients yet.").waitFor();
      const id = crypto.randomUUID();
      await page.getByLabel("Name", { exact: true }).fill("Bread club");
      await page.getByLabel("Origins", { exact: true }).fill("https://bread.example/path");
      await page.getByText("“https://bread.example/path” is not an origin").waitFor();
      const register = page.getByRole("button", { name: "Sign and register" });
      expect(await register.isDisabled()).toBe(true);
      await page
        .getByLabel("Origins", { exact: true })
        .fill("https://bread.example\nhttps://www.bread.example");
      await page.getByLabel("Client id", { exact: true }).fill(id);
      await register.click();
      await confirm(one);
      await page.waitForURL(`**/console/manage/login/${id}`);
      expect(await page.locator("[data-attribute]").textContent()).toBe(
        `data-neynar_login_url="${origin}/login"`,
      );
      expect(await page.locator(".raw").first().textContent()).toContain(`data-client_id="${id}"`);
      expect(await axeViolations(page)).toEqual([]);

      await page.getByLabel("Redirect URIs").fill("breadapp://done");
      await page.getByRole("radio", { name: /^write/ }).check();
      await page.getByRole("button", { name: "Sign and save" }).click();
      await page.getByText("redirect_uris, permissions of “Bread club” will change").waitFor();
      await confirm(one);
      await page.locator("dd").getByText("breadapp://done").waitFor();
      expect(await clientsOf(origin)).toMatchObject([
        {
          client_id: id,
          origins: ["https://bread.example", "https://www.bread.example"],
          permissions: "write",
        },
      ]);

      await page.getByRole("button", { name: "Delete the login client" }).click();
      await page.getByRole("dialog").getByRole("textbox").fill(id.slice(0, 8));
      await confirm(one);
      await page.waitForURL("**/console/manage/login");
      expect(await clientsOf(origin)).toEqual([]);
    },
  );
});

describe("the page that tries a sign-in", () => {
  consoleTest(
    "Quick Auth: shows each step, the claims of the token, and why a message is refused",
    async (open) => {
      const one = await open();
      const { page, goto } = one;
      await page.addInitScript((fid) => {
        localStorage.setItem("demo-fid", String(fid));
        localStorage.setItem("demo-signs-unasked", "1");
      }, VISITOR);
      await goto("/console/sign-in");
      await page.getByRole("button", { name: "Sign in: A demo person's wallet" }).click();
      const send = page.getByRole("button", { name: "Sign and send" });
      await send.click();
      const card = page.getByRole("region", { name: "Quick Auth" });
      await card.getByText(`"sub": ${VISITOR}`).waitFor();
      expect(await card.locator('[data-step="done"]').count()).toBe(5);
      expect(await axeViolations(page)).toEqual([]);

      const reason = card.locator("[data-reason]");
      await page.getByRole("button", { name: "Send the same again" }).click();
      await reason.getByText("invalid_nonce").waitFor();
      await card.getByText("nonce is unknown, used or expired").waitFor();
      const message = page.getByLabel("Message", { exact: true });
      await message.fill((await message.inputValue()).replace("Chain ID: 10", "Chain ID: 1"));
      await send.click();
      await reason.getByText("wrong_chain").waitFor();
    },
  );

  consoleTest("web sign-in: opens a channel and notices who has signed in by its link", async (open) => {
    const one = await open();
    const { page, goto, context } = one;
    await goto("/console/sign-in");
    const card = page.getByRole("region", { name: "Web sign-in" });
    await card.getByLabel("Domain").fill("farcaster.xyz");
    await card.getByRole("button", { name: "Open a channel" }).click();
    await card.getByText("domain is one that this node refuses").waitFor();
    await card.getByLabel("Domain").fill("bread.example");
    await card.getByRole("button", { name: "Open a channel" }).click();
    await card.locator('[data-step="waiting"]').waitFor();
    const opened = context.waitForEvent("page");
    await card.getByRole("link").click();
    const approval = await opened;
    await approval.getByLabel("Person, by fid").fill(String(APPROVER));
    await approval.getByRole("button", { name: "Sign in as this person" }).click();
    await approval.getByRole("button", { name: "I opened this myself: sign in" }).click();
    await approval.getByText("Signed in as").waitFor();
    await card.getByText(`"fid": ${APPROVER}`).waitFor();
    expect(await card.locator('[data-step="waiting"]').count()).toBe(0);
  });
});

consoleTest(
  "check 22: the login page is used by the keyboard only, in no frame, and asks no other host",
  async (open) => {
    const { page, goto, origin } = await open();
    const request = { name: "Bread club", origins: ["https://bread.example"], permissions: "write" };
    const { login_client: client } = (await postAsPerson(
      { url: origin },
      OWNER,
      "/login_client",
      request,
    )) as {
      login_client: { client_id: string };
    };
    const response = await goto(`/login?client_id=${client.client_id}`);
    const headers = response?.headers() ?? {};
    expect(headers["content-security-policy"]).toContain("default-src 'none'");
    expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
    expect(headers["referrer-policy"]).toBe("no-referrer");
    await page.getByRole("button", { name: "Sign in as this person" }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    // The field is the first thing that can have the focus, or close to it.
    const field = page.getByLabel("Person, by fid");
    for (let tab = 0; tab < 5 && !(await field.evaluate((one) => one === document.activeElement)); tab++)
      await page.keyboard.press("Tab");
    await page.keyboard.press("Control+A");
    await page.keyboard.type(String(KEYBOARD_VISITOR));
    await page.keyboard.press("Enter");
    await page.getByText(`Signed in as @`).waitFor();
    expect(await page.getByRole("status").textContent()).toContain(`(fid ${KEYBOARD_VISITOR})`);
  },
);
