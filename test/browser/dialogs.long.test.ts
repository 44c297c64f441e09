import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { IS_LONG } from "../support/long.ts";
import { axeViolations } from "./support/axe.ts";
import { consoleTest } from "./support/console-test.ts";
import type { ConsolePage } from "./support/page.ts";
import { demoAccount, injectWallet } from "./support/wallet.ts";

const MANAGE = "/console/manage";
const SOURCES = join(import.meta.dir, "../../src/console/web");

interface OpenedDialog {
  /** The file that has it. */
  readonly file: string;
  readonly fid: number;
  open(one: ConsolePage): Promise<Locator>;
}

/** Every dialog of the console, and how a visitor gets to it. */
const DIALOGS: readonly OpenedDialog[] = [
  {
    file: "shell/help-dialog.tsx",
    fid: 80,
    async open({ page, goto }) {
      await goto("/console");
      await page.keyboard.press("?");
      return page.getByRole("dialog", { name: "Keyboard" });
    },
  },
  {
    file: "demo/prompt.tsx",
    fid: 81,
    async open({ page, goto }) {
      await goto(MANAGE);
      await page.getByRole("button", { name: "A demo person's wallet" }).click();
      const dialog = page.getByRole("dialog", { name: "Choose a demo person" });
      await dialog.getByRole("listitem").first().waitFor();
      return dialog;
    },
  },
  {
    file: "demo/prompt.tsx",
    fid: 82,
    async open({ page, goto }) {
      await page.addInitScript(() => localStorage.setItem("demo-fid", "82"));
      await goto(MANAGE);
      await page.getByRole("button", { name: "Start a session" }).click();
      return page.getByRole("dialog", { name: "Signature request" });
    },
  },
  {
    file: "owner/operation-sheet.tsx",
    fid: 83,
    async open({ page, goto }) {
      const wallet = await injectWallet(page, demoAccount(83));
      await goto(MANAGE);
      await page.getByRole("button", { name: "Test Wallet" }).click();
      await page.getByRole("button", { name: "Start a session" }).click();
      await page.getByText(/^This browser reads/).waitFor();
      wallet.declines = ["eth_signTypedData_v4"];
      await goto(`${MANAGE}/activity`);
      await page.getByRole("button", { name: "End all" }).click();
      return page.getByRole("dialog");
    },
  },
];

test("check 15: each file with a dialog is in the table", () => {
  const files = [...new Bun.Glob("**/*.tsx").scanSync(SOURCES)].filter((file) =>
    /<Dialog\s/.test(readFileSync(join(SOURCES, file), "utf8")),
  );
  expect([...new Set(DIALOGS.map(({ file }) => file))].sort()).toEqual(files.sort());
});

consoleTest("check 15: axe finds nothing in any dialog; the long form looks at both themes", async (open) => {
  const found: string[] = [];
  for (const { file, open: openDialog } of DIALOGS) {
    const one = await open({ reducedMotion: true });
    const dialog = await openDialog(one);
    await dialog.waitFor();
    for (const theme of IS_LONG ? (["light", "dark"] as const) : (["dark"] as const)) {
      await one.page.emulateMedia({ colorScheme: theme });
      found.push(...(await axeViolations(one.page)).map((line) => `${file}, ${theme}: ${line}`));
    }
    await one.close();
  }
  expect(found).toEqual([]);
});
