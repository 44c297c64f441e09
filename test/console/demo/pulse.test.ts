import { expect, test } from "bun:test";
import { createDemoPulse } from "../../../src/console/demo/pulse.ts";
import { decodeMessage } from "../../../src/protocol/message/signed-message.ts";
import { validateMessage } from "../../../src/protocol/validate/message.ts";
import { FarcasterNetwork, MessageType } from "../../../src/protocol/wire/generated/message.ts";
import { expectOk } from "../../support/result.ts";

const NETWORK = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
const START_MS = 1_800_000_000_000;

function startedPulse(fail = false) {
  let nowMs = START_MS;
  let next: { readonly atMs: number; readonly work: () => void } | undefined;
  const sent: Uint8Array[] = [];
  const faults: unknown[] = [];
  const pulse = createDemoPulse({
    async submit(message) {
      if (fail) throw new Error("refused");
      sent.push(message);
    },
    network: NETWORK,
    nowMs: () => nowMs,
    setTimer(ms, work) {
      const timer = { atMs: nowMs + ms, work };
      next = timer;
      return () => {
        if (next === timer) next = undefined;
      };
    },
    onFault: (cause) => faults.push(cause),
  });
  const runToEnd = async () => {
    while (next) {
      const { atMs, work } = next;
      next = undefined;
      nowMs = atMs;
      work();
      await Promise.resolve();
    }
    await Promise.resolve();
  };
  return { pulse, sent, faults, runToEnd, now: () => nowMs };
}

test("a pulse sends as many valid messages as it says, of several kinds, and then ends", async () => {
  const { pulse, sent, faults, runToEnd, now } = startedPulse();
  expect(pulse.start(60, 5)).toEqual({ started: true, endsAtMs: START_MS + 60_000 });
  expect(pulse.start(1, 1)).toEqual({ started: false, endsAtMs: START_MS + 60_000 });
  await runToEnd();
  expect([sent.length, faults]).toEqual([300, []]);
  expect(now()).toBeLessThan(START_MS + 60_000);
  const kinds = new Set<MessageType>();
  for (const bytes of sent) {
    const message = expectOk(decodeMessage(bytes));
    expect(validateMessage(message, { network: NETWORK, nowUnixSecs: now() / 1000 })).toBeUndefined();
    kinds.add(message.data.type);
  }
  expect([...kinds].sort()).toEqual([
    MessageType.MESSAGE_TYPE_CAST_ADD,
    MessageType.MESSAGE_TYPE_REACTION_ADD,
    MessageType.MESSAGE_TYPE_LINK_ADD,
  ]);
  expect(pulse.start(1, 1).started).toBeTrue();
});

test("a stopped pulse sends no more, and a refused message is reported", async () => {
  const { pulse, sent, faults, runToEnd } = startedPulse(true);
  pulse.start(60, 5);
  pulse.stop();
  await runToEnd();
  expect([sent.length, faults.length]).toEqual([0, 1]);
});
