import type { Page } from "playwright-core";
import { consoleTest } from "./support/console-test.ts";
import { becomeDemoPerson } from "./support/demo-person.ts";

const PERSON = 83;
const ANOTHER = 84;

const notice = (of: Page) => of.getByRole("complementary", { name: "Demo person" });
const header = (of: Page, fid: number) => of.getByRole("banner").getByTitle(`fid ${fid}`);
const connect = (of: Page) => of.getByRole("banner").getByRole("link", { name: "Connect a wallet" });

/** Waits until all parts of a page name one person of the demo network; undefined for no one. */
async function waitForPerson(of: Page, fid: number | undefined): Promise<void> {
  if (fid === undefined) {
    await notice(of).waitFor({ state: "detached" });
    await connect(of).waitFor();
    return;
  }
  await notice(of).locator(`a[href="/console/people/${fid}"]`).waitFor();
  await header(of, fid).waitFor();
}

consoleTest(
  "a demo person is signed in in another tab of the browser, and signed out of both by either",
  async (open) => {
    const one = await open();
    const { page, origin } = one;
    await becomeDemoPerson(one, PERSON);
    const other = await page.context().newPage();
    await other.goto(`${origin}/console/manage`);
    await other.getByText(/This browser reads/).waitFor();
    await notice(other).getByRole("button", { name: "Sign out" }).click();
    await notice(page).waitFor({ state: "detached" });
    await page.getByText("Your wallet no longer shares an account").waitFor();
    await other.close();
  },
);

consoleTest(
  "all parts of all tabs name one demo person, whichever tab chooses, changes and leaves, also after a reload",
  async (open) => {
    const { page, origin, goto } = await open();
    const other = await page.context().newPage();
    // A page that never asks the wallet for anything.
    await other.goto(`${origin}/console/channels`);
    await goto("/console/manage");
    const choose = async (of: Page, fid: number) => {
      await of.getByRole("button", { name: "A demo person's wallet" }).click();
      const dialog = of.getByRole("dialog", { name: "Choose a demo person" });
      await dialog.getByRole("textbox").fill(String(fid));
      await dialog
        .getByRole("button")
        .filter({ hasText: `fid ${fid}` })
        .first()
        .click();
    };
    await choose(page, PERSON);
    for (const tab of [page, other]) await waitForPerson(tab, PERSON);
    await other.reload();
    await waitForPerson(other, PERSON);

    await notice(page).getByRole("button", { name: "Sign out" }).click();
    for (const tab of [page, other]) await waitForPerson(tab, undefined);

    await choose(page, ANOTHER);
    for (const tab of [page, other]) await waitForPerson(tab, ANOTHER);
    // The card of the owner signs out as the notice does.
    await page.locator("main").getByRole("button", { name: "Sign out" }).click();
    for (const tab of [page, other]) await waitForPerson(tab, undefined);
    await page.reload();
    await waitForPerson(page, undefined);
    await other.close();
  },
);
