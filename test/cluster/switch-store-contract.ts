import { expect, test } from "bun:test";
import { PAUSABLE, type SwitchStore } from "../../src/cluster/switch-store.ts";

export interface SwitchFixture extends AsyncDisposable {
  readonly switches: SwitchStore;
}

/** The guarantees of the switches, over any implementation. */
export function switchStoreContract(open: () => Promise<SwitchFixture>): void {
  const by = { reason: "a reason", pausedBy: "ann@host", pausedAt: 100 };

  test("what is paused stays paused until it is resumed, with who, why and since when", async () => {
    await using fixture = await open();
    const { switches } = fixture;
    expect(await switches.list()).toEqual([]);
    await switches.pause(["tokens", "deliveries"], by);
    expect(await switches.list()).toEqual([
      { name: "deliveries", ...by },
      { name: "tokens", ...by },
    ]);
    expect(await switches.resume(["signed", "deliveries"])).toEqual(["deliveries"]);
    expect(await switches.resume([...PAUSABLE])).toEqual(["tokens"]);
    expect(await switches.list()).toEqual([]);
  });

  test("pausing again keeps the time and takes the new reason", async () => {
    await using fixture = await open();
    const { switches } = fixture;
    await switches.pause(["signed"], by);
    await switches.pause(PAUSABLE, { reason: 'it\'s "quoted"; {x,y}', pausedBy: "bob@host", pausedAt: 200 });
    const listed = await switches.list();
    expect(listed.map(({ name }) => name)).toEqual([...PAUSABLE].toSorted());
    expect(listed.find(({ name }) => name === "signed")).toEqual({
      name: "signed",
      reason: 'it\'s "quoted"; {x,y}',
      pausedBy: "bob@host",
      pausedAt: 100,
    });
  });
}
