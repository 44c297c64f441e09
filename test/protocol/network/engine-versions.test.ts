import { expect, test } from "bun:test";
import { CHANNELS_VERSION, engineSchedule } from "../../../src/protocol/network/engine-versions.ts";
import { FarcasterNetwork } from "../../../src/protocol/wire/generated/message.ts";

const MAINNET = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
const DEVNET = FarcasterNetwork.FARCASTER_NETWORK_DEVNET;

test("a version without a date on a network has none until a setting adds it", () => {
  const schedule = engineSchedule(MAINNET);
  expect(schedule.activeAt(20)).toBe(1_786_640_400);
  expect(schedule.activeAt(CHANNELS_VERSION)).toBeUndefined();
  expect(engineSchedule(DEVNET).activeAt(CHANNELS_VERSION)).toBe(0);
  const dated = engineSchedule(MAINNET, ["20=5", `${CHANNELS_VERSION}=1790000000`]);
  expect([dated.activeAt(20), dated.activeAt(CHANNELS_VERSION)]).toEqual([5, 1_790_000_000]);
});

test("a schedule knows the times of its versions and no others", () => {
  const schedule = engineSchedule(MAINNET, ["21=1790000000"]);
  const known = [1_786_640_400, 1_790_000_000, 1_790_000_001].map(schedule.knows);
  expect(known).toEqual([true, true, false]);
});
