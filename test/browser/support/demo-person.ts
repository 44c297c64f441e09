import type { ConsolePage } from "./page.ts";

/** Has the page act for a person of the demo network, whose wallet signs unasked, in a session. */
export async function becomeDemoPerson({ page, goto }: ConsolePage, fid: number): Promise<void> {
  await page.addInitScript((borrowed) => {
    localStorage.setItem("demo-fid", String(borrowed));
    localStorage.setItem("demo-signs-unasked", "1");
  }, fid);
  await goto("/console/manage");
  await page.getByRole("button", { name: "Start a session" }).click();
  await page.getByText(/This browser reads/).waitFor();
}
