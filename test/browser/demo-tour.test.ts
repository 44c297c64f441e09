import { describe, expect } from "bun:test";
import { axeViolations } from "./support/axe.ts";
import { consoleTest } from "./support/console-test.ts";

describe("the demo's wallet", () => {
  consoleTest(
    "is offered on the landing page, asks whose it is and what it signs, and is given back",
    async (open) => {
      const { page, goto } = await open();
      await goto("/");
      await page.getByRole("link", { name: "Try it as a demo person" }).click();
      const pick = page.getByRole("dialog", { name: "Whose wallet do you borrow?" });
      await pick.getByRole("textbox").fill("hawthorni");
      expect(await axeViolations(page)).toEqual([]);
      await pick.getByRole("button", { name: /Ingrid/ }).click();
      const banner = page.getByRole("complementary", { name: "Borrowed wallet" });
      await banner.getByText("Every wallet of this demo is everybody's").waitFor();

      const start = page.getByRole("button", { name: "Start a session" });
      await start.click();
      const sheet = page.getByRole("dialog", { name: /The wallet of fid 13 asks/ });
      await sheet.getByText("session.create").waitFor();
      expect(await axeViolations(page)).toEqual([]);
      await sheet.getByRole("button", { name: "Decline" }).click();
      await page.getByText("Nothing was sent").waitFor();
      await page.getByRole("button", { name: /Sign in the wallet|Try again/ }).click();
      await sheet.getByRole("button", { name: "Sign", exact: true }).click();
      await page.getByText(/This browser reads/).waitFor();

      await page.reload();
      await page.getByText(/This browser reads/).waitFor();
      await banner.getByRole("button", { name: "Give it back" }).click();
      await banner.waitFor({ state: "detached" });
    },
  );
});
