import { expect, test } from "bun:test";
import { senderOf } from "../../../src/node/compose/sending/sender.ts";
import { sentHeaders } from "../../../src/webhooks/deliver/call-receiver.ts";
import { configWith } from "../../runtime/config.ts";
import { openDeliveryBench, START_SECS } from "../../support/deliveries.ts";
import { startReceiver } from "../../support/receiver.ts";

test("the headers that an owner sees are those that were sent, with masked signatures", async () => {
  await using bench = openDeliveryBench();
  await using receiver = startReceiver();
  const hook = await bench.addWebhook("a", receiver.port);
  await bench.start();
  await bench.publish([hook], "{}");
  await bench.settled(hook, 1);
  const [delivery] = await bench.list(hook);
  const webhook = await bench.webhooks.find(hook, START_SECS);
  if (!delivery || !webhook) throw new Error("not delivered");
  const sender = senderOf(configWith());
  const shown = sentHeaders({ delivery, webhook, sender });
  const sent = receiver.requests[0]?.headers;
  const signatures = [sender.signatureHeader, "webhook-signature"];
  for (const [name, value] of Object.entries(shown)) {
    const isSignature = signatures.includes(name);
    expect([name, value]).toEqual([
      name,
      isSignature ? expect.stringMatching(/^(v1,)?\*\*\*$/) : sent?.get(name),
    ]);
  }
  expect(Object.keys(shown)).toContain("webhook-timestamp");
  expect(Object.keys(shown)).not.toContain(sender.replayHeader);
  const replayed = sentHeaders({ delivery: { ...delivery, replayId: "replay-1" }, webhook, sender });
  expect(replayed).toEqual({ ...shown, [sender.replayHeader]: "replay-1" });
});
