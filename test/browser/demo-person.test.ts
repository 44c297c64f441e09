import { consoleTest } from "./support/console-test.ts";
import { becomeDemoPerson } from "./support/demo-person.ts";

consoleTest(
  "a demo person is signed in in another tab of the browser, and signed out of both by either",
  async (open) => {
    const one = await open();
    const { page, origin } = one;
    await becomeDemoPerson(one, 83);
    const other = await page.context().newPage();
    await other.goto(`${origin}/console/manage`);
    await other.getByText(/This browser reads/).waitFor();
    const notice = (of: typeof page) => of.getByRole("complementary", { name: "Demo person" });
    await notice(other).getByRole("button", { name: "Sign out" }).click();
    await notice(page).waitFor({ state: "detached" });
    await page.getByText("Your wallet no longer shows this").waitFor();
    await other.close();
  },
);
