import { describe, expect } from "bun:test";
import { axeViolations } from "./support/axe.ts";
import { consoleTest } from "./support/console-test.ts";
import { becomeDemoPerson } from "./support/demo-person.ts";
import { type ConsolePage, settled } from "./support/page.ts";

/** An open channel of the demo network with everything, one without an owner, and the fid that has its address. */
const CHANNEL = "night-trains";
const PARKED = "star-charts";
const PARKED_OWNER = 8;
const READER = 25;

const confirm = ({ page }: ConsolePage) => page.getByRole("button", { name: "Sign in the wallet" }).click();

/** Gives the node the key of the connected person, which the page offers where it has none. */
async function giveKey(one: ConsolePage): Promise<void> {
  await one.page.getByRole("button", { name: "Give the node this demo person's key" }).click();
  await confirm(one);
  await one.page.getByText("The node now has the key.").waitFor();
}

describe("the page of a registered channel", () => {
  consoleTest("shows roles, pin, settings, hidden casts, bans and owner", async (open) => {
    const { page, goto } = await open();
    await goto(`/console/channels/${CHANNEL}`);
    await page.locator("[data-pin]").getByText("Welcome aboard.").waitFor();
    await page.getByText("Name the route. No selling of tickets.").waitFor();
    await page.getByText("anyone can join").waitFor();
    await page.getByRole("heading", { name: "Owner", exact: true }).waitFor();
    await settled(page);
    expect(await page.getByText("Also this joke again").count()).toBe(0);
    expect(await axeViolations(page)).toEqual([]);

    await page.getByRole("tab", { name: "Members" }).click();
    await page.locator('[data-role="owner"]').waitFor();
    expect(await page.locator('[data-role="moderator"]').count()).toBe(2);
    expect(await axeViolations(page)).toEqual([]);

    await page.getByRole("tab", { name: "Moderation" }).click();
    await page.locator('[data-moderation="hidden"]').getByText("Also this joke again").waitFor();
    await page.locator("[data-banned]").first().waitFor();
    expect(await page.locator("[data-banned]").count()).toBe(1);
    expect(await axeViolations(page)).toEqual([]);
  });

  consoleTest("a connected person follows the channel, and ends that", async (open) => {
    const one = await open({ expects: [/409/] });
    const { page, goto } = one;
    await becomeDemoPerson(one, READER);
    await goto(`/console/channels/${CHANNEL}`);
    await page.getByRole("button", { name: "Follow", exact: true }).click();
    await confirm(one);
    await giveKey(one);
    await page.getByRole("button", { name: "Follow", exact: true }).click();
    await confirm(one);
    await page.getByText("You now follow this channel.").waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Unfollow" }).click();
    await confirm(one);
    await page.getByText("You no longer follow this channel.").waitFor();
    await page.getByRole("button", { name: "Follow", exact: true }).waitFor();
    // Both are events of the stream.
    await goto("/console/stream");
    await page.locator('[data-kind="channel.follow.created"]').getByText("Night Trains").waitFor();
    await page.locator('[data-kind="channel.follow.deleted"]').waitFor();
  });

  consoleTest("the owner of a parked channel ends the parking with a verification", async (open) => {
    const one = await open({ expects: [/409/] });
    const { page, goto } = one;
    await becomeDemoPerson(one, PARKED_OWNER);
    await goto(`/console/channels/${PARKED}`);
    const parked = page.locator("[data-parked]");
    await parked.getByText("is waiting for its owner").waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await parked.getByRole("button", { name: "Verify again" }).click();
    await confirm(one);
    await giveKey(one);
    await parked.getByRole("button", { name: "Verify again" }).click();
    await confirm(one);
    await parked.waitFor({ state: "detached" });
    await page.getByRole("heading", { name: "Owner", exact: true }).waitFor();
  });
});
